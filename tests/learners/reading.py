"""How the tests of single learners read weights and build comparators."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

import noregret as nr
from tests.naive.rules import Array

sklearn = import_module("sklearn.linear_model")
datasets = import_module("sklearn.datasets")
svm = import_module("sklearn.svm")
ONE_PASS = {"fit_intercept": False, "shuffle": False, "max_iter": 1, "tol": None}
Objective = Any


def weights(learner: nr.RuleLearner, d: int) -> Array:
    """The weights, read through the scores of unit rows: (d,), or (classes, d)."""
    return np.asarray(learner.scores(np.eye(d)).T)


def bound_of(learner: nr.RuleLearner, **quantities: float) -> float:
    """The bound of a learner's card for the options in force."""
    options = {**learner.params, "covariance": learner.model.config.covariance}
    return learner.card.bound(options, **quantities)


def radius_of(X: Array) -> float:
    """The largest norm of a row."""
    return float(np.linalg.norm(X, axis=1).max())


def unscaled(task: str) -> dict[str, Any]:
    """What has a theorem speak of the very targets: they are taken as they are."""
    return {"scale_target": False} if task == "regression" else {}


def after_each_round(learner: nr.RuleLearner, X: Array, y: npt.NDArray[Any]) -> Array:
    """The weights after every round."""
    return np.array([weights(learner.learn(X[t : t + 1], y[t : t + 1]), X.shape[1]) for t in range(len(X))])


def steps(
    learner: nr.RuleLearner, X: Array, y: npt.NDArray[Any], rounds: int
) -> Iterator[tuple[int, Array, Array, nr.Transcript]]:
    """The last rounds of a stream, each with the weights before and after it."""
    learner.learn(X[:-rounds], y[:-rounds])
    before = weights(learner, X.shape[1])
    for t in range(len(X) - rounds, len(X)):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        after = weights(learner, X.shape[1])
        yield t, before, after, said
        before = after


def written(found: npt.NDArray[Any], expected: Any) -> None:
    """Equal to the six digits that were written down."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6)


def same(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    """Equal up to rounding, relative to the largest number."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def hinge(u: Array, X: Array, y: Array, margin: float = 1.0) -> Array:
    """What each round costs a fixed u: its margin is short of the one asked for."""
    return np.asarray(np.maximum(0.0, margin - y * (X @ u)))


def comparators(X: Array, y: Array, seed: int = 0) -> list[Array]:
    """Vectors a learner may be held against: nothing, anything, and the best that two solvers find."""
    rng = np.random.default_rng(seed)
    found = [np.linalg.lstsq(X, y, rcond=None)[0]]
    for C in (0.1, 10.0):
        solver = svm.LinearSVC(C=C, loss="squared_hinge", fit_intercept=False, max_iter=100_000)
        found.append(solver.fit(X, np.sign(y)).coef_[0])
    return [np.zeros(X.shape[1]), *rng.normal(size=(3, X.shape[1])), *found, *(3.0 * u for u in found)]


def two_classes(name: str) -> tuple[Array, Array]:
    """Real data with labels -1 and +1: "breast_cancer", or the digits 3 and 8 of "digits"."""
    if name == "breast_cancer":
        X, y = datasets.load_breast_cancer(return_X_y=True)
        return X, np.where(y == 1, 1.0, -1.0)
    X, y = datasets.load_digits(return_X_y=True)
    keep = (y == 3) | (y == 8)
    return X[keep], np.where(y[keep] == 8, 1.0, -1.0)
