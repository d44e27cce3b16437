"""Gradient descent and Adaline in batches, and the normalised Adaline (Nagumo and Noda 1967)."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.training.epochs import epochs
from tests.learners.reading import after_each_round, bound_of, comparators, steps, unscaled, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import only_in_test_all

TWO_TASKS = pytest.mark.parametrize("task", ["binary", "regression"])


def least(X: Array, y: Array) -> Array:
    return np.asarray(np.linalg.lstsq(X, y, rcond=None)[0])


# ---- one step for many rounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge", "perceptron", "exponential"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_a_batch_of_all_rows_is_a_step_of_batch_gradient_descent(loss: str, reduction: Any) -> None:
    X, y = streams.dense(40, 4, seed=1)
    rate = 0.2 if reduction == "mean" else 0.005
    learner = nr.make("gradient_batch", loss=loss, reduction=reduction, eta=rate, batch=40)
    for passes in range(1, 6):
        learner.learn(X, y)
        found = nr.batch_descent(X, y, loss, rate, reduction=reduction, passes=passes, tolerance=0.0).weights
        np.testing.assert_allclose(weights(learner, 4), found, rtol=1e-12, atol=1e-15)
    assert np.abs(weights(learner, 4)).max() > 0.0


@TWO_TASKS
def test_a_batch_of_adaline_sums_errors_times_rows(task: str) -> None:
    X, y = streams.dense(30, 3, seed=2)
    learner = nr.make("adaline_batch", task=task, **unscaled(task), rho=0.02, batch=30)
    w = np.zeros(3)
    for _ in range(5):
        learner.learn(X, y)
        w = w + 0.02 * (y - X @ w) @ X
        np.testing.assert_allclose(weights(learner, 3), w, rtol=1e-12, atol=1e-15)


def test_the_weights_move_only_when_a_batch_is_full_however_the_rounds_are_cut() -> None:
    X, y = streams.dense(23, 3, seed=3)
    learner = nr.make("gradient_batch", batch=5, native=False)
    path = np.vstack((np.zeros(3), after_each_round(learner, X, y)))
    moved = np.abs(np.diff(path, axis=0)).max(axis=1) > 0.0
    assert (np.flatnonzero(moved) + 1).tolist() == [5, 10, 15, 20]
    whole = nr.make("gradient_batch", batch=5, native=False).learn(X, y)
    assert weights(whole, 3).tolist() == path[-1].tolist()


@pytest.mark.parametrize("batch", [1, 1.9])
def test_a_batch_of_one_round_is_a_step_on_every_round(batch: float) -> None:
    X, y = streams.dense(50, 3, seed=4)
    held = nr.make("gradient_batch", loss="logistic", eta=0.3, batch=batch, native=False).learn(X, y)
    at_once = nr.make("ogd", loss="logistic", eta0=0.3, schedule="constant", native=False).learn(X, y)
    np.testing.assert_allclose(weights(held, 3), weights(at_once, 3), rtol=1e-13)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("loss", "batch", "reduction", "seed"),
    list(product(["hinge", "logistic", "squared"], [1, 8, 50], ["mean", "sum"], range(2))),
)
def test_regret_over_whole_batches_keeps_its_bound(loss: str, batch: int, reduction: str, seed: int) -> None:
    X, y = streams.dense(200, 4, seed=seed)
    eta = 0.05 if reduction == "mean" else 0.01
    learner = nr.make("gradient_batch", loss=loss, batch=batch, reduction=reduction, eta=eta)
    said = learner.play(X, y)
    m = y * said.scores
    slopes = {"hinge": -1.0 * (m < 1.0), "logistic": -1.0 / (1.0 + np.exp(m)), "squared": 2.0 * (m - 1.0)}[loss]
    summed = ((slopes * y)[:, None] * X).reshape(-1, batch, 4).sum(axis=1)
    for u in comparators(X, y, seed):
        m = y * (X @ u)
        theirs = {
            "hinge": np.maximum(0.0, 1.0 - m),
            "logistic": np.logaddexp(0.0, -m),
            "squared": (1.0 - m) ** 2,
        }[loss].sum()
        bound = bound_of(learner, norm=float(np.linalg.norm(u)), squared_batch_gradients=float(np.sum(summed**2)))
        assert said.losses.sum() - theirs <= bound


@pytest.mark.thinned(2)
@pytest.mark.many_rounds
@TWO_TASKS
@pytest.mark.parametrize("part", [0.3, 1.0, 1.7])
def test_batch_adaline_comes_to_the_least_squares_as_fast_as_promised(task: str, part: float) -> None:
    X, y = streams.dense(60, 4, seed=5)
    eigenvalues = np.linalg.eigvalsh(X.T @ X)
    rho = part / eigenvalues[-1]
    learner = nr.make("adaline_batch", task=task, **unscaled(task), rho=rho, batch=60)
    lowest = float(np.sum((y - X @ least(X, y)) ** 2))
    first = float(np.sum(y**2)) - lowest
    spectrum = {"smallest_eigenvalue": eigenvalues[0], "largest_eigenvalue": eigenvalues[-1]}
    for steps_taken in range(1, 60):
        learner.learn(X, y)
        above = float(np.sum((y - X @ weights(learner, 4)) ** 2)) - lowest
        assert above <= bound_of(learner, rounds=60.0 * steps_taken, initial_excess=first, **spectrum) + 1e-9
    assert above < 0.01 * first


@pytest.mark.many_rounds
@pytest.mark.parametrize(("part", "settles"), [(1.9, True), (2.1, False)])
def test_batch_adaline_settles_only_while_rho_is_below_two_over_the_largest_eigenvalue(
    part: float, settles: bool
) -> None:
    X, y = streams.dense(60, 4, seed=6)
    rho = part / np.linalg.eigvalsh(X.T @ X)[-1]
    learner = nr.make("adaline_batch", task="regression", scale_target=False, rho=rho, batch=60)
    for _ in range(400):
        learner.learn(X, y)
    assert (np.abs(weights(learner, 4) - least(X, y)).max() < 1e-6) == settles


@only_in_test_all
@pytest.mark.many_rounds
def test_incremental_adaline_comes_to_the_least_squares() -> None:
    X, y, _ = streams.linear(40, 3, noise=0.4, seed=7)
    learner = nr.make("adaline", task="regression", scale_target=False, rho=2e-4)
    epochs(learner, X, y, 2000, seed=1)
    np.testing.assert_allclose(weights(learner, 3), least(X, y), atol=2e-3)


# ---- the normalised Adaline ---------------------------------------------------------------------------------------


def test_normalised_adaline_by_hand() -> None:
    X, y = streams.four()
    path = after_each_round(nr.make("adaline_normalised", rho=0.5, delta=1e-12, native=False), X, y)
    w = np.zeros(2)
    for t in range(4):
        w = w + 0.5 * (y[t] - w @ X[t]) * X[t] / (X[t] @ X[t])
        written(path[t], w)
    written(path[:2], [[0.125, 0.0], [-0.15625, -0.28125]])


@TWO_TASKS
@pytest.mark.parametrize("rho", [0.3, 1.0, 1.8])
def test_normalised_adaline_takes_the_share_rho_of_the_error_whatever_the_length(task: str, rho: float) -> None:
    X, y = streams.dense(60, 4, seed=8)
    X = X * np.logspace(-2, 2, 60)[:, None]
    learner = nr.make("adaline_normalised", task=task, **unscaled(task), rho=rho, delta=1e-12, native=False)
    for t, before, after, said in steps(learner, X, y, rounds=50):
        assert said.updated[0]
        assert y[t] - after @ X[t] == pytest.approx((1.0 - rho) * (y[t] - before @ X[t]), rel=1e-6, abs=1e-9)


def test_with_many_classes_a_share_of_one_brings_the_margin_to_one() -> None:
    X, labels, _ = streams.blobs(40, 4, k=3, spread=1.0, seed=9)
    learner = nr.make("adaline_normalised", task="multiclass", classes=range(3), rho=1.0, delta=1e-12, native=False)
    learner.learn(X[:1], labels[:1])
    for t in range(1, 40):
        before = learner.scores(X[t : t + 1])[0]
        rival = max((c for c in range(3) if c != labels[t]), key=lambda c: (before[c], -c))
        after = learner.learn(X[t : t + 1], labels[t : t + 1]).scores(X[t : t + 1])[0]
        assert after[labels[t]] - after[rival] == pytest.approx(1.0)


@TWO_TASKS
@pytest.mark.parametrize(("rho", "seed"), list(product([0.2, 1.0, 1.7], range(2))))
def test_normalised_adaline_keeps_its_bound(task: str, rho: float, seed: int) -> None:
    X, y = streams.dense(200, 4, seed=seed)
    X = X * np.random.default_rng(seed).uniform(0.1, 5.0, size=(200, 1))
    learner = nr.make("adaline_normalised", task=task, **unscaled(task), rho=rho, delta=0.1, native=False)
    share = 0.1 + np.sum(X**2, axis=1)
    suffered = float(np.sum(learner.play(X, y).losses / share))
    for u in comparators(X, y, seed):
        theirs = float(np.sum((y - X @ u) ** 2 / share))
        bound = bound_of(learner, norm=float(np.linalg.norm(u)), comparator_normalised_errors=theirs)
        share_left = 2.0 / (2.0 - rho)  # the bound is the least over all ways to split an error, of which this is one
        assert suffered <= bound <= share_left * (float(u @ u) / rho + share_left * theirs) * (1.0 + 1e-12)


def test_a_batch_that_is_not_whole_is_rounded_down() -> None:
    X, y = streams.dense(30, 3, seed=4)
    whole, fraction, more = (nr.make("adaline_batch", batch=size).learn(X, y) for size in (4.0, 4.9, 5.0))
    assert weights(whole, 3).tolist() == weights(fraction, 3).tolist() != weights(more, 3).tolist()
    facts = {"smallest_eigenvalue": 0.1, "largest_eigenvalue": 0.5, "rounds": 20.0, "initial_excess": 3.0}
    bounds = [bound_of(nr.make("adaline_batch", rho=0.5, batch=size), **facts) for size in (4.0, 4.9, 5.0)]
    assert bounds[0] == bounds[1] < bounds[2]


def test_batch_adaline_has_a_theorem_only_for_a_given_rate() -> None:
    batch = nr.learners()["adaline_batch"]
    assert len(batch.guarantees_for({"rho": 1e-3})) == 1
    assert not batch.guarantees_for({"rho": 0.0})


def test_a_batch_that_is_not_full_has_made_no_step_yet() -> None:
    facts = {"smallest_eigenvalue": 0.1, "largest_eigenvalue": 0.5, "initial_excess": 3.0}
    bounds = [bound_of(nr.make("adaline_batch", rho=0.5, batch=4.0), rounds=rounds, **facts) for rounds in (16, 19, 20)]
    assert bounds[0] == bounds[1] > bounds[2]


def test_without_a_rate_the_gradient_of_a_round_counts_eight_parts_of_a_batch_over_the_size_of_the_rows() -> None:
    X, y = streams.dense(40, 3, seed=5)
    squares = (X**2).sum(axis=1)
    sizes = np.exp(np.cumsum(np.log(squares)) / np.arange(1, 41))
    for batch, share in ((4.9, 1.0), (6.0, 1.0), (16.9, 0.5), (40.0, 0.2)):
        rows = int(batch)
        learner = nr.make("gradient_batch", loss="hinge", batch=batch, native=False).learn(X[:rows], y[:rows])
        by_hand = share * (y / sizes)[:rows] @ X[:rows]  # every margin is 0, and every slope -1
        np.testing.assert_allclose(weights(learner, 3), by_hand, rtol=1e-12)
