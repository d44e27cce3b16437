"""Regularised dual averaging with an l1 penalty (Xiao 2010)."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from tests.learners.reading import after_each_round, comparators, hinge, weights, written
from tests.naive import streams
from tests.naive.rules import Array


def test_three_rounds_worked_by_hand() -> None:
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), np.array([1.0, -1.0, 1.0])
    learner = nr.make("rda", lam=0.1, gamma=1.0, native=False)
    written(after_each_round(learner, X, y), [[0.9, 0], [0, -0.565685], [0, 0.404145]])


def dual_average(mean: Array, t: int, lam: float, gamma: float) -> Array:
    """argmin over w of mean.w + lam |w|_1 + gamma / (2 sqrt t) |w|^2, with w = p - n and both at least zero."""
    d = len(mean)

    def cost(v: Array) -> tuple[float, Array]:
        w = v[:d] - v[d:]
        pull = mean + gamma / np.sqrt(t) * w
        value = mean @ w + lam * v.sum() + 0.5 * gamma / np.sqrt(t) * w @ w
        return float(value), np.concatenate([pull + lam, lam - pull])

    bounds = [(0.0, None)] * (2 * d)
    found = minimize(
        cost, np.ones(2 * d), jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-16, "gtol": 1e-10}
    )
    return np.asarray(found.x[:d] - found.x[d:])


@pytest.mark.parametrize(("lam", "gamma"), [(0.02, 1.0), (0.1, 0.4), (0.1, 5.0)])
def test_the_weights_minimise_the_mean_gradient_and_the_penalties(lam: float, gamma: float) -> None:
    X, y = streams.sparse(60, 5, density=0.6, seed=1)
    learner, total = nr.make("rda", lam=lam, gamma=gamma, native=False), np.zeros(5)
    for t in range(60):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        total -= y[t] * X[t] * (y[t] * said.scores[0] < 1.0)
        if t >= 50:
            best = dual_average(total / (t + 1), t + 1, lam, gamma)
            np.testing.assert_allclose(weights(learner, 5), best, atol=1e-5)


def test_a_weight_is_exactly_zero_while_its_mean_gradient_is_within_lam() -> None:
    X, y = streams.sparse(200, 10, density=0.3, seed=2)
    learner, total, zeros = nr.make("rda", lam=0.03, native=False), np.zeros(10), 0
    for t in range(200):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        total -= y[t] * X[t] * (y[t] * said.scores[0] < 1.0)
        within = np.abs(total) / (t + 1) < 0.03 - 1e-12
        beyond = np.abs(total) / (t + 1) > 0.03 + 1e-12
        found = weights(learner, 10)
        assert (found[within] == 0.0).all()
        assert (found[beyond] != 0.0).all()
        assert (np.sign(found[beyond]) == -np.sign(total[beyond])).all()
        zeros += int(within.sum())
    assert 200 < zeros < 1800


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize(("lam", "gamma"), [(0.0, 1.0), (0.01, 3.0), (0.1, 0.5)])
@pytest.mark.parametrize("seed", range(2))
def test_regret_with_the_penalty_keeps_its_bound(seed: int, lam: float, gamma: float, loss: str) -> None:
    X, y, _ = streams.separable(120, 5, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    told: dict[str, Any] = {"lam": lam, "gamma": gamma, "loss": loss, "native": False}
    path = np.vstack([np.zeros(5), after_each_round(nr.make("rda", **told), X, y)[:-1]])
    suffered = nr.make("rda", **told).play(X, y).losses.sum() + lam * np.abs(path).sum()
    largest = float(np.linalg.norm(X, axis=1).max())
    guarantee = nr.learners()["rda"].guarantee
    assert guarantee is not None
    for u in comparators(X, y, seed):
        theirs = hinge(u, X, y) if loss == "hinge" else np.logaddexp(0.0, -y * (X @ u))
        regret = suffered - theirs.sum() - 120 * lam * np.abs(u).sum()
        assert regret <= guarantee.bound(float(np.linalg.norm(u)), largest, 120.0, gamma)
