"""Generated streams for the benchmarks."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROWS = 200_000
FEATURES = 47_236
NONZEROS = 61


class Text(NamedTuple):
    """Rows like weighed words: X sparse with unit rows, y in {-1, +1}."""

    X: Any
    y: Integers


class Images(NamedTuple):
    """Rows like images of digits: X dense in [0, 1], y one of ten classes."""

    X: Floats
    y: Integers


@cache
def text(rows: int = ROWS, features: int = FEATURES, nonzeros: int = NONZEROS, seed: int = 1) -> Text:
    """Documents over a Zipf-distributed vocabulary, labelled by a sparse linear model with 5 % noise."""
    rng = np.random.default_rng(seed)
    ranks = distinct_ranks(rng, rows, features, nonzeros)
    # Frequent features are spread over all ids, as they are in a real vocabulary.
    indices = rng.permutation(features).astype(np.int32)[ranks]
    rarity = 1.0 + np.log1p(np.arange(features))
    values = rarity[ranks] * (1.0 + np.log(rng.geometric(0.7, size=ranks.shape)))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    order = np.argsort(indices, axis=1)
    indices = np.take_along_axis(indices, order, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    starts = np.arange(0, rows * nonzeros + 1, nonzeros, dtype=np.int32)
    X = csr_array((values.ravel(), indices.ravel(), starts), shape=(rows, features))

    truth = np.where(rng.random(features) < 0.1, rng.standard_normal(features), 0.0)
    scores = X @ truth
    y = np.where(scores > np.median(scores), 1, -1)
    y[rng.random(rows) < 0.05] *= -1
    return Text(X, y.astype(np.int64))


def distinct_ranks(rng: np.random.Generator, rows: int, features: int, nonzeros: int) -> Integers:
    """Zipf-distributed ranks, no rank twice in a row: what repeats is drawn again until nothing does."""
    cumulative = np.cumsum(1.0 / np.arange(1, features + 1))
    cumulative /= cumulative[-1]
    ranks = np.sort(np.searchsorted(cumulative, rng.random((rows, nonzeros))), axis=1)
    open_rows = np.arange(rows)
    while open_rows.size:
        block = ranks[open_rows]
        repeated = np.zeros(block.shape, dtype=bool)
        repeated[:, 1:] = block[:, 1:] == block[:, :-1]
        unfinished = repeated.any(axis=1)
        open_rows, block, repeated = open_rows[unfinished], block[unfinished], repeated[unfinished]
        block[repeated] = np.searchsorted(cumulative, rng.random(int(repeated.sum())))
        block.sort(axis=1)
        ranks[open_rows] = block
    return ranks.astype(np.int64)


@cache
def images(rows: int = 60_000, side: int = 28, classes: int = 10, seed: int = 2) -> Images:
    """Blurred strokes, one pattern a class, with noise; about 19 % of the pixels are lit, as in digits."""
    rng = np.random.default_rng(seed)
    patterns = np.array([strokes(rng, side) for _ in range(classes)])
    y = rng.integers(classes, size=rows)
    X = np.empty((rows, side * side))
    for start in range(0, rows, 10_000):
        block = patterns[y[start : start + 10_000]]
        noisy = block + 0.35 * rng.standard_normal(block.shape) * (block > 0.05)
        X[start : start + 10_000] = np.clip(noisy, 0.0, 1.0)
    return Images(X, y.astype(np.int64))


def strokes(rng: np.random.Generator, side: int) -> Floats:
    """A random walk of soft dots: the brightest 22 % of the picture, the rest dark."""
    grid = np.arange(side)
    picture = np.zeros((side, side))
    place = rng.uniform(side / 3, 2 * side / 3, size=2)
    for _ in range(30):
        place = np.clip(place + rng.normal(0.0, 2.0, size=2), 4, side - 5)
        down = np.exp(-((grid - place[0]) ** 2) / 3.0)
        across = np.exp(-((grid - place[1]) ** 2) / 3.0)
        picture = np.maximum(picture, np.outer(down, across))
    flat = picture.ravel()
    dark = np.quantile(flat, 0.78)
    return np.where(flat > dark, 0.1 + 0.9 * (flat - dark) / (flat.max() - dark), 0.0)


Round = tuple[dict[str, float], bool]


@cache
def dictionaries(rows: int, nonzeros: int, vocabulary: int = 5_000, seed: int = 3) -> tuple[Round, ...]:
    """Rounds as web services see them: a dict from feature names to numbers, and a truth."""
    rng = np.random.default_rng(seed)
    ranks = distinct_ranks(rng, rows, vocabulary, nonzeros)
    values = rng.uniform(0.1, 1.0, size=ranks.shape)
    truth = rng.standard_normal(vocabulary)
    labels = (truth[ranks] * values).sum(axis=1) > 0.0
    names = [f"feature_{j}" for j in range(vocabulary)]
    return tuple(
        ({names[j]: v for j, v in zip(row, numbers, strict=True)}, bool(label))
        for row, numbers, label in zip(ranks.tolist(), values.tolist(), labels, strict=True)
    )
