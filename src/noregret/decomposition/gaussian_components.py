"""Gaussian components of a mixture and the steps of online EM that move them."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.decomposition.centres import Centres
from noregret.decomposition.gaussian_scores import Gaussians, check_size, draw_rows, sum_logs

Floats = NDArray[np.float64]
REFINEMENTS = 10  # iterations of k-means, and then of EM, on the rows of the start


class Smoothing(NamedTuple):
    """How covariances are kept away from singular ones."""

    prior: float  # rows that the variance of the start counts for
    variance: float
    shrink: float  # rows that the variances of all rows count for, in each component


@dataclass
class Components:
    """Weights, means and covariances by the rows so far, of which older ones may count less.

    Until enough rows have come to find components among them, there is one, the Gaussian of all rows, and the rows are
    kept. Arrays are replaced and never changed.
    """

    full: bool
    smoothing: Smoothing
    weights: Floats  # k
    means: Floats  # k x d
    spreads: Floats  # k x d x d, or k x d: the covariance or variances of each component, before smoothing
    mean: Floats  # of all rows
    squares: Floats  # the sum of (x - mean)^2 over all rows, for each feature
    waiting: Floats  # rows from which components will be found
    count: int = 0
    effective: float = 0.0  # how many rows the sums are worth: fewer than there were, where old ones count less
    roots: Gaussians | None = None  # as long as they are those of the components

    @classmethod
    def start(cls, features: int, full: bool, smoothing: Smoothing) -> Self:
        none = np.zeros(0)
        fresh = cls(full, smoothing, np.ones(1), np.zeros((1, 0)), np.zeros((1, 0, 0) if full else (1, 0)), none, none,
                    np.zeros((0, 0)))  # fmt: skip
        fresh.grow(features)
        return fresh

    @property
    def features(self) -> int:
        return int(self.mean.size)

    def grow(self, features: int) -> None:
        new = features - self.features
        check_size("mixture", len(self.weights), features, self.full)
        wide, more = ((0, 0), (0, new)), (0, new)
        self.means, self.waiting = np.pad(self.means, wide), np.pad(self.waiting, wide)
        self.mean, self.squares = np.pad(self.mean, more), np.pad(self.squares, more)
        self.spreads = np.pad(self.spreads, ((0, 0), more, more) if self.full else wide)
        self.roots = None

    def copy(self) -> Self:
        return replace(self)

    def is_finite(self) -> bool:
        return all_finite(self.means) and all_finite(self.spreads) and all_finite(self.squares)

    # ---- densities -----------------------------------------------------------------------------------------------

    def spread_of_all(self) -> Floats:
        """The variance of every feature over all rows, with that of the start as `prior` rows more."""
        prior, variance, _ = self.smoothing
        return np.asarray((self.squares + prior * variance) / (self.count + prior))

    def spread_of_each(self) -> Floats:
        """The same, made smaller because k components share the space."""
        k, d = self.means.shape
        return np.asarray(self.spread_of_all() / k ** (2.0 / max(d, 1)))

    def covariances(self) -> Floats:
        """The covariances, or variances, by which rows are scored.

        One component has the variance of the start as `prior` rows more; of several, each has that of all rows, made
        smaller because k components share the space, as `shrink` rows more (Fraley and Raftery 2007).
        """
        k, d = self.means.shape
        if k == 1:
            rows, more = self.smoothing.prior, np.full(d, self.smoothing.variance)
        else:
            rows, more = self.smoothing.shrink, self.spread_of_each()
        own = self.weights * self.effective
        own = own[:, None, None] if self.full else own[:, None]
        return np.asarray((own * self.spreads + rows * (np.diag(more) if self.full else more)) / (own + rows))

    def gaussians(self) -> Gaussians:
        """The components with their roots, found once for each state."""
        if self.roots is None:
            self.roots = Gaussians.of(self.means, self.covariances(), "mixture")
        return self.roots

    def score(self, rows: Floats, beyond: Floats) -> tuple[Floats, Floats]:
        """The log-density of every row and the shares of the components in it; no row depends on those beside it."""
        distances = self.gaussians().distances(rows, self.mean) + beyond[:, None]
        return sum_logs(self.log_weights() + self.gaussians().logs - 0.5 * distances)

    def log_weights(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.weights)

    def expect(self, rows: Floats) -> tuple[Floats, Floats, Floats]:
        """The E-step: differences of rows and means, k x n x d; shares and squared distances, n x k."""
        whiten, away = self.gaussians().whiten, rows - self.means[:, None, :]
        if self.full:
            turned = np.matmul(away, whiten.transpose(0, 2, 1))
            distances = np.einsum("knd,knd->nk", turned, turned)
        else:
            distances = np.ascontiguousarray(np.matmul(away * away, (whiten**2)[:, :, None])[:, :, 0].T)
        return away, sum_logs(self.log_weights() + self.gaussians().logs - 0.5 * distances)[1], distances

    # ---- steps ---------------------------------------------------------------------------------------------------

    def see(self, rows: Floats) -> None:
        """Count rows, and add them to the moments of all rows."""
        new, own = len(rows), rows.mean(axis=0)
        total, shift = self.count + new, own - self.mean
        squares = ((rows - own) ** 2).sum(axis=0) + (self.count * new / total) * shift**2
        self.squares, self.mean, self.count = self.squares + squares, self.mean + (new / total) * shift, total
        self.roots = None

    def step(self, rows: Floats, rate: float) -> Floats:
        """Online EM: sums move by `rate` towards those of these rows; returns their squared distances before it."""
        away, shares, distances = self.expect(rows)
        self.move(away, shares, rate)
        return distances

    def move(self, away: Floats, shares: Floats, rate: float) -> None:
        """The M-step: (1 - rate) times the sums so far and `rate` times those of rows, by their shares.

        Sums are kept as weights, means and covariances, and squares are taken around the mean of the rows that make
        them, which loses no digits far from the origin or from the means so far.
        """
        n = len(shares)
        new = shares.sum(axis=0) / n
        safe = np.maximum(new, np.finfo(np.float64).tiny)
        shift = np.matmul(shares.T[:, None, :], away)[:, 0, :] / (n * safe[:, None])
        around = away - shift[:, None, :]
        if self.full:
            parts = np.sqrt(shares.T)[:, :, None] * around
            squares = np.matmul(parts.transpose(0, 2, 1), parts) / n
            across = shift[:, :, None] * shift[:, None, :]
        else:
            squares = np.matmul(shares.T[:, None, :], around * around)[:, 0, :] / n
            across = shift * shift
        old, more = (1.0 - rate) * self.weights, rate * new
        total = np.maximum(old + more, np.finfo(np.float64).tiny)
        sums = (old, old * (more / total), total)
        stays, apart, wide = (one[:, None, None] if self.full else one[:, None] for one in sums)
        self.spreads = (stays * self.spreads + rate * squares + apart * across) / wide
        self.means = self.means + (more / total)[:, None] * shift
        self.weights = old + more
        kept = (1.0 - rate) ** 2 / self.effective if self.effective else 0.0
        self.effective, self.roots = 1.0 / (kept + rate * rate / n), None

    # ---- where components begin ----------------------------------------------------------------------------------

    def begin(self, k: int, random: np.random.Generator) -> None:
        """Find k components among the rows that wait: by k-means, then by EM.

        Features are measured in standard deviations; where fewer than k rows differ, the rest has no weight yet.
        """
        rows = self.waiting
        scaled = rows / np.sqrt(self.spread_of_all())
        centres = Centres.find(scaled, k, random, REFINEMENTS)
        shares = np.zeros((len(rows), k))
        shares[np.arange(len(rows)), np.argmin(centres.distances(scaled), axis=1)] = 1.0
        check_size("mixture", k, self.features, self.full)
        self.move(rows - self.means[:, None, :], shares, 1.0)  # nothing is left of the one component so far
        for _ in range(REFINEMENTS):
            self.step(rows, 1.0)
        self.waiting = rows[:0]

    def find_dead(self, least: float) -> NDArray[np.intp]:
        """The components whose weight is below this share of 1/k."""
        return np.flatnonzero(self.weights < least / len(self.weights))

    def revive(self, dead: NDArray[np.intp], rows: Floats, distances: Floats, random: np.random.Generator) -> None:
        """Place dead components at rows that are far from all others, drawn at random, with the mean weight 1/k."""
        nearest = np.min(np.delete(distances, dead, axis=1), axis=1, initial=np.inf)
        if not np.isfinite(nearest).all() or not nearest.any():
            return
        nearest /= nearest.max()
        chosen = random.choice(len(rows), size=dead.size, p=nearest / nearest.sum())
        spread = self.spread_of_each()
        self.means, self.spreads, self.weights = self.means.copy(), self.spreads.copy(), self.weights.copy()
        self.means[dead], self.weights[dead] = rows[chosen], 1.0 / len(self.weights)
        self.spreads[dead] = np.diag(spread) if self.full else spread
        self.weights /= self.weights.sum()
        self.roots = None

    def draw(self, count: int, random: np.random.Generator) -> Floats:
        """Rows from this density."""
        numbers = random.choice(len(self.weights), size=count, p=self.weights)
        normal = random.standard_normal((count, self.features))
        return draw_rows(self.means, self.covariances(), numbers, normal, "mixture")
