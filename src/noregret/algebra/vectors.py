"""Plain vectors: each verb is written once, over the parts of any kind of example."""

import math
from typing import Any

import numpy as np

from noregret.algebra.arrays import Floats
from noregret.algebra.examples import Dense, DenseBlocks, Sparse
from noregret.algebra.internal_verbs import blocks, count, dots, factor, part, place, raw, value
from noregret.algebra.verbs import Plain, add, at, clip_peaks, dot, multiply, norm, prune, put, reassociate, scale


@at.on(Plain)
def at_plain(w: Any, j: int) -> Any:
    return w[j]


@put.on(Plain)
def put_plain(w: Any, j: int, a: float) -> None:
    w[j] = a


@dot.on(Plain)
def dot_any(w: Any, z: Any) -> Any:
    """Four partial sums, so that one addition need not wait for the last.

    The position of a value alone decides which sum it is added to, so that zeros at the end change nothing.
    """
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        c = d = e = f = 0.0
        size = count(q)
        n = size - size % 4
        for k in range(0, n, 4):
            c += w[place(q, k)] * raw(q, k)
            d += w[place(q, k + 1)] * raw(q, k + 1)
            e += w[place(q, k + 2)] * raw(q, k + 2)
            f += w[place(q, k + 3)] * raw(q, k + 3)
        if n < size:
            c += w[place(q, n)] * raw(q, n)
        if n + 1 < size:
            d += w[place(q, n + 1)] * raw(q, n + 1)
        if n + 2 < size:
            e += w[place(q, n + 2)] * raw(q, n + 2)
        total += factor(q) * ((c + d) + (e + f))
    return total


@add.on(Plain)
def add_any(w: Any, a: float, z: Any) -> None:
    """Four cells are read before they are written: the places of a part differ, which the compiler cannot know."""
    for b in range(blocks(z)):
        q = part(z, b)
        step = a * factor(q)
        n = count(q) - count(q) % 4
        for k in range(0, n, 4):
            c = w[place(q, k)] + step * raw(q, k)
            d = w[place(q, k + 1)] + step * raw(q, k + 1)
            e = w[place(q, k + 2)] + step * raw(q, k + 2)
            f = w[place(q, k + 3)] + step * raw(q, k + 3)
            w[place(q, k)] = c
            w[place(q, k + 1)] = d
            w[place(q, k + 2)] = e
            w[place(q, k + 3)] = f
        for k in range(n, count(q)):
            w[place(q, k)] += step * raw(q, k)


@multiply.on(Plain)
def multiply_any(w: Any, base: float, z: Any) -> None:
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            w[place(q, k)] *= base ** value(q, k)


@prune.on(Plain)
def prune_any(w: Any, base: float, z: Any) -> None:
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            if value(q, k) > 0.0:
                w[place(q, k)] *= base ** value(q, k)
            elif value(q, k) < 0.0:
                w[place(q, k)] = 0.0


@scale.on(Plain)
def scale_plain(w: Any, a: float) -> None:
    for j in range(w.size):
        w[j] *= a


@norm.on(Plain)
def norm_plain(w: Any, p: float) -> Any:
    total = 0.0
    for j in range(w.size):
        total += abs(w[j]) ** p
    return total ** (1.0 / p)


@clip_peaks.on(Plain)
def clip_peaks_plain(w: Any, a: float) -> None:
    """Newton's method, from below, for the height at which the excess of all cells is a."""
    height = 0.0
    for j in range(w.size):
        height = max(height, abs(w[j]))
    height = max(height - a, 0.0)
    before = -1.0
    while height > before:
        before = height
        above = 0.0
        cells = 0.0
        for j in range(w.size):
            if abs(w[j]) > height:
                above += abs(w[j]) - height
                cells += 1.0
        if above > a:
            height += (above - a) / cells
    for j in range(w.size):
        if abs(w[j]) > height:
            w[j] = math.copysign(height, w[j])


@dots.on(Plain, Sparse)
def dots_sparse(w: Any, x: Any, stride: int, out: Floats) -> None:
    """One pass over the row: the weights of all classes for a feature are adjacent."""
    k = out.size
    for c in range(k):
        out[c] = 0.0
    for i in range(x.idx.size):
        first = np.int64(x.idx[i]) * stride
        weights = w[first : first + k]
        a = x.sign * x.val[i]
        for c in range(k):
            out[c] += weights[c] * a


@reassociate
def dense_dot(w: Any, x: Any) -> Any:
    total = 0.0
    for j in range(x.size):
        total += w[j] * x[j]
    return total


@reassociate
def dense_add(w: Any, a: float, x: Any) -> Any:
    for j in range(x.size):
        w[j] += a * x[j]


@dot.on(Plain, Dense)
def dot_dense(w: Any, z: Any) -> Any:
    return z.sign * dense_dot(w[: z.val.size], z.val)


@add.on(Plain, object, Dense)
def add_dense(w: Any, a: float, z: Any) -> None:
    dense_add(w[: z.val.size], a * z.sign, z.val)


@dot.on(Plain, DenseBlocks)
def dot_dense_blocks(w: Any, z: Any) -> Any:
    total = 0.0
    for b in range(len(z.signs)):
        first = z.classes[b] * z.stride
        total += z.signs[b] * dense_dot(w[first : first + z.val.size], z.val)
    return total


@add.on(Plain, object, DenseBlocks)
def add_dense_blocks(w: Any, a: float, z: Any) -> None:
    for b in range(len(z.signs)):
        first = z.classes[b] * z.stride
        dense_add(w[first : first + z.val.size], a * z.signs[b], z.val)


@dots.on(Plain, Dense)
def dots_dense(w: Any, x: Any, stride: int, out: Floats) -> None:
    for c in range(out.size):
        out[c] = x.sign * dense_dot(w[c * stride : c * stride + x.val.size], x.val)
