"""Labels between an estimator, whose classes are sorted, and a learner, whose classes come as they come.

The learner is given numbers: 0 and 1 carry a sign of their own, so of two classes the greater is the positive one
whichever is seen first; and a number, once given, never changes when a new class sorts before it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import unique_labels

from noregret.learner.rule_learner import RuleLearner


@dataclass(frozen=True)
class Coding:
    """The labels by the number the learner knows them by."""

    labels: np.ndarray

    @property
    def classes(self) -> np.ndarray:
        return np.asarray(np.sort(self.labels))

    def extended(self, seen: np.ndarray) -> "Coding":
        """With labels never met before at the end, in order."""
        if not self.labels.size:
            return Coding(seen)
        every = unique_labels(self.labels, seen)
        return Coding(np.concatenate([self.labels, np.setdiff1d(every, self.labels)]))

    def codes(self, y: np.ndarray) -> np.ndarray:
        by_label = np.argsort(self.labels)
        return np.asarray(by_label[np.searchsorted(self.labels, y, sorter=by_label)])

    def decisions(self, learner: RuleLearner, X: Any) -> np.ndarray:
        """How much speaks for each class, in sorted order; one number for the greater of two classes.

        A class that was announced and never seen has minus infinity.
        """
        scores = learner.scores(X)
        by_label = np.argsort(self.labels)
        if len(self.labels) <= 2:
            return scores if by_label[-1] == len(self.labels) - 1 else -scores
        out = np.full((len(scores), len(self.labels)), -np.inf)
        if learner.task == "multiclass":
            out[:, learner.classes] = scores
        elif len(learner.classes) == 1:
            out[:, learner.classes] = 0.0
        else:  # as two classes are split when the third appears
            negative, positive = learner.model.labels.sides(2)
            out[:, negative], out[:, positive] = -0.5 * scores, 0.5 * scores
        return np.asarray(out[:, by_label])

    def predictions(self, learner: RuleLearner, X: Any) -> np.ndarray:
        if len(self.labels) == 1:
            return np.repeat(self.labels, X.shape[0])
        if len(self.labels) == 2:
            return np.asarray(self.labels[(learner.scores(X) >= 0.0).astype(int)])
        return np.asarray(self.classes[np.argmax(self.decisions(learner, X), axis=1)])
