"""Online gradient descent (Zinkevich 2003): w -= rate(t) g with g = slope z; Adaline (Widrow and Hoff 1960).

The slope is the derivative of the loss with respect to the margin y f in classification. In
regression g is the gradient of (f - y)^2 or of max(0, |f - y| - eps); as z = sign(y - f) x, its
slope along z is minus the size of the derivative.
"""

import math
from collections.abc import Callable

import numpy as np

from .rules import Array, FirstOrder, Round, Rule


def hinge(m: float) -> float:
    """max(0, 1 - m)"""
    return -1.0 if m < 1.0 else 0.0


def logistic(m: float) -> float:
    """ln(1 + exp(-m)), whose derivative is -1 / (1 + exp(m))"""
    return -math.exp(-m) / (1.0 + math.exp(-m)) if m > 0.0 else -1.0 / (1.0 + math.exp(m))


def squared(m: float) -> float:
    """(m - 1)^2, which for labels -1 and +1 is (f - y)^2"""
    return 2.0 * (m - 1.0)


def perceptron(m: float) -> float:
    """max(0, -m), whose step is taken at m = 0 too"""
    return 0.0 if m > 0.0 else -1.0


def squared_hinge(m: float) -> float:
    """max(0, 1 - m)^2"""
    return -2.0 * max(0.0, 1.0 - m)


def exponential(m: float) -> float:
    """exp(-m), no steeper than at m = -50"""
    return -float(np.exp(min(-m, 50.0)))


def slope(loss: str, r: Round) -> float:
    """Derivative of the round's loss along z."""
    if r.joint:
        return -1.0
    if r.error is None:
        of_margin = {
            "hinge": hinge,
            "logistic": logistic,
            "squared": squared,
            "perceptron": perceptron,
            "squared_hinge": squared_hinge,
            "exponential": exponential,
        }
        if loss not in of_margin:
            raise ValueError(f"{loss} is not a loss for classification")
        return of_margin[loss](r.margin)
    if loss == "squared":
        return -2.0 * abs(r.error)
    if loss == "eps_insensitive":
        return -1.0 if r.margin < 1.0 else 0.0  # margin < 1 means |y - f| > eps
    if loss == "absolute":
        return -float(np.sign(abs(r.error)))
    if loss == "huber":
        return -min(abs(r.error), 1.0)
    raise ValueError(f"{loss} is not a loss for regression")


def onto_simplex(v: Array, radius: float) -> Array:
    """The nearest point with no negative entry and this sum: v - theta, cut at zero, theta found by sorting.

    From the largest down, so that a small radius is not lost.
    """
    v = v - v.max()
    u = np.sort(v)[::-1]
    thetas = [(u[: n + 1].sum() - radius) / (n + 1) for n in range(v.size)]
    theta = [thetas[n] for n in range(v.size) if u[n] > thetas[n]][-1]
    return np.asarray(np.maximum(v - theta, 0.0))


def onto_l1(v: Array, radius: float) -> Array:
    """The nearest point whose sizes sum to at most the radius (Duchi et al. 2008)."""
    if np.abs(v).sum() <= radius:
        return v
    return np.asarray(np.sign(v) * onto_simplex(np.abs(v), radius))


class OGD(FirstOrder):
    """A step, then the nearest point of a set. An importance weight scales g.

    An eta0 of 0 stands for 32 / S, but no rate is above 1 / S; S is the size of the rows.

    The simplex is over the features and classes up to the highest that took part in a step.
    """

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(
        self,
        eta0: float = 1.0,
        loss: str = "hinge",
        schedule: str = "inv_sqrt",
        onto: str = "everywhere",
        radius: float = 1.0,
    ) -> None:
        self.eta0 = eta0
        self.loss = loss
        self.schedule = schedule
        self.onto = onto
        self.radius = radius
        self.steps = 0
        self.met = np.zeros(2, dtype=int)  # classes, features

    def start(self, k: int, d: int) -> None:
        super().start(k, d)
        if self.onto in ("box", "orthant"):  # weights that begin at random begin within their limits
            self.w = self.projected(self.w)

    def longest(self) -> float:
        return self.radius if self.onto == "ball" else np.inf

    def update(self, r: Round) -> bool:
        moved = super().update(r)
        if moved and r.z.any():
            classes, features = np.nonzero(r.z)
            self.met = np.maximum(self.met, [classes.max() + 1, features.max() + 1])
            self.w = self.projected(self.w)
        return moved

    def projected(self, w: Array) -> Array:
        if self.onto == "box":
            return np.clip(w, -self.radius, self.radius)
        if self.onto == "orthant":
            return np.maximum(w, 0.0)
        if self.onto == "l1":
            return onto_l1(w.ravel(), self.radius).reshape(w.shape)
        if self.onto == "simplex":
            own = w[: self.met[0], : self.met[1]]
            w = np.zeros_like(w)
            w[: self.met[0], : self.met[1]] = onto_simplex(own.ravel(), self.radius).reshape(own.shape)
        return w

    def rate(self, t: int, but: int = 0) -> float:
        if self.eta0 == 0.0:
            size = self.row_size(but)
            return min(self.fallen(self.schedule, 32.0 / size, t, self.steps), 2.0 / size)
        return self.fallen(self.schedule, self.eta0, t, self.steps)

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        derivative = slope(self.loss, r)
        if derivative == 0.0:
            return None
        self.steps += derivative * derivative * sqnorm > 0.0  # a gradient whose square is no float above 0 is no step
        return -self.rate(t) * r.weight * derivative


class Adaline(FirstOrder):
    """w += rho (y - f) x on every round; with z = y x or z = sign(y - f) x, that is rho |y - f| z or its opposite.

    With another loss, half its slope stands for the error. An importance weight scales the step. A rho of 0 stands for
    one over the largest |z|^2 so far.
    """

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, rho: float = 0.01, loss: str = "squared") -> None:
        self.rho = rho
        self.loss = loss
        self.largest = 0.0

    def rate(self, sqnorm: float) -> float:
        self.largest = max(self.largest, sqnorm)
        return self.rho if self.rho > 0.0 else 1.0 / self.largest if self.largest > 0.0 else 0.0

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        rate = self.rate(sqnorm)
        if self.loss != "squared":
            error = -slope(self.loss, r) / 2.0
        elif r.error is not None:
            error = abs(r.error)
        else:
            error = 1.0 - r.margin  # y (y - f), as y is -1 or +1
        return rate * r.weight * error if error != 0.0 else None


class NormalisedAdaline(Adaline):
    """Adaline with rho / (delta + |z|^2) for rho (Nagumo and Noda 1967)."""

    weighs = False

    def __init__(self, rho: float = 0.35, delta: float = 1e-6, loss: str = "squared") -> None:
        super().__init__(rho, loss)
        self.delta = delta

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        tau = super().step(r, sqnorm, t)
        return None if tau is None else tau / (self.delta + sqnorm)


RULES: dict[str, Callable[..., Rule]] = {"ogd": OGD, "adaline": Adaline, "adaline_normalised": NormalisedAdaline}
