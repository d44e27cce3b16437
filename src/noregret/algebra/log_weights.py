"""Log weights: theta_j stands for exp(theta_j), and the sum of these over all cells is up to date.

sides = 1 sums exp(theta), 2 sums exp(theta) + exp(-theta), -1 sums exp(-theta). The numbers n are counters: the sum
over the cells that are not zero, each term divided by exp(top), and its rounding error; the sides; top and exp(-top);
the largest sum since it was last computed from all cells; the number of cells that are not zero. Where a p-norm is in
use instead, the sum is that of |theta_j|^p, and order is p.

The exponential of a cell is cached together with its theta: it is valid for as long as theta is the same.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats
from noregret.algebra.internal_verbs import blocks, count, factor, nudge, part, place, powers, raw
from noregret.algebra.scaled import add_compensated
from noregret.algebra.verbs import add, at, dot, exp_dot, exp_total, helper, norm, share_dot

NUMBERS = {"sum": 0.0, "rest": 0.0, "sides": 0.0, "top": 0.0, "least": 1.0, "peak": 0.0, "nonzeros": 0.0, "order": 0.0}
HIGH = 50.0
SMALL = 0.125
LIMIT = 600.0  # weights e^600 times smaller than the largest do not count
NEAR = 300.0  # exponentials below it have products within the range of floats
LOST = 1e-4  # of the largest sum: below it, too few digits are left
LOW = 1e-20  # below it, no cell is near top any more


class LogWeights(NamedTuple):
    """theta; for every cell the pair of a theta and its exponential; the numbers."""

    v: Floats
    pairs: Floats
    n: Floats


@helper
def exponential(w: Any, j: int) -> Any:
    """exp(theta) at j; for a cell that is zero nothing is cached."""
    theta = w.v[j]
    pair = 2 * np.int64(j)
    known = w.pairs[pair + 1] if theta != 0.0 else 1.0
    return known if w.pairs[pair] == theta or theta == 0.0 else bounded_exp(theta)


@helper
def scaled_term(theta: float, exponential: float, sides: float, top: float, least: float) -> Any:
    """One term of the sum, divided by exp(top), where least is exp(-top)."""
    if abs(theta) > NEAR or abs(top) > NEAR:
        return (
            bounded_exp(sides * theta - top) if sides != 2.0 else bounded_exp(theta - top) + bounded_exp(-theta - top)
        )
    if sides == 2.0:
        return least * exponential + least / exponential
    return least * exponential if sides == 1.0 else least / exponential


@helper
def scaled_net(theta: float, exponential: float, sides: float, top: float, least: float) -> Any:
    """exp(theta), or exp(theta) - exp(-theta), divided by exp(top), where least is exp(-top)."""
    if sides != 2.0:
        return scaled_term(theta, exponential, sides, top, least)
    if abs(theta) > NEAR or abs(top) > NEAR:
        return bounded_exp(theta - top) - bounded_exp(-theta - top)
    if abs(theta) < SMALL:  # a difference of two numbers near 1 would lose digits
        return 2.0 * least * small_sinh(theta)
    return least * exponential - least / exponential


@helper
def small_sinh(theta: float) -> Any:
    """sinh(theta) by its series, where theta is small."""
    square = theta * theta
    series = 1.0 + square / 20.0 * (1.0 + square / 42.0 * (1.0 + square / 72.0))
    return theta + theta * square / 6.0 * series


@helper
def bounded_exp(exponent: float) -> Any:
    """exp(exponent), bounded; a share of a sum with as large a term is still right."""
    return math.exp(min(exponent, LIMIT))


@helper
def height(theta: float, sides: float) -> Any:
    return abs(theta) if sides == 2.0 else sides * theta


@helper
def recompute_sum(w: Any, sides: float) -> Any:
    """Compute the sum from all cells."""
    top = 0.0
    nonzeros = 0.0
    for j in range(w.v.size):
        if w.v[j] != 0.0:
            value = height(w.v[j], sides)
            top = value if nonzeros == 0.0 else max(top, value)
            nonzeros += 1.0
    result = 0.0
    least = bounded_exp(-top)
    for j in range(w.v.size):
        if w.v[j] != 0.0:
            result += scaled_term(w.v[j], exponential(w, j), sides, top, least)
    w.n[0] = result
    w.n[1] = 0.0
    w.n[2] = sides
    w.n[3] = top
    w.n[4] = least
    w.n[5] = result
    w.n[6] = nonzeros
    w.n[7] = 0.0


@helper
def step_and_subtract(w: Any, a: float, z: Any, sides: float) -> Any:
    """theta += a z; the old terms of the cells of z leave the sum. Returns the largest new exponent."""
    change = nonzeros = 0.0
    highest = w.n[3]
    for b in range(blocks(z)):
        q = part(z, b)
        step = a * factor(q)
        for k in range(count(q)):
            j = place(q, k)
            old = w.v[j]
            if old != 0.0:
                change -= scaled_term(old, exponential(w, j), sides, w.n[3], w.n[4])
                nonzeros -= 1.0
            new = old + step * raw(q, k)
            highest = max(highest, height(new, sides))
            w.v[j] = new
    add_compensated(w.n, 0, change)
    w.n[6] += nonzeros
    return highest


@helper
def raise_top(w: Any, top: float) -> Any:
    lower = math.exp(w.n[3] - top)
    w.n[0] *= lower
    w.n[1] *= lower
    w.n[5] *= lower
    w.n[3] = top
    w.n[4] = bounded_exp(-top)


@helper
def add_terms(w: Any, z: Any, sides: float) -> Any:
    """Add the new terms of the cells of z to the sum."""
    change = nonzeros = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            j = place(q, k)
            new = w.v[j]
            larger = bounded_exp(new)
            w.pairs[2 * np.int64(j)] = new
            w.pairs[2 * np.int64(j) + 1] = larger
            if new != 0.0:
                change += scaled_term(new, larger, sides, w.n[3], w.n[4])
                nonzeros += 1.0
    add_compensated(w.n, 0, change)
    w.n[6] += nonzeros


@at.on(LogWeights)
def at_log_weights(w: Any, j: int) -> Any:
    return w.v[j]


@dot.on(LogWeights)
def dot_log_weights(w: Any, z: Any) -> Any:
    return dot(w.v, z)


@add.on(LogWeights)
def add_log_weights(w: Any, a: float, z: Any) -> None:
    if w.n[7] > 0.0:
        before = w.n[0]
        add_compensated(w.n, 0, nudge(w.v, a, z, w.n[7]))
        if w.n[0] < LOST * before:
            w.n[0] = powers(w.v, w.n[7])
            w.n[1] = 0.0
        return
    if w.n[2] == 0.0:
        add(w.v, a, z)
        return
    sides = w.n[2]
    highest = step_and_subtract(w, a, z, sides)
    if highest > w.n[3] + HIGH:
        raise_top(w, highest)
    add_terms(w, z, sides)
    w.n[5] = max(w.n[5], w.n[0])
    if w.n[0] + w.n[1] < max(LOST * w.n[5], LOW) and (w.n[6] > 0.0 or w.n[3] != 0.0):
        recompute_sum(w, sides)


@helper
def scaled_sum(w: Any, sides: float, cells: float) -> Any:
    """The sum over so many cells, zero ones included, divided by exp(top)."""
    if w.n[2] != sides:
        recompute_sum(w, sides)
    rest = max(cells - w.n[6], 0.0) * (2.0 if sides == 2.0 else 1.0)
    return w.n[0] + w.n[1] + rest * w.n[4]


@exp_total.on(LogWeights)
def exp_total_log_weights(w: Any, sides: float, cells: float, lift: float) -> Any:
    result = scaled_sum(w, sides, cells)
    return result * bounded_exp(w.n[3] + lift)


@exp_dot.on(LogWeights)
def exp_dot_log_weights(w: Any, x: Any, sides: float, lift: float) -> Any:
    result = 0.0
    factor_of_all = bounded_exp(lift)
    for b in range(blocks(x)):
        q = part(x, b)
        total = other = 0.0
        for k in range(count(q)):
            j = place(q, k)
            total, other = (
                other + scaled_term(w.v[j], exponential(w, j), sides, -lift, factor_of_all) * raw(q, k),
                total,
            )
        result += factor(q) * (total + other)
    return result


@share_dot.on(LogWeights)
def share_dot_log_weights(w: Any, x: Any, sides: float, cells: float) -> Any:
    whole = scaled_sum(w, sides, cells)
    result = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        total = other = 0.0
        for k in range(count(q)):
            j = place(q, k)
            total, other = other + scaled_net(w.v[j], exponential(w, j), sides, w.n[3], w.n[4]) * raw(q, k), total
        result += factor(q) * (total + other)
    return result / whole


@norm.on(LogWeights)
def norm_log_weights(w: Any, p: float) -> Any:
    if w.n[7] != p:
        w.n[0] = powers(w.v, p)
        w.n[1] = 0.0
        w.n[2] = 0.0
        w.n[7] = p
    return max(w.n[0] + w.n[1], 0.0) ** (1.0 / p)
