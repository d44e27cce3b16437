"""Blocks of rows: converts the rows a user gives into frozen, checked arrays.

The checks run once: every value is finite, every index is in range, rows are sorted and have no duplicate features.
Arrays that already have the right type and layout are not copied.
"""

import math
import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue

LARGEST_INDEX = 2**31 - 1


class SparseBlock(NamedTuple):
    """Rows in compressed sparse row (CSR) form; `ready` says that every check was made."""

    indptr: NDArray[np.int64]
    idx: NDArray[np.int32]
    val: NDArray[np.float64]
    width: int
    ready: bool = True

    @property
    def rows(self) -> int:
        return self.indptr.size - 1


class DenseBlock(NamedTuple):
    """Rows with a value in every column: a C-contiguous matrix."""

    val: NDArray[np.float64]

    @property
    def rows(self) -> int:
        return int(self.val.shape[0])

    @property
    def width(self) -> int:
        return int(self.val.shape[1])


Block = SparseBlock | DenseBlock


@dataclass(frozen=True)
class Rows:
    """Sparse rows of a stream. With `names`, column j is the feature names[j]; without, features are column numbers.

    `indicator` marks the names that are indicator features (0 or 1), such as city=Paris; scaling skips these.
    """

    block: SparseBlock
    names: Sequence[str] | None = None
    indicator: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return self.block.rows

    def __getitem__(self, key: slice) -> "Rows":
        start, stop, _ = key.indices(self.block.rows)
        indptr = self.block.indptr[start : max(start, stop) + 1]
        first, last = (int(indptr[0]), int(indptr[-1])) if indptr.size else (0, 0)
        indptr = indptr - first if indptr.size else np.zeros(1, np.int64)
        part = self.block._replace(indptr=indptr, idx=self.block.idx[first:last], val=self.block.val[first:last])
        return replace(self, block=part)


