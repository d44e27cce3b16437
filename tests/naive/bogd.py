"""BOGD and BOGD++ (Zhao, Wang, Wu, Jin and Hoi 2012): kernel gradient descent that drops a random term.

The numbers of chance are r = 16807 r mod 2^31 - 1. A dropped term is replaced by the last one.
"""

from collections.abc import Callable

import numpy as np

from .gradient import slope
from .kernels import KernelRule
from .rules import Array, Round, Rule


class BOGD(KernelRule):
    """An importance weight scales the gradient."""

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(
        self, budget: float = 500.0, eta: float = 1.0, lam: float = 1e-3, ceiling: float = 1.0, **told: str
    ) -> None:
        self.budget, self.eta, self.lam, self.ceiling = int(budget), eta, lam, ceiling
        self.by_size, self.loss = told.get("removal", "size") == "size", told.get("loss", "hinge")
        self.random = int(np.random.default_rng(0).integers(1, 2**31 - 1))
        self.rows: list[Array] = []
        self.alpha: Array = np.zeros(0)

    def scores(self, x: Array) -> Array:
        return np.array([sum(a * self.kernel(row, x) for a, row in zip(self.alpha, self.rows, strict=True))])

    def sqnorm(self, r: Round) -> float:
        return self.kernel(r.x, r.x)

    def chances(self) -> Array:
        """With which probability each term is dropped."""
        n = len(self.rows)
        sizes = np.array([abs(a) * np.sqrt(self.kernel(x, x)) for a, x in zip(self.alpha, self.rows, strict=True)])
        if not self.by_size or n == 1 or sizes.sum() == 0.0:
            return np.full(n, 1.0 / n)
        return np.asarray((1.0 - sizes / sizes.sum()) / (n - 1))

    def drop(self) -> None:
        self.random = 16807 * self.random % (2**31 - 1)
        chances = self.chances()
        drawn = np.searchsorted(np.cumsum(chances), self.random / (2**31 - 1), side="right")
        at = min(int(drawn), len(self.rows) - 1)
        order = [i for i in range(len(self.rows)) if i != at]
        if order and at < len(self.rows) - 1:
            order = [*order[:at], order[-1], *order[at:-1]]
        self.rows = [self.rows[i] for i in order]
        self.alpha = (self.alpha / np.where(chances < 1.0, 1.0 - chances, 1.0))[order]

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        self.alpha = max(0.0, 1.0 - self.eta * self.lam) * self.alpha
        if derivative == 0.0 or self.sqnorm(r) == 0.0:
            return derivative != 0.0
        full = len(self.rows) >= self.budget
        if full:
            self.drop()
        self.rows = [*self.rows, r.x.copy()]
        self.alpha = np.append(self.alpha, -self.eta * r.weight * derivative * r.signs[0])
        if full:
            self.alpha = self.alpha * min(1.0, self.ceiling * self.eta / np.abs(self.alpha).max())
        return True

    def state(self) -> dict[str, Array]:
        return {"coefficients": self.alpha[None, :]}

    def shared_state(self) -> dict[str, Array]:
        return {"supports": np.array(self.rows)}


RULES: dict[str, Callable[..., Rule]] = {"bogd": BOGD}
