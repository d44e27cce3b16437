"""ROMMA and aggressive ROMMA (Li and Long 2002): the shortest w with z.w >= 1 and w_t.w >= |w_t|^2.

Both constraints are met with equality unless the first alone implies the second. With equality, w = a w_t + b z, where
a and b solve two linear equations; there is no solution when z points straight away from w_t.
"""

from collections.abc import Callable

import numpy as np

from .rules import FirstOrder, Round, Rule


class Romma(FirstOrder):
    """Learns from rounds whose margin is not above the threshold, 0 included."""

    shortest = np.inf

    def wants(self, margin: float) -> bool:
        return margin <= 0.0

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        if not self.wants(r.margin):
            return None
        size = self.size()
        self.shortest = min(self.shortest, float(np.sqrt(sqnorm)))
        gram = np.array([[size, r.margin], [r.margin, sqnorm]])
        parallel = np.linalg.det(gram) <= 1e-12 * size * sqnorm
        if r.margin / sqnorm >= size or (parallel and r.margin > 0.0):  # w = z / |z|^2 has w_t.w >= |w_t|^2
            self.shrink = 0.0
            return 1.0 / sqnorm
        if parallel:
            return None
        if np.sqrt(size) * self.shortest > 1e6:  # no margin is left: start again
            self.shrink = 0.0
            return 1.0 / sqnorm
        a, b = np.linalg.solve(gram, [size, 1.0])
        self.shrink = float(a)
        return float(b)


class AggressiveRomma(Romma):
    """Learns from every round with a margin below 1."""

    def wants(self, margin: float) -> bool:
        return margin < 1.0


RULES: dict[str, Callable[..., Rule]] = {"romma": Romma, "romma_aggressive": AggressiveRomma}
