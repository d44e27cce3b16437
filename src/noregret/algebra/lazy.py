"""Lazy vectors: shrinking all weights costs one number; each cell applies it when it is next read.

A cell stores u and the total pull at its last change; w = c u after the pull since then. Scaling by c and pulling
toward zero may alternate: a pull by a in w is a pull by a / c in u. Weights above theta in absolute value are not
pulled.
"""

import math
import sys
from typing import Any, NamedTuple

from noregret.algebra.arrays import Flag, Floats
from noregret.algebra.internal_verbs import blocks, class_block, count, dots, factor, part, place, raw
from noregret.algebra.verbs import add, at, dot, helper, scale, shrink

NO_LIMIT = sys.float_info.max
NUMBERS = {"scale": 1.0, "pull": 0.0, "theta": NO_LIMIT}
SMALL, LARGE = 1e-100, 1e100


class Lazy(NamedTuple):
    """n: the scale c, the total pull so far, and theta; may: whether a round may change all cells."""

    v: Floats
    seen: Floats
    n: Floats
    may: Flag


@helper
def pull_to_zero(u: Any, pull: float, c: Any, theta: float) -> Any:
    """u after a pull toward zero, if c u is at most theta; without a branch."""
    size = abs(u)
    left = max(size - pull, 0.0)
    return math.copysign(left if size * c <= theta else size, u)


@helper
def current_cell(w: Any, j: int) -> Any:
    """u at j after all pulls."""
    return pull_to_zero(w.v[j], w.n[1] - w.seen[j], w.n[0], w.n[2])


@helper
def apply_all_pulls(w: Any) -> Any:
    for j in range(w.v.size):
        w.v[j] = w.n[0] * current_cell(w, j)
        w.seen[j] = 0.0
    w.n[0] = 1.0
    w.n[1] = 0.0


@at.on(Lazy)
def at_lazy(w: Any, j: int) -> Any:
    return w.n[0] * current_cell(w, j)


@dot.on(Lazy)
def dot_lazy(w: Any, z: Any) -> Any:
    """Two partial sums in turn, so that one addition need not wait for the last."""
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        c = d = 0.0
        for k in range(count(q)):
            c, d = d + current_cell(w, place(q, k)) * raw(q, k), c
        total += factor(q) * (c + d)
    return w.n[0] * total


@dots.on(Lazy)
def dots_lazy(w: Any, x: Any, stride: int, out: Floats) -> None:
    for c in range(out.size):
        out[c] = dot(w, class_block(x, c, stride))


@add.on(Lazy)
def add_lazy(w: Any, a: float, z: Any) -> None:
    c, now, theta = w.n[0], w.n[1], w.n[2]
    for b in range(blocks(z)):
        q = part(z, b)
        step = a / c * factor(q)
        for k in range(count(q)):
            j = place(q, k)
            w.v[j] = pull_to_zero(w.v[j], now - w.seen[j], c, theta) + step * raw(q, k)
            w.seen[j] = now


@shrink.on(Lazy)
def shrink_lazy(w: Any, a: float, theta: float) -> None:
    w.n[1] += a / w.n[0]
    w.n[2] = min(theta, NO_LIMIT)


@scale.on(Lazy)
def scale_lazy(w: Any, a: float) -> None:
    w.n[0] *= a
    if not SMALL < w.n[0] < LARGE:
        if w.may[0] == 0:
            w.n[0] = math.nan
        else:
            apply_all_pulls(w)
