"""A few rows as a matrix, dense or sparse: what decompositions learn from, copied from the caller's arrays."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.cached_property import cached_property
from noregret.data.blocks import (
    Block,
    DenseBlock,
    SparseBlock,
    check_offsets,
    check_rows,
    narrow,
    to_dense,
    to_sparse,
)
from noregret.decomposition.memory import require_memory
from noregret.errors import BadValue, shown
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays

Floats = NDArray[np.float64]
LARGEST = 1e150  # values whose squares are still finite
FARTHEST = LARGEST * (1.0 + 1e-9)  # a mean of rows, which rounding may place beyond them
SLICE = 256  # rows that are scored together
SMALLEST_SQUARE = 1e-290  # sums of squares below this have lost digits: numbers end at 5e-324


@dataclass(frozen=True)
class MatrixRows:
    """Rows with `width` features; `beyond` is the sum of squares of what was cut off from each of them."""

    block: Block
    width: int
    beyond: Floats

    @property
    def rows(self) -> int:
        return self.block.rows

    @cached_property
    def dense(self) -> Floats:
        """The rows as a matrix of shape (rows, width)."""
        require_memory("a mini-batch", self.rows * self.width)
        found = to_dense(narrow(self.block, self.width)).val
        return found if found.shape[1] == self.width else pad_columns(found, self.width)

    @cached_property
    def sparse(self) -> SparseBlock:
        """The rows in compressed sparse form."""
        found = to_sparse(narrow(self.block, self.width))
        return found._replace(width=self.width)

    def add(self, other: "MatrixRows") -> "MatrixRows":
        """These rows and others after them."""
        if not self.rows:
            return other
        width = max(self.width, other.width)
        if isinstance(self.block, DenseBlock) and isinstance(other.block, DenseBlock):
            both: Block = DenseBlock(np.concatenate((self.widen(width).dense, other.widen(width).dense)))
        else:
            one, two = self.sparse, other.sparse
            indptr = np.concatenate((one.indptr, two.indptr[1:] + one.indptr[-1]))
            idx = np.concatenate((one.idx[: one.indptr[-1]], two.idx[: two.indptr[-1]]))
            val = np.concatenate((one.val[: one.indptr[-1]], two.val[: two.indptr[-1]]))
            both = SparseBlock(indptr, idx, val, width)
        return MatrixRows(both, width, np.concatenate((self.beyond, other.beyond)))

    def widen(self, width: int) -> "MatrixRows":
        """The same rows among more features, which are 0."""
        return self if width == self.width else replace(self, width=width)

    def cut(self, width: int) -> "MatrixRows":
        """The rows in the first `width` features; what they have in others is added up in `beyond`."""
        if width >= self.width:
            return self.widen(width)
        return MatrixRows(narrow(self.block, width), width, self.beyond + self.squares_from(width))

    @property
    def last_used(self) -> int:
        """The number of the last feature that is not 0 in every row; -1 if there is none."""
        if isinstance(self.block, DenseBlock):
            return int(np.flatnonzero(self.block.val.any(axis=0)).max(initial=-1))
        size = int(self.block.indptr[-1])
        return int(self.block.idx[:size][self.block.val[:size] != 0.0].max(initial=-1))

    def squares_from(self, width: int) -> Floats:
        """The sum of squares of each row in the features from number `width` on."""
        if isinstance(self.block, DenseBlock):
            return row_dots(rest := np.nan_to_num(self.block.val[:, width:]), rest)
        block = self.block
        rows = np.repeat(np.arange(block.rows), np.diff(block.indptr))
        after = (block.idx[: rows.size] >= width) & ~np.isnan(block.val[: rows.size])
        values = block.val[: rows.size][after]
        return np.bincount(rows[after], values * values, minlength=block.rows).astype(np.float64)

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump(self) -> Arrays:
        """The arrays of the rows; none where there are no rows."""
        if not self.rows:
            return {}
        if isinstance(self.block, DenseBlock):
            return {"pending.values": self.dense}
        return {"pending.offsets": self.sparse.indptr, "pending.features": self.sparse.idx,
                "pending.values": self.sparse.val}  # fmt: skip

    @classmethod
    def restore(cls, rows: int, arrays: Arrays, width: int, missing: bool) -> "MatrixRows":
        """The rows that `dump` wrote, the last of which came when there were `width` features."""
        values = arrays.get("pending.values")
        if not rows:
            return empty_rows()
        if values is None or values.dtype != np.float64:
            raise corrupt("rows of a mini-batch are missing")
        if find_too_large(values, missing).any():
            raise corrupt("rows of a mini-batch are too large")
        offsets, features = arrays.get("pending.offsets"), arrays.get("pending.features")
        if offsets is None or features is None:
            if values.shape != (rows, width):
                raise corrupt("rows of a mini-batch have the wrong size")
            return cls(DenseBlock(values.copy()), width, np.zeros(rows))
        block = SparseBlock(offsets.copy(), features.copy(), values.copy(), width)
        try:
            check_offsets(offsets, features, values, rows)
        except BadValue as error:
            raise corrupt(f"of its mini-batch, {error}") from None
        fits = offsets.dtype == np.int64 and features.dtype == np.int32 and offsets[-1] == values.size
        if not fits or check_rows(block._replace(val=np.nan_to_num(values))):
            raise corrupt("rows of a mini-batch do not fit together")
        return cls(block, width, np.zeros(rows))


def empty_rows() -> MatrixRows:
    """No rows."""
    return MatrixRows(SparseBlock(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), 0), 0, np.zeros(0))


def take_rows(block: Block, start: int, stop: int, width: int, missing: bool = False) -> MatrixRows:
    """Rows start to stop of a block as copies, which no other thread changes; they are finite, or NaN where missing."""
    if isinstance(block, DenseBlock):
        values = block.val[start:stop].copy()
        part: Block = DenseBlock(values)
    else:
        first, last = int(block.indptr[start]), int(block.indptr[stop])
        values = block.val[first:last].copy()
        part = SparseBlock(block.indptr[start : stop + 1] - first, block.idx[first:last].copy(), values, block.width)
    wrong = find_too_large(values, missing)
    if wrong.any():
        at = int(np.argmax(wrong))
        inside = (
            np.searchsorted(part.indptr, at, side="right") - 1 if isinstance(part, SparseBlock) else at // part.width
        )
        row = start + int(inside)
        raise BadValue(f"row {row}: a value is too large: {values.flat[at]:g}; scale the rows first", row=row)
    return MatrixRows(part, width, np.zeros(stop - start))


def find_too_large(values: Floats, missing: bool) -> NDArray[np.bool_]:
    """Which values are too large, or NaN where none can be missing: they were finite, and have changed since."""
    wrong = ~(np.abs(values) <= LARGEST)
    return wrong & ~np.isnan(values) if missing else wrong


def read_matrix(values: Any, wanted: str, largest: float) -> Floats:
    """A copy of numbers that a caller gives as a matrix; `wanted` says in errors what they should be."""
    try:
        found = np.asarray(values)
    except ValueError:  # its rows have different lengths
        found = np.zeros(0)
    if found.ndim != 2 or found.dtype.kind not in "fiub":
        raise BadValue(f"{wanted}, not {shown(values)}")
    matrix = np.array(found, np.float64)
    wrong = np.argwhere(~(np.abs(matrix) <= largest))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise BadValue(f"row {row}, column {column}: the value is {matrix[row, column]:g}; every value must be finite "
                       f"and at most {largest:g}", row=row)  # fmt: skip
    return matrix


def slices(rows: int) -> Iterator[tuple[int, int]]:
    """The rows in parts that are in memory together; no rows are a part of none."""
    for start in range(0, max(rows, 1), SLICE):
        yield start, min(start + SLICE, rows)


def row_dots(one: Floats, other: Floats) -> Floats:
    """The dot product of each row with the same row of another matrix; it does not depend on the rows beside it."""
    return np.asarray(np.matmul(one[:, None, :], other[:, :, None])[:, 0, 0])


def row_products(rows: Floats, matrix: Floats) -> Floats:
    """Each row times a matrix, one row at a time: as `rows @ matrix`, but no row depends on those beside it."""
    return np.asarray(np.matmul(rows[:, None, :], matrix)[:, 0, :])


def turn_columns(matrix: Floats, turn: Floats) -> Floats:
    """The matrix times another or, with a row of signs, its first columns with these signs."""
    if turn.ndim == 1:
        return np.asarray(matrix * np.append(turn, np.ones(matrix.shape[1] - turn.size)))
    return pad_columns(row_products(matrix, np.ascontiguousarray(turn)), matrix.shape[1])


def pad_columns(matrix: Floats, columns: int) -> Floats:
    """The matrix with columns of zeros after its own, up to so many."""
    padded = np.zeros((matrix.shape[0], columns))
    padded[:, : matrix.shape[1]] = matrix
    return padded
