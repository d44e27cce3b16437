"""Lazy groups: what shortens every group of weights is written down once, and caught up with where a group is met.

The cell of a group's first member remembers the total pull when the group last changed; since then its length has
fallen by the pull that came later, and its direction has stayed.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.grouped import feature_of, measured
from noregret.algebra.lazy import NO_LIMIT, pulled
from noregret.algebra.verbs import (
    add,
    at,
    blocks,
    class_block,
    count,
    dot,
    dots,
    factor,
    helper,
    part,
    place,
    raw,
    shorten,
)

NUMBERS = {"pull": 0.0}


class LazyGroups(NamedTuple):
    """v and the groups of its features, as in Grouped; n: the total pull so far; a length below zero is not known."""

    v: np.ndarray
    seen: np.ndarray
    n: np.ndarray
    first: np.ndarray
    next: np.ndarray
    length: np.ndarray
    by_feature: int


@helper
def left_over(w: Any, first: Any, f: Any) -> Any:
    """Which part of a group is left after all that has pulled since it changed: its first cell, its first feature."""
    pull = w.n[0] - w.seen[first]
    if pull <= 0.0:
        return 1.0
    if w.length[first] < 0.0:
        w.length[first] = measured(w.v, w.next, first, f, w.by_feature, 0.0)
    return 1.0 - pull / w.length[first] if w.length[first] > pull else 0.0


@helper
def bring_up_to_date(w: Any, first: Any, f: Any) -> Any:
    """A group is caught up with before it changes: its first cell, its first feature."""
    rest = left_over(w, first, f)
    start = first - f * w.by_feature
    while f >= 0:
        w.v[start + f * w.by_feature] *= rest
        f = np.int64(w.next[f])
    w.seen[first] = w.n[0]


@shorten.on(LazyGroups)
def shorten_lazy(w: Any, a: Any) -> Any:
    w.n[0] += a


@at.on(LazyGroups)
def at_lazy_groups(w: Any, j: Any) -> Any:
    f = feature_of(j, w.v.size, w.first.size, w.by_feature)
    g = np.int64(w.first[f])
    if g < 0:
        return pulled(w.v[j], w.n[0] - w.seen[j], 1.0, NO_LIMIT)
    return left_over(w, np.int64(j) + (g - f) * w.by_feature, g) * w.v[j]


@dot.on(LazyGroups)
def dot_lazy_groups(w: Any, z: Any) -> Any:
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        c = d = 0.0
        for k in range(count(q)):
            c, d = d + at(w, place(q, k)) * raw(q, k), c
        total += factor(q) * (c + d)
    return total


@dots.on(LazyGroups)
def dots_lazy_groups(w: Any, x: Any, stride: Any, out: Any) -> Any:
    for c in range(out.size):
        out[c] = dot(w, class_block(x, c, stride))


@add.on(LazyGroups)
def add_lazy_groups(w: Any, a: Any, z: Any) -> Any:
    now = w.n[0]
    for b in range(blocks(z)):
        q = part(z, b)
        step = a * factor(q)
        for k in range(count(q)):
            j = np.int64(place(q, k))
            f = feature_of(j, w.v.size, w.first.size, w.by_feature)
            g = np.int64(w.first[f])
            if g < 0:
                w.v[j] = pulled(w.v[j], now - w.seen[j], 1.0, NO_LIMIT) + step * raw(q, k)
                w.seen[j] = now
            else:
                first = j + (g - f) * w.by_feature
                if w.seen[first] != now:
                    bring_up_to_date(w, first, g)
                w.v[j] += step * raw(q, k)
                w.length[first] = -1.0
