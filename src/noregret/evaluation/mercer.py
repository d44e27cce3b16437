"""Mercer's condition on a sample: whether the matrix of a kernel on some rows has negative eigenvalues.

A kernel is an inner product of some feature space if no such matrix has one. A sample can refute this, not prove it.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from noregret.data.inputs import RowsLike
from noregret.errors import BadValue
from noregret.learner.factory import make
from noregret.learner.kernel_values import kernel_values

MOST_ROWS = 1000
ROUNDING = 1e-8  # relative to the largest eigenvalue: less than this below zero is rounding


class MercerCheck(NamedTuple):
    """The extreme eigenvalues of the matrix of a kernel on so many rows."""

    smallest: float
    largest: float
    rows: int

    @property
    def passed(self) -> bool:
        return self.smallest >= -ROUNDING * max(self.largest, 1.0)

    def __str__(self) -> str:
        found = f"eigenvalues from {self.smallest:.3g} to {self.largest:.3g} on {self.rows} rows"
        return f"{'positive' if self.passed else 'NOT positive'} semidefinite on this sample: {found}"


def check_mercer(
    X: RowsLike, kernel: Any = "rbf", *, sample: int = 200, seed: int = 0, **parameters: Any
) -> MercerCheck:
    """Look for negative eigenvalues of the matrix of a kernel on a random sample of rows.

    `kernel` and its parameters are those of `make`.
    """
    if not 1 <= sample <= MOST_ROWS:
        raise BadValue(f"sample must be a whole number from 1 to {MOST_ROWS}, not {sample!r}")
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if not rows:
        raise BadValue("there are no rows to look at")
    chosen = np.sort(np.random.default_rng(seed).permutation(rows)[:sample])
    some: Any = [X[place] for place in chosen] if isinstance(X, (list, tuple)) else X[chosen]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel may fail is what is asked
        learner = make("perceptron", algebra="kernel", kernel=kernel, native=False, **parameters)
    values = kernel_values(learner.learn(some, np.arange(len(chosen)) % 2), some)
    eigenvalues = np.linalg.eigvalsh((values + values.T) / 2.0)
    return MercerCheck(float(eigenvalues[0]), float(eigenvalues[-1]), len(chosen))
