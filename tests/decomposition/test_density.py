"""The density matrix of online PCA, and the borders of its learner: radii, weights at the cap, features that come."""

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition.density import Density
from tests.naive.pca import capped
from tests.support import refusal

RNG = np.random.default_rng(2)
HALF = math.log(0.5)


def make(**options: Any) -> Any:
    return nr.make("pca", native=False, **options)


def density(weights: Any, rank: int, seed: int = 0) -> Density:
    logs = np.log(np.asarray(weights, float))
    return Density(rank, seed, np.linalg.qr(RNG.normal(size=(logs.size, logs.size)))[0], logs)


# ---- weights ---------------------------------------------------------------------------------------------------------


def test_a_weight_at_the_cap_stays_there() -> None:
    state = density([0.5, 0.25, 0.25], 1)
    state.cap()
    assert state.logs.tolist() == [HALF, math.log(0.25), math.log(0.25)]
    state.logs = np.array([HALF + 1e-15, HALF + 1e-15, -800.0, -900.0])
    state.rank = 2
    state.cap()
    assert state.logs.tolist() == [HALF, HALF, -800.0, -900.0]


@pytest.mark.parametrize("lightest", [-5.0, -800.0, -1e6])
def test_weights_are_capped_again_where_the_share_of_others_lifts_them(lightest: float) -> None:
    weights = np.array([0.55, 0.3, 0.1, 0.05])
    state = density(weights, 1)
    state.cap()
    np.testing.assert_allclose(state.weights, capped(weights, 1 / 3))
    state.logs = np.array([-0.1, -3.0, lightest, lightest - 2.0])
    state.cap()
    assert np.exp(state.logs).sum() == pytest.approx(1.0)
    assert state.logs[2] - state.logs[3] == pytest.approx(2.0)
    assert state.logs[0] == pytest.approx(-math.log(3.0))


def test_where_nothing_is_left_out_nothing_is_learned_and_nothing_expected() -> None:
    for rank in (3, 7):
        state = density([0.9, 0.06, 0.04], rank)
        before = state.logs
        assert state.left_out == 0
        state.cap()
        assert state.expect(np.eye(3)) == 0.0
        state.step(np.eye(3), 0.5)
        assert state.logs is before
        assert state.rows == 3
    assert density([0.25] * 4, 3).left_out == 1


def test_a_step_is_that_of_its_formula_and_losses_are_weighed() -> None:
    state, rows = density([0.4, 0.3, 0.2, 0.1], 2), RNG.normal(size=(3, 4))
    W = (state.vectors * state.weights) @ state.vectors.T
    assert state.expect(rows) == pytest.approx(2.0 * sum(float(row @ W @ row) for row in rows))
    values, vectors = np.linalg.eigh((state.vectors * state.logs) @ state.vectors.T - 0.3 * rows.T @ rows)
    state.step(rows, 0.3)
    expected = np.exp(values) / np.exp(values).sum()
    found = (state.vectors * state.weights) @ state.vectors.T
    np.testing.assert_allclose(found, (vectors * capped(expected, 0.5)) @ vectors.T, atol=1e-12)
    assert state.rows == 3


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 5), (1, 4), (0, 3)])
def test_features_that_come_share_the_weight_equally(before: int, after: int) -> None:
    state = make(rank=1).start_state(before)
    state.grow(after)
    np.testing.assert_allclose(state.weights, 1.0 / after)
    np.testing.assert_array_equal(state.vectors, np.eye(after))


def test_new_features_do_not_turn_those_before() -> None:
    state = density([0.4, 0.6], 1)
    old = state.vectors
    state.grow(3)
    np.testing.assert_array_equal(state.vectors, np.block([[old, np.zeros((2, 1))], [np.zeros((1, 2)), np.eye(1)]]))
    np.testing.assert_allclose(state.weights, np.array([0.8, 1.2, 1.0]) / 3.0)


def test_overflow_is_seen_in_weights_and_in_the_expected_loss() -> None:
    state = density([0.5, 0.5], 1)
    assert state.is_finite()
    assert not Density(1, 0, np.eye(1), np.array([-np.inf])).is_finite()
    assert not Density(1, 0, np.eye(1), np.zeros(1), expected=np.inf).is_finite()


