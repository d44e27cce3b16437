"""Blocks of rows: converts the rows a user gives into frozen, checked arrays.

The checks run once: every value is finite, every index is in range, rows are sorted and have no duplicate features.
Arrays that already have the right type and layout are not copied.
"""

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from noregret.errors import BadValue

LARGEST_INDEX = 2**31 - 1


class SparseBlock(NamedTuple):
    """Rows by their non-zero values: float64 values, int32 indices, int64 offsets; ready when all is checked."""

    indptr: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    width: int
    ready: bool = True

    @property
    def rows(self) -> int:
        return self.indptr.size - 1


class DenseBlock(NamedTuple):
    """Rows with a value in every column: a float64 matrix."""

    val: np.ndarray

    @property
    def rows(self) -> int:
        return int(self.val.shape[0])

    @property
    def width(self) -> int:
        return int(self.val.shape[1])


Block = SparseBlock | DenseBlock


@dataclass(frozen=True)
class Rows:
    """Sparse rows as a stream hands them over, features by column number, or by name: column j is names[j].

    `indicator` tells for every name whether it says only yes or no, like city=Paris; those are never scaled.
    """

    block: SparseBlock
    names: Sequence[str] | None = None
    indicator: np.ndarray | None = None

    def __len__(self) -> int:
        return self.block.rows

    def __getitem__(self, some: slice) -> "Rows":
        start, stop, _ = some.indices(self.block.rows)
        indptr = self.block.indptr[start : max(start, stop) + 1]
        first, last = (int(indptr[0]), int(indptr[-1])) if indptr.size else (0, 0)
        indptr = indptr - first if indptr.size else np.zeros(1, np.int64)
        part = self.block._replace(indptr=indptr, idx=self.block.idx[first:last], val=self.block.val[first:last])
        return replace(self, block=part)


def frozen(values: np.ndarray) -> np.ndarray:
    view = values.view()
    view.flags.writeable = False
    return view


