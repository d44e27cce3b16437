"""A thin singular value decomposition that changes with its matrix (Brand 2006).

The matrix X of all rows so far is V diag(s) U', where U has a row for every feature and V one for every row of X. U is
kept as a product, basis @ turn: the basis has orthonormal columns and only gets new ones, and the small turn is what
rotates, so that a new row costs O(p r + r^3) for p features and rank r, not O(p r^2).

Every change of X is a product with factors that have a few columns more, X' = [V Q] K [basis P]', whose small middle K
is diagonalized.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.matrix_rows import row_dots, row_products
from noregret.decomposition.row_factors import RowFactors

Floats = NDArray[np.float64]
ROUNDING = 1e-13  # directions smaller than this share are rounding errors, whatever the threshold is
WELL_SPREAD = 1e-3  # of the diagonal of R: columns are then far from dependent on each other
SMALL_MATRIX = 4.0  # how many multiplications an entry of a small matrix takes per column, to decompose it
SMALLEST = 1e-290  # directions smaller than this lose digits as numbers near 0 do
MOST_LOST = 1e300  # so that it stays finite
DRIFT = 1e-8  # how far the columns of the basis may be from orthonormal before they are made so again


@dataclass(frozen=True)
class Limits:
    """What is left out of a decomposition."""

    rank: int  # the ceiling
    threshold: float  # directions smaller than this share of the largest singular value
    project: bool = False  # at the ceiling, new directions are ignored; otherwise the smallest one is dropped
    spare: int = 1  # columns that the basis may have beyond the rank
    steady: bool = False  # whether there is a frame

    @property
    def share(self) -> float:
        """The share of the largest singular value below which directions are left out."""
        return max(self.threshold, ROUNDING)

    def least(self, largest: float) -> float:
        """The size of the smallest direction that is kept beside one of the largest size."""
        return max(self.share * largest, SMALLEST)

    def count(self, values: Floats, before: float = 0.0) -> int:
        """How many singular values are kept of a matrix that was made of one of the size `before`."""
        largest = float(values[0]) if values.size else 0.0
        return min(self.rank, int(np.count_nonzero(values > max(self.least(largest), ROUNDING * before))))


@dataclass
class Factors:
    """The factors of a matrix. Arrays are replaced and never changed, so that copies share them."""

    limits: Limits
    basis: Floats  # features x k
    turn: Floats  # k x r
    values: Floats  # r singular values, the largest first
    sums: Floats  # the sum of the rows of V
    rows: int = 0  # of the matrix
    left: RowFactors | None = None  # V, where it is kept
    frame: Floats | None = None  # r x rank: what the columns of U are in coordinates that turn as little as possible
    lost: float = 0.0  # the squared size of all directions that were dropped at the ceiling
    freedom: float = 0.0  # of rows with missing entries: how many entries were observed beyond the rank

    @classmethod
    def start(cls, features: int, limits: Limits, keep_rows: bool = False) -> Self:
        """The factors of a matrix without rows."""
        left, none = RowFactors() if keep_rows else None, np.zeros(0)
        frame = np.zeros((0, limits.rank)) if limits.steady else None
        return cls(limits, np.zeros((features, 0), order="F"), np.zeros((0, 0)), none, none, 0, left, frame)

    @property
    def features(self) -> int:
        return int(self.basis.shape[0])

    @property
    def rank(self) -> int:
        """How many singular values there are now."""
        return int(self.values.size)

    def grow(self, features: int) -> None:
        """New features, which are 0 in all rows so far."""
        larger = np.zeros((features, self.basis.shape[1]), order="F")
        larger[: self.features] = self.basis
        self.basis = larger

    def copy(self) -> Self:
        return replace(self, left=None if self.left is None else self.left.copy())

    def is_finite(self) -> bool:
        return all(bool(np.isfinite(one).all()) for one in (self.values, self.turn, self.sums))

    @property
    def right(self) -> Floats:
        """U: a column of length 1 for every singular value."""
        return self.basis @ self.turn

    @property
    def mean(self) -> Floats:
        """The mean of all rows."""
        return self.basis @ (self.turn @ (self.values * self.sums)) / max(self.rows, 1)

    @property
    def noise(self) -> float:
        """The variance of an entry that the rank leaves out, times the rows; 0 where nothing is missing or dropped."""
        return self.rows * (self.lost / self.freedom) if self.freedom else 0.0

    def count_kept(self, values: Floats, before: float = 0.0) -> int:
        """How many singular values are kept of a matrix that was made of one of the size `before`; others are lost."""
        r = self.limits.count(values, before)
        if r == self.limits.rank:
            self.lost = min(self.lost + float(values[r:] @ values[r:]), MOST_LOST)
        return r

    def start_frame(self) -> None:
        """Let the coordinates of rows be their components as they are now, and turn as little as possible from then on.

        The columns of U turn among each other where singular values are close; what is learned of rows by their
        components would lose its meaning.
        """
        if self.frame is None:
            self.frame = np.eye(self.rank, self.limits.rank)

    def turn_frame(self, overlap: Floats, frame: Floats | None) -> None:
        """Take the frame in which the columns of U are nearest to old ones in theirs; `overlap` is new' old."""
        if frame is not None:
            left, _, right = np.linalg.svd(overlap @ frame, full_matrices=False)
            self.frame = left @ right

    def follow(self, other: "Factors") -> None:
        """Take the frame in which the columns of U are nearest to those of another decomposition."""
        self.turn_frame(self.right[: other.features].T @ other.right, other.frame)

    # ---- rows that are not learned -------------------------------------------------------------------------------

    def project(self, rows: Floats) -> Floats:
        """The components of rows: their coordinates along the columns of U."""
        return row_products(row_products(rows, self.basis), self.turn)

    def locate(self, components: Floats) -> Floats:
        """Components in coordinates of the frame, if there is one."""
        return components if self.frame is None else row_products(components, self.frame)

    def rebuild(self, components: Floats) -> Floats:
        """The rows that have these components and nothing else."""
        return row_products(row_products(components, self.turn.T), self.basis.T)

    def errors(self, rows: Floats, components: Floats) -> Floats:
        """The squared length of what is left of rows without their components."""
        rest = rows - self.rebuild(components)
        return row_dots(rest, rest)

    # ---- changes of the matrix -----------------------------------------------------------------------------------

    def append(self, rows: Floats) -> None:
        """Append rows."""
        if self.left is None and self.is_direct(len(rows)):
            self.append_triangle(rows)
            return
        before = self.rank
        rotation = self.append_block(rows)
        old, new = rotation[:before], rotation[before:]
        if self.left is not None:
            self.left.append(old, new)
        self.sums = old.T @ self.sums + new.sum(axis=0)
        self.rows += len(rows)

    def append_block(self, rows: Floats) -> Floats:
        """Take X with rows below it; returns what blockdiag(V, I) is multiplied with to become the new V."""
        if self.is_direct(len(rows)):
            return self.append_directly(rows)
        k, r, both = *self.turn.shape, self.rank + len(rows)
        if self.features * k * r < SMALL_MATRIX * (k - r) * both * both:
            self.compact()  # costs less than a decomposition of more rows
        inside, new, outside = self.split(rows.T)
        if self.limits.project and self.rank == self.limits.rank:
            inside, new, outside = self.turn @ (self.turn.T @ inside), new[:, :0], outside[:0]
        k, r = self.turn.shape
        small = np.zeros((k + new.shape[1], r + len(rows)))
        small[:k, :r] = self.turn * self.values
        small[:k, r:] = inside
        small[k:, r:] = outside
        return self.diagonalize(small, new)

    def is_direct(self, rows: int) -> bool:
        """Whether a basis of all features is smaller than one that gets a column for each of so many rows."""
        return self.features <= self.rank + rows and not self.limits.project

    def append_triangle(self, rows: Floats) -> None:
        """Append rows where V is not kept: decompose R, which has the singular values and U of diag(s) U' and the rows.

        The sum of the rows of V, which is A U / s for the matrix A of both, needs no V.
        """
        before = self.right
        triangle = np.linalg.qr(np.concatenate(((before * self.values).T, rows)), mode="r")
        _, values, right = np.linalg.svd(triangle)
        r = self.count_kept(values)
        signs = choose_signs(before, right[:r].T)
        sums = before @ (self.values * self.sums) + rows.sum(axis=0)
        self.basis, self.turn = np.asfortranarray(right[:r].T * signs), np.eye(r)
        self.values = values[:r].copy()
        self.sums = (sums @ self.basis) / self.values
        self.rows += len(rows)
        self.turn_frame(self.basis.T @ before, self.frame)

    def append_directly(self, rows: Floats) -> Floats:
        """The same where a basis of all features is the smaller one: decompose diag(s) U' with the rows below it."""
        before = self.right
        left, values, right = np.linalg.svd(np.concatenate(((before * self.values).T, rows)), full_matrices=False)
        r = self.count_kept(values)
        signs = choose_signs(before, right[:r].T)
        self.basis, self.turn = np.asfortranarray(right[:r].T * signs), np.eye(r)
        self.values = values[:r].copy()
        self.turn_frame(self.basis.T @ before, self.frame)
        return np.ascontiguousarray(left[:, :r] * signs)

    def merge(self, other: "Factors") -> None:
        """Append all rows of another matrix with the same features, known by its factors alone."""
        before = self.rank
        rotation = self.append_block((other.right * other.values).T)
        old, new = rotation[:before], rotation[before:]
        if self.left is not None:
            assert other.left is not None
            self.left.append(old, other.left.whole(other.rank) @ new)
        self.sums = old.T @ self.sums + new.T @ other.sums
        self.rows += other.rows
        self.lost, self.freedom = min(self.lost + other.lost, MOST_LOST), self.freedom + other.freedom

    def split(self, columns: Floats) -> tuple[Floats, Floats, Floats]:
        """Columns as basis @ inside + new @ outside, where `new` has orthonormal columns outside of the basis."""
        inside, rest = remove_projection(self.basis, columns)
        new, outside = orthonormalize(rest, self.limits.least(self.find_largest(columns)))
        return inside, new, outside

    def find_largest(self, columns: Floats) -> float:
        """The largest singular value, or the length of the longest of some columns."""
        return float(self.values.max(initial=longest_column(columns)))

    def diagonalize(self, small: Floats, new: Floats) -> Floats:
        """Take the factors of [basis new] @ small; returns what its right side is multiplied with to become V."""
        before = float(self.values[0]) if self.rank else 0.0
        turn, values, right = np.linalg.svd(small, full_matrices=False)
        r = self.count_kept(values, before)
        turn, right = turn[:, :r], right[:r].T
        self.basis = np.asfortranarray(np.concatenate((self.basis, new), axis=1))
        signs = choose_signs(self.turn, turn, self.basis)
        old, self.turn, self.values = self.turn, np.ascontiguousarray(turn * signs), values[:r].copy()
        self.turn_frame(self.turn[: len(old)].T @ old, self.frame)
        if self.basis.shape[1] > self.limits.rank + self.limits.spare:
            self.compact()
        return np.ascontiguousarray(right * signs)

    def compact(self) -> None:
        """Leave only the directions of U in the basis, and make them orthonormal where rounding has changed them."""
        self.basis = np.asfortranarray(self.basis @ self.turn)
        self.turn = np.eye(self.rank)
        if float(np.abs(self.basis.T @ self.basis - self.turn).max(initial=0.0)) > DRIFT:
            self.basis = np.asfortranarray(orthonormal_columns(self.basis))


