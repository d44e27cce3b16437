"""LogWeights: theta_j stands for exp(theta_j), and sums of these over all cells are kept up to date.

sides = 1 sums exp(theta), 2 sums exp(theta) + exp(-theta), -1 sums exp(-theta). The numbers n live in the record of
counters: the sum over cells that have moved, each term divided by exp(top), and what rounding left over; the sides;
top and exp(-top); the largest sum since all cells were last added up; how many cells have moved. Where a p-norm is
asked for instead, the sum is that of |theta_j|^p and order is p.

The exponential that a step has led to is remembered together with its theta: it holds for as long as they agree.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.scaled import totals
from noregret.algebra.verbs import (
    add,
    at,
    blocks,
    count,
    dot,
    factor,
    helper,
    norm,
    nudge,
    part,
    place,
    powers,
    raw,
    share,
    shared,
    swelled,
    swelled_total,
    total,
)

NUMBERS = {"sum": 0.0, "rest": 0.0, "sides": 0.0, "top": 0.0, "least": 1.0, "peak": 0.0, "moved": 0.0, "order": 0.0}
HIGH = 50.0
SMALL = 0.125
LIMIT = 600.0  # weights e^600 times smaller than the largest are as good as zero
NEAR = 300.0  # products of exponentials of what is nearer to zero are within the range of floats
LOST = 1e-4  # of the largest sum: below it, too many digits have gone
LOW = 1e-20  # a sum so small has a top that no cell is near to any more


class LogWeights(NamedTuple):
    """theta; for every cell side by side a theta that it had and the exponential of that; and the numbers."""

    v: np.ndarray
    pairs: np.ndarray
    n: np.ndarray


@helper
def exponential(w: Any, j: Any) -> Any:
    """exp(theta) at j; of a cell that never moved, nothing is remembered."""
    theta = w.v[j]
    pair = 2 * np.int64(j)
    known = w.pairs[pair + 1] if theta != 0.0 else 1.0
    return known if w.pairs[pair] == theta or theta == 0.0 else grown(theta)


@helper
def lifted(theta: Any, exponential: Any, sides: Any, top: Any, least: Any) -> Any:
    """One term of the sum, divided by exp(top), where least is exp(-top)."""
    if abs(theta) > NEAR or abs(top) > NEAR:
        return grown(sides * theta - top) if sides != 2.0 else grown(theta - top) + grown(-theta - top)
    if sides == 2.0:
        return least * exponential + least / exponential
    return least * exponential if sides == 1.0 else least / exponential


@helper
def net(theta: Any, exponential: Any, sides: Any, top: Any, least: Any) -> Any:
    """exp(theta), or exp(theta) - exp(-theta), divided by exp(top), where least is exp(-top)."""
    if sides != 2.0:
        return lifted(theta, exponential, sides, top, least)
    if abs(theta) > NEAR or abs(top) > NEAR:
        return grown(theta - top) - grown(-theta - top)
    if abs(theta) < SMALL:  # the difference of two numbers near 1 would lose the digits of a small theta
        return 2.0 * least * small_sinh(theta)
    return least * exponential - least / exponential


@helper
def small_sinh(theta: Any) -> Any:
    """sinh(theta) where the next term of its series would not show."""
    square = theta * theta
    series = 1.0 + square / 20.0 * (1.0 + square / 42.0 * (1.0 + square / 72.0))
    return theta + theta * square / 6.0 * series


@helper
def grown(exponent: Any) -> Any:
    """e to a number that may be far too large; as a share of a sum with as large a term, the answer stays right."""
    return math.exp(min(exponent, LIMIT))


@helper
def height(theta: Any, sides: Any) -> Any:
    return abs(theta) if sides == 2.0 else sides * theta


@helper
def add_up(w: Any, sides: Any) -> Any:
    """Look at all cells."""
    top = 0.0
    moved = 0.0
    for j in range(w.v.size):
        if w.v[j] != 0.0:
            value = height(w.v[j], sides)
            top = value if moved == 0.0 else max(top, value)
            moved += 1.0
    found = 0.0
    least = grown(-top)
    for j in range(w.v.size):
        if w.v[j] != 0.0:
            found += lifted(w.v[j], exponential(w, j), sides, top, least)
    w.n[0] = found
    w.n[1] = 0.0
    w.n[2] = sides
    w.n[3] = top
    w.n[4] = least
    w.n[5] = found
    w.n[6] = moved
    w.n[7] = 0.0


@helper
def step_and_take_out(w: Any, a: Any, z: Any, sides: Any) -> Any:
    """theta += a z, and what the cells of z were leaves the sum; returns how high the highest of them has come."""
    change = moved = 0.0
    highest = w.n[3]
    for b in range(blocks(z)):
        q = part(z, b)
        step = a * factor(q)
        for k in range(count(q)):
            j = place(q, k)
            old = w.v[j]
            if old != 0.0:
                change -= lifted(old, exponential(w, j), sides, w.n[3], w.n[4])
                moved -= 1.0
            new = old + step * raw(q, k)
            highest = max(highest, height(new, sides))
            w.v[j] = new
    totals(w.n, 0, change)
    w.n[6] += moved
    return highest


@helper
def raise_top(w: Any, top: Any) -> Any:
    lower = math.exp(w.n[3] - top)
    w.n[0] *= lower
    w.n[1] *= lower
    w.n[5] *= lower
    w.n[3] = top
    w.n[4] = grown(-top)


@helper
def put_in(w: Any, z: Any, sides: Any) -> Any:
    """What the cells of z are now comes into the sum."""
    change = moved = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            j = place(q, k)
            new = w.v[j]
            larger = grown(new)
            w.pairs[2 * np.int64(j)] = new
            w.pairs[2 * np.int64(j) + 1] = larger
            if new != 0.0:
                change += lifted(new, larger, sides, w.n[3], w.n[4])
                moved += 1.0
    totals(w.n, 0, change)
    w.n[6] += moved


@at.on(LogWeights)
def at_exponents(w: Any, j: Any) -> Any:
    return w.v[j]


@dot.on(LogWeights)
def dot_exponents(w: Any, z: Any) -> Any:
    return dot(w.v, z)


@add.on(LogWeights)
def add_exponents(w: Any, a: Any, z: Any) -> Any:
    if w.n[7] > 0.0:
        before = w.n[0]
        totals(w.n, 0, nudge(w.v, a, z, w.n[7]))
        if w.n[0] < LOST * before:
            w.n[0] = powers(w.v, w.n[7])
            w.n[1] = 0.0
        return
    if w.n[2] == 0.0:
        add(w.v, a, z)
        return
    sides = w.n[2]
    highest = step_and_take_out(w, a, z, sides)
    if highest > w.n[3] + HIGH:
        raise_top(w, highest)
    put_in(w, z, sides)
    w.n[5] = max(w.n[5], w.n[0])
    if w.n[0] + w.n[1] < max(LOST * w.n[5], LOW) and (w.n[6] > 0.0 or w.n[3] != 0.0):
        add_up(w, sides)


@helper
def all_lifted(w: Any, sides: Any, cells: Any) -> Any:
    """The sum over so many cells, those that never moved included, divided by exp(top)."""
    if w.n[2] != sides:
        add_up(w, sides)
    rest = max(cells - w.n[6], 0.0) * (2.0 if sides == 2.0 else 1.0)
    return w.n[0] + w.n[1] + rest * w.n[4]


@total.on(LogWeights)
def total_exponents(w: Any, sides: Any, cells: Any) -> Any:
    return all_lifted(w, sides, cells) * math.exp(w.n[3])


@swelled_total.on(LogWeights)
def swelled_total_exponents(w: Any, sides: Any, cells: Any, lift: Any) -> Any:
    found = all_lifted(w, sides, cells)
    return found * grown(w.n[3] + lift)


@swelled.on(LogWeights)
def swelled_exponents(w: Any, x: Any, sides: Any, lift: Any) -> Any:
    found = 0.0
    factor_of_all = grown(lift)
    for b in range(blocks(x)):
        q = part(x, b)
        total = other = 0.0
        for k in range(count(q)):
            j = place(q, k)
            total, other = other + lifted(w.v[j], exponential(w, j), sides, -lift, factor_of_all) * raw(q, k), total
        found += factor(q) * (total + other)
    return found


@share.on(LogWeights)
def share_exponents(w: Any, j: Any, sides: Any, cells: Any) -> Any:
    whole = all_lifted(w, sides, cells)
    return net(w.v[j], exponential(w, j), sides, w.n[3], w.n[4]) / whole


@shared.on(LogWeights)
def shared_exponents(w: Any, x: Any, sides: Any, cells: Any) -> Any:
    whole = all_lifted(w, sides, cells)
    found = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        total = other = 0.0
        for k in range(count(q)):
            j = place(q, k)
            total, other = other + net(w.v[j], exponential(w, j), sides, w.n[3], w.n[4]) * raw(q, k), total
        found += factor(q) * (total + other)
    return found / whole


@norm.on(LogWeights)
def norm_exponents(w: Any, p: Any) -> Any:
    if w.n[7] != p:
        w.n[0] = powers(w.v, p)
        w.n[1] = 0.0
        w.n[2] = 0.0
        w.n[7] = p
    return max(w.n[0] + w.n[1], 0.0) ** (1.0 / p)
