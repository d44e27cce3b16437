"""A learner that is not a rule: it predicts the mean of the targets so far, whatever the row."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.labels import targets
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned
from noregret.learner.base_learner import BaseLearner
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.rules.card import Card


@register_kind
class MeanLearner(BaseLearner):
    """Predict the mean of the targets so far; the loss is the absolute error. Its transcripts have no scores."""

    kind: ClassVar[str] = "test_mean"
    card: ClassVar[Card] = Card(name="mean_learner", kind="test_mean", rule=lambda: None, paper="", params={}, state={})
    task = "regression"

    def __init__(self) -> None:
        super().__init__()
        self.total = 0.0

    def play(self, X: Any, y: Any = None, weight: Any = None, query: Any = None) -> Transcript:
        truth = targets(y)
        rows = Batch(X, y).rows
        if rows != truth.size:
            raise BadValue(f"X has {rows} rows and y has {truth.size} targets; they must match")
        sums = np.cumsum(np.concatenate(([self.total], truth)))
        before = np.arange(self.rounds, self.rounds + truth.size)
        predictions = sums[:-1] / np.maximum(before, 1)
        losses = np.abs(truth - predictions)
        updated = np.ones(truth.size, bool)
        self.total, self.rounds = float(sums[-1]), self.rounds + truth.size
        self.updates += truth.size
        return Transcript(None, predictions, losses, ~updated, updated, truth)

    def predict(self, X: Any) -> NDArray[Any]:
        if not self.rounds:
            raise NotLearned("mean_learner has not seen a target yet")
        return np.full(Batch(X, None).rows, self.total / self.rounds)

    def dump(self) -> tuple[Header, Arrays]:
        return {"total": self.total, **self.dump_counts()}, {}

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        new = cls()
        new.total = float(header["total"])
        new.restore_counts(header)
        return new
