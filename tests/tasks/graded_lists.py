"""A stream of lists for the tests of ranking."""

from typing import Any

import numpy as np

Stream = tuple[Any, Any, Any]


def stream(seed: int = 0, count: int = 12, density: float = 0.4, noise: float = 0.3) -> Stream:
    """Noisy lists of two to six rows with graded relevances; a list of one grade and a row of zeros among them."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(count), rng.integers(2, 7, count))
    X = rng.normal(size=(query.size, 8)) * (rng.random((query.size, 8)) < density)
    X[3] = 0.0
    y = np.clip(np.round(X @ rng.normal(size=8) + noise * rng.normal(size=query.size)), -2, 3)
    y[query == 4] = 1.0
    return X, y, query
