"""The rows that a kernel density estimate keeps within its budget, and the bandwidths by which they are spread."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.decomposition.gaussian_scores import Gaussians, check_size, draw_rows, sum_logs
from noregret.decomposition.kept import Kept, keep

Floats = NDArray[np.float64]
ROOM = 16  # merging makes room for a share of one in so many of the budget at once
SLICE = 1 << 22  # numbers of rows and supports that are in memory together


class Limits(NamedTuple):
    """What may be kept."""

    budget: int
    merges: bool
    full: bool  # whether covariances of features are kept, or only variances


class Kernel(NamedTuple):
    """The Gaussian that is put on every support."""

    middle: Floats  # the mean of the supports
    covariance: Floats  # or the variances of features


@dataclass
class Supports:
    """Rows, or merged rows: each has a weight, a mean, and the variances or the covariance of the rows in it.

    Arrays are replaced and never changed.
    """

    points: Floats  # m x d
    weights: Floats  # m
    spreads: Floats  # m x d, or m x d x d: 0 where a support is one row; m x 0 where rows are never merged
    limits: Limits
    count: int = 0  # rows so far
    kernel: Kept[Kernel] | None = None
    kept: Kept[Gaussians] | None = None  # by the latest kernel

    @classmethod
    def start(cls, features: int, limits: Limits) -> Self:
        none = np.zeros((0, 0))
        fresh = cls(none, np.zeros(0), np.zeros((0, 0, 0)) if limits.full else none, limits)
        fresh.grow(features)
        return fresh

    @property
    def features(self) -> int:
        return int(self.points.shape[1])

    def grow(self, features: int) -> None:
        new, (budget, merges, full) = (0, features - self.features), self.limits
        check_size("kernel_density", budget if merges else 1, features, full)
        if merges:
            self.spreads = np.pad(self.spreads, ((0, 0), *(new for _ in self.spreads.shape[1:])))
        self.points = np.pad(self.points, ((0, 0), new))

    def copy(self) -> Self:
        return replace(self)

    def is_finite(self) -> bool:
        return all_finite(self.points) and all_finite(self.spreads)

    # ---- densities -----------------------------------------------------------------------------------------------

    def moments(self) -> tuple[float, Floats, Floats]:
        """The weight of all supports, their mean, and the sum of (x - mean)(x - mean)', or of its diagonal."""
        total = float(self.weights.sum())
        mean = self.weights @ self.points / max(total, 1.0)
        around = self.points - mean
        squares = (around.T * self.weights) @ around if self.limits.full else self.weights @ around**2
        within = np.tensordot(self.weights, self.spreads, 1) if self.limits.merges else 0.0
        return total, mean, np.asarray(squares + within)

    def score(self, rows: Floats, kernel: Kernel) -> tuple[Floats, Floats]:
        """The log-density of rows, and the squared distance of the nearest support in bandwidths.

        No row depends on those beside it.
        """
        gaussians = self.gaussians(kernel)
        logs = gaussians.logs + np.log(self.weights / self.weights.sum())
        found, step = [np.zeros((0, 2))], max(1, SLICE // (self.spreads.size + len(self.points)))
        for first in range(0, len(rows), step):
            distances = gaussians.distances(rows[first : first + step], kernel.middle)
            found.append(np.column_stack((sum_logs(logs - 0.5 * distances)[0], np.min(distances, axis=1))))
        both = np.concatenate(found)
        return both[:, 0], both[:, 1]

    def gaussians(self, kernel: Kernel) -> Gaussians:
        """The kernels with their roots, found once for each state."""
        self.kept = keep(
            self.kept,
            lambda: Gaussians.of(self.points, self.covariances(kernel), "kernel_density"),
            kernel, self.points, self.spreads,
        )  # fmt: skip
        return self.kept.value

    def covariances(self, kernel: Kernel) -> Floats:
        """The covariance of every support, or one for all."""
        return np.asarray(kernel.covariance + self.spreads) if self.limits.merges else kernel.covariance[None]

    def draw(self, count: int, kernel: Kernel, random: np.random.Generator) -> Floats:
        """Rows from this density."""
        numbers = random.choice(len(self.weights), size=count, p=self.weights / self.weights.sum())
        normal = random.standard_normal((count, self.features))
        return draw_rows(self.points, self.covariances(kernel), numbers, normal, "kernel_density")

    # ---- rows ----------------------------------------------------------------------------------------------------

    def add(self, rows: Floats) -> None:
        self.points = np.concatenate((self.points, rows))
        self.weights = np.concatenate((self.weights, np.ones(len(rows))))
        self.spreads = np.concatenate((self.spreads, np.zeros((len(rows), *self.spreads.shape[1:]))))
        self.count += len(rows)

    def take(self, kept: NDArray[np.intp] | slice) -> None:
        self.points, self.weights, self.spreads = self.points[kept], self.weights[kept], self.spreads[kept]

    def keep_sample(self, rows: Floats, random: np.random.Generator) -> None:
        """A uniform sample of all rows (Vitter 1985): row t takes the place of another with probability budget / t."""
        free = self.limits.budget - len(self.points)
        self.add(rows[:free])
        late = rows[free:]
        places = random.integers(self.count + 1 + np.arange(len(late)))
        for at in np.flatnonzero(places < self.limits.budget).tolist():
            self.points[places[at]] = late[at]
        self.count += len(late)

    def keep_latest(self, rows: Floats) -> None:
        self.add(rows)
        self.take(slice(max(len(self.points) - self.limits.budget, 0), None))

    def keep_merged(self, rows: Floats, covariance: Floats) -> None:
        """Merge supports where there are more than the budget, until some room is left again."""
        self.add(rows)
        budget = self.limits.budget
        if len(self.points) > budget:
            whiten = Gaussians.of(rows, covariance[None], "kernel_density").whiten[0]
            self.merge_nearest(len(self.points) - budget + budget // ROOM, whiten)

    def merge_nearest(self, times: int, whiten: Floats) -> None:
        """Merge the two supports whose merger adds least to the squared distances within supports, again and again.

        Distances are in standard deviations of all rows. The weight, the mean and the covariance of a merged support
        are those of the rows of both.
        """
        points, weights, spreads = self.points.copy(), self.weights.copy(), self.spreads.copy()
        full = whiten.ndim == 2
        places = points - points.mean(axis=0)
        places = places @ whiten.T if full else places * whiten
        costs = find_costs(places, weights)
        nearest = np.argmin(costs, axis=1)
        least = costs[np.arange(len(costs)), nearest]
        for _ in range(times):
            one = int(np.argmin(least))
            other = int(nearest[one])
            total = weights[one] + weights[other]
            share, apart = weights[other] / total, points[other] - points[one]
            square = np.outer(apart, apart) if full else apart**2
            spreads[one] += share * (spreads[other] - spreads[one]) + share * (1.0 - share) * square
            points[one] += share * apart
            places[one] += share * (places[other] - places[one])
            weights[one], weights[other] = total, 0.0
            own = find_costs_of(one, places, weights)
            costs[one], costs[:, one], costs[other], costs[:, other] = own, own, np.inf, np.inf
            stale = np.flatnonzero((nearest == one) | (nearest == other))  # what is merged comes nearer to no other
            nearest[stale] = np.argmin(costs[stale], axis=1)
            least[stale] = costs[stale, nearest[stale]]
            least[other] = np.inf
        self.points, self.weights, self.spreads = points, weights, spreads
        self.take(np.flatnonzero(weights))


def find_costs(places: Floats, weights: Floats) -> Floats:
    """What merging each pair adds to the squared distances within supports; infinite for a support and itself."""
    sizes = np.einsum("ij,ij->i", places, places)
    costs = np.maximum(sizes[:, None] + sizes - 2.0 * (places @ places.T), 0.0)
    costs *= weights[:, None] * weights / (weights[:, None] + weights)
    np.fill_diagonal(costs, np.inf)
    return np.asarray(costs)


def find_costs_of(one: int, places: Floats, weights: Floats) -> Floats:
    """The same for one support; infinite for those that are gone, whose weight is 0."""
    away = places - places[one]
    own = weights[one]
    costs = np.where(weights > 0.0, np.einsum("ij,ij->i", away, away) * (own * weights / (own + weights)), np.inf)
    costs[one] = np.inf
    return np.asarray(costs)
