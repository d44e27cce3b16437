"""Kernel maps the obvious way: whole rows as vectors of numpy, random numbers by Python's own whole numbers."""

import math
from collections.abc import Callable

import numpy as np

from tests.naive.rules import Array

WORD = (1 << 64) - 1
Kernel = Callable[[Array, Array], float]


def rbf(gamma: float) -> Kernel:
    return lambda x, z: math.exp(-gamma * float(((x - z) ** 2).sum()))


def laplacian(gamma: float) -> Kernel:
    return lambda x, z: math.exp(-gamma * float(np.abs(x - z).sum()))


def polynomial(gamma: float, coef0: float, degree: int) -> Kernel:
    return lambda x, z: (gamma * float(x @ z) + coef0) ** degree


def cosine(x: Array, z: Array) -> float:
    return float(x @ z) / math.sqrt(float(x @ x) * float(z @ z)) if x.any() and z.any() else 0.0


def linear(x: Array, z: Array) -> float:
    return float(x @ z)


# ---- random numbers by feature and counter ------------------------------------------------------------------------


def mix(word: int) -> int:
    """SplitMix64."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & WORD
    return word ^ (word >> 31)


def bits(seed: int, feature: int, counter: int) -> int:
    key = mix((mix((seed + 0x9E3779B97F4A7C15) & WORD) + feature * 0xD1B54A32D192ED03) & WORD)
    return mix((key + (counter + 1) * 0x9E3779B97F4A7C15) & WORD)


def uniform(seed: int, feature: int, counter: int) -> float:
    return ((bits(seed, feature, counter) >> 11) + 0.5) / (1 << 53)


def frequencies(seed: int, features: int, count: int, law: str) -> Array:
    """A row for each feature: `count` normal or Cauchy numbers."""
    out = np.zeros((features, count))
    for j in range(features):
        for k in range(count):
            if law == "laplacian":
                out[j, k] = math.tan(math.pi * (uniform(seed, j, k) - 0.5))
            else:
                radius = math.sqrt(-2.0 * math.log(uniform(seed, j, k - k % 2)))
                angle = 2.0 * math.pi * uniform(seed, j, k - k % 2 + 1)
                out[j, k] = radius * (math.cos(angle) if k % 2 == 0 else math.sin(angle))
    return out


# ---- the width ----------------------------------------------------------------------------------------------------


def widths(X: Array, law: str, most: int = 256) -> list[float]:
    """The gamma that each row is mapped with: of the rows before it; the first row with values has its own."""
    found, gamma, spread = [], 0.0, 0.0

    def measure(d: Array) -> float:
        return float(np.abs(d).sum() if law == "laplacian" else (d**2).sum())

    for t, x in enumerate(X):
        if gamma == 0.0 and t < most and x.any():
            gamma = 1.0 / measure(x)
        found.append(gamma)
        if t >= most:
            continue
        if law == "polynomial":
            spread += measure(x)
        elif t > 0:
            spread += measure(x - X[:t].mean(axis=0)) * t / (t + 1)
        if (t + 1) & t == 0 and spread > 0.0:
            gamma = (t + (law == "polynomial")) / spread
    return found


# ---- maps ---------------------------------------------------------------------------------------------------------


def fourier(X: Array, gammas: list[float], features: int, law: str = "rbf", seed: int = 0) -> Array:
    w = frequencies(seed, X.shape[1], features // 2, law)
    rates = np.array(gammas) if law == "laplacian" else np.sqrt(2.0 * np.array(gammas))
    angles = (X @ w) * rates[:, None]
    return np.concatenate((np.cos(angles), np.sin(angles)), axis=1) / math.sqrt(features / 2)


def nystrom(X: Array, kernel: Kernel, features: int, novelty: float) -> tuple[Array, list[int]]:
    """The features of every row, by numpy's Cholesky factor of the landmarks so far; and the rows that became some."""
    out, chosen = np.zeros((len(X), features)), list[int]()
    for t, x in enumerate(X):
        phi = coordinates(X, chosen, kernel, x)
        if len(chosen) < features and kernel(x, x) - float(phi @ phi) > novelty * kernel(x, x):
            chosen.append(t)
            phi = coordinates(X, chosen, kernel, x)
        out[t, : len(phi)] = phi
    return out, chosen


def coordinates(X: Array, chosen: list[int], kernel: Kernel, x: Array) -> Array:
    gram = np.array([[kernel(X[a], X[b]) for b in chosen] for a in chosen]).reshape(len(chosen), len(chosen))
    return (
        np.linalg.solve(np.linalg.cholesky(gram), np.array([kernel(x, X[a]) for a in chosen]))
        if chosen
        else np.zeros(0)
    )


def tensor_sketch(X: Array, gammas: list[float], features: int, degree: int, coef0: float, seed: int = 0) -> Array:
    """The count sketches multiplied as Fourier transforms."""
    out = np.zeros((len(X), features))
    numbers = [*range(X.shape[1]), 1 << 40]
    for t, x in enumerate(X):
        values = np.append(math.sqrt(gammas[t]) * x, math.sqrt(coef0))
        product = np.ones(features, complex)
        for turn in range(degree):
            sketch = np.zeros(features)
            for number, value in zip(numbers, values, strict=True):
                drawn = bits(seed, number, turn)
                sketch[(drawn >> 32) * features >> 32] += value if drawn & 1 else -value
            product *= np.fft.fft(sketch)
        out[t] = np.fft.ifft(product).real
    return out
