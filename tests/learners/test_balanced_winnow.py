"""Balanced Winnow (Littlestone 1989): two weights for each feature, whose product never changes."""

import math

import numpy as np
import pytest

import noregret as nr
from tests.conformance.plays import state
from tests.learners.reading import bound_of, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds


def pair(learner: nr.RuleLearner, start: float = 2.0) -> tuple[Array, Array]:
    """w+ and w-."""
    kept = state(learner)
    return start * kept["plus"][0], kept["minus"][0]


def test_balanced_winnow_worked_by_hand() -> None:
    X = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([1.0, -1.0, -1.0, 1.0, 1.0])
    learner = nr.make("winnow_balanced", alpha=2.0, start=2.0, native=False)
    transcript = learner.play(X, y)
    written(transcript.scores, [0, 1, -2, -2, -1])
    assert transcript.updated.tolist() == [False, True, False, True, True]
    written(np.array(pair(learner)), [[4, 2], [0.5, 1]])


def test_a_balance_of_exactly_theta_is_positive() -> None:
    learner = nr.make("winnow_balanced", alpha=2.0, start=2.0, native=False)
    said = learner.play(np.array([[1.0, 0.0], [0.0, 1.0]]), [1, -1])
    assert said.predictions.tolist() == [1, 1]
    assert said.updated.tolist() == [False, True]


@pytest.mark.parametrize(("alpha", "start"), [(1.2, 1.0), (2.0, 2.0), (3.0, 1.5)])
def test_the_product_of_the_two_weights_of_a_feature_never_changes(alpha: float, start: float) -> None:
    X, y, _ = streams.disjunction(150, 30, k=3, active=6, seed=1)
    y = streams.flip(y, 0.1, seed=1)
    learner = nr.make("winnow_balanced", alpha=alpha, start=start, native=False)
    exponents = np.zeros(30)
    seen = {-1.0: 0, 1.0: 0}
    for t in range(150):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        assert said.updated[0] == said.mistakes[0]
        if said.mistakes[0]:
            exponents += y[t] * X[t]
            seen[float(y[t])] += 1
        plus, minus = pair(learner, start)
        np.testing.assert_allclose(plus * minus, start, rtol=1e-12)
        np.testing.assert_allclose(plus, start * alpha**exponents, rtol=1e-9)
    assert min(seen.values()) > 3


def test_a_negated_variable_is_learned() -> None:
    X = np.array([[a, b, c, d, 1.0] for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)])
    y = np.where((X[:, 0] == 1.0) | (X[:, 1] == 0.0), 1.0, -1.0)
    learner, plain = nr.make("winnow_balanced", alpha=2.0, native=False), nr.make("winnow", alpha=2.0, native=False)
    for _ in range(30):
        learner.learn(X, y)
        plain.learn(X, y)
    assert not learner.play(X, y).mistakes.any()
    assert plain.play(X, y).mistakes.any()
    plus, minus = pair(learner)
    assert plus[1] < minus[1]


def test_a_row_of_zeros_teaches_balanced_winnow_nothing() -> None:
    learner = nr.make("winnow_balanced", alpha=2.0, native=False).learn(np.ones((1, 3)), [-1])
    said = learner.play(np.zeros((1, 3)), [1])
    assert (said.scores[0], said.mistakes[0], said.updated[0]) == (-1.0, True, False)


@pytest.mark.many_rounds
@pytest.mark.parametrize(
    ("alpha", "theta", "start"), [(1.1, 1.0, 2.0), (1.2, 0.0, 1.0), (1.3, 5.0, 1.0), (1.0, 1.0, 2.0)]
)
@pytest.mark.parametrize("n", [10, 400])
@seeds(3)
def test_irrelevant_features_cost_balanced_winnow_a_logarithm(
    seed: int, n: int, alpha: float, theta: float, start: float
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 0.0, 1.0], size=(400, n))
    u = np.zeros(n)
    u[:3] = [0.4, -0.3, 0.3]
    clear = np.abs(X @ u) > 0.25
    X, y = X[clear], np.sign(X[clear] @ u)
    gamma = float((y * (X @ u)).min())
    learner = nr.make("winnow_balanced", alpha=alpha, theta=theta, start=start)
    bound = bound_of(learner, features=n, margin_1=gamma, largest_value=1.0)
    assert bound < 300.0
    while learner.play(X, y).updated.any() and learner.updates <= bound:
        pass
    assert 0 < learner.updates <= bound


def test_two_opposite_rows_take_many_of_the_updates_that_the_bound_allows() -> None:
    X, y = np.tile([[1.0], [-1.0]], (200, 1)), np.tile([1.0, -1.0], 200)
    learner = nr.make("winnow_balanced", alpha=1.1, theta=50.0, native=False).learn(X, y)
    bound = bound_of(learner, features=1.0, margin_1=1.0, largest_value=1.0)
    assert 0.4 * bound < learner.updates <= bound


def test_a_margin_too_small_for_its_factor_promises_nothing() -> None:
    balanced = nr.learners()["winnow_balanced"]
    assert balanced.bound({"alpha": 2.0}, features=10.0, margin_1=0.3, largest_value=1.0) == math.inf
    assert balanced.bound({"alpha": 2.0}, features=10.0, margin_1=0.35, largest_value=1.0) < math.inf
    assert (
        balanced.guarantees[0].bound(balanced.in_force({})[0], features=10.0, margin_1=0.35, largest_value=1.0)
        == math.inf
    )


def test_a_factor_of_its_own_has_the_first_theorem_and_a_falling_one_the_second() -> None:
    balanced = nr.learners()["winnow_balanced"]
    assert balanced.guarantees_for({"alpha": 1.5}) == balanced.guarantees[:1]
    assert balanced.guarantees_for({}) == balanced.guarantees[1:]


def test_a_falling_factor_promises_something_for_every_margin() -> None:
    balanced = nr.learners()["winnow_balanced"]
    bounds = [
        balanced.bound({"theta": 0.0}, features=10.0, margin_1=margin, largest_value=1.0) for margin in (0.8, 0.1, 1e-3)
    ]
    assert sorted(bounds) == bounds
    assert bounds[0] < 40.0
    assert bounds[-1] < math.inf
    assert balanced.bound({}, features=10.0, margin_1=1e-90, largest_value=1.0) < math.inf
    assert balanced.bound({}, features=10.0, margin_1=1e-307, largest_value=1.0) == math.inf


def test_the_factor_of_balanced_winnow_falls_with_the_root_of_its_updates() -> None:
    X, y, _ = streams.disjunction(150, 30, k=3, active=6, seed=1)
    y = streams.flip(y, 0.1, seed=1)
    learner, exponents, moves = nr.make("winnow_balanced", start=2.0, native=False), np.zeros(30), 0
    for t in range(150):
        if learner.play(X[t : t + 1], y[t : t + 1]).updated[0]:
            exponents += y[t] * X[t] / math.sqrt(1.0 + moves / 20.0)
            moves += 1
        plus, minus = pair(learner)
        np.testing.assert_allclose(plus, 2.0 * 2.5**exponents, rtol=1e-9)
        np.testing.assert_allclose(plus * minus, 2.0, rtol=1e-12)
    assert moves > 30
