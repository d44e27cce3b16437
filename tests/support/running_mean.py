"""A learner that is not a rule, in one file: what anyone writes to add one."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.labels import targets
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.learner.base_learner import BaseLearner
from noregret.learner.header_fields import corrupt, read_number, read_param
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param

FORGET = Param(
    0.0,
    at_least=0.0,
    below=1.0,
    about="the share of the mean that each round replaces at least",
    grid=(0.0, 0.1, 0.5),
)
START = Choice("zero", {"zero": 0.0, "one": 1.0}, about="the prediction before the first target")


@register_kind
@method_card(
    paper="Robbins and Monro, A stochastic approximation method, Annals of Mathematical Statistics 22, 1951",
    kind="mean",
    tasks=("regression",),
    params={"forget": FORGET, "start": START},
)
class RunningMean(BaseLearner):
    """Predict the mean of the targets so far.

    It ignores the features. Its loss is the absolute error; its transcripts have no scores.
    """

    kind: ClassVar[str] = "running_mean"
    task = "regression"

    def __init__(self, forget: float, start: str) -> None:
        super().__init__()
        self.forget, self.start = forget, start
        self.mean: float = START.among[start]

    @property
    def params(self) -> dict[str, Any]:
        return {"forget": self.forget, "start": self.start}

    def play(self, X: Any, y: Any = None, weight: Any = None, query: Any = None) -> Transcript:
        truth = targets(y)
        if Batch(X, y).rows != len(truth):
            raise BadValue(f"X has {Batch(X, y).rows} rows and y has {len(truth)} targets; they must match")
        if weight is not None or query is not None:
            raise BadValue("running_mean takes neither weight nor query")
        with self._lock:
            predictions = np.zeros(len(truth))
            for t, target in enumerate(truth.tolist()):
                predictions[t] = self.mean
                self.rounds += 1
                self.mean += max(self.forget, 1.0 / self.rounds) * (target - self.mean)
            updated, none = predictions != truth, np.zeros(len(truth), bool)
            self.updates += int(np.count_nonzero(updated))
            return Transcript(None, predictions, np.abs(predictions - truth), none, updated, truth)

    def predict(self, X: Any) -> NDArray[Any]:
        return np.full(Batch(X, None).rows, self.mean)

    def dump(self) -> tuple[Header, Arrays]:
        return {**self.params, "mean": self.mean, **self.dump_counts()}, {}

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        if header.get("start") not in START.among:
            raise corrupt("start must be zero or one")
        new = cls(read_param(header, "forget", FORGET), header["start"])
        new.mean = read_number(header.get("mean"), "mean")
        new.restore_counts(header)
        return new
