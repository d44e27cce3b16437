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

    A cell of feature j and class c stands at j * by_feature + c * by_class. Lengths and the pulls they are for stand in
    the cell of the group's first member.
    """

    v: np.ndarray
    group: np.ndarray
    begins: np.ndarray
    members: np.ndarray
    length: np.ndarray
    pull: np.ndarray
    by_feature: int
    by_class: int


@helper
def feature_of(w: Any, j: Any) -> Any:
    return np.int64(j) // w.by_feature if w.by_class == 1 else np.int64(j) % w.by_class


@helper
def class_of(w: Any, j: Any) -> Any:
    return np.int64(j) % w.by_feature if w.by_class == 1 else np.int64(j) // w.by_class


@helper
def measured(w: Any, j: Any, a: Any) -> Any:
    """The length of the group of cell j after a pull by a, from its cells."""
    g = w.group[feature_of(w, j)]
    c = class_of(w, j) * w.by_class
    found = 0.0
    for m in range(w.begins[g], w.begins[g + 1]):
        size = abs(w.v[w.members[m] * w.by_feature + c]) - a
        if size > 0.0:
            found += size * size
    return math.sqrt(found)


@helper
def first_cell(w: Any, j: Any) -> Any:
    g = w.group[feature_of(w, j)]
    return w.members[w.begins[g]] * w.by_feature + class_of(w, j) * w.by_class


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
