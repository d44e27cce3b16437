"""What networks and torch modules share as learners of labels: what the model that reads for them knows."""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import RowsLike
from noregret.errors import BadValue
from noregret.learner.change import Change
from noregret.learner.model import Model
from noregret.learner.probabilities import class_columns, log_odds_to_probabilities

Floats = NDArray[np.float64]


class ReadLabels:
    """Task, classes, features and probabilities of a learner whose rows and labels a model reads."""

    card: Any
    reader: Model
    given_params: dict[str, Any]
    _lock: threading.RLock
    _change: Change

    @property
    def task(self) -> str:
        """The name of the task; binary becomes multiclass at the third class, unless it was asked for."""
        return self.reader.task.name

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.given_params)

    @property
    def classes(self) -> list[Any]:
        """The labels seen so far, in order of appearance."""
        return self.reader.labels.order

    @property
    def features(self) -> list[Any]:
        """The features seen so far, by name or number."""
        with self._lock:
            self._change.settle()
            return self.reader.feature_names()

    def scores(self, X: RowsLike) -> Floats:
        """The score of every row: (n,) for two classes and regression, (n, classes) otherwise."""
        raise NotImplementedError

    def predict_proba(self, X: RowsLike) -> Floats:
        """The probability of every class for every row, in the order of `classes`: softmax of the scores.

        With two classes the logistic function. Scores are taken for log-odds, as those of cross-entropy are.
        """
        with self._lock:
            self._change.settle()
            model = self.reader
            if model.task.no_probabilities is not None:
                raise BadValue(f"{self.card.name} has no probabilities in {self.task}: {model.task.no_probabilities}")
            found = self.scores(X)
            if len(model.labels) < 2:
                return np.ones((len(found), len(model.labels)))
            columns = class_columns(model.labels, found) if found.ndim == 1 else found
            return log_odds_to_probabilities(columns, False)
