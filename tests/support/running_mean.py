"""A learner that is not a rule, in one file: what anyone writes to add one."""

from typing import Any

from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param


@method_card(
    paper="Robbins and Monro, A stochastic approximation method, Annals of Mathematical Statistics 22, 1951",
    kind="mean",
    tasks=("regression",),
    params={
        "forget": Param(0.0, at_least=0.0, below=1.0, about="the share of the mean that each round replaces at least"),
        "start": Choice("zero", {"zero": 0.0, "one": 1.0}, about="the prediction before the first target"),
    },
)
class RunningMean:
    """Predict the mean of the targets so far.

    It ignores the features.
    """

    def __init__(self, forget: float, start: str) -> None:
        self.forget, self.rounds = forget, 0
        self.mean = float(start == "one")

    def learn_one(self, x: Any, y: float) -> "RunningMean":
        self.rounds += 1
        self.mean += max(self.forget, 1.0 / self.rounds) * (y - self.mean)
        return self

    def predict_one(self, x: Any) -> float:
        return self.mean
