"""Label codes between an estimator, whose classes are sorted, and a learner, whose classes come in any order.

The learner is given numbers. 0 and 1 have a sign of their own, so that of two classes the greater is the positive one,
whichever is seen first; and the number of a label does not change when a new class sorts before it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import unique_labels

from noregret.evaluation.capabilities import class_sides, classes_of, probabilities_of, scores_of
from noregret.learner.protocol import Learner


@dataclass(frozen=True)
class LabelCodes:
    """The labels, each at the place of the number that the learner knows it by."""

    labels: NDArray[Any]

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted."""
        return np.asarray(np.sort(self.labels))

    def extend(self, labels: NDArray[Any]) -> "LabelCodes":
        """With new labels at the end, sorted."""
        if not self.labels.size:
            return LabelCodes(labels)
        every = unique_labels(self.labels, labels)
        return LabelCodes(np.concatenate([self.labels, np.setdiff1d(every, self.labels)]))

    def encode(self, y: NDArray[Any]) -> NDArray[np.int64]:
        """The number of every label."""
        by_label = np.argsort(self.labels)
        return np.asarray(by_label[np.searchsorted(self.labels, y, sorter=by_label)])

    def decide(self, learner: Learner, X: Any) -> NDArray[np.float64]:
        """The score of each class, in sorted order; for two classes one score, positive for the greater class.

        A class that was announced and never seen has minus infinity.
        """
        scores = scores_of(learner, X)
        if scores is None:
            raise AttributeError(f"{learner.card.name} has no scores, so there is no decision_function")
        by_label = np.argsort(self.labels)
        if len(self.labels) <= 2:
            scores = one_score(learner, scores)
            return scores if by_label[-1] == len(self.labels) - 1 else -scores
        known = classes_of(learner)
        out = np.full((len(scores), len(self.labels)), -np.inf)
        if scores.ndim > 1:
            out[:, known] = scores
        elif len(known) == 1:
            out[:, known] = 0.0
        else:  # as two classes are split when the third appears
            negative, positive = class_sides(learner)
            out[:, negative], out[:, positive] = -0.5 * scores, 0.5 * scores
        return np.asarray(out[:, by_label])

    def probabilities(self, learner: Learner, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in sorted order; 0 for one that was announced and never seen.

        The most probable class is the predicted one, as scikit-learn expects.
        """
        found = probabilities_of(learner, X, scores_of(learner, X), agree=True)
        out = np.zeros((len(found), len(self.labels)))
        out[:, np.asarray(classes_of(learner), int)] = found
        out = out[:, np.argsort(self.labels)]
        if not hasattr(learner, "probabilities"):  # a pool predicts by votes, and its probabilities are a mixture
            lift(out, np.searchsorted(self.classes, self.predict(learner, X)))
        return out

    def predict(self, learner: Learner, X: Any) -> NDArray[Any]:
        """The label of every row."""
        if len(self.labels) == 1:
            return np.repeat(self.labels, X.shape[0])
        scores = scores_of(learner, X) if len(self.labels) == 2 else None
        if scores is not None and scores.ndim == 1:
            return np.asarray(self.labels[(scores >= 0.0).astype(int)])
        if scores is not None:
            return np.asarray(self.labels[np.asarray(learner.predict(X), int)])
        if hasattr(learner, "scores"):
            return np.asarray(self.classes[np.argmax(self.decide(learner, X), axis=1)])
        return np.asarray(self.labels[np.asarray(learner.predict(X), int)])


def lift(probabilities: NDArray[np.float64], predicted: NDArray[np.intp]) -> None:
    """Where another class than the predicted one is the most probable, swap the probabilities of the two."""
    top = np.argmax(probabilities, axis=1)
    wrong = np.flatnonzero(top != predicted)
    larger, smaller = probabilities[wrong, top[wrong]], probabilities[wrong, predicted[wrong]]
    larger = np.where(larger == smaller, np.nextafter(larger, 1.0), larger)  # of equal ones the first would be taken
    probabilities[wrong, top[wrong]], probabilities[wrong, predicted[wrong]] = smaller, larger


def one_score(learner: Learner, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """One score for two classes, positive for the second, where a learner has a score of each."""
    if scores.ndim == 1:
        return scores
    known = np.asarray(classes_of(learner), int)
    if len(known) == 1:
        return np.full(len(scores), 2.0 * known[0] - 1.0)
    each = np.empty((len(scores), 2))
    each[:, known] = scores
    return np.asarray(each[:, 1] - each[:, 0])