def freeze(values: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view."""
    view = values.view()
    view.flags.writeable = False
    return view


def all_finite(values: NDArray[Any]) -> bool:
    """Return whether every value is finite."""
    # A finite sum has finite terms. A sum may overflow although all its terms are finite, hence the second test.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def as_block(X: Any, allow_missing: bool = False) -> Block:
    """Convert a matrix, sparse or dense, to a checked block; with `allow_missing`, values may be NaN or None.

    The entries of a sparse matrix are checked later, part by part, right before they are used.
    """
    if hasattr(X, "tocsr"):
        return convert_sparse(X)
    try:
        table = missing_as_nan(X) if allow_missing else np.asarray(unmask(X))
    except ValueError:
        raise BadValue("the rows of X have different lengths; give a matrix, a sparse matrix or dicts") from None
    if table.ndim == 1 and table.dtype != object and table.size:
        raise BadValue(f"X must have two dimensions, rows and columns; it has shape {table.shape}")
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise BadValue(f"X must be a matrix of numbers, a sparse matrix or a list of dicts, not {describe(X)}")
    table = np.ascontiguousarray(table, dtype=np.float64)
    if not all_finite(table) and not (allow_missing and not np.isinf(table).any()):
        wrong = np.argwhere(np.isinf(table) if allow_missing else ~np.isfinite(table))
        if not len(wrong):
            raise BadValue("a value of X changed while it was read; every value must be finite")
        row, column = wrong[0]
        message = f"row {row}, feature {column}: the value is {table[row, column]}; every value must be finite"
        raise BadValue(message, row=int(row))
    return DenseBlock(freeze(table))


def unmask(X: Any) -> Any:
    """A masked array of numbers with NaN where it is masked; whatever else is as it was."""
    masked = isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "fiub"
    return X.astype(np.float64).filled(np.nan) if masked else X


def missing_as_nan(X: Any) -> NDArray[Any]:
    """Convert X to an array with NaN for None, if every other entry is a number."""
    table = np.asarray(unmask(X))
    if table.dtype == object and all(value is None or isinstance(value, (int, float)) for value in table.ravel()):
        try:
            return table.astype(np.float64)
        except OverflowError:  # refused with the row and the feature, as infinite values are
            return np.array([to_float(value) for value in table.ravel()]).reshape(table.shape)
    return table


def to_float(value: float | None) -> float:
    """Convert a number, or None for a missing one; a whole number beyond floats is infinite."""
    try:
        return math.nan if value is None else float(value)
    except OverflowError:
        return math.inf


def describe(X: Any) -> str:
    kind = type(X).__name__
    return f"{kind} of {X.dtype} with shape {X.shape}" if isinstance(X, np.ndarray) else kind


def convert_sparse(X: Any) -> SparseBlock:
    """Convert a sparse matrix to a block whose values and indices are still to be checked."""
    if len(X.shape) != 2:
        raise BadValue(f"X must have two dimensions, rows and columns; it has shape {X.shape}")
    X = X if getattr(X, "format", "") == "csr" else X.tocsr()
    val = np.ascontiguousarray(X.data)
    if val.dtype.kind not in "fiub":
        raise BadValue(f"X must be a matrix of numbers, not of {val.dtype}")
    val = np.ascontiguousarray(val, dtype=np.float64)
    idx, given = np.asarray(X.indices), np.asarray(X.indptr)
    indptr = given.astype(np.int64) if given.dtype.kind in "iu" else given  # a copy: the caller's may change any time
    check_offsets(indptr, idx, val, int(X.shape[0]))
    width = int(X.shape[1])
    if idx.dtype != np.int32 or width > 4 * idx.size + 1024:
        low, high = (int(idx.min()), int(idx.max())) if idx.size else (0, -1)
        if low < 0 or high >= LARGEST_INDEX:
            raise BadValue(f"feature number {low if low < 0 else high} is outside 0 to {LARGEST_INDEX - 1}")
        width = min(width, high + 1) if width > LARGEST_INDEX else width
    idx = np.ascontiguousarray(idx, dtype=np.int32)
    block = SparseBlock(freeze(indptr), freeze(idx), freeze(val), width, ready=False)
    return block if width else check_empty(block)


def check_empty(block: SparseBlock) -> SparseBlock:
    """Refuse values in a matrix without columns; it is ready, because a width of 0 means that rows were checked."""
    if block.indptr[-1] > 0:
        row = int(np.argmax(block.indptr > 0)) - 1
        raise BadValue(f"row {row}: it has values, and the sparse matrix has no columns; it is corrupt", row=row)
    return block._replace(ready=True)


FINE, NOT_FINITE, OUTSIDE, UNSORTED = 0, 1, 2, 3


def check_rows(block: SparseBlock, start: int = 0) -> int:
    """Return the first fault in the rows from `start` on as 4 * row + kind of fault, or 0 where there is none."""
    indptr, idx, val = block.indptr[start:], block.idx, block.val
    first, last = int(indptr[0]), int(indptr[-1])
    idx, val = idx[first:last], val[first:last]
    unsorted = np.zeros(idx.size, bool)
    unsorted[1:] = idx[1:] <= idx[:-1]
    starts = indptr[1:-1] - first
    unsorted[starts[starts < idx.size]] = False
    for kind, wrong in (
        (NOT_FINITE, ~np.isfinite(val)),
        (UNSORTED, unsorted),
        (OUTSIDE, (idx < 0) | (idx >= block.width)),
    ):
        if wrong.any():
            at = first + int(np.flatnonzero(wrong)[0])
            return 4 * (int(np.searchsorted(indptr, at, side="right")) - 1) + kind
    return FINE


def describe_fault(block: SparseBlock, fault: int) -> str:
    """Describe a fault that `check_rows` returned, for an error message."""
    row, kind = fault // 4, fault % 4
    first, last = block.indptr[row], block.indptr[row + 1]
    idx, val = block.idx[first:last], block.val[first:last]
    if kind == NOT_FINITE:
        at = int(np.argmin(np.isfinite(val)))
        return f"row {row}, feature {idx[at]}: the value is {val[at]}; every value must be finite"
    bad = idx[(idx < 0) | (idx >= block.width)]
    return f"row {row}: feature number {bad[0]} is outside 0 to {block.width - 1}; the sparse matrix is corrupt"


def verify(block: Block) -> Block:
    """Return the block fully checked; unsorted rows are sorted, any other fault is an error.

    What is checked are copies of the indices: another thread may change those of the caller.
    """
    if isinstance(block, DenseBlock) or block.ready:
        return block
    block = block._replace(idx=block.idx.copy())
    fault = check_rows(block)
    if fault == FINE:
        return block._replace(ready=True)
    if fault % 4 == UNSORTED:
        return verify(sort_rows(block))
    raise BadValue(describe_fault(block, fault), row=fault // 4)


def sort_rows(block: SparseBlock) -> SparseBlock:
    """Sort the features of every row and sum duplicates (scipy's canonical format), in the order they came in."""
    rows = np.repeat(np.arange(block.rows), np.diff(block.indptr))
    order = find_order(rows, block.idx[: rows.size])
    rows, idx, val = rows[order], block.idx[order], block.val[order]
    first = np.ones(rows.size, bool)
    first[1:] = (rows[1:] != rows[:-1]) | (idx[1:] != idx[:-1])
    starts = np.flatnonzero(first)
    sums = val[starts]
    if starts.size < val.size:
        with np.errstate(all="ignore"):  # a sum that overflows is refused later, in words
            np.add.at(sums, np.cumsum(first)[~first] - 1, val[~first])  # one after another, as compiled code does it
    counts = np.bincount(rows[starts], minlength=block.rows)
    indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return SparseBlock(indptr, idx[starts], sums, block.width, block.ready)


def find_order(rows: NDArray[Any], idx: NDArray[Any]) -> NDArray[Any]:
    """The order of entries by row and feature, equal ones as they came; both as one number is five times as fast."""
    if ((idx < 0) | (idx > LARGEST_INDEX)).any():
        return np.lexsort((idx, rows))
    return np.argsort(rows * (LARGEST_INDEX + 1) + idx, kind="stable")


def check_offsets(indptr: NDArray[Any], idx: NDArray[Any], val: NDArray[Any], rows: int) -> None:
    """Refuse CSR arrays whose shapes and offsets do not fit together."""
    bad = not (indptr.ndim == idx.ndim == val.ndim == 1 and indptr.dtype.kind in "iu" and idx.dtype.kind in "iu")
    bad = bad or indptr.size != rows + 1 or indptr[0] != 0 or indptr[-1] > idx.size or idx.size != val.size
    if bad or (indptr.size > 1 and bool((indptr[1:] < indptr[:-1]).any())):
        raise BadValue("the sparse matrix is corrupt: its offsets do not fit its values")


def flatten_dicts(
    rows: Sequence[Mapping[Any, Any]], allow_missing: bool = False
) -> tuple[NDArray[np.int64], list[Any], NDArray[np.float64]]:
    """Return the offsets, names and values of rows given as dicts, in the order of each dict.

    With `allow_missing`, values may be NaN or None; None becomes NaN.
    """
    names: list[Any] = []
    values, ends = array("d"), array("q", [0])
    try:
        alone = threading.active_count() == 1  # otherwise another thread may change a row while it is read
        for given in rows:
            row = given if alone and type(given) is dict else dict(given)
            names += row
            values.extend(
                [math.nan if value is None else value for value in row.values()] if allow_missing else row.values()
            )
            ends.append(len(names))
            if len(values) != len(names):
                raise BadValue(f"row {len(ends) - 2} changed its size while it was read", row=len(ends) - 2)
    except (TypeError, ValueError, AttributeError, OverflowError, KeyError, RuntimeError):
        raise BadValue(*find_bad_value(rows, allow_missing)) from None
    indptr = np.frombuffer(ends, np.int64)
    val = np.frombuffer(values, np.float64) if values else np.zeros(0)
    if not all_finite(val) and not (allow_missing and not np.isinf(val).any()):
        raise BadValue(*find_bad_value(rows, allow_missing))
    return indptr, names, val


def find_bad_value(rows: Sequence[Any], allow_missing: bool = False) -> tuple[str, int | None]:
    """Describe the first value that is not a finite number and return its row; `allow_missing` permits NaN, None."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            return f"row {number}: expected a dict of features, not {type(row).__name__}", number
        for name, value in [*row.items()]:  # another thread may change it
            where = f"row {number}, feature {name!r}"
            if allow_missing and (value is None or value != value):
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
    """Convert a block to sparse form; zeros are dropped."""
    if isinstance(block, SparseBlock):
        return block
    rows, columns = np.nonzero(block.val)
    counts = np.bincount(rows, minlength=block.rows)
    indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return SparseBlock(indptr, columns.astype(np.int32), block.val[rows, columns], block.width)


def to_dense(block: Block) -> DenseBlock:
    """Convert a block to a matrix."""
    if isinstance(block, DenseBlock):
        return block
    table = np.zeros((block.rows, block.width))
    rows = np.repeat(np.arange(block.rows), np.diff(block.indptr))
    table[rows, block.idx[: rows.size]] = block.val[: rows.size]
    return DenseBlock(table)


def narrow(block: Block, width: int) -> Block:
    """Drop the features from number `width` on."""
    if block.width <= width:
        return block
    if isinstance(block, DenseBlock):
        return DenseBlock(np.ascontiguousarray(block.val[:, :width]))
    keep = block.idx < width
    if keep.all():
        return block._replace(width=width)
    before = np.concatenate(([0], np.cumsum(keep)))
    return SparseBlock(before[block.indptr], block.idx[keep], block.val[keep], width, block.ready)


def add_bias(block: Block, constant: float = 1.0, start: int = 0) -> Block:
    """Add the bias feature: column 0 is a constant, 1 in the rows before `start`; other column numbers grow by one."""
    if isinstance(block, DenseBlock):
        column = np.full((block.rows, 1), constant)
        column[:start] = 1.0
        return DenseBlock(np.concatenate((column, block.val), axis=1))
    indptr = block.indptr + np.arange(block.rows + 1)
    used, each = int(block.indptr[-1]), int(block.indptr[-1]) // max(block.rows, 1)
    idx, val = np.zeros(used + block.rows, np.int32), np.full(used + block.rows, constant)
    val[indptr[:start]] = 1.0
    if (np.diff(block.indptr) == each).all():  # rows of equal length: copying as a matrix is faster
        own: Any = (slice(None), slice(1, None))
        shape, inside = (block.rows, each + 1), (block.rows, each)
    else:
        own = np.ones(idx.size, bool)
        own[indptr[:-1]] = False
        shape, inside = (idx.size,), (used,)  # type: ignore[assignment]
    idx.reshape(shape)[own] = (block.idx[:used] + 1).reshape(inside)
    val.reshape(shape)[own] = block.val[:used].reshape(inside)
    return SparseBlock(indptr, idx, val, block.width + 1, block.ready)


def first_size(block: Block) -> tuple[float, int]:
    """The mean |value| of the first row that has values, and the number of that row; 1 and all rows if none has."""
    rows: Iterable[NDArray[np.float64]] = (
        block.val
        if isinstance(block, DenseBlock)
        else (block.val[block.indptr[row] : block.indptr[row + 1]] for row in range(block.rows))
    )
    for number, row in enumerate(rows):
        values = np.abs(row[row != 0.0])
        if values.size:
            size = float((values / values.size).sum())
            return (size, number) if 0.0 < size < np.inf else (1.0, number)
    return 1.0, block.rows


def check_weights(given: Any, rows: int) -> NDArray[np.float64] | None:
    """Convert importance weights to an array, or None if none are given; refuse negative and non-finite ones."""
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
