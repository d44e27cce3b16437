"""How the tests of kernel learners with a budget read supports and build Gram matrices."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.finder import Finder
from noregret.state.bank_rows import read_rows
from tests import naive
from tests.naive.kernels import Kernel
from tests.naive.rules import Array
from tests.naive.tasks import Binary

KERNELS = {
    "linear": Kernel("linear"),
    "rbf": Kernel("rbf", gamma=0.4),
    "polynomial": Kernel("polynomial", gamma=0.4, coef0=0.5, degree=2),
}
TOLD: dict[str, dict[str, float]] = {
    "linear": {},
    "rbf": {"gamma": 0.4},
    "polynomial": {"gamma": 0.4, "coef0": 0.5, "degree": 2},
}


def make(name: str, kernel: str = "rbf", **told: Any) -> nr.RuleLearner:
    """A learner of the plain text with a kernel of `KERNELS`."""
    return nr.make(name, algebra="kernel", kernel=kernel, **{"native": False, **TOLD[kernel], **told})


def twin_of(name: str, kernel: str = "rbf", **told: Any) -> Any:
    """Its independent twin for labels -1 and +1."""
    return Binary(naive.with_kernel(naive.rule(name, **told), KERNELS[kernel]))


def restore(learner: nr.RuleLearner, **changed: Array) -> nr.RuleLearner:
    """The learner of a file in which some arrays are others."""
    header, arrays = learner.dump()
    return nr.RuleLearner.restore(header, {**arrays, **changed}, Finder())


def supports_of(learner: nr.RuleLearner, d: int) -> tuple[Array, Array]:
    """The rows of the supports in the order they came, and their coefficients."""
    if learner.model.arrays is None:
        return np.zeros((0, d)), np.zeros(0)
    rows = read_rows(learner.model.bank)
    X = np.zeros((rows.sq.size, d))
    for i in range(rows.sq.size):
        part = slice(rows.start[i], rows.start[i + 1])
        X[i, rows.idx[part]] = rows.val[part]
    order = np.argsort(rows.born)
    return X[order], learner.model.arrays.w.coef[: rows.sq.size][order]


def gram(kernel: str, X: Array, Z: Array) -> Array:
    return np.array([[KERNELS[kernel](x, z) for z in Z] for x in X]).reshape(len(X), len(Z))


def same_supports(before: tuple[Array, Array], after: tuple[Array, Array]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def check_refused_call_is_undone(learner: nr.RuleLearner, X: Array, y: Array) -> None:
    """A call whose last row overflows leaves every array as it was, and the learner goes on as if it had not been."""
    half = len(y) // 2
    learner.learn(X[:half], y[:half])
    untouched, before = learner.copy(), {name: array.copy() for name, array in learner.dump()[1].items()}
    bad = X[half:].copy()
    bad[-1] = 1e308
    with pytest.raises(nr.BadValue):
        learner.learn(bad, y[half:])
    after = learner.dump()[1]
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert learner.play(X[half:], y[half:]).scores.tolist() == untouched.play(X[half:], y[half:]).scores.tolist()
