"""How far to go: exact on the perceptron criterion, which is piecewise linear and convex; Armijo on any loss."""

from collections.abc import Callable

import numpy as np

FALL = 1e-4  # the part of the fall promised by the gradient that Armijo's condition asks for
HALVINGS = 30


def perceptron_criterion(margins: np.ndarray) -> float:
    """The sum of what rows on the wrong side lack: zero exactly when no margin is negative."""
    return float(np.maximum(0.0, -margins).sum())


def exact_step(margins: np.ndarray, change: np.ndarray) -> float:
    """The step eta >= 0 that minimises the perceptron criterion of margins + eta change.

    The slope rises by |change_i| at every break point -margin_i / change_i; the walk ends where it is no longer
    negative. Where the minimum is a whole stretch the step goes to its middle, and where that has no end to
    twice its beginning, so that no margin is left at zero without need.
    """
    wrong = (margins < 0.0) | ((margins == 0.0) & (change < 0.0))
    leaves, enters = wrong & (change > 0.0), ~wrong & (change < 0.0)
    turning = np.flatnonzero(leaves | enters)
    breaks = -margins[turning] / change[turning]
    order = np.argsort(breaks, kind="stable")
    turning, breaks = turning[order], breaks[order]
    falling = np.where(leaves[turning], change[turning], 0.0)
    rising = np.where(enters[turning], -change[turning], 0.0)
    ahead = np.append(np.cumsum(falling[::-1])[::-1], 0.0)  # exactly zero once nothing is left on the wrong side
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
    """The first of eta, eta/2, eta/4 ... with q(w - eta g) <= q(w) - 1e-4 eta |g|^2; 0 when 30 halvings do not do."""
    here, square = objective(w), float(gradient @ gradient)
    eta = first
    for _ in range(HALVINGS + 1):
        if objective(w - eta * gradient) <= here - FALL * eta * square:
            return eta
        eta *= 0.5
    return 0.0
