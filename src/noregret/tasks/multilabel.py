"""Multilabel classification: z = Psi(x, r) - Psi(x, s), margin = w . z, where labels r and s are in the wrong order.

Block 0 of the weights is that of the virtual label, which is in no row's set; block c + 1 is that of label c. Among
labels with the same score the first is taken.

threshold="virtual": the label of the row with the lowest score steps against the virtual one; then all scores are
computed again, and the virtual one steps against the highest label that is not the row's. The reported score is how far
it is above that of the virtual label. threshold="zero": there is one step, of the lowest label of the row against the
highest other one, and scores are reported as they are. Either way the predicted labels are those whose reported
score is above 0.

Where every label known so far is the row's there is no other one, and the step against it is left out.
"""

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import difference, row
from noregret.algebra.verbs import helper, unbound
from noregret.data.inputs import LabelsLike
from noregret.data.labels import Labels
from noregret.errors import BadValue, shown
from noregret.rules.losses import loss_at
from noregret.rules.parameters import Choice
from noregret.state.space import Space
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.task import Flags, Floats, G, P, R, S, Task

scores = update = finals = unbound
virtual: Any = unbound
final_differs: Any = unbound  # whether predictions use other weights than training does


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    """aux is the lowest reported score of the row's labels, those it brings included."""
    f = g.scores[: y.shape[1] + 1]
    for t in range(y.shape[0]):
        x = row(X, t)
        finals(p, s, x, X.stride, f)
        report(f, f[0] if virtual else 0.0, out[t])
        own = lowest(f, y[t])
        aux[t] = out[t, own - 1]
        if final_differs:
            scores(p, s, x, X.stride, f)
            own = lowest(f, y[t])
        if h[t] > 0.0:
            s.n.t += 1.0
            if virtual:
                updated[t] = update(p, s, difference(x, own, 0, X.stride), f[own] - f[0], h[t])
                scores(p, s, x, X.stride, f)
                own = 0
            other = highest(f, y[t])
            if other > 0 and update(p, s, difference(x, own, other, X.stride), f[own] - f[other], h[t]):
                updated[t] = 1


def score_rows(p: P, g: G, s: S, X: R, out: Floats) -> None:
    f = g.scores[: out.shape[1] + 1]
    for t in range(out.shape[0]):
        finals(p, s, row(X, t), X.stride, f)
        report(f, f[0] if virtual else 0.0, out[t])


@helper
def report(f: Any, threshold: Any, reported: Any) -> Any:
    """The scores of the labels, measured from the threshold."""
    for c in range(reported.size):
        reported[c] = f[c + 1] - threshold


@helper
def lowest(f: Any, truth: Any) -> Any:
    """The block of the row's label with the lowest score."""
    found = 0
    for c in range(truth.size):
        if truth[c] > 0.0 and (found == 0 or f[c + 1] < f[found]):
            found = c + 1
    return found


@helper
def highest(f: Any, truth: Any) -> Any:
    """The block of the label with the highest score that is not the row's; 0 where there is none."""
    found = 0
    for c in range(truth.size):
        if truth[c] == 0.0 and (found == 0 or f[c + 1] > f[found]):
            found = c + 1
    return found


class Codes(NamedTuple):
    """The numbers of the labels of all rows, one row after the other, and where each row begins."""

    starts: NDArray[np.int64]
    labels: NDArray[np.int64]


