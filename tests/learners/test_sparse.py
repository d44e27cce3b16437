"""Regularised dual averaging with an l1 penalty (Xiao 2010), and its two relatives."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from tests.learners.reading import after_each_round, bound_of, comparators, hinge, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds


def test_three_rounds_worked_by_hand() -> None:
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), np.array([1.0, -1.0, 1.0])
    learner = nr.make("rda", lam=0.1, gamma=1.0, native=False)
    written(after_each_round(learner, X, y), [[0.9, 0], [0, -0.565685], [0, 0.404145]])


def dual_average(mean: Array, lam: float, curve: float) -> Array:
    """argmin over w of mean.w + lam |w|_1 + (curve / 2) |w|^2, with w = p - n and both at least zero."""
    d = len(mean)

    def cost(v: Array) -> tuple[float, Array]:
        w = v[:d] - v[d:]
        pull = mean + curve * w
        value = mean @ w + lam * v.sum() + 0.5 * curve * w @ w
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
            best = dual_average(total / (t + 1), lam, gamma / np.sqrt(t + 1))
            np.testing.assert_allclose(weights(learner, 5), best, atol=1e-5)


@pytest.mark.parametrize(("rho", "gamma"), [(0.0, 1.0), (0.3, 0.4), (0.1, 5.0)])
def test_the_enhanced_weights_minimise_their_problem(rho: float, gamma: float) -> None:
    X, y = streams.sparse(60, 5, density=0.6, seed=1)
    learner, total = nr.make("rda_enhanced", lam=0.02, gamma=gamma, rho=rho, native=False), np.zeros(5)
    for t in range(60):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        total -= y[t] * X[t] * (y[t] * said.scores[0] < 1.0)
        if t % 6 == 5:
            curve = gamma / np.sqrt(t + 1)
            best = dual_average(total / (t + 1), 0.02 + curve * rho, curve)
            np.testing.assert_allclose(weights(learner, 5), best, atol=1e-5)


@pytest.mark.parametrize(("lam", "s"), [(0.0, 0.5), (0.05, 0.2), (0.02, 3.0)])
def test_the_strongly_convex_weights_minimise_their_problem(lam: float, s: float) -> None:
    X, y = streams.sparse(60, 5, density=0.6, seed=1)
    learner, total = nr.make("rda_strongly_convex", lam=lam, s=s, native=False), np.zeros(5)
    for t in range(60):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        total -= y[t] * X[t] * (y[t] * said.scores[0] < 1.0)
        if t % 6 == 5:
            np.testing.assert_allclose(weights(learner, 5), dual_average(total / (t + 1), lam, s), atol=1e-5)


def test_without_rho_nothing_is_enhanced() -> None:
    X, y = streams.sparse(60, 5, density=0.6, seed=3)
    plain, enhanced = (
        nr.make(name, native=False, **told) for name, told in (("rda", {}), ("rda_enhanced", {"rho": 0.0}))
    )
    assert plain.play(X, y).scores.tolist() == enhanced.play(X, y).scores.tolist()


def test_rho_makes_early_weights_sparser() -> None:
    X, y = streams.sparse(200, 100, density=0.1, seed=4)
    counts = [nr.make("rda_enhanced", rho=rho, native=False).learn(X, y).nonzeros for rho in (0.0, 0.05, 0.2)]
    assert counts[0] > counts[1] > counts[2]


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
@seeds(2)
def test_regret_with_the_penalty_keeps_its_bound(seed: int, lam: float, gamma: float, loss: str) -> None:
    X, y, _ = streams.separable(120, 5, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    told: dict[str, Any] = {"lam": lam, "gamma": gamma, "loss": loss, "native": False}
    path = np.vstack([np.zeros(5), after_each_round(nr.make("rda", **told), X, y)[:-1]])
    suffered = nr.make("rda", **told).play(X, y).losses.sum() + lam * np.abs(path).sum()
    largest = float(np.linalg.norm(X, axis=1).max())
    learner = nr.make("rda", **told)
    for u in comparators(X, y, seed):
        theirs = hinge(u, X, y) if loss == "hinge" else np.logaddexp(0.0, -y * (X @ u))
        regret = suffered - theirs.sum() - 120 * lam * np.abs(u).sum()
        assert regret <= bound_of(learner, norm=float(np.linalg.norm(u)), largest_gradient=largest, rounds=120)


VARIANTS: list[dict[str, Any]] = [
    {"name": "rda_enhanced", "lam": 0.01, "gamma": 3.0, "rho": 0.1},
    {"name": "rda_enhanced", "lam": 0.1, "gamma": 0.5, "rho": 0.02},
    {"name": "rda_strongly_convex", "lam": 0.0, "s": 0.1},
    {"name": "rda_strongly_convex", "lam": 0.05, "s": 1.0},
]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("told", VARIANTS, ids=str)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@seeds(2)
def test_regret_of_its_relatives_keeps_its_bound(seed: int, loss: str, told: dict[str, Any]) -> None:
    X, y, _ = streams.separable(120, 5, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    name, numbers = told["name"], {key: value for key, value in told.items() if key != "name"}
    path = np.vstack([np.zeros(5), after_each_round(nr.make(name, loss=loss, native=False, **numbers), X, y)[:-1]])
    losses = nr.make(name, loss=loss, native=False, **numbers).play(X, y).losses
    curve = numbers.get("s", 0.0)

    def penalty(w: Array) -> float:
        return float(numbers["lam"] * np.abs(w).sum() + 0.5 * curve * w @ w)

    suffered = losses.sum() + sum(map(penalty, path))
    largest = float(np.linalg.norm(X, axis=1).max())
    learner = nr.make(name, loss=loss, native=False, **numbers)
    for u in [*comparators(X, y, seed), path[-1]]:
        theirs = hinge(u, X, y) if loss == "hinge" else np.logaddexp(0.0, -y * (X @ u))
        regret = suffered - theirs.sum() - 120 * penalty(u)
        sizes = {"norm": float(np.linalg.norm(u)), "norm_1": float(np.abs(u).sum())}
        assert regret <= bound_of(learner, largest_gradient=largest, rounds=120, **sizes)


@pytest.mark.parametrize("name", ["rda_enhanced", "rda_strongly_convex"])
def test_its_relatives_merge_by_adding_gradients_and_rounds(name: str) -> None:
    X, y = streams.sparse(60, 8, density=0.4, seed=5)
    a, b = nr.make(name, native=False).learn(X[:20], y[:20]), nr.make(name, native=False).learn(X[20:], y[20:])
    merged = a.merge(b)
    np.testing.assert_allclose(merged.model.arrays.G, a.model.arrays.G + b.model.arrays.G, rtol=0.0, atol=1e-15)
    assert merged.model.arrays.n.t == 60.0
