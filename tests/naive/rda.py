"""Regularised dual averaging with an l1 penalty (Xiao 2010).

With gbar the mean of the subgradients of the first t rounds, the weights solve
    min over w of  gbar.w + lam |w|_1 + (gamma / sqrt t) 1/2 |w|^2
"""

from collections.abc import Callable

import numpy as np

from .gradient import slope
from .rules import Array, Round, Rule


class RDA(Rule):
    """Keeps G, the sum of the subgradients; w is a formula of G and t, zero before any round.

    An importance weight scales the subgradient of its round. A gamma of 0 stands for 1/32 of the size of the rows.
    """

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, lam: float = 1e-3, gamma: float = 1.0, loss: str = "hinge", beta: str = "sqrt") -> None:
        assert beta == "sqrt"
        self.lam = lam
        self.told = gamma
        self.loss = loss

    @property
    def gamma(self) -> float:
        return self.told if self.told > 0.0 else self.row_size() / 32.0

    def start(self, k: int, d: int) -> None:
        self.G: Array = np.zeros((k, d))

    def weights(self) -> Array:
        if self.t == 0:
            return np.zeros_like(self.G)
        gbar = self.G / self.t
        moved = -(np.sqrt(self.t) / self.gamma) * (gbar - self.lam * np.sign(gbar))
        return np.where(np.abs(gbar) <= self.lam, 0.0, moved)

    def scores(self, x: Array) -> Array:
        return self.weights() @ x

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        self.G = self.G + r.weight * derivative * r.z
        return derivative != 0.0

    def state(self) -> dict[str, Array]:
        return {"w": self.weights(), "G": self.G}


class Enhanced(RDA):
    """min over w of  gbar.w + lam |w|_1 + (gamma / sqrt t) (1/2 |w|^2 + rho |w|_1)"""

    def __init__(
        self, lam: float = 1e-3, gamma: float = 1.0, rho: float = 0.005, loss: str = "hinge", beta: str = "sqrt"
    ) -> None:
        super().__init__(lam, gamma, loss, beta)
        self.rho = rho

    def weights(self) -> Array:
        if self.t == 0:
            return np.zeros_like(self.G)
        gbar, pull = self.G / self.t, self.gamma / np.sqrt(self.t)
        rho = self.rho if self.told > 0.0 or not any(self.squares) else self.rho / np.sqrt(self.row_size())
        return np.asarray(-np.sign(gbar) * np.maximum(0.0, np.abs(gbar) - self.lam - pull * rho) / pull)


class StronglyConvex(RDA):
    """min over w of  gbar.w + lam |w|_1 + (s / 2) |w|^2; an s of 0 stands for 1/1000 of the size of the rows"""

    def __init__(self, lam: float = 1e-3, s: float = 1.0, loss: str = "hinge") -> None:
        super().__init__(lam, 1.0, loss)
        self.s = s

    def weights(self) -> Array:
        gbar = self.G / max(self.t, 1)
        return np.asarray(
            -np.sign(gbar) * np.maximum(0.0, np.abs(gbar) - self.lam) / (self.s or 1e-3 * self.row_size())
        )


RULES: dict[str, Callable[..., Rule]] = {
    "rda": RDA,
    "rda_enhanced": Enhanced,
    "rda_strongly_convex": StronglyConvex,
}
