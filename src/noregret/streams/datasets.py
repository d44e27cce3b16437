"""Built-in data: the small classics that scikit-learn carries, as (X, y)."""

from typing import Any

import numpy as np

from noregret.errors import BadValue

LOADERS = {
    "digits": "load_digits",
    "breast_cancer": "load_breast_cancer",
    "iris": "load_iris",
    "wine": "load_wine",
    "diabetes": "load_diabetes",
}


def dataset(name: str, seed: int = 0) -> tuple[Any, Any]:
    """A built-in data set, its columns scaled to at most 1 in size, its rows in a seeded random order."""
    if name not in LOADERS:
        raise BadValue(f"there is no built-in data set {name!r}; there are {', '.join(LOADERS)}")
    from sklearn import datasets

    X, y = getattr(datasets, LOADERS[name])(return_X_y=True)
    largest = np.abs(X).max(axis=0)
    X = X / np.where(largest > 0.0, largest, 1.0)
    order = np.random.default_rng(seed).permutation(len(y))
    return np.ascontiguousarray(X[order]), y[order]
