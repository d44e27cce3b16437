"""Small pools, and rows for them."""

from typing import Any

import numpy as np

import noregret as nr
from noregret.adapters.pool_rounds import as_rows

FEW = [("pa1", {"C": 1.0}), ("pa1", {"C": 0.01}), "arow", ("ogd", {"loss": "logistic", "eta0": 1.0})]


def noisy(rows: int, seed: int = 0, columns: int = 6, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = np.sign(X @ rng.normal(size=columns) + 1e-9)
    return X, np.where(rng.random(rows) < noise, -y, y).astype(int)


def few(pool: Any = FEW, **options: Any) -> Any:
    return nr.make("auto", pool=pool, native=False, **options)


def fresh(part: Any, **options: Any) -> Any:
    name, settings = part if isinstance(part, tuple) else (part, {})
    return nr.make(name, native=False, **options, **settings)


def encode_as(learner: Any, rows: Any) -> Any:
    return as_rows(learner.leader._encode(rows, include_unknown=True))
