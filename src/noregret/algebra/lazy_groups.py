"""Lazy groups: what shortens every group of weights is written down once, and caught up with where a group is met.

The cell of a group's first member remembers the total pull when the group last changed; since then its length has
fallen by the pull that came later, and its direction has stayed.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.grouped import feature_of, first_cell, measured, start_of_class
from noregret.algebra.verbs import add, at, blocks, count, dot, dots, factor, helper, part, place, raw, seat, shorten

NUMBERS = {"pull": 0.0}


class LazyGroups(NamedTuple):
    """v and the groups of its features, as in Grouped; n: the total pull so far; a length below zero is not known."""

    v: np.ndarray
    seen: np.ndarray
    n: np.ndarray
    group: np.ndarray
    begins: np.ndarray
    members: np.ndarray
    length: np.ndarray
    by_feature: int


@helper
def left_over(w: Any, j: Any) -> Any:
    """Which part of the group of cell j is left after all that has pulled since it changed."""
    first = first_cell(w, j)
    pull = w.n[0] - w.seen[first]
    if pull <= 0.0:
        return 1.0
    if w.length[first] < 0.0:
        w.length[first] = measured(w, j, 0.0)
    return 1.0 - pull / w.length[first] if w.length[first] > pull else 0.0


@helper
def catch_up_group(w: Any, j: Any) -> Any:
    """Bring the group of cell j, which is about to change, up to date."""
    first = first_cell(w, j)
    if w.seen[first] != w.n[0]:
        rest = left_over(w, j)
        g = w.group[feature_of(w, j)]
        start = start_of_class(w, j)
        for m in range(w.begins[g], w.begins[g + 1]):
            w.v[w.members[m] * w.by_feature + start] *= rest
        w.seen[first] = w.n[0]
    w.length[first] = -1.0


@shorten.on(LazyGroups)
def shorten_lazy(w: Any, a: Any) -> Any:
    w.n[0] += a


@at.on(LazyGroups)
def at_lazy_groups(w: Any, j: Any) -> Any:
    return left_over(w, j) * w.v[j]


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
            j = place(q, k)
            catch_up_group(w, j)
            w.v[j] += step * raw(q, k)