# ---- directions that are kept ----------------------------------------------------------------------------------------


def test_the_lightest_are_kept_in_their_order() -> None:
    state = density([0.3, 0.1, 0.35, 0.25], 2)
    assert state.keep_lightest().tolist() == [1, 3]
    assert state.copy().keep_lightest().tolist() == [1, 3]


def test_draws_are_those_of_systematic_sampling() -> None:
    weights = np.array([0.3, 0.1, 0.35, 0.25])
    ends = np.cumsum(2.0 * weights)
    for rows in range(20):
        state = density(weights, 2, seed=5)
        state.rows = rows
        start = np.random.default_rng([5, rows]).random()
        out = {int(np.flatnonzero(ends > start + k)[0]) for k in (0, 1)}
        kept = sorted(set(range(4)) - out, key=lambda number: weights[number])
        assert state.draw().tolist() == kept


def test_what_rounding_leaves_beyond_the_last_direction_chooses_it() -> None:
    outcomes = set()
    for seed in range(30):
        state = density([0.2, 0.2, 0.2], 2, seed)  # as if 0.4 had been lost
        kept = tuple(sorted(state.draw().tolist()))
        outcomes.add(kept)
        assert kept == (0, 1) or float(np.random.default_rng([seed, 0]).random()) < 0.4
    assert outcomes == {(0, 1), (0, 2), (1, 2)}
    assert density([1.0], 1).draw().tolist() == [0]
    assert Density(2, 0, np.zeros((0, 0)), np.zeros(0)).draw().tolist() == []


# ---- the learner -----------------------------------------------------------------------------------------------------


def test_rows_may_be_as_long_as_the_radius_and_no_longer() -> None:
    for length, fits in ((1.0, True), (1.0 + 1e-12, True), (1.0 + 2e-12, False), (1.5, False)):
        rows = [[length, 0.0], [0.1, 0.0]]
        if fits:
            assert make(rank=1, radius=1.0).learn(rows).state.radius == 1.0
        else:
            for batch in (1, 2):
                message = refusal(lambda: make(rank=1, radius=1.0, batch=batch).learn(rows))  # noqa: B023
                assert message == f"pca: a row has the length {length:g}, above radius=1; give a larger radius"


def test_without_a_radius_it_is_that_of_the_longest_row_so_far() -> None:
    rows, radii = np.array([[0.0, 0.0], [0.3, 0.4], [0.1, 0.0], [0.0, 2.0], [1.0, 0.0]]), []
    learner = make(rank=1)
    for row in rows:
        learner.learn(row[None])
        radii.append(learner.state.radius)
    assert radii == pytest.approx([0.0, 0.5, 0.5, 2.0, 2.0])
    assert make(rank=1, radius=3.0).learn(rows).state.radius == 3.0
    assert make(rank=1, batch=5).learn(rows).state.radius == 2.0
    scaled = make(rank=1, radius=4.0).learn(2.0 * rows), make(rank=1, radius=2.0).learn(rows)
    np.testing.assert_allclose(scaled[0].state.logs, scaled[1].state.logs)
    assert scaled[0].expected_loss == pytest.approx(4.0 * scaled[1].expected_loss)


def test_the_bound_where_nothing_or_one_direction_is_left_out() -> None:
    card = nr.learners()["pca"]
    options = {"rank": 2, "eta": math.log(2.0), "radius": 1.0, "choose": "draw", "batch": 1}
    for features in (1, 2):
        assert card.bound(options, features=features, best_subspace_loss=10.0) == 0.0
    expected = 2.0 * (10.0 * math.log(2.0) + math.log(3.0))
    assert card.bound(options, features=3, best_subspace_loss=10.0) == pytest.approx(expected)


def test_features_can_come_after_rows_without_any() -> None:
    learner = make(rank=1).learn([{}, {"a": 1.0}, {"b": 1.0, "c": 0.5}])
    assert learner.weights_of_directions.sum() == pytest.approx(1.0)
    assert learner.start_state(1).weights.tolist() == [1.0]
    assert learner.start_state(0).features == 0