class Multilabel(Task):
    """A score for every label, measured from the threshold: the predicted set is the labels above it.

    The loss of a round is the sum of those of its steps, at the scores it was predicted with.
    """

    name = "multilabel"
    about = "a set of labels for every row"
    options = {
        "threshold": Choice(
            "virtual",
            {"virtual": True, "zero": False},
            "what the score of a predicted label is above: that of a virtual label, which is learned, or 0",
            binds="virtual",
        )
    }
    arrays = ("scores",)
    many = True
    truth_dimensions = 2
    first_block = 1  # the block of the virtual label
    metrics = ("multilabel",)
    columns = ("mistakes", "rate", "loss", "ranking loss", "micro F1")
    reading = {"sets": True}
    notes = ("a row may have several labels; a mistake is a set that is not exactly right",)
    no_class_weight = "a row has several labels, so class_weight cannot weigh it; leave it out, and use weight"
    play, score_rows = staticmethod(play), staticmethod(score_rows)

    def make_arrays(self, space: Space, labels: Labels) -> list[NDArray[Any]]:
        return [np.zeros(space.class_room)]

    @classmethod
    def summarize(cls, report: Mapping[str, float]) -> str:
        both = f"ranking loss {report['ranking_loss']:.4f}, micro F1 {report['micro_f1']:.4f}"
        return f"{super().summarize(report)}, {both}"

    # ---- labels in -----------------------------------------------------------------------------------------------

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        before, matrix = labels.committed, getattr(y, "ndim", 1) == 2
        codes = encode_matrix(labels, y) if matrix else encode_sets(labels, y)
        sizes = np.diff(codes.starts)
        of_row = np.repeat(np.arange(rows), sizes)
        if labels.fixed and len(labels) > before:
            row = int(of_row[np.argmax(codes.labels >= before)])
            known, new = labels.order[:before], labels.order[before]
            raise at_row(f"the label {new!r} is not one of the classes of this learner: {known}", row, rows)
        if labels.fixed and bool((sizes == len(labels)).any()):
            row = int(np.argmax(sizes == len(labels)))
            raise at_row(f"the row has every label there is, all {len(labels)} of them; leave the row out", row, rows)
        if not rows:
            return codes, []
        highest = np.full(rows, before - 1)
        np.maximum.at(highest, of_row, codes.labels)
        if matrix:  # it names all its columns at once
            highest[:] = len(labels) - 1
        known_then = np.maximum.accumulate(highest) + 1
        starts = np.flatnonzero(np.diff(known_then, prepend=-1))
        fresh = np.diff(known_then[starts], prepend=before)
        stops = [*starts[1:].tolist(), rows]
        return codes, [
            Segment(start, stop, int(known_then[start]), new)
            for start, stop, new in zip(starts.tolist(), stops, fresh.tolist(), strict=True)
        ]

    def truth(self, labels: Labels, segment: Segment, codes: Any) -> Floats:
        starts = codes.starts[segment.start : segment.stop + 1]
        found = np.zeros((segment.stop - segment.start, segment.known))
        found[np.repeat(np.arange(len(found)), np.diff(starts)), codes.labels[starts[0] : starts[-1]]] = 1.0
        return found

    def report_truth(self, labels: Labels, y: LabelsLike) -> NDArray[Any]:
        codes = encode_matrix(labels, y) if getattr(y, "ndim", 1) == 2 else encode_sets(labels, y)
        parts = np.split(codes.labels, codes.starts[1:-1]) if len(codes.starts) > 1 else []
        return tuples([sorted(part.tolist()) for part in parts], labels.order)

    def make_scores(self, rows: int, known: int) -> Floats:
        return np.zeros((rows, known))

    def hide_unknown(self, outcome: Outcome) -> None:
        if outcome.known_at_first < outcome.segment.known:
            outcome.scores[0, outcome.known_at_first :] = -np.inf

    # ---- predictions out -----------------------------------------------------------------------------------------

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        return tuples([np.flatnonzero(row).tolist() for row in scores > 0.0], labels.order)

    def scores(self, labels: Labels, outcomes: list[Outcome]) -> Floats:
        return stack_widest([outcome.scores for outcome in outcomes], -np.inf)

    def relevance(self, outcomes: list[Outcome]) -> NDArray[np.bool_]:
        return np.asarray(stack_widest([outcome.truth for outcome in outcomes], 0.0) > 0.0)

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        return np.asarray(((outcome.scores > 0.0) != (outcome.truth > 0.0)).any(axis=1))

    def margins(self, labels: Labels, outcome: Outcome) -> Floats:
        """The smaller of the margins of the two steps, or that of the only one."""
        return np.asarray(np.minimum(*self.step_margins(outcome)))

    def losses(self, labels: Labels, outcome: Outcome) -> Floats:
        own, others = self.step_margins(outcome)
        return np.asarray(loss_at(self.loss.value, own) + loss_at(self.loss.value, others))

    def step_margins(self, outcome: Outcome) -> tuple[Floats, Floats]:
        """The margins of both steps, as the row was predicted; infinite where there is no such step."""
        others = -np.max(np.where(outcome.truth > 0.0, -np.inf, outcome.scores), axis=1)
        if self.chosen["threshold"] == "virtual":
            return outcome.aux, others
        return np.full(len(others), np.inf), outcome.aux + others


