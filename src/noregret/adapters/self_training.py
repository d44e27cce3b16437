"""Self-training: a learner of two classes also learns rows without labels, by its own confident predictions."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.adapters.transcripts import join_transcripts
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.labels import as_array
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, shown
from noregret.learner.arguments import as_rule_learner, check_integer, check_rule_learner, describe
from noregret.learner.base_learner import BaseLearner, Transforms
from noregret.learner.header_fields import corrupt, read_count, read_param
from noregret.learner.labelled_rows import LabelledRows, as_indexable
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, register_kind, restore_part
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.whole_change import run_whole
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Component, Param

CONFIDENCE = Param(
    0.5, at_least=0.0, about="the smallest |score| at which a prediction is learned", search=(0.05, 5.0, "log")
)
WEIGHT = Param(
    0.5,
    above=0.0,
    at_most=1.0,
    about="the importance weight of rows labelled by their own prediction",
    search=(0.05, 1.0, "linear"),
)


@register_kind
@method_card(
    paper="Scudder, Probability of error of some adaptive pattern-recognition machines, IEEE Transactions on "
    "Information Theory 11, 1965",
    kind="self_training",
    tasks=("binary",),
    params={
        "learner": Component("pa1", "the learner that is trained"),
        "confidence": CONFIDENCE,
        "weight": WEIGHT,
    },
    weights=True,
)
class SelfTraining(BaseLearner):
    """A learner of two classes that also learns rows without labels, by its own predictions where they are confident.

    A row whose label is None is learned with the predicted label and the weight `weight` if its score is at least
    `confidence` in size, and skipped otherwise. `labelled`, `self_labelled` and `skipped` count rows; `mistakes` counts
    rows with labels that were predicted wrongly.
    """

    kind: ClassVar[str] = "self_training"

    def __init__(self, learner: RuleLearner | str, confidence: float = 0.5, weight: float = 0.5) -> None:
        super().__init__()
        self.learner = as_rule_learner(learner, "self_training", "it needs scores of two classes")
        self.confidence = CONFIDENCE.check("self_training", "confidence", confidence)
        self.weight = WEIGHT.check("self_training", "weight", weight)
        if self.weight != 1.0 and not self.learner.card.supports_weights:
            raise BadValue(f"self_training: {self.learner.card.name} cannot weigh rounds; use weight=1")
        self.labelled = self.self_labelled = self.skipped = 0
        self.check_two_classes()

    @property
    def task(self) -> str:
        return self.learner.task

    @property
    def params(self) -> dict[str, Any]:
        return {"learner": describe(self.learner), "confidence": self.confidence, "weight": self.weight}

    def __repr__(self) -> str:
        counts = f"{self.labelled} labelled, {self.self_labelled} self-labelled, {self.skipped} skipped"
        return f"<self-training of {self.learner!r}: {counts}>"

    def check_two_classes(self) -> None:
        if self.learner.task != "binary":
            raise BadValue(f"self_training is for learners of two classes; this one plays {self.learner.task}")

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round; rows without a label (None) by their prediction; all of them, or none.

        Rounds without a label have no loss and are no mistakes.
        """
        if query is not None:
            raise BadValue("self_training takes rows one by one; leave query out")
        X = as_indexable(X)
        rows = LabelledRows(X, [None] * count_rows(X) if y is None else y, weight)
        runs = list(label_runs(rows.y))
        with self._lock:
            self._change.settle()
            steps = sum(1 if labelled else stop - start for start, stop, labelled in runs)

            def play() -> Transcript:
                return join_transcripts([part for run in runs for part in self.play_run(rows, *run)])

            return run_whole(self._change, lambda: [self.learner], self._own_state, play, steps > 1)

    def play_run(self, rows: LabelledRows, start: int, stop: int, labelled: bool) -> Iterator[Transcript]:
        """Play consecutive rows that all have a label, or all have none."""
        if labelled:
            transcript = rows.slice(start, stop).play(self.learner)
            self.labelled += stop - start
            self.count(transcript)
            yield transcript
            return
        self.check_two_classes()
        for row in range(start, stop):
            transcript = self.play_unlabelled(rows.slice(row, row + 1))
            self.count(transcript)
            yield transcript

    def count(self, transcript: Transcript) -> None:
        self.rounds += transcript.rounds
        self.mistakes += int(np.count_nonzero(transcript.mistakes))
        self.updates += int(np.count_nonzero(transcript.updated))

    def play_unlabelled(self, row: LabelledRows) -> Transcript:
        """Learn a row by its own prediction, if that is confident enough and both classes are known."""
        learner, score, prediction, updated = self.learner, np.zeros(1), None, False
        try:
            if learner.model.arrays is not None:
                score = learner.scores(row.X)
                prediction = learner.decide(score)[0]
            if len(learner.classes) == 2 and learner.model.arrays is not None and abs(score[0]) >= self.confidence:
                weight = row.weight if self.weight == 1.0 else self.weight * (1.0 if row.weight is None else row.weight)
                updated = bool(learner.play(row.X, [prediction], weight).updated[0])
                self.self_labelled += 1
            else:
                self.skipped += 1
        except BadValue as error:
            raise row.locate(error) from None
        none = np.zeros(1, bool)
        return Transcript(score, as_array([prediction]), np.zeros(1), none, none | updated, as_array([None]))

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The label of every row."""
        return self.learner.predict(X)

    def predict_one(self, x: RowLike) -> Any:
        """The label of one row; None before anything was learned."""
        return self.learner.predict_one(x)

    def put_behind(self, steps: Transforms) -> Self:
        """A fresh learner like this one; the transforms come before the learner inside."""
        return type(self)(steps | self.learner, self.confidence, self.weight)

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        """The learner, the options and the counts."""
        with self._lock:
            self._change.settle()
            learner, arrays = dump_part("learner", self.learner)
            counts = {"labelled": self.labelled, "self_labelled": self.self_labelled, "skipped": self.skipped}
            options = {"confidence": self.confidence, "weight": self.weight}
            return {"learner": learner, **options, **self.dump_counts(), **counts}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learner, the options and the counts, all checked."""
        learner = restore_part("learner", header.get("learner"), arrays, find_card)
        confidence, weight = read_param(header, "confidence", CONFIDENCE), read_param(header, "weight", WEIGHT)
        try:
            new = cls(learner, confidence, weight)
        except BadValue as error:
            raise corrupt(str(error)) from None
        new.restore_counts(header)
        new.labelled, new.self_labelled = read_count(header, "labelled"), read_count(header, "self_labelled")
        new.skipped = read_count(header, "skipped")
        if new.labelled + new.self_labelled + new.skipped != new.rounds or new.mistakes > new.labelled:
            raise corrupt("the counts of self-training do not fit together")
        return new


