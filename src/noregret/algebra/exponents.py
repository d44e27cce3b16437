"""Exponents: theta_j stands for exp(theta_j), and sums of these over all cells are kept up to date.

sides = 1 sums exp(theta), 2 sums exp(theta) + exp(-theta), -1 sums exp(-theta). The numbers n live in the record of
counters: the sum over cells that have moved, each term divided by exp(top), and what rounding left over; the sides;
top and exp(-top); the largest sum since all cells were last added up; how many cells have moved.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import (
    add,
    at,
    blocks,
    count,
    dot,
    factor,
    helper,
    part,
    place,
    raw,
    share,
    total,
)

NUMBERS = {"sum": 0.0, "rest": 0.0, "sides": 0.0, "top": 0.0, "least": 1.0, "peak": 0.0, "moved": 0.0}
HIGH = 50.0
LOST = 1e-4  # of the largest sum: below it, too many digits have gone


class Exponents(NamedTuple):
    """theta and its numbers."""

    v: np.ndarray
    n: np.ndarray


@helper
def lifted(theta: Any, sides: Any, top: Any) -> Any:
    """One term of the sum, divided by exp(top)."""
    if sides == 2.0:
        return math.exp(theta - top) + math.exp(-theta - top)
    return math.exp(sides * theta - top)


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
    for j in range(w.v.size):
        if w.v[j] != 0.0:
            found += lifted(w.v[j], sides, top)
    w.n[0] = found
    w.n[1] = 0.0
    w.n[2] = sides
    w.n[3] = top
    w.n[4] = math.exp(-top)
    w.n[5] = found
    w.n[6] = moved


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
        w.n[4] = math.exp(-w.n[3])
    change = 0.0
    if old != 0.0:
        change -= lifted(old, sides, w.n[3])
        w.n[6] -= 1.0
    if new != 0.0:
        change += lifted(new, sides, w.n[3])
        w.n[6] += 1.0
    found = w.n[0] + change
    if abs(w.n[0]) >= abs(change):
        w.n[1] += (w.n[0] - found) + change
    else:
        w.n[1] += (change - found) + w.n[0]
    w.n[0] = found
    w.n[5] = max(w.n[5], found)


@at.on(Exponents)
def at_exponents(w: Any, j: Any) -> Any:
    return w.v[j]


@dot.on(Exponents)
def dot_exponents(w: Any, z: Any) -> Any:
    return dot(w.v, z)


@add.on(Exponents)
def add_exponents(w: Any, a: Any, z: Any) -> Any:
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
    if w.n[0] + w.n[1] < LOST * w.n[5]:
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


@share.on(Exponents)
def share_exponents(w: Any, j: Any, sides: Any, cells: Any) -> Any:
    whole = all_lifted(w, sides, cells)
    theta = w.v[j]
    if sides == 2.0:
        return (math.exp(theta - w.n[3]) - math.exp(-theta - w.n[3])) / whole
    return math.exp(sides * theta - w.n[3]) / whole
