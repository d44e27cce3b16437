"""The point of a convex hull that is nearest to the origin (Wolfe, Mathematical Programming 11, 1976).

Of signed examples z_i it answers both questions of separability. The point v = sum of a_i z_i, a_i >= 0 that sum to 1,
is an upper bound on every margin: no unit vector u has u.z_i > |v| for all i, since sum of a_i u.z_i = u.v <= |v|. At
the nearest point, v / |v| attains this bound; where v = 0, nothing separates the examples.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

Floats = NDArray[np.float64]
DENSE = 0.2  # with a larger share of values that are not 0, rows are stored as a dense matrix
LEAST_WEIGHT = 1e-15  # of a row that stays
MOST_CAREFUL = 150  # rows that the slow and careful way is tried for
LEAST_PIVOT = 1e-13  # relative: below, a point is taken to lie in the affine hull of those chosen before


class NearestPoint(NamedTuple):
    """A convex combination of rows: which rows, with which weights, and the point itself."""

    rows: NDArray[np.int64]
    weights: Floats
    point: Floats


def find_nearest_point(Z: Any, gap: float = 1e-10, zero: float = 1e-14, work: float = 3e10) -> NearestPoint:
    """The nearest point of the convex hull of the rows of a sparse matrix, none longer than about 1.

    It ends where |v|^2 exceeds min z_i.v by no more than gap |v|^2 (with a gap of 1, where v separates the rows), where
    |v| <= zero, after about so many operations, or where rounding stops progress.
    """
    cycle = 2.0 * Z.nnz
    sizes = np.asarray(Z.multiply(Z).sum(axis=1)).ravel()
    if Z.nnz > DENSE * Z.shape[0] * Z.shape[1]:
        Z = Z.toarray()
    corral = Corral(Z, int(np.argmin(sizes)))
    point = corral.point()
    best, stuck = (float(point @ point), corral.rows, corral.weights, point), 0
    while work > 0.0:
        work -= cycle + 4.0 * len(corral.rows) ** 2 + 1e4
        square, scores = float(point @ point), Z @ point
        entering = int(np.argmin(scores))
        if square <= zero**2 or scores[entering] >= square * max(1.0 - gap, 1e-6):
            break
        if stuck > 3 or entering in corral.rows or not corral.add(entering):  # in exact arithmetic none of this happens
            if corral.careful or len(corral.rows) > MOST_CAREFUL:
                break
            corral, stuck = corral.with_care(best[1], best[2]), 0
            point = best[3]
            continue
        corral.minimize()
        point = corral.point()
        square = float(point @ point)
        stuck = 0 if square < best[0] else stuck + 1
        if square < best[0]:
            best = (square, corral.rows, corral.weights, point)
    _, rows, weights, point = best
    return NearestPoint(np.array(rows, np.int64), np.array(weights), point)


class Corral:
    """Rows that are affinely independent, with positive weights that sum to 1.

    A Cholesky factor of their Gram matrix, plus 1, is updated as rows come and go. With care, a least-squares problem
    is solved each time instead: slower, and with twice as many digits.
    """

    def __init__(self, Z: Any, first: int) -> None:
        self.Z, self.rows, self.weights, self.careful = Z, [first], [1.0], False
        self.lower = np.sqrt(1.0 + self.products([first], first))[:, None]

    def with_care(self, rows: list[int], weights: list[float]) -> "Corral":
        """A corral of these rows that does without a Gram matrix."""
        new = Corral(self.Z, rows[0])
        new.rows, new.weights, new.careful = rows, weights, True
        return new

    def point(self) -> Floats:
        """The combination of the rows."""
        return np.asarray(self.Z[self.rows].T @ np.array(self.weights)).ravel()

    def products(self, rows: list[int], row: int) -> Floats:
        """The inner products of some rows with one."""
        if isinstance(self.Z, np.ndarray):
            return np.asarray(self.Z[rows] @ self.Z[row])
        return np.asarray((self.Z[rows] @ self.Z[row].T).todense()).ravel()

    def add(self, row: int) -> bool:
        """Add a row with weight 0; returns whether it is affinely independent of the others."""
        if not self.careful:
            new = self.products(self.rows, row) + 1.0
            own = 1.0 + float(self.products([row], row)[0])
            column = solve_triangular(self.lower, new, lower=True)
            pivot = own - float(column @ column)
            if pivot <= LEAST_PIVOT * own:
                return False
            size = len(self.rows)
            lower = np.zeros((size + 1, size + 1))
            lower[:size, :size], lower[size, :size], lower[size, size] = self.lower, column, np.sqrt(pivot)
            self.lower = lower
        self.rows, self.weights = [*self.rows, row], [*self.weights, 0.0]
        return True

    def minimize(self) -> None:
        """Move to the nearest point of the affine hull; rows whose weight would be negative leave on the way."""
        while True:
            target = self.affine_minimizer()
            weights = np.array(self.weights)
            falling = target <= 0.0
            if not falling.any():
                self.weights = target.tolist()
                return
            ways = weights[falling] - target[falling]  # 0 where a row has no weight and is to have none
            step = float(np.min(np.divide(weights[falling], ways, out=np.zeros_like(ways), where=ways > 0.0)))
            weights = weights + step * (target - weights)
            leaving = np.zeros(len(weights), bool)
            leaving[np.flatnonzero(falling)[np.argmin(weights[falling])]] = True
            self.remove(leaving | (falling & (weights <= LEAST_WEIGHT)), weights)

    def affine_minimizer(self) -> Floats:
        """The weights, of any sign, of the nearest point of the affine hull."""
        if self.careful:
            rows = self.Z[self.rows]
            rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
            rest = np.linalg.lstsq((rows[1:] - rows[0]).T, -rows[0], rcond=None)[0]
            return np.concatenate(([1.0 - rest.sum()], rest))
        ones = np.ones(len(self.rows))
        target = solve_triangular(self.lower, ones, lower=True)
        target = solve_triangular(self.lower, target, lower=True, trans="T")
        return np.asarray(target / target.sum())

    def remove(self, leaving: NDArray[np.bool_], weights: Floats) -> None:
        """Remove some of the rows; the others have these weights."""
        for place in np.flatnonzero(leaving)[::-1].tolist() if not self.careful else ():
            self.lower = drop_row(self.lower, place)
        self.rows = [row for row, leaves in zip(self.rows, leaving, strict=True) if not leaves]
        self.weights = (weights[~leaving] / weights[~leaving].sum()).tolist()


def drop_row(lower: Floats, place: int) -> Floats:
    """The Cholesky factor of a matrix without one of its rows and columns: an update of rank one of what is below."""
    kept = np.delete(np.delete(lower, place, axis=0), place, axis=1)
    x = lower[place + 1 :, place].copy()
    for at in range(place, len(kept)):
        k = at - place
        r = np.hypot(kept[at, at], x[k])
        c, s = r / kept[at, at], x[k] / kept[at, at]
        kept[at, at] = r
        kept[at + 1 :, at] = (kept[at + 1 :, at] + s * x[k + 1 :]) / c
        x[k + 1 :] = c * x[k + 1 :] - s * kept[at + 1 :, at]
    return kept
