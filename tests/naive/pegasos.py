"""Pegasos (Shalev-Shwartz et al. 2011): w = (1 - 1/t) w - 1/(lam t) g, then cut to length 1/sqrt(lam)."""

from collections.abc import Callable

import numpy as np

from .gradient import slope
from .rules import Array, FirstOrder, Round, Rule


class Pegasos(FirstOrder):
    """An importance weight scales g. A lam of 0 stands for 1/1000 of the size of the rows; where that changes, the "
    "weights
    do too, so that they are -1 / (lam t) times the sum of all g."""

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, lam: float = 3e-3, projection: str = "yes", loss: str = "hinge") -> None:
        self.told = lam
        self.projection = projection
        self.loss = loss

    @property
    def lam(self) -> float:
        return self.told if self.told > 0.0 else 1e-3 * self.row_size()

    def fade(self, t: int) -> float:
        grown = self.row_size() / self.row_size(but=1) if self.told == 0.0 and sum(self.squares[:-1]) > 0.0 else 1.0
        return (1.0 - 1.0 / t) / grown

    def longest(self) -> float:
        return float(1.0 / np.sqrt(self.lam)) if self.projection == "yes" else np.inf

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        derivative = slope(self.loss, r)
        return -r.weight * derivative / (self.lam * t) if derivative != 0.0 else None


class PegasosBatch(Rule):
    """Keeps the gradients of the batch in a list; step n is w = (1 - 1/n) w - 1/(lam n) times their mean."""

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, lam: float = 3e-3, k: float = 12.0, loss: str = "hinge") -> None:
        self.lam, self.k, self.loss = lam, int(k), loss
        self.gradients: list[Array] = []
        self.batches = 0

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        self.gradients.append(r.weight * derivative * r.z)
        if len(self.gradients) == self.k:
            self.batches += 1
            n = self.batches
            self.w = (1.0 - 1.0 / n) * self.w - np.mean(self.gradients, axis=0) / (self.lam * n)
            self.gradients = []
        return derivative != 0.0


RULES: dict[str, Callable[..., Rule]] = {"pegasos": Pegasos, "pegasos_batch": PegasosBatch}
