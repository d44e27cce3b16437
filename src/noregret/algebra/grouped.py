"""Grouped vectors: features belong to groups, and the norm of a cell's group is at hand.

The last norm of a group is cached until one of its cells changes or another pull is asked for.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats, Links
from noregret.algebra.internal_verbs import blocks, count, part, place
from noregret.algebra.verbs import add, at, dot, group_norm, group_size, helper


class Grouped(NamedTuple):
    """v; for every feature the first of its group (-1 if it is alone), the next one (or -1), and the group's size.

    The cells of adjacent features are `by_feature` cells apart. The cached norm of a group, and the pull it is for, are
    in the cell of its first feature.
    """

    v: Floats
    first: Links
    next: Links
    size: Floats
    length: Floats
    pull: Floats
    by_feature: int


@helper
def feature_of(j: int, cells: Any, features: Any, by_feature: Any) -> Any:
    """The feature of cell j. There is one class, or cells are laid out by feature, or by class."""
    if cells == features:
        return np.int64(j)
    return np.int64(j) // by_feature if by_feature > 1 else np.int64(j) % features


@helper
def group_length(v: Any, follows: Any, first: Any, f: Any, by_feature: Any, a: float) -> Any:
    """The norm of a group after a pull by a: first is its first cell, f its first feature, follows the links."""
    total = 0.0
    start = first - f * by_feature
    while f >= 0:
        size = max(abs(v[start + f * by_feature]) - a, 0.0)
        total += size * size
        f = np.int64(follows[f])
    return math.sqrt(total)


@group_norm.on(Grouped)
def group_norm_grouped(w: Any, j: int, a: float) -> Any:
    f = feature_of(j, w.v.size, w.first.size, w.by_feature)
    g = np.int64(w.first[f])
    if g < 0:
        return max(abs(w.v[j]) - a, 0.0)
    first = np.int64(j) + (g - f) * w.by_feature
    if w.pull[first] != a:
        w.length[first] = group_length(w.v, w.next, first, g, w.by_feature, a)
        w.pull[first] = a
    return w.length[first]


@group_size.on(Grouped)
def group_size_grouped(w: Any, j: int) -> Any:
    return w.size[feature_of(j, w.v.size, w.first.size, w.by_feature)]


@at.on(Grouped)
def at_grouped(w: Any, j: int) -> Any:
    return w.v[j]


@dot.on(Grouped)
def dot_grouped(w: Any, z: Any) -> Any:
    return dot(w.v, z)


@add.on(Grouped)
def add_grouped(w: Any, a: float, z: Any) -> None:
    add(w.v, a, z)
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            j = np.int64(place(q, k))
            f = feature_of(j, w.v.size, w.first.size, w.by_feature)
            if w.first[f] >= 0:
                w.pull[j + (w.first[f] - f) * w.by_feature] = -1.0
