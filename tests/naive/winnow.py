"""Winnow (Littlestone 1988), with the exponent form w_j *= alpha^(z_j) for real-valued x."""

from collections.abc import Callable

import numpy as np

from .rules import Array, Round, Rule


def reach(x: Array) -> int:
    """1 + the largest index with a value."""
    return max((j + 1 for j in range(len(x)) if x[j] != 0.0), default=0)


class Falling(Rule):
    """The factor is alpha or, where alpha is 1, the power 1 / sqrt(1 + M / 20) of 2.5 after M updates."""

    alpha = 2.0
    moves = 0

    def factor(self) -> float:
        return self.alpha if self.alpha > 1.0 else float(2.5 ** (1.0 / (1.0 + self.moves / 20.0) ** 0.5))


class Divided(Falling):
    """Rows are divided by the largest |x_j| of all mistakes, at first by 1; one that changes that changes no weight."""

    unit = "largest"
    largest = 0.0

    def divided(self, x: Array) -> Array:
        return x / (self.largest or 1.0)

    def due(self, r: Round) -> bool:
        """Whether a mistake leads to an update."""
        before = self.largest or 1.0
        if self.unit == "largest" and r.wrong:
            self.largest = max(self.largest, float(np.abs(r.x).max(initial=0.0)))
        return r.wrong and (self.largest or 1.0) == before

    def moved(self, r: Round) -> Array:
        """The signed example of an update."""
        return np.outer(r.signs, self.divided(r.x))


class Winnow(Divided):
    """Scores w.x - theta from w = 1, and multiplies only after a mistake.

    theta = 0 stands for the number of coordinates in use: 1 + the largest index that has held a non-zero value in any
    round so far that had a margin, the current one included.
    """

    def __init__(self, alpha: float = 2.0, theta: float = 0.0, demotion: str = "halve", unit: str = "largest") -> None:
        self.alpha, self.unit = alpha, unit
        self.theta = theta
        self.demotion = demotion
        self.used = 0

    def start(self, k: int, d: int) -> None:
        self.w = np.ones((k, d))

    def scores(self, x: Array) -> Array:
        theta = self.theta if self.theta != 0.0 else float(max(self.used, reach(x)))
        return self.w @ self.divided(x) - theta

    def update(self, r: Round) -> bool:
        self.used = max(self.used, reach(r.x))
        due = self.due(r)
        if due:
            self.w = self.w * self.factor() ** self.moved(r)
            self.moves += 1
            if self.demotion == "eliminate":
                self.w[r.z < 0.0] = 0.0
        return due


class DuplicatedWinnow(Falling):
    """Winnow over (x, 1 - x): one exponent a feature, one a negation. Features count from when they are first used,
    but all that time their negations were on. A sum short of theta by a billionth of it counts as theta.
    """

    def __init__(self, alpha: float = 2.0, theta: float = 0.0, features: float = 0.0) -> None:
        self.alpha = alpha
        self.theta = theta
        self.told = features
        self.used = 0

    def start(self, k: int, d: int) -> None:
        self.on, self.off = np.zeros(d), np.zeros(d)
        self.net = 0.0

    def see(self, x: Array) -> None:
        self.used = max(self.used, int(np.max(np.flatnonzero(x), initial=-1)) + 1)

    def scores(self, x: Array) -> Array:
        n = max(self.told, self.used, int(np.max(np.flatnonzero(x), initial=-1)) + 1, 1)
        m = min(int(n), len(x))
        total = float(np.sum(np.exp(self.on) * x) + np.sum((np.exp(self.off) * (1.0 - x))[:m]))
        total += (n - m) * np.exp(self.net)
        return np.array([total - (self.theta or 2.0 * n) * (1.0 - 1e-9)])

    def update(self, r: Round) -> bool:
        if r.wrong:
            step = float(r.signs[0] * np.log(self.factor()))
            self.on = self.on + step * r.x
            self.off = self.off + step * (1.0 - r.x)
            self.net += step
            self.moves += 1
        return r.wrong


class BalancedWinnow(Divided):
    """Keeps one exponent e a feature, from 0: w+ = start exp(e), w- = exp(-e); scores (w+ - w-).x - theta.

    An update moves e by the logarithm of the factor times the example.
    """

    def __init__(self, alpha: float = 2.0, theta: float = 1.0, start: float = 2.0, unit: str = "largest") -> None:
        self.alpha, self.unit = alpha, unit
        self.theta = theta
        self.first = start

    def scores(self, x: Array) -> Array:
        return self.effective() @ self.divided(x) - self.theta

    def effective(self) -> Array:
        return np.asarray(self.first * np.exp(self.w) - np.exp(-self.w))

    def update(self, r: Round) -> bool:
        due = self.due(r)
        if due:
            self.w = self.w + np.log(self.factor()) * self.moved(r)
            self.moves += 1
        return due


RULES: dict[str, Callable[..., Rule]] = {
    "winnow": Winnow,
    "winnow_duplicated": DuplicatedWinnow,
    "winnow_balanced": BalancedWinnow,
}
