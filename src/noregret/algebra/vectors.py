"""Plain vectors: each verb is written once, over the parts of any kind of example."""

import math
from typing import Any

import numpy as np

from noregret.algebra.arrays import Floats
from noregret.algebra.examples import LARGEST_FLOAT, Dense, DenseBlocks, Sparse, SparseRows, fetch_ahead, read_once
from noregret.algebra.internal_verbs import (
    add_dots,
    blocks,
    count,
    dots,
    factor,
    part,
    place,
    raw,
    row,
    row_and_dot,
    row_dot,
    value,
)
from noregret.algebra.verbs import (
    Plain,
    add,
    at,
    clip_peaks,
    dot,
    helper,
    multiply,
    norm,
    prune,
    put,
    reassociate,
    scale,
)


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
        for k in range(n, size):
            term = w[place(q, k)] * raw(q, k)
            if k == n:
                c += term
            elif k == n + 1:
                d += term
            else:
                e += term
        total += factor(q) * ((c + d) + (e + f))
    return total


@row_dot.on(object)
def row_dot_any(w: Any, rows: Any, t: Any) -> Any:
    return dot(w, row(rows, t))


@row_dot.on(Plain, SparseRows)
def row_dot_sparse(w: Any, rows: Any, t: Any) -> Any:
    """`dot` of a row that is checked while it is read; a value that is not finite makes the sum so."""
    first, last = rows.indptr[t], rows.indptr[t + 1]
    fetch_ahead(rows.idx, rows.val, first, last)
    total, _, sound = checked_dot(w, rows.idx[first:last], rows.val[first:last], rows, False)
    if not sound:
        rows.bad_row[0] = t + 1
    return total if sound else 0.0


@row_and_dot.on(object)
def row_and_dot_any(w: Any, rows: Any, t: Any) -> Any:
    x = row(rows, t)
    return x, dot(w, x)


@row_and_dot.on(Plain, SparseRows)
def row_and_dot_sparse(w: Any, rows: Any, t: Any) -> Any:
    """`row` and `dot` of a row in one loop, with the same partial sums."""
    first, last = rows.indptr[t], rows.indptr[t + 1]
    fetch_ahead(rows.idx, rows.val, first, last)
    idx, val = rows.idx[first:last], rows.val[first:last]
    if rows.width == 0:
        total, sq, _ = checked_dot(w, idx, val, rows, False)
        return Sparse(idx, val, 1.0, sq), total
    total, sq, sound = checked_dot(w, idx, val, rows, True)
    if not sound or not sq <= LARGEST_FLOAT:
        rows.bad_row[0] = t + 1
        return Sparse(idx[:0], val[:0], 1.0, 0.0), 0.0
    return Sparse(rows.own[: idx.size], val, 1.0, sq), total


@helper
def checked_dot(w: Any, idx: Any, val: Any, rows: Any, keeps: bool) -> Any:
    """`dot` and `squares` of a row, in their partial sums, and whether its indices increase and are below the width.

    Four indices are checked before weights are read by them. With `keeps`, they are copied to `rows.copied`. Rows that
    were checked before, of width 0, are sound; in those that are only scored, unknown features may share an index.
    """
    copied, size, trusted = rows.copied, idx.size, rows.width == 0
    width = np.int64(w.size if trusted else min(rows.width, w.size))
    if (size > width and not trusted) or (keeps and size > copied.size):
        return 0.0, 0.0, False
    c = d = e = f = c2 = d2 = e2 = f2 = 0.0
    before = np.int64(-1)
    n = size - size % 4
    for k in range(0, n, 4):
        j0, j1, j2, j3 = read_once(idx, k), read_once(idx, k + 1), read_once(idx, k + 2), read_once(idx, k + 3)
        if not trusted and not ((before < j0) & (j0 < j1) & (j1 < j2) & (j2 < j3) & (j3 < width)):
            return 0.0, 0.0, False
        before = np.int64(j3)
        if keeps:
            copied[k] = j0
            copied[k + 1] = j1
            copied[k + 2] = j2
            copied[k + 3] = j3
        a0, a1, a2, a3 = val[k], val[k + 1], val[k + 2], val[k + 3]
        c2 += a0 * a0
        d2 += a1 * a1
        e2 += a2 * a2
        f2 += a3 * a3
        c += w[j0] * a0
        d += w[j1] * a1
        e += w[j2] * a2
        f += w[j3] * a3
    for k in range(n, size):
        j0, a0 = read_once(idx, k), val[k]
        if not trusted and not ((before < j0) & (j0 < width)):
            return 0.0, 0.0, False
        before = np.int64(j0)
        if keeps:
            copied[k] = j0
        c2 += a0 * a0
        term = w[j0] * a0
        if k == n:
            c += term
        elif k == n + 1:
            d += term
        else:
            e += term
    return 0.0 + ((c + d) + (e + f)), (c2 + d2) + (e2 + f2), True


@add.on(Plain)
def add_any(w: Any, a: float, z: Any) -> None:
    """Four cells are read before they are written: the places of a part differ, which the compiler cannot know."""
    for b in range(blocks(z)):
        q = part(z, b)
        step = a * factor(q)
        n = count(q) - count(q) % 4
        for k in range(0, n, 4):
            i0, i1, i2, i3 = place(q, k), place(q, k + 1), place(q, k + 2), place(q, k + 3)
            c = w[i0] + step * raw(q, k)
            d = w[i1] + step * raw(q, k + 1)
            e = w[i2] + step * raw(q, k + 2)
            f = w[i3] + step * raw(q, k + 3)
            w[i0] = c
            w[i1] = d
            w[i2] = e
            w[i3] = f
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
    for c in range(out.size):
        out[c] = 0.0
    add_dots(w, x, stride, out)


@add_dots.on(Plain, Sparse)
def add_dots_sparse(w: Any, x: Any, stride: int, out: Floats) -> None:
    """One pass over the row: the weights of all classes for a feature are adjacent."""
    k = out.size
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
def four_dots(w: Any, x: Any, stride: Any) -> Any:
    """The dot products of a row with four vectors that stand so far apart: it is read once for all of them."""
    a = b = c = d = 0.0
    u, v, y = w[stride:], w[2 * stride :], w[3 * stride :]
    for j in range(x.size):
        a += w[j] * x[j]
        b += u[j] * x[j]
        c += v[j] * x[j]
        d += y[j] * x[j]
    return a, b, c, d


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
    n = out.size - out.size % 4
    for c in range(0, n, 4):
        a, b, d, e = four_dots(w[c * stride :], x.val, stride)
        out[c], out[c + 1], out[c + 2], out[c + 3] = x.sign * a, x.sign * b, x.sign * d, x.sign * e
    for c in range(n, out.size):
        out[c] = x.sign * dense_dot(w[c * stride : c * stride + x.val.size], x.val)
