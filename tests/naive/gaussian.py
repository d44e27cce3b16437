"""The Gaussian density of a stream from the definitions: all rows are kept, and summed up anew for each one."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

Floats = NDArray[np.float64]


class NaiveGaussian:
    """All rows so far; the start counts as `prior` more, with no covariance and this variance."""

    def __init__(self, features: int, prior: float, variance: float) -> None:
        self.rows = np.zeros((0, features))
        self.prior, self.variance = prior, variance

    def learn(self, rows: Floats) -> None:
        self.rows = np.vstack((self.rows, rows))

    def loss(self, x: Floats) -> float:
        n, features = self.rows.shape
        mean = self.rows.sum(axis=0) / max(n, 1)
        covariance = self.prior * self.variance * np.eye(features)
        for row in self.rows:
            covariance += np.outer(row - mean, row - mean)
        return -float(multivariate_normal.logpdf(x, mean, covariance / (n + self.prior)))
