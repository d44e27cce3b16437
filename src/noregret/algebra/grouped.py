"""Grouped vectors: features belong to groups, and the length of a group is asked for together with each of its cells.

The last length of every group is remembered until a cell of the group changes or another pull is asked for.
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
    group_norm,
    group_size,
    helper,
    part,
    place,
)


class Grouped(NamedTuple):
    """v; of every feature the first one of its group, or -1 if it is alone, the next one or -1, and the group's size.

    The cells of two features in a row are `by_feature` apart. Lengths and the pulls they are for stand in
    the cell of the group's first feature.
    """

    v: np.ndarray
    first: np.ndarray
    next: np.ndarray
    size: np.ndarray
    length: np.ndarray
    pull: np.ndarray
    by_feature: int


@helper
def feature_of(j: Any, cells: Any, features: Any, by_feature: Any) -> Any:
    """There is one class, or the cells of one feature stand side by side, or those of one class."""
    if cells == features:
        return np.int64(j)
    return np.int64(j) // by_feature if by_feature > 1 else np.int64(j) % features


@helper
def measured(v: Any, follows: Any, first: Any, f: Any, by_feature: Any, a: Any) -> Any:
    """The length of a group after a pull by a, from its cells: the first of them, the first feature, what follows."""
    found = 0.0
    start = first - f * by_feature
    while f >= 0:
        size = max(abs(v[start + f * by_feature]) - a, 0.0)
        found += size * size
        f = np.int64(follows[f])
    return math.sqrt(found)


@group_norm.on(Grouped)
def group_norm_grouped(w: Any, j: Any, a: Any) -> Any:
    f = feature_of(j, w.v.size, w.first.size, w.by_feature)
    g = np.int64(w.first[f])
    if g < 0:
        return max(abs(w.v[j]) - a, 0.0)
    first = np.int64(j) + (g - f) * w.by_feature
    if w.pull[first] != a:
        w.length[first] = measured(w.v, w.next, first, g, w.by_feature, a)
        w.pull[first] = a
    return w.length[first]


@group_size.on(Grouped)
def group_size_grouped(w: Any, j: Any) -> Any:
    return w.size[feature_of(j, w.v.size, w.first.size, w.by_feature)]


@at.on(Grouped)
def at_grouped(w: Any, j: Any) -> Any:
    return w.v[j]


@dot.on(Grouped)
def dot_grouped(w: Any, z: Any) -> Any:
    return dot(w.v, z)


@add.on(Grouped)
def add_grouped(w: Any, a: Any, z: Any) -> Any:
    add(w.v, a, z)
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            j = np.int64(place(q, k))
            f = feature_of(j, w.v.size, w.first.size, w.by_feature)
            if w.first[f] >= 0:
                w.pull[j + (w.first[f] - f) * w.by_feature] = -1.0
