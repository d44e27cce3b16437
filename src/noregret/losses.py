"""Losses as functions of the margin a game hands over, each with its slope.

In the regression game the margin is 1 - |error| + eps, so that the hinge of the margin is the eps-insensitive loss.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Loss(NamedTuple):
    """A loss: its value over arrays of margins, its slope for the compiled round, and the games it makes sense in."""

    value: Callable[[Any], Any]
    slope: Callable[[float], float]
    games: tuple[str, ...]
    insensitive: bool = False


CLASSES = ("binary", "multiclass", "multilabel", "ranking")
STEEPEST = -50.0  # the exponential loss is no steeper at lower margins than here


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


def exponential_slope(margin: float) -> float:
    return -math.exp(-max(margin, STEEPEST))


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


LOSSES: dict[str, Loss] = {
    "hinge": Loss(hinge_value, hinge_slope, CLASSES),
    "logistic": Loss(logistic_value, logistic_slope, CLASSES),
    "squared": Loss(squared_value, squared_slope, (*CLASSES, "regression")),
    "perceptron": Loss(perceptron_value, perceptron_slope, CLASSES),
    "squared_hinge": Loss(squared_hinge_value, squared_hinge_slope, CLASSES),
    "exponential": Loss(exponential_value, exponential_slope, CLASSES),
    "eps_insensitive": Loss(hinge_value, hinge_slope, ("regression",), insensitive=True),
}
