"""Densities of Gaussians: roots of covariances, squared distances in standard deviations, and sums of densities."""

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.kept import Kept, keep
from noregret.decomposition.matrix_rows import row_dots, row_products
from noregret.errors import BadValue

Floats = NDArray[np.float64]
LOG_TWO_PI = float(np.log(2.0 * np.pi))
MOST_NUMBERS = 1 << 27  # of all covariances
FAR, LOST = 1e6, 1e-8  # squares that are larger, and of which a smaller share is left, are measured once more
RIDGES = (1e-12, 1e-10, 1e-8)  # shares of variances; rounding errors are about 1e-16 of them for each feature


@dataclass
class Gaussians:
    """Gaussians by their means and the inverse roots of their covariances, or one root for all of them."""

    means: Floats  # m x d
    whiten: Floats  # m x d x d or 1 x d x d; or, where covariances are diagonal, m x d or 1 x d
    logs: Floats  # the log-density at the mean, m or 1
    kept: "Kept[FullDistances | SharedDistances] | None" = None  # as measured from the latest middle

    @classmethod
    def of(cls, means: Floats, covariances: Floats, owner: str) -> Self:
        """Those with these covariances, m or 1, or with these variances."""
        constant = -0.5 * means.shape[1] * LOG_TWO_PI
        if covariances.ndim == 2:
            whiten = 1.0 / np.sqrt(covariances)
            return cls(means, whiten, constant + np.log(whiten).sum(axis=1))
        roots = find_root(covariances, owner)
        logs = constant - np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        return cls(means, np.asarray(np.linalg.inv(roots)), logs)

    def distances(self, rows: Floats, middle: Floats) -> Floats:
        """Squared distances of rows to all means, in standard deviations; no row depends on those beside it.

        They are differences of squares, which lose the fewest digits if `middle` is near rows and means; where too
        few are left, they are squares of differences.
        """
        self.kept = keep(self.kept, lambda: self.place(middle), middle)
        return self.kept.value.measure(rows - middle)

    def place(self, middle: Floats) -> "FullDistances | SharedDistances":
        """What is the same for all rows that are measured from this middle."""
        means, (m, d) = self.means - middle, self.means.shape
        if self.whiten.ndim == 3 and len(self.whiten) == m:
            together = np.ascontiguousarray(self.whiten.transpose(2, 0, 1)).reshape(d, m * d)
            return FullDistances(together, np.matmul(self.whiten, means[:, :, None])[:, :, 0])
        if self.whiten.ndim == 3:
            turn = np.ascontiguousarray(self.whiten[0].T)
            return SharedDistances.of(means @ turn, np.ones((1, d)), turn)
        return SharedDistances.of(means, self.whiten**2, None)


class FullDistances(NamedTuple):
    """Distances by a root of its own for each mean."""

    together: Floats  # the roots beside each other, d x m d
    means: Floats  # each times its root, m x d

    def measure(self, rows: Floats) -> Floats:
        """Squared distances of rows, which are measured from the middle."""
        n, (m, d) = len(rows), self.means.shape
        away = (row_products(rows, self.together) - self.means.ravel()).reshape(n * m, d)
        return row_dots(away, away).reshape(n, m)


class SharedDistances(NamedTuple):
    """Distances by scales of the features, after a turn that is the same for all means."""

    means: Floats  # m x d
    scales: Floats  # m x d or 1 x d
    turn: Floats | None
    sizes: Floats  # the squares of the means, m
    columns: Floats  # scales as columns
    products: Floats  # -2 times the scaled means as columns

    @classmethod
    def of(cls, means: Floats, scales: Floats, turn: Floats | None) -> Self:
        scaled = means * scales
        columns, products = np.ascontiguousarray(scales.T), np.ascontiguousarray(-2.0 * scaled.T)
        return cls(means, scales, turn, row_dots(scaled, means), columns, products)

    def measure(self, rows: Floats) -> Floats:
        """Squared distances of rows, which are measured from the middle."""
        rows = rows if self.turn is None else row_products(rows, self.turn)
        sizes = row_products(rows * rows, self.columns)
        found = row_products(rows, self.products)
        found += sizes
        found += self.sizes
        if np.max(sizes, initial=0.0) + np.max(self.sizes) > FAR:
            both = sizes + self.sizes
            lost = (both > FAR) & (found < LOST * both)
            for number in np.flatnonzero(lost.any(axis=0)).tolist():
                own = lost[:, number]
                away = rows[own] - self.means[number]
                found[own, number] = row_dots(away * self.scales[number % len(self.scales)], away)
        return np.maximum(found, 0.0)


def sum_logs(logs: Floats) -> tuple[Floats, Floats]:
    """log sum_k exp(l_k) of every row of logarithms, and the share of each k; no row depends on those beside it."""
    largest = np.max(logs, axis=1, keepdims=True)
    shares = np.exp(logs - largest)
    total = np.matmul(shares[:, None, :], np.ones(logs.shape[1]))
    return (largest + np.log(total))[:, 0], shares / total


def find_root(covariances: Floats, owner: str) -> Floats:
    """Lower triangular roots of a covariance, or of several."""
    try:
        return np.asarray(np.linalg.cholesky(covariances))
    except np.linalg.LinAlgError:
        if covariances.ndim == 3:
            return np.array([find_root(one, owner) for one in covariances])
        return find_root_with_ridge(covariances, owner)


def find_root_with_ridge(covariance: Floats, owner: str) -> Floats:
    """The root of a covariance that rounding made singular, as where one feature is a multiple of another.

    Each variance grows by the same small share: the smallest with which there is a root.
    """
    variances = np.diag(np.diag(covariance))
    for share in RIDGES:
        with suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.cholesky(covariance + share * variances))
    raise BadValue(
        f"{owner}: the covariance of the rows is too close to singular; scale the rows, or set a larger prior"
    )


def draw_rows(means: Floats, covariances: Floats, numbers: NDArray[np.intp], normal: Floats, owner: str) -> Floats:
    """Rows from the Gaussians of these numbers, made of standard normal ones; there may be one covariance for all."""
    own = numbers if len(covariances) == len(means) else np.zeros_like(numbers)
    if covariances.ndim == 2:
        return np.asarray(means[numbers] + np.sqrt(covariances)[own] * normal)
    drawn, places = np.unique(own, return_inverse=True)
    roots = find_root(covariances[drawn], owner)
    return np.asarray(means[numbers] + np.matmul(roots[places], normal[:, :, None])[:, :, 0])


def check_size(owner: str, count: int, features: int, full: bool) -> None:
    """Refuse covariances that would not fit into memory."""
    if full and count * features * features > MOST_NUMBERS:
        raise BadValue(
            f'{owner}: {count} covariances of {features} features are too large; set shape="diagonal", or bits'
        )