def count_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def label_runs(y: Any) -> Iterator[tuple[int, int, bool]]:
    """The runs of consecutive rows that all have a label, or all have none: start, stop, whether they have one."""
    missing = np.array([label is None for label in y], bool)
    cuts = [0, *(1 + np.flatnonzero(missing[1:] != missing[:-1])).tolist(), len(missing)]
    return ((start, stop, not missing[start]) for start, stop in pairwise(cuts) if stop > start)


def self_training(learner: RuleLearner | str, confidence: float = 0.5, weight: float = 0.5) -> SelfTraining:
    """A learner for rows of which some have no label: `learn(X, y)` with None where there is none."""
    return SelfTraining(learner, confidence, weight)


@dataclass(frozen=True)
class Transduced:
    """The labels of a pool, how many of them each pass changed, and whether the last pass changed none."""

    labels: NDArray[Any]
    changes: list[int]
    settled: bool
    learner: RuleLearner

    @property
    def passes(self) -> int:
        return len(self.changes)


def transduce(
    learner: RuleLearner, pool: Any, confidence: float = 0.5, weight: float = 0.5, passes: int = 20
) -> Transduced:
    """Label a fixed pool of rows: a copy of the learner is self-trained on it until no label changes.

    Each pass goes through the pool in order, at most `passes` times; the learner itself does not change.
    """
    check_rule_learner(learner, "transduce", "it needs scores of two classes")
    rows, passes = as_indexable(pool), check_integer("passes", passes, 1)
    size = count_rows(rows)
    if len(learner.classes) < 2:
        raise BadValue(f"transduce needs a learner that knows two classes; this one knows {shown(learner.classes)}")
    if not size:
        raise BadValue("the pool has no rows; there is nothing to label")
    trainer = self_training(learner.copy(), confidence, weight)
    labels, changes = trainer.predict(rows), list[int]()
    while len(changes) < passes:
        before = labels
        labels = trainer.learn(rows, [None] * size).predict(rows)
        changes.append(int(np.count_nonzero(labels != before)))
        if changes[-1] == 0:
            break
    return Transduced(labels, changes, changes[-1] == 0, trainer.learner)
