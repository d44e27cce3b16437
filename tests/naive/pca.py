"""Online PCA and Oja's rule without tricks: whole matrices, their exponentials and logarithms."""

from collections.abc import Callable

import numpy as np


def capped(weights: np.ndarray, most: float) -> np.ndarray:
    """The closest weights in relative entropy that sum to 1 and of which none is above `most`."""
    order = np.argsort(-weights)
    for count in range(len(weights)):
        found = weights.copy()
        found[order[:count]] = most
        rest = order[count:]
        found[rest] *= (1.0 - count * most) / weights[rest].sum()
        if found.max() <= most * (1.0 + 1e-12):
            return found
    return np.full(len(weights), 1.0 / len(weights))


def of_matrix(function: Callable[[np.ndarray], np.ndarray], matrix: np.ndarray) -> np.ndarray:
    """A function of a symmetric matrix: of its eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * function(values)) @ vectors.T)


class NaivePCA:
    """The density matrix itself, and its matrix logarithm in every round."""

    def __init__(self, features: int, rank: int, eta: float) -> None:
        self.left_out, self.eta, self.W = features - rank, eta, np.eye(features) / features

    def expected(self, x: np.ndarray) -> float:
        return float(self.left_out * x @ self.W @ x)

    def loss(self, x: np.ndarray) -> float:
        """The loss of keeping the eigenvectors with the smallest eigenvalues."""
        _, vectors = np.linalg.eigh(self.W)
        left_out = vectors[:, len(x) - self.left_out :]
        return float(np.sum((left_out.T @ x) ** 2))

    def learn(self, x: np.ndarray) -> None:
        raised = of_matrix(np.exp, of_matrix(np.log, self.W) - self.eta * np.outer(x, x))
        weights, vectors = np.linalg.eigh(raised / np.trace(raised))
        self.W = (vectors * capped(weights, 1.0 / self.left_out)) @ vectors.T


class NaiveOja:
    """One direction after another, made orthogonal to those before it by Gram and Schmidt."""

    def __init__(self, columns: np.ndarray, eta: float, delay: float) -> None:
        self.W, self.eta, self.delay, self.sizes = columns.copy(), eta, delay, list[float]()
        self.squares: list[np.ndarray] = []  # of the rows along the directions, as these were when the rows came

    def learn(self, rows: np.ndarray) -> None:
        self.sizes += [float(row @ row) for row in rows]
        self.squares += [(row @ self.W) ** 2 for row in rows]
        rate = self.eta / (self.delay + len(self.sizes)) / np.mean(self.sizes)
        self.W = self.W + rate * sum(np.outer(row, row @ self.W) for row in rows)
        self.orthonormalize()

    def orthonormalize(self) -> None:
        for number in range(self.W.shape[1]):
            for before in range(number):
                self.W[:, number] -= (self.W[:, before] @ self.W[:, number]) * self.W[:, before]
            self.W[:, number] /= np.linalg.norm(self.W[:, number])
