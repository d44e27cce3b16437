"""The Forgetron (Dekel, Shalev-Shwartz and Singer 2008): shrink all supports, then forget the oldest."""

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learners.forgetron import longest
from tests.learners.kernel_reading import (
    check_refused_call_is_undone,
    gram,
    make,
    supports_of,
    twin_of,
)
from tests.learners.reading import bound_of, hinge, weights
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds


def counters(learner: nr.RuleLearner) -> tuple[float, float]:
    """Mistakes and damage so far."""
    state = learner.model.arrays
    return (0.0, 0.0) if state is None else (float(state.n.missed), float(state.n.damage))


def on_the_sphere(X: Array) -> Array:
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def test_two_rows_by_hand() -> None:
    """After x1 - x2 the margin of x1 is 1: 2 phi - phi^2 = 15/32 * 2 gives phi = 3/4."""
    learner = make("forgetron", "linear", budget=1)
    learner.learn(np.array([[1.0, 0.0], [0.0, 1.0]]), [1, -1])
    assert weights(learner, 2).tolist() == [0.0, -0.75]
    assert counters(learner) == (2.0, 15.0 / 16.0)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
@pytest.mark.parametrize("budget", [1, 5, 20])
def test_plays_as_its_twin_with_small_budgets(kernel: str, budget: int) -> None:
    X, y = streams.dense(90, 5, seed=budget)
    found, twin = make("forgetron", kernel, budget=budget).play(X, y), twin_of("forgetron", kernel, budget=budget)
    scores, updated = twin.run(X, y)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-9, atol=1e-10 * np.abs(scores).max())
    assert found.updated.tolist() == updated.tolist()


def steps(learner: nr.RuleLearner, X: Array, y: Array, kernel: str) -> Any:
    """Every mistake that made a support go: the row, before and after, and the factor that the others shrank by."""
    for t in range(len(y)):
        before, told = supports_of(learner, X.shape[1]), counters(learner)
        if learner.play(X[t : t + 1], y[t : t + 1]).updated[0] and len(before[1]) == learner.params["budget"]:
            after = supports_of(learner, X.shape[1])
            rows, alpha = np.vstack([before[0], X[t]]), np.append(before[1], y[t])
            assert np.array_equal(after[0], rows[1:])  # the oldest is gone, and it alone
            phi = float(after[1][-1] / y[t])
            np.testing.assert_allclose(after[1], phi * alpha[1:], rtol=1e-12)
            sigma, label = abs(alpha[0]), np.sign(alpha[0])
            margin = float(label * gram(kernel, rows[:1], rows)[0] @ alpha)
            yield phi, sigma, margin, told, counters(learner)


@seeds(5, usual=2)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_factor_is_the_largest_that_keeps_the_damage_within_15_32_of_the_mistakes(kernel: str, seed: int) -> None:
    X, y = streams.dense(160, 4, seed=seed)
    factors = []
    for phi, sigma, margin, (_, damage), (missed, total) in steps(make("forgetron", kernel, budget=6), X, y, kernel):

        def lost(phi: float, sigma: float = sigma, margin: float = margin) -> float:
            return (sigma * phi) ** 2 + 2.0 * sigma * phi - 2.0 * sigma * phi * phi * margin

        allowed = 15.0 / 32.0 * missed
        assert total == pytest.approx(damage + lost(phi), rel=1e-9, abs=1e-12)
        assert total <= allowed * (1.0 + 1e-12)
        assert 0.0 < phi <= 1.0
        if phi < 1.0:
            assert total == pytest.approx(allowed, rel=1e-9)
            assert all(damage + lost(more) > allowed for more in np.linspace(phi, 1.0, 20)[1:])
        factors.append(phi)
    assert any(phi < 1.0 for phi in factors)


@seeds(5, usual=2)
def test_damage_is_what_a_comparator_may_lose_when_a_support_goes(seed: int) -> None:
    """Of |x| = 1 the distance to any u grows by the damage, less 2 sigma times what the margin of u is short of 1."""
    X, y = streams.dense(60, 4, seed=seed)
    X, u = on_the_sphere(X), np.random.default_rng(seed).normal(size=4)
    learner = make("forgetron", "linear", budget=5)
    for t in range(len(y)):
        rows, alpha = supports_of(learner, 4)
        told = counters(learner)
        if learner.play(X[t : t + 1], y[t : t + 1]).updated[0] and len(alpha) == 5:
            after = weights(learner, 4)
            phi = float(supports_of(learner, 4)[1][-1] / y[t])
            shrunk = phi * (alpha @ rows + y[t] * X[t])
            farther = np.sum((after - u) ** 2) - np.sum((shrunk - u) ** 2)
            short = 1.0 - np.sign(alpha[0]) * (rows[0] @ u)
            expected = counters(learner)[1] - told[1] - 2.0 * phi * abs(alpha[0]) * short
            assert farther == pytest.approx(expected, abs=1e-10)


