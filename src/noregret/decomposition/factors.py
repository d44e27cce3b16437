"""A thin singular value decomposition that changes with its matrix (Brand 2006); rows of data are rows of the matrix.

The matrix X of all rows so far is V diag(s) U', where U has a row for every feature and V one for every row of X. U is
kept as a product, basis @ turn: the basis has orthonormal columns and only gets new ones, and the small turn is what
rotates, so that a new row costs O(p r + r^3) for p features and rank r, not O(p r^2).
"""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.matrix_rows import row_dots, row_products
from noregret.decomposition.row_factors import RowFactors

Floats = NDArray[np.float64]
DRIFT = 1e-8  # how far the columns of the basis may be from orthonormal before they are made so again


@dataclass
class Factors:
    """The factors of a matrix; `left` has V where it is kept."""

    rank: int  # the ceiling
    threshold: float  # directions smaller than this share of the largest singular value are left out
    basis: Floats  # features x k
    turn: Floats  # k x r
    values: Floats  # r, not increasing
    left: RowFactors | None = None
    spare: int = field(default=0)  # columns that the basis may have beyond the rank

    @classmethod
    def start(cls, features: int, rank: int, threshold: float, keep_rows: bool, batch: int) -> Self:
        """The factors of a matrix without rows."""
        left = RowFactors() if keep_rows else None
        return cls(rank, threshold, np.zeros((features, 0)), np.zeros((0, 0)), np.zeros(0), left, max(rank, batch))

    @property
    def features(self) -> int:
        return int(self.basis.shape[0])

    def grow(self, features: int) -> None:
        """New features, which are 0 in all rows so far."""
        larger = np.zeros((features, self.basis.shape[1]), order="F")
        larger[: self.features] = self.basis
        self.basis = larger

    def copy(self) -> Self:
        """A copy; arrays are replaced and never changed, so that they can be shared."""
        return replace(self, left=None if self.left is None else self.left.copy())

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.values).all()) and bool(np.isfinite(self.turn).all())

    @property
    def right(self) -> Floats:
        """U: a column of length 1 for every singular value."""
        return self.basis @ self.turn

    # ---- rows ----------------------------------------------------------------------------------------------------

    def project(self, rows: Floats) -> Floats:
        """The components of rows: their coordinates along the columns of U."""
        return row_products(row_products(rows, self.basis), self.turn)

    def residuals(self, rows: Floats, components: Floats) -> Floats:
        """What is left of rows without their components."""
        return rows - row_products(row_products(components, self.turn.T), self.basis.T)

    def append(self, rows: Floats) -> None:
        """Append rows to the matrix."""
        inside, new, outside = self.split(rows.T)
        kept, r, count = self.turn.shape[0], self.values.size, rows.shape[0]
        small = np.zeros((kept + new.shape[1], r + count))
        small[:kept, :r] = self.turn * self.values
        small[:kept, r:] = inside
        small[kept:, r:] = outside
        rotation = self.diagonalize(small, new)
        if self.left is not None:
            self.left.append(rotation[:r], rotation[r:])

    def split(self, columns: Floats) -> tuple[Floats, Floats, Floats]:
        """Columns as basis @ inside + new @ outside, where `new` has orthonormal columns outside of the basis."""
        inside = self.basis.T @ columns
        rest = columns - self.basis @ inside
        again = self.basis.T @ rest  # once more: what rounding left of the first projection
        rest -= self.basis @ again
        inside += again
        scale = max(float(self.values[0]) if self.values.size else 0.0, longest_column(columns))
        new, outside = orthonormalize(rest, self.threshold * scale)
        return inside, new, outside

    def diagonalize(self, small: Floats, new: Floats) -> Floats:
        """Take the factors [basis new] @ small; returns how the right side of `small` turns into that of the result."""
        turn, values, right = np.linalg.svd(small, full_matrices=False)
        r = count_values(values, self.threshold, self.rank)
        turn, values, right = turn[:, :r], values[:r], right[:r].T
        signs = keep_signs(self.turn, turn)
        self.basis = np.asfortranarray(np.concatenate((self.basis, new), axis=1)) if new.shape[1] else self.basis
        self.turn, self.values = turn * signs, values
        if self.basis.shape[1] > self.rank + self.spare:
            self.compact()
        return np.asarray(right * signs)

    def compact(self) -> None:
        """Leave only the directions of U in the basis."""
        self.basis = np.asfortranarray(self.basis @ self.turn)
        self.turn = np.eye(self.values.size)
        if float(np.abs(self.basis.T @ self.basis - self.turn).max(initial=0.0)) > DRIFT:
            self.basis, upper = np.linalg.qr(self.basis)
            signs = np.where(np.diag(upper) < 0.0, -1.0, 1.0)
            self.basis = np.asfortranarray(self.basis * signs)

    def errors(self, rows: Floats, components: Floats) -> Floats:
        """The squared length of what is left of rows without their components."""
        rest = self.residuals(rows, components)
        return row_dots(rest, rest)


def longest_column(columns: Floats) -> float:
    return float(np.sqrt(np.max(np.einsum("ij,ij->j", columns, columns), initial=0.0)))


def count_values(values: Floats, threshold: float, rank: int) -> int:
    """How many singular values are kept."""
    largest = float(values[0]) if values.size else 0.0
    return min(rank, int(np.count_nonzero(values > threshold * largest))) if largest > 0.0 else 0


def orthonormalize(columns: Floats, least: float) -> tuple[Floats, Floats]:
    """Orthonormal columns Q and R with Q R the given columns, but for directions shorter than `least`."""
    if columns.shape[1] == 1:
        length = float(np.sqrt(columns[:, 0] @ columns[:, 0]))
        if not length > least:
            return columns[:, :0], np.zeros((0, 1))
        return columns / length, np.full((1, 1), length)
    from scipy.linalg import qr

    q, upper, order = qr(columns, mode="economic", pivoting=True, check_finite=False)
    kept = int(np.count_nonzero(np.abs(np.diag(upper)) > least))
    outside = np.zeros((kept, columns.shape[1]))
    outside[:, order] = upper[:kept]
    return np.asarray(q[:, :kept], np.float64), outside


def keep_signs(before: Floats, after: Floats) -> Floats:
    """The signs by which each new direction points as the one before it did; 1 for directions that are new."""
    count = min(before.shape[1], after.shape[1])
    signs = np.ones(after.shape[1])
    along = np.einsum("ij,ij->j", before[:, :count], after[: before.shape[0], :count])
    signs[:count][along < 0.0] = -1.0
    return signs


def leading_signs(columns: Floats) -> Floats:
    """The signs by which the largest entry of each column is positive."""
    if not columns.size:
        return np.ones(columns.shape[1])
    largest = columns[np.argmax(np.abs(columns), axis=0), np.arange(columns.shape[1])]
    return np.where(largest < 0.0, -1.0, 1.0)
