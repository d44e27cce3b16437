"""Activation functions of hidden units: their values and slopes, written for all units of a layer at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.exponential import exp_below_zero

Floats = NDArray[np.float64]
RELU, TANH, SIGMOID, LINEAR = 0, 1, 2, 3
ACTIVATIONS = {"relu": RELU, "tanh": TANH, "sigmoid": SIGMOID, "linear": LINEAR}


def activate(kind: Any, z: Floats, values: Floats, slopes: Floats) -> None:
    """Write f(z) and f'(z) of every unit; the slope of relu at 0 is 0."""
    if kind == RELU:
        for i in range(z.size):
            on = z[i] > 0.0
            values[i] = z[i] if on else 0.0
            slopes[i] = 1.0 if on else 0.0
    elif kind == LINEAR:
        for i in range(z.size):
            values[i] = z[i]
            slopes[i] = 1.0
    else:
        tanh = kind == TANH
        for i in range(z.size):
            x = 2.0 * z[i] if tanh else z[i]
            e = exp_below_zero(-abs(x))
            share = 1.0 / (1.0 + e)  # the logistic function of |x|
            if tanh:
                size = (1.0 - e) * share
                values[i] = size if x >= 0.0 else -size
                slopes[i] = 4.0 * e * share * share
            else:
                values[i] = share if x >= 0.0 else e * share
                slopes[i] = e * share * share
