"""Online gradient descent (Zinkevich 2003): w -= rate(t) g with g = slope z; Adaline (Widrow and Hoff 1960).

The slope is the derivative of the loss with respect to the margin y f in classification. In
regression g is the gradient of (f - y)^2 or of max(0, |f - y| - eps); as z = sign(y - f) x, its
slope along z is minus the size of the derivative.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from .rules import FirstOrder, Round, Rule


def hinge(m: float) -> float:
    """max(0, 1 - m)"""
    return -1.0 if m < 1.0 else 0.0


def logistic(m: float) -> float:
    """ln(1 + exp(-m)), whose derivative is -1 / (1 + exp(m))"""
    return -float(expit(-m))


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
    raise ValueError(f"{loss} is not a loss for regression")


class OGD(FirstOrder):
    """No projection. An importance weight scales g."""

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, eta0: float = 1.0, loss: str = "hinge", schedule: str = "inv_sqrt") -> None:
        self.eta0 = eta0
        self.loss = loss
        self.schedule = schedule

    def rate(self, t: int) -> float:
        if self.schedule == "constant":
            return self.eta0
        if self.schedule == "inv_sqrt":
            return self.eta0 / float(np.sqrt(t))
        if self.schedule == "inv_t":
            return self.eta0 / t
        raise ValueError(f"unknown schedule {self.schedule}")

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        derivative = slope(self.loss, r)
        if derivative == 0.0:
            return None
        return -self.rate(t) * r.weight * derivative


class Adaline(FirstOrder):
    """w += rho (y - f) x on every round; with z = y x or z = sign(y - f) x, that is rho |y - f| z or its opposite.

    With another loss, half its slope stands for the error. An importance weight scales the step.
    """

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, rho: float = 0.01, loss: str = "squared") -> None:
        self.rho = rho
        self.loss = loss

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        if self.loss != "squared":
            error = -slope(self.loss, r) / 2.0
        elif r.error is not None:
            error = abs(r.error)
        else:
            error = 1.0 - r.margin  # y (y - f), as y is -1 or +1
        return self.rho * r.weight * error if error != 0.0 else None


RULES: dict[str, Callable[..., Rule]] = {"ogd": OGD, "adaline": Adaline}
