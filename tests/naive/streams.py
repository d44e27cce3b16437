"""Seeded streams for tests. Every generator returns (X, y) first, then what it was built from."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .rules import Array

Ints = npt.NDArray[np.int64]


def four() -> tuple[Array, Array]:
    """Four separable points; the max-margin separator of margin 1 is (0.25, -1.25)."""
    X = np.array([[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]])
    return X, np.array([1.0, -1.0, -1.0, 1.0])


def dense(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    """Gaussian rows, labels -1 and +1 by a fair coin."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], size=n)


def sparse(n: int, d: int, density: float = 0.1, seed: int = 0) -> tuple[Array, Array]:
    """Rows of mostly zeros (some all zero), labels -1 and +1 by a fair coin; X is a dense array."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    return X, rng.choice([-1.0, 1.0], size=n)


def separable(n: int, d: int, margin: float, seed: int = 0) -> tuple[Array, Array, Array]:
    """Rows with |x| <= 1 and y u.x >= margin, attained by the first row; u is a unit vector.

    Needs d >= 2 and 0 < margin < 1. Half of the rows stay within three margins of the plane, and
    y is a fair coin.
    """
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d)
    u = u / np.linalg.norm(u)
    y = rng.choice([-1.0, 1.0], size=n)
    reach = np.where(rng.random(n) < 0.5, min(1.0, 3.0 * margin), 1.0)
    along = margin + (reach - margin) * rng.random(n)
    along[0] = margin
    across = rng.normal(size=(n, d))
    across = across - np.outer(across @ u, u)
    across = across / np.linalg.norm(across, axis=1, keepdims=True)
    width = np.sqrt(1.0 - along**2) * rng.random(n) ** (1.0 / d)
    X = np.outer(y * along, u) + width[:, None] * across
    return X, y, u


def disjunction(
    n: int,
    d: int,
    k: int,
    active: int = 5,
    seed: int = 0,
) -> tuple[Array, Array, Ints]:
    """Boolean rows, +1 iff one of the k relevant variables is on; returns their indices too.

    Each row turns on `active` irrelevant variables; half of the rows, by a fair coin, also
    turn on one relevant variable.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(d)
    relevant, others = order[:k], order[k:]
    X = np.zeros((n, d))
    y = rng.choice([-1.0, 1.0], size=n)
    for t in range(n):
        X[t, rng.choice(others, size=min(active, len(others)), replace=False)] = 1.0
        if y[t] > 0.0:
            X[t, rng.choice(relevant)] = 1.0
    return X, y, np.sort(relevant)


def blobs(n: int, d: int, k: int, spread: float = 0.5, seed: int = 0) -> tuple[Array, Ints, Array]:
    """Clouds around k unit centres; the label is the argmax of U x, so U makes no mistake."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(k, d))
    U = U / np.linalg.norm(U, axis=1, keepdims=True)
    X = U[rng.integers(k, size=n)] + spread * rng.normal(size=(n, d))
    y = np.argmax(X @ U.T, axis=1).astype(np.int64)
    return X, y, U


def flip(y: Array, rate: float, seed: int = 0) -> Array:
    """Labels -1 and +1, each turned over with probability `rate`."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(y)) < rate, -y, y)


def relabel(y: Ints, k: int, rate: float, seed: int = 0) -> Ints:
    """Labels 0..k-1, each replaced by another class with probability `rate`."""
    rng = np.random.default_rng(seed)
    other = (y + rng.integers(1, k, size=len(y))) % k
    return np.where(rng.random(len(y)) < rate, other, y)


def linear(n: int, d: int, noise: float = 0.1, seed: int = 0) -> tuple[Array, Array, Array]:
    """Regression: Gaussian rows, y = u.x + noise; returns u too."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d)
    X = rng.normal(size=(n, d))
    return X, X @ u + noise * rng.normal(size=n), u


def separable_classes(seed: int, k: int = 4, d: int = 8, count: int = 600) -> tuple[Array, Any, Array, float]:
    """Rows that a matrix of unit norm tells apart, with its margin."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(k, d))
    M /= np.linalg.norm(M)
    X = rng.normal(size=(20 * count, d))
    scores = X @ M.T
    best = np.sort(scores, axis=1)
    keep = best[:, -1] - best[:, -2] > 0.25
    X, y = X[keep][:count], scores[keep].argmax(axis=1)[:count]
    gaps = np.sort(X @ M.T, axis=1)
    return X, y, M, float((gaps[:, -1] - gaps[:, -2]).min())
