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
    """v; group[j], the group of feature j; where each group begins among its members; the remembered lengths.

    The cells of two features in a row are by_feature apart. Lengths and the pulls they are for stand in the cell of the
    group's first member.
    """

    v: np.ndarray
    group: np.ndarray
    begins: np.ndarray
    members: np.ndarray
    length: np.ndarray
    pull: np.ndarray
    by_feature: int


@helper
def feature_of(w: Any, j: Any) -> Any:
    """Cells of one class stand side by side, or those of one feature."""
    return np.int64(j) // w.by_feature if w.by_feature > 1 else np.int64(j) % w.group.size


@helper
def start_of_class(w: Any, j: Any) -> Any:
    """Where the first feature would stand, for the class of cell j."""
    return np.int64(j) - feature_of(w, j) * w.by_feature


@helper
def measured(w: Any, j: Any, a: Any) -> Any:
    """The length of the group of cell j after a pull by a, from its cells."""
    g = w.group[feature_of(w, j)]
    start = start_of_class(w, j)
    found = 0.0
    for m in range(w.begins[g], w.begins[g + 1]):
        size = abs(w.v[w.members[m] * w.by_feature + start]) - a
        if size > 0.0:
            found += size * size
    return math.sqrt(found)


@helper
def first_cell(w: Any, j: Any) -> Any:
    g = w.group[feature_of(w, j)]
    return w.members[w.begins[g]] * w.by_feature + start_of_class(w, j)


@group_norm.on(Grouped)
def group_norm_grouped(w: Any, j: Any, a: Any) -> Any:
    first = first_cell(w, j)
    if w.pull[first] != a:
        w.length[first] = measured(w, j, a)
        w.pull[first] = a
    return w.length[first]


@group_size.on(Grouped)
def group_size_grouped(w: Any, j: Any) -> Any:
    g = w.group[feature_of(w, j)]
    return float(w.begins[g + 1] - w.begins[g])


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
            w.pull[first_cell(w, place(q, k))] = -1.0
