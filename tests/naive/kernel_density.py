"""Kernel density estimates from the definitions: one kernel after the other, and mergers found by trying all pairs."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.naive.mixture import normal_density

Floats = NDArray[np.float64]
ROOM = 16


class Support(NamedTuple):
    """The rows that are merged in a support."""

    rows: list[Floats]

    @property
    def mean(self) -> Floats:
        return np.asarray(np.mean(self.rows, axis=0))

    @property
    def covariance(self) -> Floats:
        around = self.rows - self.mean
        return np.asarray(around.T @ around / len(self.rows))


class NaiveKernelDensity:
    """All rows that are kept, by the support they belong to; the start counts as `prior` rows of this variance."""

    def __init__(self, budget: int, policy: Literal["merge", "oldest"], full: bool, prior: float = 1.0) -> None:
        self.supports: list[Support] = []
        self.budget, self.policy, self.full, self.prior = budget, policy, full, prior

    def covariance(self) -> Floats:
        """That of all rows that are kept."""
        rows = np.array([row for support in self.supports for row in support.rows])
        around = rows - rows.mean(axis=0)
        found = (around.T @ around + self.prior * np.eye(rows.shape[1])) / (len(rows) - 1 + self.prior)
        return found if self.full else np.diag(np.diag(found))

    def loss(self, x: Floats) -> float:
        n, d = sum(len(support.rows) for support in self.supports), x.size
        kernel = self.covariance() * n ** (-2.0 / (d + 4))
        density = 0.0
        for support in self.supports:
            own = support.covariance if self.full else np.diag(np.diag(support.covariance))
            density += len(support.rows) / n * normal_density(x, support.mean, kernel + own)
        return -float(np.log(density))

    def learn(self, rows: Floats) -> None:
        covariance = self.covariance() if self.supports else np.eye(rows.shape[1])
        self.supports += [Support([row]) for row in rows]
        if self.policy == "oldest":
            self.supports = self.supports[-self.budget :]
        elif len(self.supports) > self.budget:
            while len(self.supports) > self.budget - self.budget // ROOM:
                self.merge(np.asarray(np.linalg.inv(covariance)))

    def merge(self, inverse: Floats) -> None:
        """Merge the pair whose merger adds least to the sum of squared distances of rows to their means."""
        best = None
        means = [support.mean for support in self.supports]
        for i, one in enumerate(self.supports):
            for j, other in enumerate(self.supports[:i]):
                away, n, m = means[i] - means[j], len(one.rows), len(other.rows)
                cost = float(away @ inverse @ away) * n * m / (n + m)
                if best is None or cost < best[0]:
                    best = cost, i, j
        assert best is not None
        _, i, j = best
        self.supports[j] = Support(self.supports[j].rows + self.supports[i].rows)
        del self.supports[i]