def remove_projection(basis: Floats, columns: Floats) -> tuple[Floats, Floats]:
    """The coordinates of columns in an orthonormal basis, and what is left of them; twice, because of rounding."""
    inside = basis.T @ columns
    rest = columns - basis @ inside
    again = basis.T @ rest
    rest -= basis @ again
    return inside + again, rest


def longest_column(columns: Floats) -> float:
    """The length of the longest column; in units of the largest entry, whose square may be no number."""
    size = float(np.max(np.abs(columns), initial=0.0))
    if not size:
        return 0.0
    scaled = columns / size
    return size * float(np.sqrt(np.max(np.einsum("ij,ij->j", scaled, scaled))))


def orthonormalize(columns: Floats, least: float) -> tuple[Floats, Floats]:
    """Orthonormal columns Q and R with Q R the given columns, but for directions shorter than `least`."""
    if columns.shape[1] == 1:
        length = longest_column(columns)
        if not length > least:
            return columns[:, :0], np.zeros((0, 1))
        return columns / length, np.full((1, 1), length)
    q, upper = np.linalg.qr(columns)
    sizes = np.abs(np.diag(upper))
    if sizes.min(initial=np.inf) > max(least, WELL_SPREAD * sizes.max(initial=0.0)):
        return q, upper
    left, values, right = np.linalg.svd(upper, full_matrices=False)  # some directions may be rounding errors of others
    kept = int(np.count_nonzero(values > least))
    return q @ left[:, :kept], values[:kept, None] * right[:kept]


