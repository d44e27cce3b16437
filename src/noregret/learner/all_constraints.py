"""The passive-aggressive step for all constraints at once (k-best MIRA): the dual problem of one round.

A round has constraints w . z_r >= required_r, one for each rival r, and one slack for all of them. The dual variables
a_r >= 0 maximise a . missing - |sum_r a_r z_r|^2 / 2, where missing_r = required_r - w . z_r. With a price C for the
slack (PA-I) their sum is at most C; with C for its square (PA-II) it costs (sum a)^2 / (4 C). The step for the mean of
the constraints, weighed by a, is then the step for all of them (Crammer et al. 2006). The dual variables are found by
Hildreth's algorithm, one constraint after the other; where their sum is limited, by pairs of them.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import find_bad_value
from noregret.errors import BadValue
from noregret.learner.rule_learner import RuleLearner

Floats = NDArray[np.float64]
TOLERANCE = 1e-14
SWEEPS = 10_000
RULES = ("pa", "pa1", "pa2")  # rules whose step solves this problem along the mean of the constraints


def check_rule(rule: RuleLearner, option: str) -> None:
    """Refuse a learner whose step is not that of the problem; `option` is what asked for it."""
    if rule.card.name not in RULES:
        raise BadValue(f"{option} solves the problem of {', '.join(RULES)}, not of {rule.card.name}")
    if rule.params.get("C") == 0.0:
        raise BadValue(f"{option} needs a C above 0: one that follows the rows is known only when the step is")
    if rule.config.transforms or rule.config.scale or rule.config.bits is not None:
        raise BadValue(f"{option} compares features as they are; leave transforms, scale and bits out")


def combine(
    rule: RuleLearner, names: Sequence[Any], Z: Floats, required: Floats, missing: Floats, weight: float
) -> tuple[dict[Any, float], float]:
    """The mean of all constraints, weighed by their shares in the step: its example and its required margin.

    Row r of Z is z_r, a column for each name; missing is by how much the margins fall short.
    """
    shares = share_constraints(Z @ Z.T, missing, *slack_price(rule, weight))
    z = shares @ Z
    return {name: float(value) for name, value in zip(names, z, strict=True) if value}, float(shares @ required)


def slack_price(rule: RuleLearner, weight: float) -> tuple[float, float]:
    """The limit of the dual variables (PA-I), and the curvature of a squared slack (PA-II), in a weighed round."""
    name, C = rule.card.name, float(rule.params.get("C", math.inf)) * weight
    if name == "pa1":
        return C, 0.0
    return math.inf, 0.5 / C if name == "pa2" and C > 0.0 else 0.0


def tabulate(rows: Sequence[Mapping[Any, float]]) -> tuple[list[Any], Floats]:
    """The names of all features, and a matrix of their values in every row."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    try:
        table = np.array([[row.get(name, 0.0) for name in names] for row in rows], np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadValue(*find_bad_value(rows)) from None
    if not np.isfinite(table).all():
        raise BadValue(*find_bad_value(rows))
    return names, table


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
