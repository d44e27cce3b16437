"""Examples: a row as a rule sees it. A new kind of example implements blocks, part, count, place and value.

Sparse weights are laid out by feature (place = feature * stride + class): the classes of one feature share a cache
line. Dense weights are laid out by class (place = class * stride + feature): a dot product reads contiguous memory.
"""

import sys
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats, Indices, Integers
from noregret.algebra.internal_verbs import (
    block,
    blocks,
    cell,
    coordinate,
    count,
    difference,
    factor,
    part,
    place,
    raw,
    row,
    scaled_by,
    value,
)
from noregret.algebra.verbs import helper, reassociate

LARGEST_FLOAT = sys.float_info.max


class SparseRows(NamedTuple):
    """A block of sparse rows. Indices are unsigned: compiled code need not test whether they are negative.

    With a width, rows are checked as they are read: sorted, below the width, finite. An invalid row is read as empty,
    and its number, counted from one, is written to bad_row. Such rows are arrays of the caller, which another thread
    may change at any time; so the indices of a row are copied to `copied`, of which `own` is a read-only view, and only
    the copy is checked and used. It holds one row at a time. Width 0: the rows were checked before, and are not the
    caller's.
    """

    indptr: Integers
    idx: Indices
    val: Floats
    stride: int
    width: int
    bad_row: Integers
    copied: Indices
    own: Indices


class DenseRows(NamedTuple):
    """A block of dense rows."""

    val: Floats
    stride: int


class Sparse(NamedTuple):
    """sign * x for a sparse x with |x|^2 = sq."""

    idx: Indices
    val: Floats
    sign: float
    sq: float


class SparseBlocks(NamedTuple):
    """The sum over b of signs[b] * Psi(x, classes[b]) for a sparse x."""

    idx: Indices
    val: Floats
    signs: tuple[float, ...]
    classes: tuple[int, ...]
    stride: int
    sq: float


class SparsePart(NamedTuple):
    """One block of a sparse example."""

    idx: Indices
    val: Floats
    sign: float
    of: int
    stride: int


class Dense(NamedTuple):
    """sign * x for a dense x with |x|^2 = sq."""

    val: Floats
    sign: float
    sq: float


class DenseBlocks(NamedTuple):
    """The sum over b of signs[b] * Psi(x, classes[b]) for a dense x."""

    val: Floats
    signs: tuple[float, ...]
    classes: tuple[int, ...]
    stride: int
    sq: float


class DensePart(NamedTuple):
    """One block of a dense example."""

    val: Floats
    sign: float
    of: int
    stride: int


@helper
def squares(val: Any) -> Any:
    """The sum of squares, in four partial sums: faster, with the same bits compiled and interpreted."""
    a = b = c = d = 0.0
    n = val.size - val.size % 4
    for i in range(0, n, 4):
        a += val[i] * val[i]
        b += val[i + 1] * val[i + 1]
        c += val[i + 2] * val[i + 2]
        d += val[i + 3] * val[i + 3]
    for i in range(n, val.size):
        a += val[i] * val[i]
    return (a + b) + (c + d)


def read_once(idx: Any, i: Any) -> Any:
    """A number of an array that another thread may change: compiled code reads it once and checks what it uses."""
    return idx[i]


def fetch_ahead(idx: Any, val: Any, first: Any, last: Any) -> None:
    """Compiled code prefetches what will be read a few rows after this one."""


@helper
def copy_row(idx: Any, val: Any, copied: Any, width: Any) -> Any:
    """Copy the indices of a row and return its `squares`; infinity where the copy does not increase below the width."""
    size = idx.size
    if size > copied.size:  # more features than there are below the width
        return np.inf
    if size == 0:
        return 0.0
    for i in range(size):
        copied[i] = idx[i]
    wrong = copied[size - 1] >= width
    for i in range(1, size):
        wrong |= copied[i] <= copied[i - 1]
    return np.inf if wrong else squares(val)


@reassociate
def dense_squares(val: Any) -> Any:
    total = 0.0
    for i in range(val.size):
        total += val[i] * val[i]
    return total


@row.on(SparseRows)
def row_sparse(X: Any, t: Any) -> Any:
    first = X.indptr[t]
    last = X.indptr[t + 1]
    fetch_ahead(X.idx, X.val, first, last)
    idx = X.idx[first:last]
    val = X.val[first:last]
    if X.width == 0:
        return Sparse(idx, val, 1.0, squares(val))
    sq = copy_row(idx, val, X.copied, X.width)
    if not sq <= LARGEST_FLOAT:
        X.bad_row[0] = t + 1
        return Sparse(idx[:0], val[:0], 1.0, 0.0)
    return Sparse(X.own[: idx.size], val, 1.0, sq)


