"""Winnow (Littlestone 1988) and its balanced form (Littlestone 1989)."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from tests.every.plays import state
from tests.learners.reading import written
from tests.naive import streams
from tests.naive.rules import Array


def row(n: int, *on: int) -> Array:
    """A row of zeros with ones at the places named, counted from 1."""
    x = np.zeros(n)
    x[np.array(on, dtype=int) - 1] = 1.0
    return x


def factors(learner: nr.Learner) -> Array:
    """The weights, which start at one."""
    return np.asarray(state(learner)["w"][0])


def test_a_run_over_1024_variables_worked_by_hand() -> None:
    n = 1024
    X = [np.ones(n), row(n), row(n, 3, 4, 5), row(n, 1), row(n, 1, 3, 4), row(n, 1, 3, 1024)]
    y = np.array([1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
    learner = nr.make("winnow", theta=1024.0, native=False)
    transcript = learner.play(csr_array(np.array(X)), y)
    written(transcript.scores + n, [1024, 0, 3, 1, 4, 7])
    assert transcript.mistakes.tolist() == [False, False, False, True, True, True]
    assert transcript.updated.tolist() == [False, False, False, True, True, True]
    expected = np.ones(n)
    expected[[0, 2, 3, 1023]] = [8, 4, 2, 2]
    written(factors(learner), expected)


def test_one_variable_is_promoted_exactly_ten_times_on_the_way_to_1024() -> None:
    X = np.tile(row(1024, 1), (20, 1))
    updated = nr.make("winnow", theta=1024.0, native=False).play(X, np.ones(20)).updated
    assert updated.tolist() == [True] * 10 + [False] * 10


def test_a_sum_of_exactly_theta_is_positive() -> None:
    X = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    transcript = nr.make("winnow", theta=2.0, native=False).play(X, [1, -1])
    assert transcript.predictions.tolist() == [1, 1]
    assert transcript.mistakes.tolist() == [False, True]
    assert transcript.updated.tolist() == [False, True]


def test_without_a_threshold_the_features_seen_so_far_are_counted() -> None:
    X = csr_array(np.array([row(8, 2), row(8, 1), row(8, 5), row(8, 1)]))
    written(nr.make("winnow", native=False).play(X, -np.ones(4)).scores, [1 - 2, 1 - 2, 1 - 5, 1 - 5])


def test_a_row_of_zeros_teaches_nothing() -> None:
    learner = nr.make("winnow", theta=3.0, native=False).learn(np.ones((1, 3)), [1])
    said = learner.play(np.zeros((1, 3)), [1])
    assert (said.mistakes[0], said.updated[0]) == (True, False)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.0])
def test_only_active_weights_move_by_whole_powers_of_alpha_and_only_after_a_mistake(alpha: float) -> None:
    X, y, _ = streams.disjunction(150, 30, k=3, active=6, seed=1)
    y = streams.flip(y, 0.1, seed=1)
    learner = nr.make("winnow", alpha=alpha, theta=30.0, native=False)
    exponents, promotions, demotions = np.zeros(30), 0, 0
    for t in range(150):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        assert said.updated[0] == said.mistakes[0]
        assert said.scores[0] == pytest.approx(alpha**exponents @ X[t] - 30.0, abs=1e-9)
        if said.mistakes[0]:
            exponents += y[t] * X[t]
            promotions += int(y[t] > 0.0)
            demotions += int(y[t] < 0.0)
        np.testing.assert_allclose(np.log(factors(learner)) / np.log(alpha), exponents, atol=1e-9)
    assert promotions > 5
    assert demotions > 5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "k"), [(50, 1), (64, 4), (400, 3)])
def test_a_disjunction_is_learned_with_few_mistakes(n: int, k: int, seed: int) -> None:
    X, y, _ = streams.disjunction(500, n, k, active=12, seed=seed)
    learner = nr.make("winnow", theta=float(n), native=False)
    transcript = learner.play(csr_array(X), y)
    promotions = (transcript.updated & (y > 0.0)).sum()
    demotions = (transcript.updated & (y < 0.0)).sum()
    assert 0 < promotions <= k * math.ceil(math.log2(n))
    assert demotions < 2 * (promotions + 1)
    guarantee = learner.card.guarantee
    assert guarantee is not None
    assert learner.mistakes < guarantee.bound(float(n), float(k))


# ---- balanced Winnow ----------------------------------------------------------------------------------------------


def pair(learner: nr.Learner, start: float = 2.0) -> tuple[Array, Array]:
    """w+ and w-."""
    kept = state(learner)
    return start * kept["plus"][0], kept["minus"][0]


def test_balanced_winnow_worked_by_hand() -> None:
    X = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([1.0, -1.0, -1.0, 1.0, 1.0])
    learner = nr.make("winnow_balanced", native=False)
    transcript = learner.play(X, y)
    written(transcript.scores, [0, 1, -2, -2, -1])
    assert transcript.updated.tolist() == [False, True, False, True, True]
    written(np.array(pair(learner)), [[4, 2], [0.5, 1]])


def test_a_balance_of_exactly_theta_is_positive() -> None:
    learner = nr.make("winnow_balanced", native=False)
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
    learner, plain = nr.make("winnow_balanced", native=False), nr.make("winnow", native=False)
    for _ in range(30):
        learner.learn(X, y)
        plain.learn(X, y)
    assert not learner.play(X, y).mistakes.any()
    assert plain.play(X, y).mistakes.any()
    plus, minus = pair(learner)
    assert plus[1] < minus[1]


def test_a_row_of_zeros_teaches_balanced_winnow_nothing() -> None:
    learner = nr.make("winnow_balanced", native=False).learn(np.ones((1, 3)), [-1])
    said = learner.play(np.zeros((1, 3)), [1])
    assert (said.scores[0], said.mistakes[0], said.updated[0]) == (-1.0, True, False)


@pytest.mark.parametrize(("alpha", "theta", "start"), [(1.1, 1.0, 2.0), (1.2, 0.0, 1.0), (1.3, 5.0, 1.0)])
@pytest.mark.parametrize("n", [10, 400])
@pytest.mark.parametrize("seed", range(3))
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
    guarantee = learner.card.guarantee
    assert guarantee is not None
    bound = guarantee.bound(float(n), gamma, alpha, theta, start)
    assert bound < 300.0
    while learner.play(X, y).updated.any() and learner.updates <= bound:
        pass
    assert 0 < learner.updates <= bound


def test_two_opposite_rows_take_many_of_the_updates_that_the_bound_allows() -> None:
    X, y = np.tile([[1.0], [-1.0]], (200, 1)), np.tile([1.0, -1.0], 200)
    learner = nr.make("winnow_balanced", alpha=1.1, theta=50.0, native=False).learn(X, y)
    guarantee = learner.card.guarantee
    assert guarantee is not None
    bound = guarantee.bound(1.0, 1.0, 1.1, 50.0, 2.0)
    assert 0.4 * bound < learner.updates <= bound


def test_a_margin_too_small_for_its_factor_promises_nothing() -> None:
    guarantee = nr.learners()["winnow_balanced"].guarantee
    assert guarantee is not None
    assert guarantee.bound(10.0, 0.3, 2.0, 1.0, 2.0) == math.inf
    assert guarantee.bound(10.0, 0.35, 2.0, 1.0, 2.0) < math.inf
