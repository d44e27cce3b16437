"""Line search: exact for the perceptron criterion, which is piecewise linear and convex; Armijo for any loss."""

from collections.abc import Callable

import numpy as np

DECREASE = 1e-4  # the share of the decrease predicted by the gradient that Armijo's condition requires
HALVINGS = 30


def perceptron_criterion(margins: np.ndarray) -> float:
    """The sum of -margin over the rows with a negative margin."""
    return float(np.maximum(0.0, -margins).sum())


def exact_step(margins: np.ndarray, change: np.ndarray) -> float:
    """The step eta >= 0 that minimises the perceptron criterion of margins + eta change.

    The slope rises by |change_i| at every break point -margin_i / change_i, and the minimum is where it is no longer
    negative. If the minimum is an interval, the step is its midpoint; if that interval is unbounded, twice its lower
    end. So no margin becomes zero unless it must.
    """
    wrong = (margins < 0.0) | ((margins == 0.0) & (change < 0.0))
    leaves, enters = wrong & (change > 0.0), ~wrong & (change < 0.0)
    turning = np.flatnonzero(leaves | enters)
    breaks = -margins[turning] / change[turning]
    order = np.argsort(breaks, kind="stable")
    turning, breaks = turning[order], breaks[order]
    falling = np.where(leaves[turning], change[turning], 0.0)
    rising = np.where(enters[turning], -change[turning], 0.0)
    ahead = np.append(np.cumsum(falling[::-1])[::-1], 0.0)  # exactly zero once no margin is negative
    behind = np.cumsum(np.append(-change[wrong & (change < 0.0)].sum(), rising))
    at = int(np.argmax(behind >= ahead))  # the slope after `at` break points is behind - ahead
    if at == 0:
        return 0.0
    here = float(breaks[at - 1])
    if behind[at] > ahead[at]:
        return here
    return 0.5 * (here + float(breaks[at])) if at < breaks.size else 2.0 * here


def armijo_step(
    objective: Callable[[np.ndarray], float], w: np.ndarray, gradient: np.ndarray, first: float = 1.0
) -> float:
    """The first of eta, eta/2, eta/4 ... with q(w - eta g) <= q(w) - 1e-4 eta |g|^2; 0 if 30 halvings find none."""
    here, square = objective(w), float(gradient @ gradient)
    eta = first
    for _ in range(HALVINGS + 1):
        if objective(w - eta * gradient) <= here - DECREASE * eta * square:
            return eta
        eta *= 0.5
    return 0.0
