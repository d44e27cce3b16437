"""Online EM for Gaussian mixtures from the definitions: sums of 1, x and xx', one row and one component at a time."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def normal_density(x: Floats, mean: Floats, covariance: Floats) -> float:
    away, (_, log_volume) = x - mean, np.linalg.slogdet(2.0 * np.pi * covariance)
    return float(np.exp(-0.5 * (away @ np.linalg.solve(covariance, away) + log_volume)))


class NaiveMixture:
    """The sums of every component, as means over rows: of its shares, and of these times x and xx'."""

    def __init__(self, k: int, features: int, shrink: float, variance: float, diagonal: bool = False) -> None:
        self.shares = np.zeros(k)
        self.firsts = np.zeros((k, features))
        self.seconds = np.zeros((k, features, features))
        self.shrink, self.variance, self.diagonal = shrink, variance, diagonal
        self.rows = np.zeros((0, features))  # all of them
        self.squares = 0.0  # the sum of squared weights of rows: 1 / effective

    def mean(self, j: int) -> Floats:
        return np.asarray(self.firsts[j] / self.shares[j])

    def covariance(self, j: int) -> Floats:
        """That of the component, and `shrink` rows with the variances of all rows, of which the start is one."""
        k, features = self.firsts.shape
        own = self.seconds[j] / self.shares[j] - np.outer(self.mean(j), self.mean(j))
        around = self.rows - self.rows.mean(axis=0)
        variances = ((around**2).sum(axis=0) + self.variance) / (len(self.rows) + 1.0)
        more = np.diag(variances) / k ** (2.0 / features)
        rows = self.shares[j] / self.squares
        both = (rows * own + self.shrink * more) / (rows + self.shrink)
        return np.diag(np.diag(both)) if self.diagonal else np.asarray(both)

    def densities(self, x: Floats) -> Floats:
        """The weight of each component times its density."""
        pairs = [(self.mean(j), self.covariance(j)) for j in range(len(self.shares))]
        return self.shares * [normal_density(x, mean, covariance) for mean, covariance in pairs]

    def see(self, rows: Floats) -> None:
        self.rows = np.vstack((self.rows, rows))

    def learn(self, rows: Floats, rate: float) -> None:
        """The E-step for each row, then all sums move by `rate`."""
        densities = [self.densities(row) for row in rows]
        self.add(rows, [one / one.sum() for one in densities], rate)

    def add(self, rows: Floats, shares: list[Floats], rate: float) -> None:
        for j in range(len(self.shares)):
            own = [one[j] for one in shares]
            n = len(rows)
            self.shares[j] += rate * (sum(own) / n - self.shares[j])
            self.firsts[j] += rate * (sum(p * x for p, x in zip(own, rows, strict=True)) / n - self.firsts[j])
            second = sum(p * np.outer(x, x) for p, x in zip(own, rows, strict=True))
            self.seconds[j] += rate * (second / n - self.seconds[j])
        self.squares = (1.0 - rate) ** 2 * self.squares + rate**2 / len(rows)
