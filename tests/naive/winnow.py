"""Winnow (Littlestone 1988), with the exponent form w_j *= alpha^(z_j) for real-valued x."""

from collections.abc import Callable

import numpy as np

from .rules import Array, Round, Rule


class Winnow(Rule):
    """Scores w.x - theta from w = 1, and multiplies only after a mistake.

    theta = 0 stands for the number of coordinates in use: 1 + the largest index that has held a
    non-zero value in any round so far, the current one included.
    """

    def __init__(self, alpha: float = 2.0, theta: float = 0.0) -> None:
        self.alpha = alpha
        self.theta = theta
        self.used = 0

    def start(self, k: int, d: int) -> None:
        self.w = np.ones((k, d))

    def see(self, x: Array) -> None:
        for j in range(len(x)):
            if x[j] != 0.0:
                self.used = max(self.used, j + 1)

    def scores(self, x: Array) -> Array:
        theta = self.theta if self.theta != 0.0 else float(self.used)
        return self.w @ x - theta

    def update(self, r: Round) -> bool:
        if r.wrong:
            self.w = self.w * self.alpha**r.z
        return r.wrong


class BalancedWinnow(Rule):
    """Keeps one exponent e a feature, from 0: w+ = start alpha^e, w- = alpha^-e; scores (w+ - w-).x - theta."""

    def __init__(self, alpha: float = 2.0, theta: float = 1.0, start: float = 2.0) -> None:
        self.alpha = alpha
        self.theta = theta
        self.first = start

    def scores(self, x: Array) -> Array:
        return self.effective() @ x - self.theta

    def effective(self) -> Array:
        return np.asarray(self.first * self.alpha**self.w - 1.0 / self.alpha**self.w)

    def update(self, r: Round) -> bool:
        if r.wrong:
            self.w = self.w + r.z
        return r.wrong


RULES: dict[str, Callable[..., Rule]] = {"winnow": Winnow, "winnow_balanced": BalancedWinnow}
