"""Rows without labels: a learner of two classes teaches itself where it is sure."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from noregret.errors import BadValue, shown
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.parameters import Param
from noregret.training.epochs import put_back
from noregret.training.lesson import Lesson, indexable, is_learner, whole

CONFIDENCE = Param(0.5, at_least=0.0)
WEIGHT = Param(0.5, above=0.0, at_most=1.0)


class SelfTraining:
    """A learner of two classes that also learns rows without labels, by its own predictions where these are sure.

    A row whose label is None is learned with the label predicted and the weight `weight` if its score is at least
    `confidence` in size, and otherwise left. `labelled`, `taken` and `left` count rows; `mistakes` those with labels
    that were predicted wrongly.
    """

    def __init__(self, learner: RuleLearner, confidence: float = 0.5, weight: float = 0.5) -> None:
        is_learner(learner, "self_training")
        self.learner = learner
        self.confidence = CONFIDENCE.check("self_training", "confidence", confidence)
        self.weight = WEIGHT.check("self_training", "weight", weight)
        if self.weight != 1.0 and not learner.card.supports_weights:
            raise BadValue(f"self_training: {learner.card.name} cannot weigh rounds; ask for weight=1")
        self.labelled = self.taken = self.left = self.mistakes = 0
        self.must_be_two()

    def must_be_two(self) -> None:
        if self.learner.task != "binary":
            raise BadValue(f"self_training is for learners of two classes; this one plays {self.learner.task}")

    def learn(self, X: Any, y: Any) -> "SelfTraining":
        """Learn rows in order, those without a label (None) by what is predicted for them; all or none."""
        lesson = Lesson(X, y)
        counts = (self.labelled, self.taken, self.left, self.mistakes)
        before = None if len(lesson) == 1 else self.learner.copy()  # one round is refused before it changes anything
        try:
            for start, stop, labelled in stretches(lesson.y):
                if labelled:
                    self.teach(lesson.part(start, stop))
                else:
                    self.must_be_two()
                    for row in range(start, stop):
                        self.guess(lesson.part(row, row + 1))
        except BaseException:
            if before is not None:
                put_back(self.learner, before)
            self.labelled, self.taken, self.left, self.mistakes = counts
            raise
        return self

    def teach(self, lesson: Lesson) -> None:
        mistakes = self.learner.mistakes
        lesson.teach(self.learner)
        self.labelled += len(lesson)
        self.mistakes += self.learner.mistakes - mistakes

    def guess(self, lesson: Lesson) -> None:
        """Learn a row by its own prediction, if it is sure enough; before both classes are known nothing is."""
        if len(self.learner.classes) < 2:
            self.left += 1
            return
        try:
            score = self.learner.scores(lesson.X)
        except BadValue as error:
            raise lesson.placed(error) from None
        if abs(score[0]) < self.confidence:
            self.left += 1
            return
        weight = None if self.weight == 1.0 else self.weight
        self.learner.learn(lesson.X, self.learner.decide(score), weight)
        self.taken += 1

    def predict(self, X: Any) -> np.ndarray:
        """The label of every row."""
        return self.learner.predict(X)


def stretches(y: Any) -> list[tuple[int, int, bool]]:
    """The runs of rows that have a label, and of those that have none."""
    absent = np.array([label is None for label in y])
    cuts = [0, *(1 + np.flatnonzero(absent[1:] != absent[:-1])).tolist(), len(absent)]
    return [(start, stop, not absent[start]) for start, stop in pairwise(cuts)]


def self_training(learner: RuleLearner, confidence: float = 0.5, weight: float = 0.5) -> SelfTraining:
    """The learner for rows of which some have no label: `learn(X, y)` with None where there is none."""
    return SelfTraining(learner, confidence, weight)


@dataclass(frozen=True)
class Transduced:
    """The labels of a pool, how many of them every pass changed, and whether the last one changed none."""

    labels: np.ndarray
    changes: list[int]
    settled: bool
    learner: RuleLearner

    @property
    def passes(self) -> int:
        return len(self.changes)


def transduce(
    learner: RuleLearner, pool: Any, confidence: float = 0.5, weight: float = 0.5, passes: int = 20
) -> Transduced:
    """The labels of a fixed pool of rows: taught to a copy of the learner by self-training until none changes.

    The pool is gone through in its order, at most `passes` times; the learner itself stays as it was.
    """
    is_learner(learner, "transduce")
    rows, passes = indexable(pool), whole("passes", passes, 1)
    size = int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)
    if len(learner.classes) < 2:
        raise BadValue(f"transduce needs a learner that knows two classes; this one knows {shown(learner.classes)}")
    if not size:
        raise BadValue("the pool has no rows; there is nothing to label")
    copy = self_training(learner.copy(), confidence, weight)
    labels, changes = copy.predict(rows), list[int]()
    while len(changes) < passes:
        before = labels
        labels = copy.learn(rows, [None] * size).predict(rows)
        changes.append(int(np.count_nonzero(labels != before)))
        if changes[-1] == 0:
            break
    return Transduced(labels, changes, changes[-1] == 0, copy.learner)
