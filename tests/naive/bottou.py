"""Bottou's SGD (2010): w = (1 - eta lam) w - eta g with eta = eta0 / (1 + lam eta0 t), from t = 1 on; its mean."""

from collections.abc import Callable

import numpy as np

from .gradient import slope
from .rules import Array, FirstOrder, Round, Rule


class Bottou(FirstOrder):
    """An importance weight scales g."""

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, eta0: float = 1.0, lam: float = 1e-4, loss: str = "hinge") -> None:
        self.eta0, self.lam, self.loss = eta0, lam, loss

    def eta(self, t: int) -> float:
        if self.eta0 == 0.0 and not any(self.squares):
            return 0.0
        eta0 = self.eta0 or 1.0 / self.row_size()
        return eta0 / (1.0 + self.lam * eta0 * t)

    def fade(self, t: int) -> float:
        return 1.0 - self.eta(t) * self.lam

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        derivative = slope(self.loss, r)
        return -self.eta(t) * r.weight * derivative if derivative != 0.0 else None


class AveragedBottou(Bottou):
    """Keeps the weights after every round in a list; predicts with the mean of those later than `after`."""

    def __init__(self, eta0: float = 1.0, lam: float = 1e-4, after: float = 0.0, loss: str = "hinge") -> None:
        super().__init__(eta0, lam, loss)
        self.after = after
        self.past: list[Array] = []

    def update(self, r: Round) -> bool:
        moved = super().update(r)
        self.past.append(self.w)
        return moved

    def final_scores(self, x: Array) -> Array:
        late = [w for t, w in enumerate(self.past, start=1) if t > self.after]
        return np.asarray((sum(late) / (self.t - self.after) if late else self.w) @ x)


def pass_over(X: Array, y: Array, eta0: float, lam: float) -> tuple[Array, Array, float]:
    """One pass with the hinge loss for labels -1 and +1: the last weights, their mean, and the mean of the losses."""
    w, total, suffered = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0
    for t in range(1, len(X) + 1):
        margin = y[t - 1] * float(w @ X[t - 1])
        suffered += max(0.0, 1.0 - margin)
        eta = eta0 / (1.0 + lam * eta0 * t)
        w = (1.0 - eta * lam) * w
        if margin < 1.0:
            w = w + eta * y[t - 1] * X[t - 1]
        total = total + w
    return w, total / len(X), suffered / len(X)


def choose_eta0(X: Array, y: Array, lam: float) -> float:
    """From 1, by factors of 2, to where the mean loss of a pass no longer falls."""
    costs = {n: pass_over(X, y, 2.0**n, lam)[2] for n in range(-20, 21)}
    n = 0
    while costs[n + 1] < costs[n]:
        n += 1
    while n <= 0 and costs[n - 1] < costs[n]:
        n -= 1
    return 2.0**n


RULES: dict[str, Callable[..., Rule]] = {"sgd_bottou": Bottou, "sgd_bottou_averaged": AveragedBottou}
