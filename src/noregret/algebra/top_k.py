"""Top-k vectors: w = c v with few non-zero cells, the smallest of which is known.

The places of the non-zero cells form a heap, the smallest |v_j| first; slot[j] is the place of j in it, counted from
one. Of equal sizes the higher feature comes first, so that lower features are kept; then the higher class. Cells that
became non-zero since cells were last dropped are behind the heap, unordered: most are dropped without entering it.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats, Integers
from noregret.algebra.internal_verbs import blocks, count, dots, factor, part, place, raw
from noregret.algebra.scaled import LARGE, SMALL, add_compensated, at_scaled, dot_scaled, dots_scaled
from noregret.algebra.verbs import add, at, dot, helper, keep, norm, scale

NUMBERS = {"scale": 1.0, "sum": 0.0, "rest": 0.0, "size": 0.0, "ordered": 0.0}


class TopK(NamedTuple):
    """n: the scale c, the sum of squares of v and its rounding error, the number of non-zeros, the size of the heap."""

    v: Floats
    slot: Integers
    heap: Integers
    n: Floats
    stride: int  # the distance between classes, where cells are laid out by class; otherwise 0


@helper
def ranks_below(w: Any, i: int, j: int) -> Any:
    """Whether cell i would be dropped before cell j."""
    a = abs(w.v[i])
    b = abs(w.v[j])
    if a != b:
        return a < b
    if w.stride > 0 and i % w.stride != j % w.stride:
        return i % w.stride > j % w.stride
    return i > j


@helper
def put_in_heap(w: Any, at_slot: Any, j: int) -> Any:
    w.heap[at_slot] = j
    w.slot[j] = at_slot + 1


@helper
def sift(w: Any, j: int) -> Any:
    """Move a cell of the heap to where its size belongs; a cell behind the heap stays."""
    k = w.slot[j] - 1
    size = int(w.n[4])
    if k >= size:
        return
    while k > 0 and ranks_below(w, j, w.heap[(k - 1) // 2]):
        put_in_heap(w, k, w.heap[(k - 1) // 2])
        k = (k - 1) // 2
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and ranks_below(w, w.heap[child + 1], w.heap[child]):
            child += 1
        if ranks_below(w, j, w.heap[child]):
            break
        put_in_heap(w, k, w.heap[child])
        k = child
    put_in_heap(w, k, j)


@helper
def remove_from_heap(w: Any, j: int) -> Any:
    """Remove a cell from the heap, whose last cell takes its place, or from behind the heap."""
    k = w.slot[j] - 1
    w.slot[j] = 0
    if k < w.n[4]:
        w.n[4] -= 1.0
        last = w.heap[int(w.n[4])]
        if last != j:
            put_in_heap(w, k, last)
            sift(w, last)
        k = int(w.n[4])
    w.n[3] -= 1.0
    if k < w.n[3]:
        put_in_heap(w, k, w.heap[int(w.n[3])])


@helper
def change_cell(w: Any, j: int, new: float) -> Any:
    old = w.v[j]
    w.v[j] = new
    add_compensated(w.n, 1, (new - old) * (new + old))
    if new == 0.0:
        if old != 0.0:
            remove_from_heap(w, j)
        return
    if old == 0.0:
        put_in_heap(w, int(w.n[3]), j)
        w.n[3] += 1.0
    sift(w, j)


dot.on(TopK)(dot_scaled)
dots.on(TopK)(dots_scaled)
at.on(TopK)(at_scaled)


@add.on(TopK)
def add_top_k(w: Any, a: float, z: Any) -> None:
    for b in range(blocks(z)):
        q = part(z, b)
        step = a / w.n[0] * factor(q)
        for k in range(count(q)):
            if raw(q, k) != 0.0:
                j = np.int64(place(q, k))
                change_cell(w, j, w.v[j] + step * raw(q, k))


@keep.on(TopK)
def keep_top_k(w: Any, B: float) -> None:
    if w.n[3] <= B:
        return
    while w.n[4] < w.n[3]:
        if w.n[4] < B:
            w.n[4] += 1.0
            sift(w, w.heap[int(w.n[4]) - 1])
        else:
            j = w.heap[int(w.n[3]) - 1]
            if ranks_below(w, w.heap[0], j):
                change_cell(w, w.heap[0], 0.0)
                w.n[4] += 1.0
                sift(w, w.heap[int(w.n[4]) - 1])
            else:
                change_cell(w, j, 0.0)
    while w.n[3] > B:
        change_cell(w, w.heap[0], 0.0)


@scale.on(TopK)
def scale_top_k(w: Any, a: float) -> None:
    """A scale out of bounds is multiplied into all non-zeros; this keeps their order, or makes them zero."""
    w.n[0] *= a
    if not SMALL < abs(w.n[0]) < LARGE:
        c = w.n[0]
        w.n[0] = 1.0
        w.n[1] = w.n[2] = 0.0
        for k in range(int(w.n[3])):
            j = w.heap[k]
            w.v[j] *= c
            add_compensated(w.n, 1, w.v[j] * w.v[j])
        while w.n[4] > 0.0 and w.v[w.heap[0]] == 0.0:
            remove_from_heap(w, w.heap[0])
        for k in range(int(w.n[3]) - 1, int(w.n[4]) - 1, -1):
            if w.v[w.heap[k]] == 0.0:
                remove_from_heap(w, w.heap[k])


@norm.on(TopK)
def norm_top_k(w: Any, p: float) -> Any:
    if p == 2.0:
        return abs(w.n[0]) * max(w.n[1] + w.n[2], 0.0) ** 0.5
    total = 0.0
    for k in range(int(w.n[3])):
        total += abs(w.v[w.heap[k]]) ** p
    return abs(w.n[0]) * total ** (1.0 / p)