@row.on(DenseRows)
def row_dense(X: Any, t: Any) -> Any:
    return Dense(X.val[t], 1.0, dense_squares(X.val[t]))


@scaled_by.on(Sparse)
def scaled_by_sparse(z: Any, a: float) -> Any:
    n = z.idx.size if a != 0.0 else 0
    return Sparse(z.idx[:n], z.val[:n], z.sign * a, z.sq)


@scaled_by.on(SparseBlocks)
def scaled_by_sparse_blocks(z: Any, a: float) -> Any:
    n = z.idx.size if a != 0.0 else 0
    signs = (z.signs[0] * a, z.signs[1] * a)
    return SparseBlocks(z.idx[:n], z.val[:n], signs, z.classes, z.stride, z.sq)


@scaled_by.on(Dense)
def scaled_by_dense(z: Any, a: float) -> Any:
    n = z.val.size if a != 0.0 else 0
    return Dense(z.val[:n], z.sign * a, z.sq)


@scaled_by.on(DenseBlocks)
def scaled_by_dense_blocks(z: Any, a: float) -> Any:
    n = z.val.size if a != 0.0 else 0
    return DenseBlocks(z.val[:n], (z.signs[0] * a, z.signs[1] * a), z.classes, z.stride, z.sq)


@difference.on(Sparse)
def difference_sparse(x: Any, c: Any, r: Any, stride: int) -> Any:
    return SparseBlocks(x.idx, x.val, (1.0, -1.0), (c, r), stride, x.sq)


@difference.on(Dense)
def difference_dense(x: Any, c: Any, r: Any, stride: int) -> Any:
    return DenseBlocks(x.val, (1.0, -1.0), (c, r), stride, x.sq)


@blocks.on(Sparse)
@blocks.on(Dense)
def blocks_one(z: Any) -> Any:
    return 1


@blocks.on(SparseBlocks)
@blocks.on(DenseBlocks)
def blocks_many(z: Any) -> Any:
    return len(z.signs)


@block.on(Sparse)
@block.on(Dense)
def block_one(z: Any, b: int) -> Any:
    return 0


@block.on(SparseBlocks)
@block.on(DenseBlocks)
def block_many(z: Any, b: int) -> Any:
    return z.classes[b]


@part.on(Sparse)
@part.on(Dense)
def part_same(z: Any, b: int) -> Any:
    return z


@part.on(SparseBlocks)
def part_sparse(z: Any, b: int) -> Any:
    return SparsePart(z.idx, z.val, z.signs[b], z.classes[b], z.stride)


@part.on(DenseBlocks)
def part_dense(z: Any, b: int) -> Any:
    return DensePart(z.val, z.signs[b], z.classes[b], z.stride)


@count.on(Sparse)
@count.on(SparsePart)
@count.on(Dense)
@count.on(DensePart)
def count_values(q: Any) -> Any:
    return q.val.size


@value.on(Sparse)
@value.on(SparsePart)
@value.on(Dense)
@value.on(DensePart)
def value_signed(q: Any, k: int) -> Any:
    return q.sign * q.val[k]


@factor.on(Sparse)
@factor.on(SparsePart)
@factor.on(Dense)
@factor.on(DensePart)
def factor_sign(q: Any) -> Any:
    return q.sign


@raw.on(Sparse)
@raw.on(SparsePart)
@raw.on(Dense)
@raw.on(DensePart)
def raw_value(q: Any, k: int) -> Any:
    return q.val[k]


@place.on(Sparse)
def place_sparse(q: Any, k: int) -> Any:
    return q.idx[k]


@coordinate.on(Sparse)
@coordinate.on(SparsePart)
def coordinate_sparse(q: Any, k: int) -> Any:
    return np.int64(q.idx[k])


@place.on(SparsePart)
def place_sparse_part(q: Any, k: int) -> Any:
    return np.int64(q.idx[k]) * q.stride + q.of


@place.on(Dense)
@coordinate.on(Dense)
@coordinate.on(DensePart)
def place_dense(q: Any, k: int) -> Any:
    return k


@place.on(DensePart)
def place_dense_part(q: Any, k: int) -> Any:
    return q.of * q.stride + k


@cell.on(Sparse)
@cell.on(Dense)
def cell_of_one(z: Any, j: int, c: Any) -> Any:
    return j


@cell.on(SparseBlocks)
def cell_by_feature(z: Any, j: int, c: Any) -> Any:
    return j * z.stride + c


@cell.on(DenseBlocks)
def cell_by_class(z: Any, j: int, c: Any) -> Any:
    return c * z.stride + j
