"""Exponents: theta_j stands for exp(theta_j), and sums of these over all cells are kept up to date.

sides = 1 sums exp(theta), 2 sums exp(theta) + exp(-theta), -1 sums exp(-theta). The numbers n live in the record of
counters: the sum over cells that have moved, each term divided by exp(top), and what rounding left over; the sides;
top and exp(-top); the largest sum since all cells were last added up; how many cells have moved. Where a p-norm is
asked for instead, the sum is that of |theta_j|^p and order is p.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.scaled import tally
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
LIMIT = 600.0  # weights e^600 times smaller than the largest are as good as zero
LOST = 1e-4  # of the largest sum: below it, too many digits have gone
LOW = 1e-20  # a sum so small has a top that no cell is near to any more


class Exponents(NamedTuple):
    """theta and its numbers."""

    v: np.ndarray
    n: np.ndarray


@helper
def lifted(theta: Any, sides: Any, top: Any, least: Any) -> Any:
    """One term of the sum, divided by exp(top); least is exp(-top)."""
    if sides == 2.0:
        larger = math.exp(abs(theta) - top)
        return larger + smaller(larger, least)
    return math.exp(sides * theta - top)


@helper
def smaller(larger: Any, least: Any) -> Any:
    """exp(-a - top) from exp(a - top): a division costs less than an exponential."""
    return least / larger * least if larger > 0.0 else 0.0


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
            found += lifted(w.v[j], sides, top, least)
    w.n[0] = found
    w.n[1] = 0.0
    w.n[2] = sides
    w.n[3] = top
    w.n[4] = least
    w.n[5] = found
    w.n[6] = moved
    w.n[7] = 0.0


@helper
def keep_sum(w: Any, old: Any, new: Any) -> Any:
    """Take one term out of the sum and put another in."""
    sides = w.n[2]
    if height(new, sides) > w.n[3] + HIGH:
        lower = math.exp(w.n[3] - height(new, sides))
        w.n[0] *= lower
        w.n[1] *= lower
        w.n[5] *= lower
        w.n[3] = height(new, sides)
        w.n[4] = grown(-w.n[3])
    change = 0.0
    if old != 0.0:
        change -= lifted(old, sides, w.n[3], w.n[4])
        w.n[6] -= 1.0
    if new != 0.0:
        change += lifted(new, sides, w.n[3], w.n[4])
        w.n[6] += 1.0
    tally(w.n, 0, change)
    w.n[5] = max(w.n[5], w.n[0])


@at.on(Exponents)
def at_exponents(w: Any, j: Any) -> Any:
    return w.v[j]


@dot.on(Exponents)
def dot_exponents(w: Any, z: Any) -> Any:
    return dot(w.v, z)


@add.on(Exponents)
def add_exponents(w: Any, a: Any, z: Any) -> Any:
    if w.n[7] > 0.0:
        before = w.n[0]
        tally(w.n, 0, nudge(w.v, a, z, w.n[7]))
        if w.n[0] < LOST * before:
            w.n[0] = powers(w.v, w.n[7])
            w.n[1] = 0.0
        return
    if w.n[2] == 0.0:
        add(w.v, a, z)
        return
    for b in range(blocks(z)):
        q = part(z, b)
        step = a * factor(q)
        for k in range(count(q)):
            j = place(q, k)
            old = w.v[j]
            w.v[j] = old + step * raw(q, k)
            keep_sum(w, old, w.v[j])
    if w.n[0] + w.n[1] < max(LOST * w.n[5], LOW) and (w.n[6] > 0.0 or w.n[3] != 0.0):
        add_up(w, w.n[2])


@helper
def all_lifted(w: Any, sides: Any, cells: Any) -> Any:
    """The sum over so many cells, those that never moved included, divided by exp(top)."""
    if w.n[2] != sides:
        add_up(w, sides)
    rest = max(cells - w.n[6], 0.0) * (2.0 if sides == 2.0 else 1.0)
    return w.n[0] + w.n[1] + rest * w.n[4]


@total.on(Exponents)
def total_exponents(w: Any, sides: Any, cells: Any) -> Any:
    return all_lifted(w, sides, cells) * math.exp(w.n[3])


@swelled_total.on(Exponents)
def swelled_total_exponents(w: Any, sides: Any, cells: Any, lift: Any) -> Any:
    found = all_lifted(w, sides, cells)
    return found * grown(w.n[3] + lift)


@swelled.on(Exponents)
def swelled_exponents(w: Any, x: Any, sides: Any, lift: Any) -> Any:
    found = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        total = 0.0
        for k in range(count(q)):
            total += grown(sides * w.v[place(q, k)] + lift) * raw(q, k)
        found += factor(q) * total
    return found


@helper
def net(theta: Any, sides: Any, top: Any, least: Any) -> Any:
    """exp(theta), or exp(theta) - exp(-theta), divided by exp(top); least is exp(-top)."""
    if sides == 2.0:
        if abs(theta) < 1.0:  # the difference of two numbers near 1 would lose the digits of a small theta
            return 2.0 * math.sinh(theta) * least
        larger = math.exp(abs(theta) - top)
        return math.copysign(larger - smaller(larger, least), theta)
    return grown(sides * theta - top)


@share.on(Exponents)
def share_exponents(w: Any, j: Any, sides: Any, cells: Any) -> Any:
    whole = all_lifted(w, sides, cells)
    return net(w.v[j], sides, w.n[3], w.n[4]) / whole


@shared.on(Exponents)
def shared_exponents(w: Any, x: Any, sides: Any, cells: Any) -> Any:
    whole = all_lifted(w, sides, cells)
    found = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        total = 0.0
        for k in range(count(q)):
            total += net(w.v[place(q, k)], sides, w.n[3], w.n[4]) * raw(q, k)
        found += factor(q) * total
    return found / whole


@norm.on(Exponents)
def norm_exponents(w: Any, p: Any) -> Any:
    if w.n[7] != p:
        w.n[0] = powers(w.v, p)
        w.n[1] = 0.0
        w.n[2] = 0.0
        w.n[7] = p
    return max(w.n[0] + w.n[1], 0.0) ** (1.0 / p)
