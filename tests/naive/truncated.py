"""Truncated gradient and coefficient rounding (Langford, Li, Zhang 2009), every weight at every round.

T0(v, theta) = 0 if |v| <= theta else v
T1(v, a, theta) = v moved toward 0 by a, and no further, if |v| <= theta else v
"""

from collections.abc import Callable

import numpy as np

from .gradient import OGD, slope
from .rules import Array, Round, Rule


def T0(v: Array, theta: float) -> Array:
    return np.where(np.abs(v) <= theta, 0.0, v)


def T1(v: Array, a: float, theta: float) -> Array:
    pulled = np.where(v >= 0.0, np.maximum(0.0, v - a), np.minimum(0.0, v + a))
    return np.where(np.abs(v) <= theta, pulled, v)


def completes(t: int, K: float) -> bool:
    """t is the first round at or beyond a multiple of K."""
    multiples = K * np.arange(1, t + 1)
    return bool(np.any((multiples <= t) & (multiples > t - 1)))


class TruncatedGradient(OGD):
    """theta = 0 stands for no limit. With order pre a round pulls before it predicts, if the one before it taught."""

    last = 0  # the last round that taught: without a rival, or a spread of targets, none does

    def __init__(
        self,
        eta0: float = 0.1,
        gravity: float = 0.01,
        theta: float = 0.0,
        K: float = 1.0,
        gravity_schedule: str = "constant",
        order: str = "post",
        schedule: str = "inv_sqrt",
        loss: str = "hinge",
    ) -> None:
        super().__init__(eta0, loss, schedule)
        assert gravity_schedule == "constant"
        self.gravity, self.K, self.pre = gravity, K, order == "pre"
        self.theta = theta if theta > 0.0 else np.inf

    def pulled(self, t: int) -> Array:
        """The weights as round t leaves them or, with order pre, as round t + 1 finds them: pulled at the rate of t."""
        if t == 0 or (self.pre and t != self.last) or not completes(t + self.pre, self.K):
            return self.w
        return T1(self.w, self.rate(t, but=self.t - t) * self.K * self.gravity, self.theta)

    def scores(self, x: Array) -> Array:
        return (self.pulled(self.t) if self.pre else self.w) @ x

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        if self.pre:
            self.w, self.last = self.pulled(self.t - 1), self.t
        self.w = self.w - self.rate(self.t) * r.weight * derivative * r.z
        if not self.pre:
            self.w = self.pulled(self.t)
        return derivative != 0.0


class Rounding(OGD):
    """A weight of just theta is dropped."""

    def __init__(
        self,
        eta0: float = 0.1,
        theta: float = 0.01,
        K: float = 10.0,
        schedule: str = "inv_sqrt",
        loss: str = "hinge",
    ) -> None:
        super().__init__(eta0, loss, schedule)
        self.theta, self.K = theta, K

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        self.w = self.w - self.rate(self.t) * r.weight * derivative * r.z
        if completes(self.t, self.K):
            follows = self.eta0 == 0.0 and any(self.squares)
            self.w = T0(self.w, self.theta / np.sqrt(self.row_size()) if follows else self.theta)
        return derivative != 0.0


RULES: dict[str, Callable[..., Rule]] = {"truncated_gradient": TruncatedGradient, "rounding": Rounding}
