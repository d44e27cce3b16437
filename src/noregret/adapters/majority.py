"""Majority label: always guess the label that came most often so far, whatever the row says.

A learner that does worse than this has learned nothing. As an entry of a pool it keeps the pool from doing much worse.
"""

import time
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import check_weights
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.labels import Labels, as_array
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned, shown
from noregret.features.frames import labels_to_list
from noregret.learner.base_learner import BaseLearner, Transforms
from noregret.learner.encode import count_rows, one_row
from noregret.learner.header_fields import corrupt, read_count, read_label, read_list
from noregret.learner.labelled_rows import list_labels
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card

Floats = NDArray[np.float64]
CELLS = 1 << 20  # counts before rounds that are held at once: rounds times classes
ROWS = ("scale", "bias", "bits", "transforms", "columns", "reads", "native", "seed")  # taken, and without effect
TASKS = ("binary", "multiclass")


@register_kind
@method_card(
    paper="Holte, Very simple classification rules perform well on most commonly used datasets, Machine Learning 11, "
    "1993",
    kind="majority",
    title="Majority label",
    tasks=("binary", "multiclass"),
    options=("task", "classes", *ROWS),
    merge=Merge("exact", "counts are added"),
    weights=True,
    ignores_features=True,
)
class Majority(BaseLearner):
    """Guess the majority label so far; rows are counted, and not looked at. A baseline for classifiers.

    Among labels that came equally often, the one seen first is guessed; before the first round there is no guess, which
    is a mistake. A round counts as much as its weight. The loss of a round is 1 for a mistake. Probabilities are the
    shares of the labels, after one more round of each (Laplace's rule of succession); scores are their log-odds, of
    many classes their logarithms. Options that say how rows are read are taken, and change nothing.
    """

    kind: ClassVar[str] = "majority"
    shared: ClassVar[tuple[str, ...]] = ("labels", "counts")  # they are replaced, never changed

    def __init__(self, task: str | None = None, classes: Any = None, **rows: Any) -> None:
        super().__init__()
        self.asked = task
        self.labels = Labels(classes)
        self.check_number(self.labels)
        self.seen: tuple[int, ...] = ()  # codes of the labels that came, the first one first
        self.counts = np.zeros(len(self.labels))  # the summed weights of the rounds of every label, by code

    @property
    def task(self) -> str:
        """The name of the task; binary becomes multiclass at the third class, unless it was asked for."""
        return self.asked or TASKS[len(self.labels) > 2]

    @property
    def classes(self) -> list[Any]:
        """The labels known, in order of appearance or as they were given."""
        return self.labels.order

    def put_behind(self, steps: Transforms) -> Self:
        """A fresh learner like this one: transforms change nothing for it."""
        if self.rounds:
            raise BadValue("majority has learned already; cannot add transforms to a trained learner. Create a new one")
        return self.copy()

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Guess, then count, every round; all of them, or none."""
        began, given = time.perf_counter(), as_labels(y)

        def act() -> Transcript:
            before = self.rounds
            counts, guesses, mistakes, updated = self.count(X, given, weight, query, True)
            truth = given if isinstance(given, np.ndarray) else as_array(given)
            scores = self.make_scores(counts, before)
            return Transcript(
                scores, self.name_codes(guesses), mistakes.astype(np.float64), mistakes, updated, truth,
                time.perf_counter() - began,
            )  # fmt: skip

        with self._lock:
            self._change.settle()
            return self._change.save_and_run(self._own_state, act)

    def learn(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None) -> Self:
        """Count every round; all of them, or none."""
        given = as_labels(y)
        with self._lock:
            self._change.settle()
            self._change.save_and_run(self._own_state, lambda: self.count(X, given, weight, query, False))
        return self

    def count(
        self, X: Any, y: Any, weight: Any, query: Any, keep: bool
    ) -> tuple[Floats, NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Count the rounds: the counts before each (where they are to be kept), guesses, mistakes and updates.

        What follows from them is computed first, and taken over in one step.
        """
        if query is not None:
            raise BadValue(f'query is for task="ranking", where rows come in groups; {self.task} has none')
        rows = count_rows(X)
        if rows != len(y):
            raise BadValue(f"X has {rows} rows and y has {len(y)} labels; they must match")
        h = check_weights(weight, rows)
        h = np.ones(rows) if h is None else h
        labels = self.labels.copy()
        codes = labels.encode(y)
        labels.refuse_new(len(self.labels), codes)
        self.check_number(labels, codes)
        labels.committed = len(labels)
        seen = (*self.seen, *(code for code in in_order(codes) if code not in self.seen))
        order = np.array([*seen, *sorted({*range(len(labels))} - {*seen})], np.int64)  # the first one first
        totals, guesses = np.pad(self.counts, (0, len(labels) - len(self.counts))), np.full(rows, -1)
        kept, most = [np.zeros((0, len(labels)))], max(1, CELLS // max(len(labels), 1))
        with np.errstate(over="ignore"):
            for start in range(0, rows, most):
                part = codes[start : start + most]
                counts = np.zeros((len(part) + 1, len(labels)))
                counts[0] = totals
                counts[np.arange(1, len(part) + 1), part] = h[start : start + most]
                np.cumsum(counts, axis=0, out=counts)
                totals = counts[-1].copy()
                guesses[start : start + most] = order[np.argmax(counts[:-1][:, order], axis=1)]
                if keep:
                    kept.append(counts[:-1])
            if not np.isfinite(totals.sum()):
                raise BadValue("the weights of these rounds sum to more than a float can hold; give smaller ones")
        if rows and not self.rounds:
            guesses[0] = -1
        mistakes, updated = guesses != codes, h > 0.0
        vars(self).update(
            labels=labels, seen=seen, counts=totals, rounds=self.rounds + rows,
            mistakes=self.mistakes + int(np.count_nonzero(mistakes)),
            updates=self.updates + int(np.count_nonzero(updated)),
        )  # fmt: skip
        return np.concatenate(kept), guesses, mistakes, updated

    def check_number(self, labels: Labels, codes: NDArray[np.int64] | None = None) -> None:
        """Refuse a third class where two were asked for."""
        if self.asked == "binary" and len(labels) > 2:
            row = None if codes is None else int(np.argmax(codes >= 2))
            where = "" if row is None else f"row {row}: "
            raise BadValue(
                f"{where}the binary task has two classes, and {labels.order[2]!r} is a third; "
                'leave task out, or make the learner with task="multiclass"', row,
            )  # fmt: skip

    # ---- predictions -------------------------------------------------------------------------------------------------

    def make_scores(self, counts: Floats, before: int | None = None) -> Floats:
        """The scores that these counts stand for; -inf for a class that had not come when `before` rounds had.

        Of two classes the logarithm of (count of the positive one + 1) / (count of the negative one + 1); of many
        that of (count + 1) / (all counts + classes).
        """
        known = len(self.labels)
        if self.task == "binary":
            return (
                np.asarray((self.labels.signs(known) * np.log1p(counts)).sum(axis=1))
                if known
                else np.zeros(len(counts))
            )
        scores = np.log1p(counts) - np.log(counts.sum(axis=1, keepdims=True) + known)
        return scores if self.labels.fixed or before is None else np.where(counts > 0.0, scores, -np.inf)

    def name_codes(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """The labels with these codes; None for -1."""
        if (codes < 0).any():
            return as_array([None if code < 0 else self.labels.order[code] for code in codes.tolist()])
        return np.asarray(as_array(self.labels.order)[codes])

    def guess(self) -> int:
        """The code of the majority label."""
        if not self.seen:
            raise NotLearned("majority has not seen a label yet; learn something first")
        return max(self.seen, key=lambda code: float(self.counts[code]))  # the first of equal ones

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The majority label, for every row."""
        with self._lock:
            self._change.settle()
            return self.name_codes(np.full(count_rows(X), self.guess()))

    def scores(self, X: RowsLike) -> Floats:
        """The same scores for every row: (n,) for two classes, (n, classes) for many."""
        with self._lock:
            self._change.settle()
            self.guess()
            return self.make_scores(np.tile(self.counts, (count_rows(X), 1)))

    def predict_proba(self, X: RowsLike) -> Floats:
        """The share of every class, after one more round of each, for every row, in the order of `classes`."""
        with self._lock:
            self._change.settle()
            self.guess()
            shares = (self.counts + 1.0) / (self.counts.sum() + len(self.counts))
            return np.tile(shares, (count_rows(X), 1))

    def predict_proba_one(self, x: RowLike) -> dict[Any, float]:
        """The same for one row, by label; empty before any label was seen."""
        with self._lock:
            self._change.settle()
            if not self.seen:
                return {}
            return dict(zip(self.classes, self.predict_proba(one_row(x, True))[0].tolist(), strict=True))

    def describe_results(self) -> list[str]:
        """The labels that came most often, with their counts."""
        with self._lock:
            self._change.settle()
            most = sorted(self.seen, key=lambda code: -float(self.counts[code]))[:10]
            return [f"{self.labels.order[code]!s:<12} {self.counts[code]:,.10g}" for code in most]

    # ---- copies and files --------------------------------------------------------------------------------------------

    def merge(self, other: "Majority") -> Self:
        """A new learner that has counted the rounds of this one, then those of the other."""
        if not isinstance(other, Majority):
            raise BadValue(f"majority can be merged only with one of its kind, not with {shown(other)}")
        new, more = self.copy(), other.copy()
        fixed = [one.labels.order if one.labels.fixed else None for one in (new, more)]
        if new.asked != more.asked or fixed[0] != fixed[1]:
            raise BadValue("only learners made with the same task and classes can be merged")
        labels = new.labels.copy()
        codes = labels.encode(more.labels.order)
        self.check_number(labels)
        labels.committed = len(labels)
        counts = np.pad(new.counts, (0, len(labels) - len(new.counts)))
        counts[codes] += more.counts
        if not np.isfinite(counts.sum()):
            raise BadValue("the weights of both learners sum to more than a float can hold")
        theirs = [int(codes[code]) for code in more.seen]
        new.labels, new.counts = labels, counts
        new.seen = (*new.seen, *(code for code in theirs if code not in new.seen))
        new.rounds, new.mistakes, new.updates = (
            new.rounds + more.rounds, new.mistakes + more.mistakes, new.updates + more.updates,
        )  # fmt: skip
        return new

    def dump(self) -> tuple[Header, Arrays]:
        """The labels, in which order they came, and their counts."""
        with self._lock:
            self._change.settle()
            own = {"task": self.asked, "fixed": self.labels.fixed, "labels": self.labels.order, "seen": [*self.seen]}
            return {**own, **self.dump_counts()}, {"counts": self.counts}

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The labels and the counts, all checked."""
        task, fixed = header.get("task"), header.get("fixed")
        order = [read_label(label, "a label") for label in read_list(header, "labels")]
        if task not in (None, *TASKS) or not isinstance(fixed, bool):
            raise corrupt("task must be the name of a task of classes, and fixed true or false")
        try:
            new = cls(task, order if fixed else None)
            new.labels.encode(order)
            new.check_number(new.labels)
        except BadValue as error:
            raise corrupt(str(error)) from None
        new.labels.committed, new.seen = len(order), tuple(read_list(header, "seen"))
        places = [read_count({"code": code}, "code", len(order) - 1) for code in new.seen]
        unseen = [code for code in range(len(order)) if code not in new.seen]
        counts = arrays.get("counts", np.zeros(0))
        new.restore_counts(header)
        fits = len(new.labels) == len(order) and len({*places}) == len(places) and bool(places) == (new.rounds > 0)
        if not fits or len(places) > new.rounds or (not fixed and places != [*range(len(order))]):
            raise corrupt("its labels are not those of its rounds")
        if counts.dtype != np.float64 or counts.shape != (len(order),) or not (counts >= 0.0).all():
            raise corrupt("it must have a count, a number from 0 on, for each of its labels")
        if not np.isfinite(counts.sum()) or counts[unseen].any() or counts.any() != (new.updates > 0):
            raise corrupt("its counts do not fit its labels and rounds")
        new.counts = counts.copy()
        return new


def as_labels(y: Any) -> Any:
    """Labels as a list or an array."""
    y = labels_to_list(y)
    return y if isinstance(y, (list, np.ndarray)) else list_labels(y)


def in_order(codes: NDArray[np.int64]) -> list[int]:
    """The codes that come, the first one first."""
    found, firsts = np.unique(codes, return_index=True)
    return [int(code) for code in found[np.argsort(firsts)]]