def all_finite(values: np.ndarray) -> bool:
    """A finite sum has finite terms; only an infinite one needs a second look."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def as_block(X: Any, gaps: bool = False) -> Block:
    """A matrix, sparse or dense, as a checked block of rows; with `gaps`, values may be NaN or None."""
    if hasattr(X, "tocsr"):
        return sparse_block(X)
    try:
        table = with_gaps(X) if gaps else np.asarray(X)
    except ValueError:
        raise BadValue("the rows of X have different lengths; give a matrix, a sparse matrix or dicts") from None
    if table.ndim == 1 and table.dtype != object and table.size:
        raise BadValue(f"X must have two dimensions, rows and columns; it has shape {table.shape}")
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise BadValue(f"X must be a matrix of numbers, a sparse matrix or a list of dicts, not {describe(X)}")
    table = np.ascontiguousarray(table, dtype=np.float64)
    if not all_finite(table) and not (gaps and not np.isinf(table).any()):
        row, column = np.argwhere(np.isinf(table) if gaps else ~np.isfinite(table))[0]
        message = f"row {row}, feature {column}: the value is {table[row, column]}; every value must be finite"
        raise BadValue(message, row=int(row))
    return DenseBlock(frozen(table))


def with_gaps(X: Any) -> np.ndarray:
    """A matrix in which None stands for NaN, where all else in it are numbers."""
    table = np.asarray(X)
    if table.dtype == object and all(one is None or isinstance(one, (int, float)) for one in table.ravel()):
        return table.astype(np.float64)
    return table


def describe(X: Any) -> str:
    kind = type(X).__name__
    return f"{kind} of {X.dtype} with shape {X.shape}" if isinstance(X, np.ndarray) else kind


def sparse_block(X: Any) -> SparseBlock:
    """A sparse matrix as a block; its values and indices are inspected slice by slice, right before use."""
    if len(X.shape) != 2:
        raise BadValue(f"X must have two dimensions, rows and columns; it has shape {X.shape}")
    X = X if getattr(X, "format", "") == "csr" else X.tocsr()
    val = np.ascontiguousarray(X.data)
    if val.dtype.kind not in "fiub":
        raise BadValue(f"X must be a matrix of numbers, not of {val.dtype}")
    val = np.ascontiguousarray(val, dtype=np.float64)
    idx, indptr = np.asarray(X.indices), np.asarray(X.indptr)
    check_offsets(indptr, idx, val, int(X.shape[0]))
    indptr = np.ascontiguousarray(indptr, dtype=np.int64)
    width = int(X.shape[1])
    if idx.dtype != np.int32 or width > 4 * idx.size + 1024:
        low, high = (int(idx.min()), int(idx.max())) if idx.size else (0, -1)
        if low < 0 or high >= LARGEST_INDEX:
            raise BadValue(f"feature number {low if low < 0 else high} is outside 0 to {LARGEST_INDEX - 1}")
        width = min(width, high + 1) if width > LARGEST_INDEX else width
    idx = np.ascontiguousarray(idx, dtype=np.int32)
    return SparseBlock(frozen(indptr), frozen(idx), frozen(val), width, ready=False)


FINE, NOT_FINITE, OUTSIDE, UNSORTED = 0, 1, 2, 3


def inspect(block: SparseBlock, start: int = 0) -> int:
    """What is wrong with sparse rows from `start` on, and where: 4 * row + kind, or 0."""
    indptr, idx, val = block.indptr[start:], block.idx, block.val
    first, last = int(indptr[0]), int(indptr[-1])
    idx, val = idx[first:last], val[first:last]
    falling = np.zeros(idx.size, bool)
    falling[1:] = idx[1:] <= idx[:-1]
    starts = indptr[1:-1] - first
    falling[starts[starts < idx.size]] = False
    for kind, wrong in (
        (NOT_FINITE, ~np.isfinite(val)),
        (UNSORTED, falling),
        (OUTSIDE, (idx < 0) | (idx >= block.width)),
    ):
        if wrong.any():
            at = first + int(np.flatnonzero(wrong)[0])
            return 4 * (int(np.searchsorted(indptr, at, side="right")) - 1) + kind
    return FINE


def complaint(block: SparseBlock, finding: int) -> str:
    """The finding of `inspect` in words."""
    row, kind = finding // 4, finding % 4
    first, last = block.indptr[row], block.indptr[row + 1]
    idx, val = block.idx[first:last], block.val[first:last]
    if kind == NOT_FINITE:
        at = int(np.flatnonzero(~np.isfinite(val))[0])
        return f"row {row}, feature {idx[at]}: the value is {val[at]}; every value must be finite"
    bad = idx[(idx < 0) | (idx >= block.width)]
    return f"row {row}: feature number {bad[0]} is outside 0 to {block.width - 1}; the sparse matrix is broken"


def verified(block: Block) -> Block:
    """The block with nothing left to check; unsorted rows are sorted, anything else is an error."""
    if isinstance(block, DenseBlock) or block.ready:
        return block
    finding = inspect(block)
    if finding == FINE:
        return block._replace(ready=True)
    if finding % 4 == UNSORTED:
        return verified(tidied(block))
    raise BadValue(complaint(block, finding), row=finding // 4)


def tidied(block: SparseBlock) -> SparseBlock:
    """The same rows with their indices sorted and duplicates summed."""
    rows = np.repeat(np.arange(block.rows), np.diff(block.indptr))
    order = np.lexsort((block.idx[: rows.size], rows))
    rows, idx, val = rows[order], block.idx[order], block.val[order]
    fresh = np.ones(rows.size, bool)
    fresh[1:] = (rows[1:] != rows[:-1]) | (idx[1:] != idx[:-1])
    starts = np.flatnonzero(fresh)
    val = np.add.reduceat(val, starts) if starts.size else val
    counts = np.bincount(rows[starts], minlength=block.rows)
    indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return SparseBlock(indptr, idx[starts], val, block.width, block.ready)


def check_offsets(indptr: np.ndarray, idx: np.ndarray, val: np.ndarray, rows: int) -> None:
    bad = not (indptr.ndim == idx.ndim == val.ndim == 1 and indptr.dtype.kind in "iu" and idx.dtype.kind in "iu")
    bad = bad or indptr.size != rows + 1 or indptr[0] != 0 or indptr[-1] > idx.size or idx.size != val.size
    if bad or (indptr.size > 1 and bool((indptr[1:] < indptr[:-1]).any())):
        raise BadValue("the sparse matrix is broken: its offsets do not fit its values")


def gather(rows: Sequence[Mapping[Any, Any]], gaps: bool = False) -> tuple[np.ndarray, list[Any], np.ndarray]:
    """The offsets, names and values of rows given as dicts, in the order of each dict; with `gaps`, None is NaN."""
    names: list[Any] = []
    values = array("d")
    try:
        for row in rows:
            names += row
            values.extend([math.nan if value is None else value for value in row.values()] if gaps else row.values())
    except (TypeError, AttributeError, OverflowError):
        raise BadValue(*what_is_wrong(rows, gaps)) from None
    indptr = np.fromiter(accumulate(map(len, rows), initial=0), np.int64, len(rows) + 1)
    val = np.frombuffer(values, np.float64) if values else np.zeros(0)
    if not all_finite(val) and not (gaps and not np.isinf(val).any()):
        raise BadValue(*what_is_wrong(rows, gaps))
    return indptr, names, val


def what_is_wrong(rows: Sequence[Any], gaps: bool = False) -> tuple[str, int | None]:
    """The first thing in rows of dicts that is not a finite number, or missing where that may be, and its row."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            return f"row {number}: expected a dict of features, not {type(row).__name__}", number
        for name, value in row.items():
            where = f"row {number}, feature {name!r}"
            if gaps and (value is None or value != value):
                continue
            try:
                if not np.isfinite(array("d", [value])[0]):
                    return f"{where}: the value is {value}; every value must be finite", number
            except TypeError:
                return f"{where}: expected a number, not {value!r}", number
            except OverflowError:
                return f"{where}: the value is too large for a float", number
    return "the rows could not be read", None


