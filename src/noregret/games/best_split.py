"""The best fixed split of a resource in hindsight, with a certificate: what online allocation is compared with."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_integer

Floats = NDArray[np.float64]
Cost = Callable[[Floats], float]
Gradient = Callable[[Floats], Floats]
ENOUGH = 1e-9  # of the cost: a gap with which the search ends
LEAST_STEP = 1e-14
CUTS = 200  # rounds of cutting planes


class Split(NamedTuple):
    """A split of a resource into shares that sum to 1, what it costs, and at most how much more than the best one."""

    shares: Floats
    cost: float
    gap: float


def find_best_split(cost: Cost, gradient: Gradient, parts: int, rounds: int = 2000) -> Split:
    """Minimise a convex cost over the simplex: shares of at least 0 that sum to 1.

    Gradient steps suffice for smooth costs; where they leave a gap, as of costs with corners, cutting planes go on.
    The gap of the result is proved: no split costs less than its cost - gap.
    """
    x = np.full(check_integer("parts", parts, 1), 1.0 / parts)
    found = descend(cost, gradient, x, check_integer("rounds", rounds, 1))
    return found if is_closed(found) else cut_planes(cost, gradient, found)


def is_closed(split: Split) -> bool:
    return split.gap <= ENOUGH * max(1.0, abs(split.cost))


def descend(cost: Cost, gradient: Gradient, x: Floats, rounds: int) -> Split:
    """Projected gradient steps with momentum and a step size that is halved where it is too large.

    A gradient g at x proves that no split costs less than cost(x) - (g . x - min g).
    """
    value, slope = evaluate(cost, gradient, x)
    best, ahead, momentum, step = Split(x, value, find_gap(slope, x)), x, 1.0, 1.0
    for _ in range(rounds):
        if is_closed(best):
            break
        there, slope = evaluate(cost, gradient, ahead)
        while True:
            new = project_onto_simplex(ahead - step * slope)
            value, moved = float(cost(new)), new - ahead
            if value <= there + slope @ moved + (moved @ moved) / (2.0 * step) + 1e-15 * abs(there):
                break
            step *= 0.5
            if step < LEAST_STEP:
                return best
        gap = find_gap(evaluate(cost, gradient, new)[1], new)
        if gap < best.gap:
            best = Split(new, value, gap)
        if slope @ (new - x) > 0.0:  # the momentum leads uphill: begin anew
            momentum = 1.0
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = project_onto_simplex(new + (momentum - 1.0) / grown * (new - x))
        x, momentum, step = new, float(grown), 1.2 * step
    return best


def cut_planes(cost: Cost, gradient: Gradient, start: Split) -> Split:
    """Kelley's cutting planes: every gradient gives a plane below the cost, and their maximum a lower limit of it."""
    from scipy.optimize import linprog  # takes a quarter of a second to import

    best, size, queries = start, len(start.shares), [start.shares]
    planes: list[Floats] = []  # v - g . x >= cost(y) - g . y for all y that were tried
    limits: list[float] = []
    goal = np.append(np.zeros(size), 1.0)
    for _ in range(CUTS):
        for y in queries:
            if not np.isfinite(cost(y.copy())):  # outside of where the cost is defined
                continue
            value, slope = evaluate(cost, gradient, y)
            planes.append(np.append(slope, -1.0))
            limits.append(float(slope @ y) - value)
            if value < best.cost:
                best = Split(y, value, best.gap + value - best.cost)
        sums, ranges = np.append(np.ones(size), 0.0)[None], [(0.0, 1.0)] * size + [(None, None)]
        solved: Any = linprog(goal, np.array(planes), limits, sums, [1.0], ranges, method="highs")
        if solved.status != 0:
            break
        best = best._replace(gap=max(min(best.gap, best.cost - float(solved.fun)), 0.0))
        if is_closed(best):
            break
        x = np.maximum(solved.x[:-1], 0.0)
        queries = [x / x.sum(), 0.5 * (x / x.sum() + best.shares)]
    return best


def find_gap(slope: Floats, x: Floats) -> float:
    return float(slope @ x - slope.min())


def evaluate(cost: Cost, gradient: Gradient, x: Floats) -> tuple[float, Floats]:
    """The cost and its gradient at a split, checked."""
    value, slope = check_number(cost(x.copy())), gradient(x.copy())
    try:
        found = np.asarray(slope, np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != x.shape or not np.isfinite(found).all():
        raise BadValue(f"the gradient must be {x.size} finite numbers, one for each part, not {shown(slope)}")
    return value, found


def check_number(value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not np.isfinite(found):
        raise BadValue(f"the cost of a split must be a finite number, not {shown(value)}")
    return found


def project_onto_simplex(point: Floats) -> Floats:
    """The nearest point with coordinates of at least 0 that sum to 1."""
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, point.size + 1)
    kept = int(np.flatnonzero(falling > excess)[-1])
    return np.asarray(np.maximum(point - excess[kept], 0.0))
