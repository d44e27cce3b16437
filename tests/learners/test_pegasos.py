"""Pegasos (Shalev-Shwartz et al. 2011): the objective of a support vector machine, one row at a time."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import noregret as nr
from tests.learners.reading import bound_of, comparators, hinge, radius_of, steps, svm, unscaled, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import only_in_test_all


def test_pegasos_by_hand() -> None:
    X, y = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]]), np.array([1, -1, 1])
    learner = nr.make("pegasos", lam=0.5, projection=False, native=False)
    path = np.array([weights(learner.learn(X[t : t + 1], y[t : t + 1]), 2) for t in range(3)])
    written(path, [[4, 0], [2 - 1, -1], [2 / 3, -2 / 3 + 2]])
    cut = nr.make("pegasos", lam=0.5, native=False).learn(X[:1], y[:1])
    written(weights(cut, 2), [np.sqrt(2.0), 0])


@pytest.mark.parametrize(("task", "lam"), list(product(["binary", "regression"], [0.05, 0.5])))
def test_a_step_goes_down_the_slope_of_the_penalised_loss(task: str, lam: float) -> None:
    X, y = streams.dense(60, 4, seed=2)
    learner = nr.make("pegasos", task=task, **unscaled(task), lam=lam, native=False)
    cut = 0
    for t, before, after, _ in steps(learner, X, y, rounds=58):

        def objective(w: Array, t: int = t) -> float:
            loss = max(0.0, 1.0 - y[t] * w @ X[t]) if task == "binary" else max(0.0, abs(w @ X[t] - y[t]) - 0.1)
            return float(0.5 * lam * w @ w + loss)

        stepped = before - approx_fprime(before, objective, 1e-7) / (lam * (t + 1))
        size = np.linalg.norm(stepped) * np.sqrt(lam)
        np.testing.assert_allclose(after, stepped / max(1.0, size), atol=1e-5)
        cut += size > 1.0
    assert cut > 0 or lam > 0.1


@pytest.mark.parametrize("projection", [True, False], ids=["projected", "free"])
@pytest.mark.parametrize(("task", "lam", "seed"), list(product(["binary", "regression"], [1e-3, 0.03, 1.0], range(2))))
@pytest.mark.thinned(8)
def test_the_penalised_loss_keeps_its_bound(task: str, lam: float, seed: int, projection: bool) -> None:
    T = 300
    X, y = streams.dense(T, 5, seed=seed)
    learner = nr.make("pegasos", task=task, **unscaled(task), lam=lam, projection=projection, native=False)
    path, suffered = [np.zeros(5)], 0.0
    for t in range(T):
        suffered += learner.play(X[t : t + 1], y[t : t + 1]).losses[0]
        path.append(weights(learner, 5))
    suffered += 0.5 * lam * float(np.sum(np.array(path[:-1]) ** 2))
    radius = float(np.linalg.norm(X, axis=1).max())
    for u in comparators(X, y, seed):
        v = u / max(1.0, float(np.linalg.norm(u)) * np.sqrt(lam)) if projection else u
        losses = hinge(v, X, y) if task == "binary" else np.maximum(0.0, np.abs(X @ v - y) - 0.1)
        theirs = losses.sum() + 0.5 * lam * T * v @ v
        assert suffered <= theirs + bound_of(learner, radius=radius, rounds=T)


# ---- in batches ---------------------------------------------------------------------------------------------------


def test_a_batch_of_one_round_is_a_step_without_projection() -> None:
    X, y = streams.dense(80, 4, seed=3)
    one = nr.make("pegasos", lam=0.1, projection=False, native=False).play(X, y)
    np.testing.assert_allclose(nr.make("pegasos_batch", lam=0.1, k=1.9, native=False).play(X, y).scores, one.scores)


@pytest.mark.parametrize(("task", "k"), list(product(["binary", "regression"], [3, 10])))
def test_a_batch_goes_down_the_slope_of_the_penalty_and_its_mean_loss(task: str, k: int) -> None:
    X, y = streams.dense(12 * k, 4, seed=2)
    lam = 0.05
    learner = nr.make("pegasos_batch", task=task, **unscaled(task), lam=lam, k=k, native=False)
    before = np.zeros(4)
    for n in range(12):
        rows, truths = X[n * k : n * k + k], y[n * k : n * k + k]
        if n:
            learner.learn(rows[:-1], truths[:-1])
            np.testing.assert_array_equal(weights(learner, 4), before)  # until the batch is full
            learner.learn(rows[-1:], truths[-1:])
        else:
            learner.learn(rows, truths)

        def objective(w: Array, rows: Array = rows, truths: Array = truths) -> float:
            far = np.maximum(0.0, np.abs(rows @ w - truths) - 0.1)
            return float(0.5 * lam * w @ w + (hinge(w, rows, truths) if task == "binary" else far).mean())

        after = weights(learner, 4)
        stepped = before - approx_fprime(before, objective, 1e-7) / (lam * (n + 1))
        np.testing.assert_allclose(after, stepped, atol=1e-4)
        before = after


@pytest.mark.parametrize(("task", "lam", "k"), list(product(["binary", "regression"], [0.01, 1.0], [5, 30])))
def test_in_batches_the_penalised_loss_keeps_its_bound(task: str, lam: float, k: int) -> None:
    X, y = streams.dense(300, 5, seed=1)
    learner = nr.make("pegasos_batch", task=task, **unscaled(task), lam=lam, k=k, native=False)
    suffered = 0.0
    for start in range(0, 300, k):
        suffered += 0.5 * lam * k * float(np.sum(weights(learner, 5) ** 2)) if start else 0.0
        suffered += float(learner.play(X[start : start + k], y[start : start + k]).losses.sum())
    for u in comparators(X, y):
        losses = hinge(u, X, y) if task == "binary" else np.maximum(0.0, np.abs(X @ u - y) - 0.1)
        theirs = losses.sum() + 0.5 * lam * 300 * u @ u
        assert suffered <= theirs + bound_of(learner, radius=radius_of(X), rounds=300)


# ---- where it comes to --------------------------------------------------------------------------------------------


def test_without_a_cut_the_weights_are_the_mean_of_the_rows_that_cost_something() -> None:
    X, y = streams.dense(200, 4, seed=6)
    learner = nr.make("pegasos", lam=0.02, projection=False)
    moved = learner.play(X, y).updated
    np.testing.assert_allclose(weights(learner, 4), (moved * y) @ X / (0.02 * 200), rtol=1e-10)


@only_in_test_all
@pytest.mark.many_rounds
def test_pegasos_comes_to_the_support_vector_machine() -> None:
    X, y = streams.dense(100, 4, seed=7)
    y = streams.flip(np.sign(X @ np.array([1.0, -2.0, 0.5, 0.0])), 0.1, 7)
    lam = 0.1
    learner = nr.make("pegasos", lam=lam)
    for _ in range(2000):
        learner.learn(X, y)
    machine = svm.LinearSVC(C=1.0 / (lam * 100), loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6).fit(X, y)

    def objective(w: Array) -> float:
        return float(0.5 * lam * w @ w + hinge(w, X, y).mean())

    best = objective(machine.coef_[0])
    assert best <= objective(weights(learner, 4)) <= best + 1e-3


def test_the_linear_kernel_gives_the_same_scores() -> None:
    X, y = streams.dense(80, 4, seed=8)
    by_weight = nr.make("pegasos", lam=0.03).play(X, y).scores
    by_support = nr.make("pegasos", lam=0.03, algebra="kernel", kernel="linear").play(X, y).scores
    np.testing.assert_allclose(by_support, by_weight, rtol=1e-9, atol=1e-11)


@only_in_test_all
@pytest.mark.many_rounds
def test_a_million_rounds_do_not_wear_the_scale_out() -> None:
    X = np.tile(np.array([[1.0, 0.0], [0.0, 1.0]]), (500, 1))
    learner = nr.make("pegasos", lam=1.0)
    for _ in range(1000):
        learner.learn(X, np.tile([1, -1], 500))
    np.testing.assert_allclose(weights(learner, 2), [0.5, -0.5], atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_rows_of_zeros_before_any_other_are_no_steps_with_kernels_either(kernel: str) -> None:
    X, y = streams.dense(20, 4, seed=3)
    X[:3] = 0.0
    sparse = nr.make("pegasos", algebra="sparse", native=False).learn(X if kernel == "linear" else unit(X), y)
    expanded = nr.make("pegasos", algebra="kernel", kernel=kernel, native=False).learn(X, y)
    found = sparse.scores(X if kernel == "linear" else unit(X))
    np.testing.assert_allclose(expanded.scores(X), found, rtol=1e-9, atol=1e-12)
    assert np.abs(found).max() > 0.0


def unit(X: Array) -> Array:
    """The rows, of length 1 unless they are zero."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0.0, lengths, 1.0)
