"""The tree adversary: it asks the row on which the concepts left disagree most, and says the learner was wrong."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.concepts.concept_class import PredicateClass, ThresholdClass, concept_class
from noregret.errors import BadValue

MOST_FEATURES = 12  # up to so many features, every row may be asked


class TreeAdversary:
    """Walks down a mistake tree of a class: whatever is predicted is wrong, as long as some concept explains that.

    Where the rows split the class in equal halves, as the unit vectors split all monotone disjunctions, it forces
    log2 |C| mistakes on any learner. With more than 12 features it asks the unit vectors and their complements.
    """

    def __init__(self, concepts: Any) -> None:
        known = concept_class(concepts)
        if isinstance(known, PredicateClass):
            raise BadValue("the adversary needs a class that knows its features")
        self.concepts: ThresholdClass = known
        self.points = find_points(len(known.features))
        every = np.arange(len(known))
        self.values = np.array([known.evaluate(np.flatnonzero(point), every) for point in self.points])
        self.left: NDArray[np.bool_] = np.ones(len(known), bool)

    def next_row(self) -> NDArray[np.float64] | None:
        """The row on which the concepts left disagree most; None where they agree on all rows."""
        ones = self.values[:, self.left].sum(axis=1)
        smaller = np.minimum(ones, np.count_nonzero(self.left) - ones)
        self.asked = int(np.argmax(smaller))
        return None if smaller[self.asked] == 0 else np.array(self.points[self.asked], np.float64)

    def answer(self, predicted: bool) -> bool:
        """The label of the row that was asked: the other one."""
        label = not predicted
        self.left = self.left & (self.values[self.asked] == label)
        return label


def find_points(n: int) -> Sequence[tuple[int, ...]]:
    if n <= MOST_FEATURES:
        return list(itertools.product((0, 1), repeat=n))
    units = np.eye(n, dtype=int)
    return [tuple(row) for row in (*units.tolist(), *(1 - units).tolist())]


def force_mistakes(learner: Any, concepts: Any) -> list[tuple[NDArray[np.float64], int]]:
    """Play the adversary against a learner of the labels 0 and 1; the rounds that it lost.

    The learner predicts columns; one that has not seen a label is told in its first round that it was wrong to say 0.
    """
    adversary, lost = TreeAdversary(concepts), []
    while (row := adversary.next_row()) is not None:
        said = learner.predict_one(row)
        label = int(adversary.answer(bool(said)))
        learner.learn_one(row, label)
        lost.append((row, label))
    return lost
