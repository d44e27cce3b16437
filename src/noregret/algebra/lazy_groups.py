"""Lazy groups: what shortens every group of weights is written down once, and caught up with where a group is met.

The cell of a group's first member remembers the total pull when the group last changed; since then its length has
fallen by the pull that came later, and its direction has stayed.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.grouped import feature_of, measured
from noregret.algebra.verbs import add, at, blocks, count, dot, dots, factor, helper, part, place, raw, seat, shorten

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


@shorten.on(LazyGroups)
def shorten_lazy(w: Any, a: Any) -> Any:
    w.n[0] += a


@at.on(LazyGroups)
def at_lazy_groups(w: Any, j: Any) -> Any:
    f = feature_of(j, w.v.size, w.first.size, w.by_feature)
    g = np.int64(w.first[f])
    return left_over(w, np.int64(j) + (g - f) * w.by_feature, g) * w.v[j]


@dot.on(LazyGroups)
def dot_lazy_groups(w: Any, z: Any) -> Any:
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        c = 0.0
        for k in range(count(q)):
            c += at(w, place(q, k)) * raw(q, k)
        total += factor(q) * c
    return total


@dots.on(LazyGroups)
def dots_lazy_groups(w: Any, x: Any, stride: Any, out: Any) -> Any:
    for c in range(out.size):
        out[c] = dot(w, seat(x, c, stride))


@add.on(LazyGroups)
def add_lazy_groups(w: Any, a: Any, z: Any) -> Any:
    for b in range(blocks(z)):
        q = part(z, b)
        step = a * factor(q)
        for k in range(count(q)):
            j = np.int64(place(q, k))
            f = feature_of(j, w.v.size, w.first.size, w.by_feature)
            g = np.int64(w.first[f])
            first = j + (g - f) * w.by_feature
            if w.seen[first] != w.n[0]:  # the group is brought up to date before it changes
                rest = left_over(w, first, g)
                start = first - g * w.by_feature
                while g >= 0:
                    w.v[start + g * w.by_feature] *= rest
                    g = np.int64(w.next[g])
                w.seen[first] = w.n[0]
            w.v[j] += step * raw(q, k)
            w.length[first] = -1.0
