"""Online feature selection (Wang, Zhao, Hoi, Jin 2014): all weights but the B largest are set to zero."""

import math
from collections.abc import Callable

import numpy as np

from .rules import Array, Round, Rule


def truncated(w: Array, B: float) -> Array:
    """The B largest |w_cj|; of equal ones the lower feature stays, then the lower class."""
    k, d = w.shape
    order = sorted((-abs(w[c, j]), j, c) for c in range(k) for j in range(d))
    left = np.zeros_like(w)
    for _, j, c in order[: int(B)]:
        left[c, j] = w[c, j]
    return left


class OFS(Rule):
    """A round with a margin above 1 only shrinks w. An eta of 0 stands for one over the size of the rows."""

    def __init__(self, B: float = 10.0, eta: float = 0.2, lam: float = 0.01) -> None:
        self.B, self.eta, self.lam = B, eta, lam

    def update(self, r: Round) -> bool:
        eta = self.eta or 1.0 / self.row_size()
        shrunk = max(0.0, 1.0 - self.lam * eta) * self.w
        if r.margin > 1.0:
            changed = self.lam > 0.0
            self.w = shrunk
            return changed
        w = shrunk + eta * r.z
        if self.lam > 0.0:
            w = w * min(1.0, 1.0 / (np.sqrt(self.lam) * np.linalg.norm(w)))
        self.w = truncated(w, self.B)
        return True


class TruncatedPerceptron(Rule):
    """The baseline: a perceptron that forgets."""

    def __init__(self, B: float = 10.0) -> None:
        self.B = B

    def update(self, r: Round) -> bool:
        if r.margin > 0.0:
            return False
        self.w = truncated(self.w + r.z, self.B)
        return True


class PartialOFS(Rule):
    """Reads only some features of a row: with probability eps some B of those known, else those with a weight.

    The numbers of chance are r = 16807 r mod 2^31 - 1: one decides whether to read at random, two more give a and b,
    and the features j with (a j + b) mod d < B are read. Every class has a support of its own.
    """

    def __init__(self, B: float = 10.0, eta: float = 0.2, eps: float = 0.2, R: float = 10.0) -> None:
        self.B, self.eta, self.eps, self.R = int(B), eta, eps, R
        self.random = int(np.random.default_rng(0).integers(1, 2**31 - 1))
        self.d = 0
        self.chosen: list[int] | None = None

    def chance(self) -> float:
        self.random = 16807 * self.random % (2**31 - 1)
        return self.random / (2**31 - 1)

    def draw(self) -> None:
        self.chosen = None
        if self.chance() < self.eps:
            a = 1 + int(self.chance() * self.d)
            while math.gcd(a, self.d) != 1:
                a = a + 1 if a < self.d else 1
            b = int(self.chance() * self.d)
            self.chosen = [j for j in range(self.d) if (a * j + b) % self.d < self.B]

    def read(self) -> Array:
        """Which features each class may read."""
        if self.chosen is None:
            return np.asarray(self.w != 0.0)
        return np.tile(np.isin(np.arange(self.w.shape[1]), self.chosen), (len(self.w), 1))

    def scores(self, x: Array) -> Array:
        return (self.w * self.read()) @ x

    def final_scores(self, x: Array) -> Array:
        return self.w @ x

    def update(self, r: Round) -> bool:
        at_random = self.eps * min(1.0, self.B / max(self.d, 1))
        probability = at_random + (1.0 - self.eps) * (self.w != 0.0)
        expected = np.where(self.read(), r.z / probability, 0.0)
        moved = r.margin <= 0.0 and bool(np.sum(expected**2) > 0.0)
        if moved:
            w = self.w + self.eta * expected
            self.w = truncated(w * min(1.0, self.R / max(float(np.linalg.norm(w)), 1e-300)), self.B)
        self.d = max(self.d, 1 + int(np.flatnonzero(r.x).max()))
        self.draw()
        return moved


RULES: dict[str, Callable[..., Rule]] = {
    "ofs": OFS,
    "ofs_partial": PartialOFS,
    "perceptron_truncated": TruncatedPerceptron,
}