def flipping(rounds: int, d: int, seed: int) -> tuple[Array, Array, Array]:
    """Rows on the sphere near one line, labels by its side, a part of them flipped."""
    rng = np.random.default_rng(seed)
    u = np.eye(d)[0]
    y = rng.choice([-1.0, 1.0], size=rounds)
    X = on_the_sphere(np.outer(y, u) + 0.3 * rng.normal(size=(rounds, d)) / math.sqrt(d))
    return X, np.where(rng.random(rounds) < 0.3, -y, y), u


def adversarial(learner: nr.RuleLearner, rounds: int, d: int, seed: int) -> tuple[Array, Array]:
    """Rows on the sphere, each with the label that the learner does not predict; it has learned them afterwards."""
    X = on_the_sphere(np.random.default_rng(seed).normal(size=(rounds, d)))
    y = np.zeros(rounds)
    for t in range(rounds):
        y[t] = -1.0 if t and learner.scores(X[t : t + 1])[0] >= 0.0 else 1.0
        learner.learn(X[t : t + 1], y[t : t + 1])
    return X, y


def check_theorem(learner: nr.RuleLearner, X: Array, y: Array, comparators: list[Any]) -> None:
    largest = longest(learner.params["budget"])
    for u in comparators:
        for size in (0.3 * largest, 0.999 * largest):
            one = u / np.linalg.norm(u) * size
            told = {"radius": 1.0, "norm": size, "comparator_loss": float(hinge(one, X, y).sum())}
            assert learner.updates <= bound_of(learner, **told)


@seeds(3)
def test_updates_are_within_the_bound_for_every_short_comparator(seed: int) -> None:
    X, y, u = flipping(360, 8, seed)
    learner = make("forgetron", "linear", budget=83).learn(X, y)
    assert learner.updates > 83 + 40
    check_theorem(learner, X, y, [u, np.linalg.lstsq(X, y, rcond=None)[0]])


@seeds(3)
def test_updates_are_within_the_bound_where_every_round_is_a_mistake(seed: int) -> None:
    learner = make("forgetron", "linear", budget=83)
    X, y = adversarial(learner, 120, 6, seed)
    assert learner.updates == 120
    check_theorem(learner, X, y, [np.linalg.lstsq(X, y, rcond=None)[0], np.ones(6)])


def test_the_shrinking_costs_no_more_than_the_proof_allows() -> None:
    """The logarithms of the factors of the rounds that end within the ball of comparators sum up to little."""
    budget = 83
    for X, y, _ in (flipping(260, 3, seed) for seed in range(2)):
        twin = twin_of("forgetron", "linear", budget=budget)
        twin.run(X, y)
        assert twin.rule.damage <= 15.0 / 32.0 * twin.rule.mistakes * (1.0 + 1e-12)
        spent = -sum(math.log(phi) for phi in twin.rule.factors)
        assert spent <= twin.rule.mistakes * math.log(budget + 1) / (2 * (budget + 1))


def test_the_theorem_needs_a_budget_of_83_rows_of_norm_1_and_a_short_comparator() -> None:
    card = nr.learners()["forgetron"]
    assert card.guarantee_for({"budget": 83}) is not None
    assert "at least 83" in (card.why_no_guarantee({"budget": 82}) or "")
    assert longest(83) == pytest.approx(0.25 * math.sqrt(84 / math.log(84)))
    quantities = {"radius": 1.0, "norm": 1.0, "comparator_loss": 3.0}
    assert card.bound({"budget": 83}, **quantities) == 14.0
    assert card.bound({"budget": 83}, **{**quantities, "radius": 1.01}) == math.inf
    assert card.bound({"budget": 83}, **{**quantities, "norm": longest(83) + 1e-9}) == math.inf


def test_a_row_that_comes_again_is_a_support_of_its_own() -> None:
    X, y = np.array([[1.0, 0.0]] * 4), np.array([1, -1, -1, 1])
    learner = make("forgetron", "rbf", budget=10).learn(X, y)
    assert learner.updates == len(supports_of(learner, 2)[1]) > 2


def test_as_long_as_the_budget_lasts_it_is_the_perceptron() -> None:
    X, y = streams.dense(60, 4, seed=3)
    found, plain = make("forgetron", budget=60).play(X, y), make("perceptron").play(X, y)
    np.testing.assert_allclose(found.scores, plain.scores, atol=1e-12)


def test_a_call_that_is_refused_leaves_no_trace() -> None:
    X, y = streams.dense(60, 4, seed=4)
    check_refused_call_is_undone(make("forgetron", "linear", budget=5), X, y)


def test_wrong_budgets_are_refused() -> None:
    with pytest.raises(nr.BadValue, match="forgetron: budget must be at least 1"):
        nr.make("forgetron", budget=0)
    with pytest.raises(nr.BadValue, match="forgetron decides itself which support it gives up; leave policy out"):
        nr.make("forgetron", budget=5, policy="oldest")


def test_two_of_them_cannot_be_merged() -> None:
    X, y = streams.dense(9, 3)
    learners = [make("forgetron").learn(X, y) for _ in range(2)]
    with pytest.raises(nr.BadValue, match="forgetron cannot be merged"):
        learners[0].merge(learners[1])
