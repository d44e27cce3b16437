"""Lazy groups: shortening all groups of weights costs one number; each group applies it when it is next read.

The cell of a group's first feature stores the total pull when the group last changed. Since then its norm has decreased
by the pull that came later, and its direction is the same.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats, Links
from noregret.algebra.grouped import feature_of, group_length
from noregret.algebra.internal_verbs import blocks, class_block, count, dots, factor, part, place, raw
from noregret.algebra.lazy import NO_LIMIT, pull_to_zero
from noregret.algebra.verbs import add, at, dot, helper, shorten

NUMBERS = {"pull": 0.0}


class LazyGroups(NamedTuple):
    """v and the groups of its features, as in Grouped; n: the total pull so far; length: a norm, or -1 if unknown."""

    v: Floats
    seen: Floats
    n: Floats
    first: Links
    next: Links
    length: Floats
    by_feature: int


@helper
def remaining_share(w: Any, first: Any, f: Any) -> Any:
    """Which part of a group is left after all pulls: first is its first cell, f its first feature."""
    pull = w.n[0] - w.seen[first]
    if pull <= 0.0:
        return 1.0
    if w.length[first] < 0.0:
        w.length[first] = group_length(w.v, w.next, first, f, w.by_feature, 0.0)
    return 1.0 - pull / w.length[first] if w.length[first] > pull else 0.0


@helper
def apply_pull(w: Any, first: Any, f: Any) -> Any:
    """Apply all pulls to a group before it changes: first is its first cell, f its first feature."""
    rest = remaining_share(w, first, f)
    start = first - f * w.by_feature
    while f >= 0:
        w.v[start + f * w.by_feature] *= rest
        f = np.int64(w.next[f])
    w.seen[first] = w.n[0]


@shorten.on(LazyGroups)
def shorten_lazy(w: Any, a: float) -> None:
    w.n[0] += a


@at.on(LazyGroups)
def at_lazy_groups(w: Any, j: int) -> Any:
    f = feature_of(j, w.v.size, w.first.size, w.by_feature)
    g = np.int64(w.first[f])
    if g < 0:
        return pull_to_zero(w.v[j], w.n[0] - w.seen[j], 1.0, NO_LIMIT)
    return remaining_share(w, np.int64(j) + (g - f) * w.by_feature, g) * w.v[j]


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
def dots_lazy_groups(w: Any, x: Any, stride: int, out: Floats) -> None:
    for c in range(out.size):
        out[c] = dot(w, class_block(x, c, stride))


@add.on(LazyGroups)
def add_lazy_groups(w: Any, a: float, z: Any) -> None:
    now = w.n[0]
    for b in range(blocks(z)):
        q = part(z, b)
        step = a * factor(q)
        for k in range(count(q)):
            j = np.int64(place(q, k))
            f = feature_of(j, w.v.size, w.first.size, w.by_feature)
            g = np.int64(w.first[f])
            if g < 0:
                w.v[j] = pull_to_zero(w.v[j], now - w.seen[j], 1.0, NO_LIMIT) + step * raw(q, k)
                w.seen[j] = now
            else:
                first = j + (g - f) * w.by_feature
                if w.seen[first] != now:
                    apply_pull(w, first, g)
                w.v[j] += step * raw(q, k)
                w.length[first] = -1.0