def orthonormal_columns(matrix: Floats) -> Floats:
    """The Gram-Schmidt basis of the columns: column j points where it did, less what is along those before it."""
    found, upper = np.linalg.qr(matrix)
    return np.asarray(found * np.copysign(1.0, np.diag(upper)))


def choose_signs(before: Floats, after: Floats, basis: Floats | None = None) -> Floats:
    """The signs by which directions point as those before them did, and the largest entry of a new one is positive.

    Directions are given by their coordinates in a basis, if there is one.
    """
    count = min(before.shape[1], after.shape[1])
    old, new = after[: before.shape[0], :count], after[:, count:]
    along = np.einsum("ij,ij->j", before[:, :count], old)
    return np.append(np.where(along < 0.0, -1.0, 1.0), leading_signs(new if basis is None else basis @ new))


def leading_signs(columns: Floats) -> Floats:
    """The signs by which the largest entry of each column is positive."""
    if not columns.size:
        return np.ones(columns.shape[1])
    largest = columns[np.argmax(np.abs(columns), axis=0), np.arange(columns.shape[1])]
    return np.where(largest < 0.0, -1.0, 1.0)


def upright_rows(columns: Floats) -> Floats:
    """The columns as rows, each with the sign by which its largest entry is positive."""
    return np.asarray((columns * leading_signs(columns)).T)
