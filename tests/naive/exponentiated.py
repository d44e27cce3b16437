"""Exponentiated gradients, EG and EG+- (Kivinen and Warmuth 1997): w_j *= exp(-eta g_j), then all are divided by their
sum. EG+- is EG over (U x, -U x).

The weights of all classes share one whole. It is shared among the features counted so far: those up to the largest
index with a value in a round that had a slope, or in the row that is scored. Likewise for classes.
"""

from collections.abc import Callable

import numpy as np

from .gradient import slope
from .rules import Array, Round, Rule


def reach(x: Array) -> int:
    return int(np.max(np.flatnonzero(x), initial=-1)) + 1


class EG(Rule):
    """Keeps the logarithms of the weights, not divided by their sum. An eta of 0 stands for one over the size of the
    rows."""

    margin_rule = False
    weighs = True
    regresses = True
    sides = 1

    def __init__(self, eta: float = 0.1, features: float = 0.0, loss: str = "perceptron") -> None:
        self.eta = eta
        self.told = features
        self.loss = loss
        self.used, self.classes = 0, 1

    def count_of(self, x: Array) -> float:
        """How many features there are."""
        return max(self.told, self.used, reach(x), 1)

    def pace(self, x: Array) -> float:
        return self.eta or 1.0 / self.row_size()

    def whole(self, x: Array) -> tuple[float, float]:
        """The largest logarithm, and the sum of all weights divided by that weight."""
        n = self.count_of(x)
        counted = self.w[: self.classes, : min(int(n), self.w.shape[1])]
        rest = self.sides * (n * self.classes - counted.size)
        logs = self.logs(counted)
        top = float(max(logs.max(), 0.0) if rest > 0.0 else logs.max())
        return top, float(np.exp(logs - top).sum() + (rest * np.exp(-top) if rest > 0.0 else 0.0))

    def logs(self, w: Array) -> Array:
        return w.ravel()

    def scores(self, x: Array) -> Array:
        top, whole = self.whole(x)
        return np.where(x != 0.0, np.exp(self.w - top), 0.0) @ x / whole

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        if derivative != 0.0 and r.x.any():
            self.used = max(self.used, reach(r.x))
            self.classes = max(self.classes, reach(r.signs))
        self.w = self.w - self.pace(r.x) * r.weight * derivative * r.z
        return derivative != 0.0


class SignedEG(EG):
    """w holds the logarithms of w+; those of w- are their opposites, as their gradients are.

    With n weights and rows of size S, a U of 0 stands for 100 sqrt(n / S), and an eta of 0 for n / (U^2 S).
    """

    sides = 2

    def __init__(self, eta: float = 0.1, U: float = 1.0, features: float = 0.0, loss: str = "hinge") -> None:
        super().__init__(eta, features, loss)
        self.U = U

    def total(self, x: Array) -> float:
        return self.U or 100.0 * float(np.sqrt(self.count_of(x) * self.classes / self.row_size()))

    def pace(self, x: Array) -> float:
        U = self.total(x)
        return self.eta * U if self.eta > 0.0 else self.count_of(x) * self.classes / (U * self.row_size())

    def logs(self, w: Array) -> Array:
        return np.concatenate([w.ravel(), -w.ravel()])

    def scores(self, x: Array) -> Array:
        top, whole = self.whole(x)
        apart = np.exp(self.w - top) - np.exp(-self.w - top)
        small = np.abs(self.w) < 1.0  # where the difference would lose its digits
        return (
            self.total(x)
            * np.where(small, 2.0 * np.sinh(np.where(small, self.w, 0.0)) * np.exp(-top), apart)
            @ x
            / whole
        )


RULES: dict[str, Callable[..., Rule]] = {"eg": EG, "eg_signed": SignedEG}
