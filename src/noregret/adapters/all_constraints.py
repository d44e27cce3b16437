"""The passive-aggressive step for all constraints at once: the dual problem of one round.

A round has constraints w . z_r >= required_r, one for each rival r, and one slack for all of them. The dual variables
a_r >= 0 maximise a . missing - |sum_r a_r z_r|^2 / 2, where missing_r = required_r - w . z_r. With a price C for the
slack (PA-I) their sum is at most C; with C for its square (PA-II) it costs (sum a)^2 / (4 C). The step for the mean of
the constraints, weighed by a, is then the step for all of them (Crammer et al. 2006).
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TOLERANCE = 1e-14
SWEEPS = 10_000


def share_constraints(gram: Floats, missing: Floats, most: float = math.inf, per_square: float = 0.0) -> Floats:
    """The share of every constraint in the step, from 0 to 1; they sum to 1.

    `gram` holds the inner products of the z_r, `most` the largest sum of the dual variables (C of PA-I), `per_square`
    the curvature that a squared slack adds (1 / (2 C) of PA-II). Where no margin is missed, all falls to the nearest.
    """
    if not (missing > 0.0).any():
        return np.asarray(np.arange(missing.size) == np.argmax(missing), np.float64)
    curved = gram + per_square
    dual = maximise_on_simplex(curved, missing, most) if math.isfinite(most) else maximise(curved, missing)
    total = dual.sum()
    return dual / total if total > 0.0 else np.asarray(np.arange(missing.size) == np.argmax(missing), np.float64)


def maximise(gram: Floats, missing: Floats) -> Floats:
    """a >= 0 that maximises a . missing - a' gram a / 2, one coordinate at a time; those with z = 0 stay at 0."""
    dual, slope = np.zeros(missing.size), missing.copy()
    able = np.flatnonzero(np.diag(gram) > 0.0)
    for _ in range(SWEEPS):
        moved = 0.0
        for r in able:
            new = max(0.0, dual[r] + slope[r] / gram[r, r])
            step, dual[r] = new - dual[r], new
            slope -= step * gram[r]
            moved = max(moved, abs(step) * math.sqrt(gram[r, r]))
        if moved <= TOLERANCE * math.sqrt(max(float(dual @ gram @ dual), 0.0)):
            break
    return dual


def maximise_on_simplex(gram: Floats, missing: Floats, most: float) -> Floats:
    """The same with sum a <= most: the rest up to `most` is one more coordinate, and pairs of coordinates move."""
    size = missing.size
    full = np.zeros((size + 1, size + 1))
    full[:size, :size] = gram
    slope = np.append(missing, 0.0)
    dual = np.append(np.zeros(size), most)
    for _ in range(SWEEPS):
        up = int(np.argmax(slope))
        down = int(np.argmin(np.where(dual > 0.0, slope, np.inf)))
        gain = slope[up] - slope[down]
        if gain <= TOLERANCE * max(1.0, float(np.abs(missing).max())):
            break
        curvature = full[up, up] + full[down, down] - 2.0 * full[up, down]
        step = min(dual[down], gain / curvature if curvature > 0.0 else math.inf)
        dual[up] += step
        dual[down] = dual[down] - step if step < dual[down] else 0.0
        slope -= step * (full[up] - full[down])
    return dual[:size]
