"""Online dictionary learning as the paper writes it: atoms in columns, the lasso by trying all choices of signs."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def lasso_objective(x: Floats, D: Floats, code: Floats, penalty: float) -> float:
    return float(0.5 * ((x - D @ code) ** 2).sum() + penalty * np.abs(code).sum())


def solve_lasso(x: Floats, D: Floats, penalty: float) -> Floats:
    """The code with the smallest objective among the stationary points of all choices of signs."""
    best = np.zeros(D.shape[1])
    for signs in product((-1.0, 0.0, 1.0), repeat=D.shape[1]):
        used = np.flatnonzero(signs)
        part = D[:, used]
        code = np.zeros(D.shape[1])
        right = part.T @ x - penalty * np.array(signs)[used]
        code[used] = np.linalg.lstsq(part.T @ part, right, rcond=None)[0]
        if lasso_objective(x, D, code, penalty) < lasso_objective(x, D, best, penalty) - 1e-14:
            best = code
    return best


def descend(x: Floats, D: Floats, penalty: float, tolerance: float, sweeps: int) -> Floats:
    """The code after so many sweeps: over all atoms, then over those in use until they settle, and again."""
    code, everyone = np.zeros(D.shape[1]), range(D.shape[1])
    least = tolerance * np.abs(D.T @ x).max()
    among: Sequence[int] = everyone
    for _ in range(sweeps):
        largest = 0.0
        for j in among:
            before, code[j] = code[j], 0.0
            size, product = D[:, j] @ D[:, j], D[:, j] @ (x - D @ code)
            code[j] = np.sign(product) * max(abs(product) - penalty, 0.0) / size if size else 0.0
            largest = max(largest, abs(code[j] - before) * size)
        if among is not everyone:
            among = everyone if largest <= least else among
        elif largest <= least:
            break
        else:
            among = np.flatnonzero(code).tolist()
    return code


class NaiveDictionary:
    """D with an atom in each column, A and B."""

    def __init__(self, D: Floats, penalty: float, batch: int) -> None:
        self.D, self.penalty, self.batch = D.copy(), penalty, batch
        self.A, self.B = np.zeros((D.shape[1], D.shape[1])), np.zeros(D.shape)
        self.t = 0

    def loss(self, x: Floats) -> float:
        return lasso_objective(x, self.D, solve_lasso(x, self.D, self.penalty), self.penalty)

    def learn(self, rows: Floats) -> None:
        self.t += 1
        eta, t = self.batch, self.t
        theta = t * eta if t < eta else eta**2 + t - eta
        beta = 1.0 if eta == 1 else (theta + 1 - eta) / (theta + 1)
        codes = [solve_lasso(x, self.D, self.penalty) for x in rows]
        self.A = beta * self.A + sum(np.outer(code, code) for code in codes)
        self.B = beta * self.B + sum(np.outer(x, code) for x, code in zip(rows, codes, strict=True))
        for j in range(self.D.shape[1]):
            if self.A[j, j] > 0.0:
                u = (self.B[:, j] - self.D @ self.A[:, j]) / self.A[j, j] + self.D[:, j]
                self.D[:, j] = u / max(np.linalg.norm(u), 1.0)
