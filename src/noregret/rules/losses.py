"""Losses as functions of the margin a task hands over, each with its slope.

In the regression task the margin is 1 - |error| + eps, so that the hinge of the margin is the eps-insensitive loss.
There an error is measured in deviations of the targets; what a round is said to cost is in the units of the targets.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Loss(NamedTuple):
    """A loss: its value over arrays of margins, its slope for the compiled round, and the tasks it makes sense in.

    In regression, of_errors is its value in the units of the targets, given the sizes of errors, eps and the deviation.
    """

    value: Callable[[Any], Any]
    slope: Callable[[float], float]
    tasks: tuple[str, ...]
    insensitive: bool = False
    of_errors: Callable[[Any, float, Any], Any] | None = None


CLASSES = ("binary", "multiclass", "multilabel", "ranking", "structured")
STEEPEST = -50.0  # the exponential loss is no steeper at lower margins than here


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


def linear_value(margin: Any) -> Any:
    return -margin


def hinge_value(margin: Any) -> Any:
    return np.maximum(0.0, 1.0 - margin)


def logistic_value(margin: Any) -> Any:
    return np.logaddexp(0.0, -margin)


def squared_value(margin: Any) -> Any:
    return (1.0 - margin) ** 2


def perceptron_value(margin: Any) -> Any:
    return np.maximum(0.0, -margin)


def squared_hinge_value(margin: Any) -> Any:
    return np.maximum(0.0, 1.0 - margin) ** 2


def exponential_value(margin: Any) -> Any:
    """exp(-m), and below the margin where it is steep enough a straight line, so that its slope stays its slope."""
    return np.exp(-np.maximum(margin, STEEPEST)) * (1.0 + np.maximum(STEEPEST - margin, 0.0))


def huber_value(margin: Any) -> Any:
    """Half the square of what is missing, and from 1 on a straight line."""
    missing = np.maximum(0.0, 1.0 - margin)
    inside = np.minimum(missing, 1.0)
    return inside * (missing - 0.5 * inside)


def insensitive_of_errors(size: Any, eps: float, deviation: Any) -> Any:
    return np.maximum(0.0, size - eps * deviation)


def absolute_of_errors(size: Any, eps: float, deviation: Any) -> Any:
    return size


def squared_of_errors(size: Any, eps: float, deviation: Any) -> Any:
    return size**2


def huber_of_errors(size: Any, eps: float, deviation: Any) -> Any:
    """Half the square, and from one deviation on a straight line."""
    inside = np.minimum(size, deviation)
    return inside * (size - 0.5 * inside)


REGRESSION = ("regression",)
LOSSES: dict[str, Loss] = {
    "hinge": Loss(hinge_value, hinge_slope, (*CLASSES, "one-class")),
    "logistic": Loss(logistic_value, logistic_slope, CLASSES),
    "squared": Loss(squared_value, squared_slope, (*CLASSES, *REGRESSION), of_errors=squared_of_errors),
    "perceptron": Loss(perceptron_value, perceptron_slope, CLASSES),
    "squared_hinge": Loss(squared_hinge_value, squared_hinge_slope, (*CLASSES, "one-class")),
    "exponential": Loss(exponential_value, exponential_slope, CLASSES),
    "eps_insensitive": Loss(hinge_value, hinge_slope, REGRESSION, insensitive=True, of_errors=insensitive_of_errors),
    "absolute": Loss(hinge_value, hinge_slope, REGRESSION, of_errors=absolute_of_errors),
    "linear": Loss(linear_value, linear_slope, ("convex",)),
    "huber": Loss(huber_value, huber_slope, REGRESSION, of_errors=huber_of_errors),
}
