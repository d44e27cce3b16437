"""The incremental kernel perceptron: all rows are kept, and passed over again after each new one."""

import sys
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests import naive
from tests.learners.reading import bound_of
from tests.naive import Kernel, streams
from tests.naive.rules import Array
from tests.support.cover import seeds

RBF = {"kernel": "rbf", "gamma": 1.0}


def incremental(**told: Any) -> nr.RuleLearner:
    return nr.make("perceptron_kernel_incremental", **{"native": False, **RBF, **told})


def counts(learner: nr.RuleLearner, y: Array) -> Array:
    """How often each row was counted."""
    return np.asarray(learner.model.arrays.w.coef[: len(y)] * y)


def rings(rows: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    angle, outer = rng.uniform(0.0, 2.0 * np.pi, rows), rng.random(rows) < 0.5
    far = np.where(outer, 2.0, 1.0) + rng.normal(0.0, 0.1, rows)
    return np.stack([far * np.cos(angle), far * np.sin(angle)], axis=1), np.where(outer, 1, -1)


@pytest.mark.parametrize("kernel", [RBF, {"kernel": "polynomial", "degree": 2}])
def test_without_passes_it_is_the_kernel_perceptron(kernel: dict[str, Any]) -> None:
    X, y = streams.dense(120, 4, seed=1)
    ours = incremental(sweeps=0, **kernel).play(X, y)
    theirs = nr.make("perceptron", algebra="kernel", native=False, **{**RBF, **kernel}).play(X, y)
    np.testing.assert_allclose(ours.scores, theirs.scores, rtol=1e-12, atol=1e-12)
    assert ours.updated.tolist() == theirs.updated.tolist()


def test_four_points_by_hand() -> None:
    """Exclusive or by (x.z + 1)^2: the fourth corner is right at once, or the passes see to it."""
    X, y = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]), np.array([-1, 1, 1, -1])
    learner = nr.make(
        "perceptron_kernel_incremental", kernel="polynomial", gamma=1.0, degree=2, sweeps=10, native=False
    )
    learner.learn(X, y)
    assert learner.predict(X).tolist() == y.tolist()
    assert counts(learner, y).tolist() == [1.0, 1.0, 1.0, 1.0]
    written = [-9 + 1 + 1 - 1, -1 + 9 + 1 - 1, -1 + 1 + 9 - 1, -1 + 1 + 1 - 9]
    assert learner.scores(X).tolist() == written


@seeds(3)
def test_with_enough_passes_no_row_so_far_is_misclassified(seed: int) -> None:
    X, y = rings(60, seed)
    learner = incremental(sweeps=1000)
    for t in range(60):
        learner.learn(X[t : t + 1], y[t : t + 1])
        assert (y[: t + 1] * learner.scores(X[: t + 1]) > 0.0).all()


@pytest.mark.parametrize("sweeps", [2.9, 5])
def test_the_passes_are_those_of_the_twin_where_they_do_not_converge(sweeps: float) -> None:
    X, y = streams.dense(40, 2, seed=9)
    learner = incremental(sweeps=sweeps, gamma=0.05)
    twin = naive.kernel("perceptron_kernel_incremental", Kernel("rbf", gamma=0.05), sweeps=sweeps)
    scores, updated = twin.run(X, y)
    said = learner.play(X, y)
    np.testing.assert_allclose(said.scores, scores, atol=1e-9)
    assert said.updated.tolist() == updated.tolist()


def test_the_function_is_that_of_the_counts_and_its_margins_are_cached() -> None:
    X, y = rings(50, 4)
    learner = incremental(sweeps=1).learn(X, y)
    K, alpha = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2)), counts(learner, y)
    assert (alpha == np.round(alpha)).all()
    assert (alpha >= 0.0).all()
    np.testing.assert_allclose(learner.scores(X), K @ (alpha * y), atol=1e-10)
    np.testing.assert_allclose(learner.model.arrays.F.coef[:50], y * (K @ (alpha * y)), atol=1e-10)


@seeds(3)
def test_all_steps_together_keep_the_bound_of_the_perceptron(seed: int) -> None:
    """Also those of the passes: every step is one of the perceptron, on some row."""
    X, y, u = streams.separable(80, 4, 0.1, seed)
    learner = nr.make("perceptron_kernel_incremental", kernel="linear", sweeps=1000, native=False)
    updates = int(learner.play(X, y).updated.sum())
    margin = float((y * (X @ u)).min() / np.linalg.norm(u))
    bound = bound_of(learner, radius=float(np.linalg.norm(X, axis=1).max()), margin=margin)
    assert updates <= counts(learner, y).sum() <= bound


def test_passes_end_with_the_first_one_without_an_update() -> None:
    """A row that changes nothing costs one look at itself and one at every row, however many passes are allowed."""
    X, y = rings(30, 7)
    learner = incremental(sweeps=1000).learn(X, y)
    looks: list[str] = []
    sys.setprofile(lambda frame, event, _: looks.append(frame.f_code.co_name) if event == "call" else None)
    try:
        updated = learner.play(X[:1], y[:1]).updated
    finally:
        sys.setprofile(None)
    assert not updated.any()
    assert sum(name.startswith("count_if_wrong") for name in looks) == 1 + 31


def test_epochs_over_a_fixed_set_come_to_the_same_predictions() -> None:
    X, y = rings(80, 5)
    one = incremental(sweeps=1000).learn(X, y)
    other = nr.make("perceptron", algebra="kernel", native=False, **RBF)
    assert nr.epochs(other, X, y, 1000).stopped == "no update"
    assert one.predict(X).tolist() == other.predict(X).tolist() == y.tolist()


def test_rows_are_learned_again_whatever_the_labels_are_called() -> None:
    X, y = rings(40, 6)
    y = np.concatenate((np.ones(3), y[3:])).astype(int)
    named = incremental().learn(X, np.where(y > 0, "outer", "inner"))
    signed = incremental().learn(X, -y)  # of names, the first seen is the negative one
    np.testing.assert_allclose(named.scores(X), signed.scores(X), atol=1e-12)
