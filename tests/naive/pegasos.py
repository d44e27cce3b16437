"""Pegasos (Shalev-Shwartz et al. 2011): w = (1 - 1/t) w - 1/(lam t) g, then cut to length 1/sqrt(lam)."""

from collections.abc import Callable

import numpy as np

from .gradient import slope
from .rules import FirstOrder, Round, Rule


class Pegasos(FirstOrder):
    """An importance weight scales g."""

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, lam: float = 3e-3, projection: str = "yes", loss: str = "hinge") -> None:
        self.lam = lam
        self.projection = projection
        self.loss = loss

    def fade(self, t: int) -> float:
        return 1.0 - 1.0 / t

    def longest(self) -> float:
        return float(1.0 / np.sqrt(self.lam)) if self.projection == "yes" else np.inf

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        derivative = slope(self.loss, r)
        return -r.weight * derivative / (self.lam * t) if derivative != 0.0 else None


RULES: dict[str, Callable[..., Rule]] = {"pegasos": Pegasos}