def stack_widest(parts: list[np.ndarray], empty: float) -> np.ndarray:
    """Arrays one below the other, with as many columns as the widest has."""
    found = np.full((sum(map(len, parts)), max(part.shape[1] for part in parts)), empty)
    start = 0
    for part in parts:
        found[start : start + len(part), : part.shape[1]] = part
        start += len(part)
    return found


def tuples(codes: list[list[int]], order: list[Any]) -> np.ndarray:
    """Tuples of labels as an array of objects."""
    found = np.empty(len(codes), object)
    for at, numbers in enumerate(codes):
        found[at] = tuple(order[number] for number in numbers)
    return found


# ---- labels as callers give them ---------------------------------------------------------------------------------


def at_row(message: str, at: int, rows: int) -> BadValue:
    return BadValue(f"row {at}: {message}" if rows > 1 else message, at)


def encode_sets(labels: Labels, y: LabelsLike) -> Codes:
    """The labels of every row: any collection of them, or one alone. New ones of a set come in the order of sorting."""
    starts, found = [0], list[int]()
    for at, given in enumerate(y):
        try:
            found += dict.fromkeys(labels.code[label] for label in labels_of(given))
        except TypeError:
            raise at_row(f"labels must be numbers, strings or truth values, not {shown(given)}", at, len(y)) from None
        except BadValue as error:
            raise at_row(str(error), at, len(y)) from None
        if len(found) == starts[-1]:
            raise at_row("the set of labels is empty; every row needs at least one label", at, len(y))
        starts.append(len(found))
    return Codes(np.array(starts), np.array(found, np.int64))


def labels_of(given: Any) -> Iterable[Any]:
    """The labels of one row, in an order that does not depend on how they were hashed."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, Set):
        return sorted(given, key=lambda label: (isinstance(label, str), label))
    return given if isinstance(given, (list, tuple)) else (given,)


def encode_matrix(labels: Labels, y: LabelsLike) -> Codes:
    """The labels of a matrix of 0 and 1, whose columns are the classes: those given beforehand, or their numbers."""
    y = np.asarray(y)
    if not labels.fixed and labels.order != list(range(len(labels))):
        raise BadValue("the columns of y are classes, and this learner knows others by name; give classes=[...]")
    if len(labels) and y.shape[1] != len(labels):
        raise BadValue(f"y has {y.shape[1]} columns and the learner {len(labels)} classes; they must match")
    if y.dtype.kind not in "fiub":
        raise BadValue(f"an array of labels holds only 0 and 1, as numbers or truth values; this is one of {y.dtype}")
    sound = ((y == 0) | (y == 1)).all(axis=1)
    if not sound.all():
        raise at_row("an array of labels holds only 0 and 1", int(np.argmin(sound)), len(y))
    sizes = np.count_nonzero(y, axis=1)
    if not sizes.all():
        at = int(np.argmin(sizes))
        raise at_row("the set of labels is empty; every row needs at least one label", at, len(y))
    for column in range(y.shape[1]):
        if not labels.fixed:
            labels.code[column]
    return Codes(np.concatenate(([0], np.cumsum(sizes))), np.nonzero(y)[1])
