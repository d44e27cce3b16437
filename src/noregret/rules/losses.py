"""Losses as functions of the margin, each with its slope.

In regression the margin is 1 - |error| + eps, so that the hinge loss of the margin is the eps-insensitive loss. The
margin is measured in standard deviations of the targets; the reported loss is in the units of the targets.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from noregret.rules.names import TaskName

Floats: TypeAlias = Any  # a float, or an array of floats


class Loss(NamedTuple):
    """A loss: its value over arrays of margins, its slope at one margin, and the tasks it is for.

    In regression, of_errors(|error|, eps, deviation) is its value in the units of the targets, where deviation is the
    standard deviation of the targets.
    """

    value: Callable[[Floats], Floats]
    slope: Callable[[float], float]
    tasks: tuple[TaskName, ...]
    insensitive: bool = False  # whether it knows eps
    of_errors: Callable[[Floats, float, Floats], Floats] | None = None
    of_all_scores: bool = (
        False  # whether it is a function of all scores: z is its gradient, value and slope its tangent
    )


CLASSES: tuple[TaskName, ...] = ("binary", "multiclass", "multilabel", "ranking", "structured", "factored")
STEEPEST = -50.0  # below this margin the exponential loss is a straight line


def linear_slope(margin: float) -> float:
    return -1.0


def hinge_slope(margin: float) -> float:
    return -1.0 if margin < 1.0 else 0.0


def logistic_slope(margin: float) -> float:
    if margin > 0.0:
        e = math.exp(-margin)
        return -e / (1.0 + e)
    return -1.0 / (1.0 + math.exp(margin))


def squared_slope(margin: float) -> float:
    return 2.0 * (margin - 1.0)


def perceptron_slope(margin: float) -> float:
    return -1.0 if margin <= 0.0 else 0.0


def squared_hinge_slope(margin: float) -> float:
    return 2.0 * (margin - 1.0) if margin < 1.0 else 0.0


def huber_slope(margin: float) -> float:
    return max(margin - 1.0, -1.0) if margin < 1.0 else 0.0


def exponential_slope(margin: float) -> float:
    return -math.exp(-max(margin, STEEPEST))


def linear_value(margin: Floats) -> Floats:
    return -margin


def hinge_value(margin: Floats) -> Floats:
    return np.maximum(0.0, 1.0 - margin)


def logistic_value(margin: Floats) -> Floats:
    return np.logaddexp(0.0, -margin)


def squared_value(margin: Floats) -> Floats:
    return (1.0 - margin) ** 2


def perceptron_value(margin: Floats) -> Floats:
    return np.maximum(0.0, -margin)


def squared_hinge_value(margin: Floats) -> Floats:
    return np.maximum(0.0, 1.0 - margin) ** 2


def exponential_value(margin: Floats) -> Floats:
    """exp(-margin), continued by its tangent below the margin STEEPEST, so that it stays convex and finite."""
    return np.exp(-np.maximum(margin, STEEPEST)) * (1.0 + np.maximum(STEEPEST - margin, 0.0))


def huber_value(margin: Floats) -> Floats:
    """Half the squared hinge loss, and a straight line where the hinge loss is above 1."""
    missing = np.maximum(0.0, 1.0 - margin)
    inside = np.minimum(missing, 1.0)
    return inside * (missing - 0.5 * inside)


def insensitive_of_errors(size: Floats, eps: float, deviation: Floats) -> Floats:
    return np.maximum(0.0, size - eps * deviation)


def absolute_of_errors(size: Floats, eps: float, deviation: Floats) -> Floats:
    return size


def squared_of_errors(size: Floats, eps: float, deviation: Floats) -> Floats:
    return size**2


def huber_of_errors(size: Floats, eps: float, deviation: Floats) -> Floats:
    """Half the squared error, and a straight line for errors above one standard deviation."""
    inside = np.minimum(size, deviation)
    return inside * (size - 0.5 * inside)


def loss_at(loss: Callable[[Any], Any], margin: Floats) -> Floats:
    """The losses at these margins; 0 at an infinite one, where a class has no rival yet."""
    return np.where(np.isposinf(margin), 0.0, loss(margin))


REGRESSION: tuple[TaskName, ...] = ("regression",)
LOSSES: dict[str, Loss] = {
    "hinge": Loss(hinge_value, hinge_slope, (*CLASSES, "one-class")),
    "logistic": Loss(logistic_value, logistic_slope, CLASSES),
    "squared": Loss(squared_value, squared_slope, (*CLASSES, *REGRESSION), of_errors=squared_of_errors),
    "perceptron": Loss(perceptron_value, perceptron_slope, CLASSES),
    "squared_hinge": Loss(squared_hinge_value, squared_hinge_slope, (*CLASSES, "one-class")),
    "softmax": Loss(linear_value, linear_slope, ("multiclass",), of_all_scores=True),
    "crf": Loss(linear_value, linear_slope, ("factored",), of_all_scores=True),
    "exponential": Loss(exponential_value, exponential_slope, CLASSES),
    "eps_insensitive": Loss(hinge_value, hinge_slope, REGRESSION, insensitive=True, of_errors=insensitive_of_errors),
    "absolute": Loss(hinge_value, hinge_slope, REGRESSION, of_errors=absolute_of_errors),
    "linear": Loss(linear_value, linear_slope, ("convex",)),
    "huber": Loss(huber_value, huber_slope, REGRESSION, of_errors=huber_of_errors),
}