def to_sparse(block: Block) -> SparseBlock:
    if isinstance(block, SparseBlock):
        return block
    rows, columns = np.nonzero(block.val)
    counts = np.bincount(rows, minlength=block.rows)
    indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return SparseBlock(indptr, columns.astype(np.int32), block.val[rows, columns], block.width)


def to_dense(block: Block) -> DenseBlock:
    if isinstance(block, DenseBlock):
        return block
    table = np.zeros((block.rows, block.width))
    rows = np.repeat(np.arange(block.rows), np.diff(block.indptr))
    table[rows, block.idx[: rows.size]] = block.val[: rows.size]
    return DenseBlock(table)


def narrowed(block: Block, width: int) -> Block:
    """The same rows without the features from `width` on."""
    if block.width <= width:
        return block
    if isinstance(block, DenseBlock):
        return DenseBlock(np.ascontiguousarray(block.val[:, :width]))
    keep = block.idx < width
    if keep.all():
        return block._replace(width=width)
    before = np.concatenate(([0], np.cumsum(keep)))
    return SparseBlock(before[block.indptr], block.idx[keep], block.val[keep], width, block.ready)


def with_bias(block: Block) -> Block:
    """The same rows with a constant 1 in front: column 0 is the bias, every other column moves up by one."""
    if isinstance(block, DenseBlock):
        return DenseBlock(np.concatenate((np.ones((block.rows, 1)), block.val), axis=1))
    indptr = block.indptr + np.arange(block.rows + 1)
    used, each = int(block.indptr[-1]), int(block.indptr[-1]) // max(block.rows, 1)
    idx, val = np.zeros(used + block.rows, np.int32), np.ones(used + block.rows)
    if (np.diff(block.indptr) == each).all():  # rows of one length are a table, and tables move fast
        own: Any = (slice(None), slice(1, None))
        shape, inside = (block.rows, each + 1), (block.rows, each)
    else:
        own = np.ones(idx.size, bool)
        own[indptr[:-1]] = False
        shape, inside = (idx.size,), (used,)  # type: ignore[assignment]
    idx.reshape(shape)[own] = (block.idx[:used] + 1).reshape(inside)
    val.reshape(shape)[own] = block.val[:used].reshape(inside)
    return SparseBlock(indptr, idx, val, block.width + 1, block.ready)


def weights(given: Any, rows: int) -> np.ndarray | None:
    """Importance weights as an array, or None when all rounds weigh the same."""
    if given is None:
        return None
    try:
        h = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadValue("weight must be a number for every row") from None
    if h.ndim == 0:
        h = np.full(rows, float(h))
    if h.shape != (rows,):
        raise BadValue(f"there are {rows} rows and weights of shape {h.shape}; give one weight for every row")
    bad = ~(np.isfinite(h) & (h >= 0.0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise BadValue(f"row {row}: the weight is {h[row]}; weights must be finite and not negative", row=row)
    return np.ascontiguousarray(h)
