"""Scaled vectors: w = c v, with the p-norm of v up to date, so that scaling and measuring w take constant time.

v is a vector with `nudge` and `sweep`. The numbers n are counters: c; the sum of |v_j|^p and its rounding error; p, or
zero as long as no norm is in use.
"""

import math
from typing import Any, NamedTuple

from noregret.algebra.arrays import Flag, Floats
from noregret.algebra.internal_verbs import (
    blocks,
    count,
    dots,
    factor,
    nudge,
    part,
    place,
    powers,
    raw,
    row_and_dot,
    row_dot,
    sweep,
)
from noregret.algebra.verbs import Plain, add, at, dot, helper, norm, power, scale

NUMBERS = {"scale": 1.0, "sum": 0.0, "rest": 0.0, "order": 0.0}
SMALL, LARGE = 1e-100, 1e100
LOST = 1e-4


class Scaled(NamedTuple):
    """c v; may: whether a round may change all of v, to multiply a scale out of bounds into it."""

    v: Any
    n: Floats
    may: Flag


class Unmeasured(NamedTuple):
    """The same, where no norm is asked for: there is less to compile."""

    v: Any
    n: Floats
    may: Flag


@helper
def fold_scale(w: Any) -> Any:
    """Multiply a scale that is zero or out of bounds into v; where v may not change, let the round fail."""
    c = w.n[0]
    if c == 0.0 and w.n[3] > 0.0 and w.n[1] + w.n[2] == 0.0:
        w.n[0] = 1.0
    elif w.may[0] == 0:
        w.n[0] = math.nan
    else:
        sweep(w.v, c)
        w.n[0] = 1.0
        if w.n[3] > 0.0:
            w.n[1] = powers(w.v, w.n[3])
            w.n[2] = 0.0


@helper
def add_compensated(n: Any, i: int, change: float) -> Any:
    """Add to the sum n[i], and add the rounding error to n[i + 1]."""
    total = n[i] + change
    if abs(n[i]) >= abs(change):
        n[i + 1] += (n[i] - total) + change
    else:
        n[i + 1] += (change - total) + n[i]
    n[i] = total


@dot.on(Scaled)
@dot.on(Unmeasured)
def dot_scaled(w: Any, z: Any) -> Any:
    return w.n[0] * dot(w.v, z)


@row_dot.on(Scaled)
@row_dot.on(Unmeasured)
def row_dot_scaled(w: Any, rows: Any, t: Any) -> Any:
    return w.n[0] * row_dot(w.v, rows, t)


@row_and_dot.on(Scaled)
@row_and_dot.on(Unmeasured)
def row_and_dot_scaled(w: Any, rows: Any, t: Any) -> Any:
    x, f = row_and_dot(w.v, rows, t)
    return x, w.n[0] * f


@dots.on(Scaled)
@dots.on(Unmeasured)
def dots_scaled(w: Any, x: Any, stride: int, out: Floats) -> None:
    dots(w.v, x, stride, out)
    for c in range(out.size):
        out[c] *= w.n[0]


@at.on(Scaled)
@at.on(Unmeasured)
def at_scaled(w: Any, j: int) -> Any:
    return w.n[0] * at(w.v, j)


@add.on(Scaled)
def add_scaled(w: Any, a: float, z: Any) -> None:
    if w.n[3] == 0.0:
        add(w.v, a / w.n[0], z)
        return
    before = w.n[1]
    add_compensated(w.n, 1, nudge(w.v, a / w.n[0], z, w.n[3]))
    if w.n[1] < LOST * before:  # too few digits are left
        w.n[1] = powers(w.v, w.n[3])
        w.n[2] = 0.0


@add.on(Unmeasured)
def add_unmeasured(w: Any, a: float, z: Any) -> None:
    add(w.v, a / w.n[0], z)


@scale.on(Scaled)
@scale.on(Unmeasured)
def scale_scaled(w: Any, a: float) -> None:
    w.n[0] *= a
    if not SMALL < abs(w.n[0]) < LARGE:
        fold_scale(w)


@norm.on(Scaled)
def norm_scaled(w: Any, p: float) -> Any:
    """The first call reads all of v; from then on the norm is up to date."""
    if w.n[3] != p:
        w.n[3] = p
        w.n[1] = powers(w.v, p)
        w.n[2] = 0.0
    total = max(w.n[1] + w.n[2], 0.0)
    return abs(w.n[0]) * (math.sqrt(total) if p == 2.0 else total ** (1.0 / p))


@nudge.on(Plain)
def nudge_plain(v: Any, a: float, z: Any, p: float) -> Any:
    change = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        step = a * factor(q)
        for k in range(count(q)):
            j = place(q, k)
            old = v[j]
            new = old + step * raw(q, k)
            v[j] = new
            if p == 2.0:
                change += (new - old) * (new + old)
            else:
                change += power(abs(new), p) - power(abs(old), p)
    return change


@powers.on(Plain)
def powers_plain(v: Any, p: float) -> Any:
    total = 0.0
    for j in range(v.size):
        if v[j] != 0.0:
            total += power(abs(v[j]), p)
    return total


@sweep.on(Plain)
def sweep_plain(v: Any, a: float) -> None:
    for j in range(v.size):
        v[j] *= a
