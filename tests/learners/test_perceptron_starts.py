"""The perceptron from random weights, with steps that shrink, and moved only by scores that are wrong."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.learners.reading import bound_of, radius_of, same, steps, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import only_in_test_all, seeds
from tests.support.engines import engines

BY_CHANCE: dict[str, Any] = {"random_start": 1.0, "classes": [-1, 1], "native": False}


def begun(d: int, **told: Any) -> nr.RuleLearner:
    """A perceptron that has seen nothing but a row of zeros."""
    return nr.make("perceptron", **{**BY_CHANCE, **told}).learn(np.zeros((1, d)), [1])


# ---- where it begins ----------------------------------------------------------------------------------------------


def test_the_seed_decides_where_it_begins_and_the_deviation_how_far_out() -> None:
    one, again, other = (weights(begun(500, seed=seed), 500) for seed in (3, 3, 4))
    assert (one == again).all()
    assert not np.isin(one, other).any()
    same(weights(begun(500, seed=3, random_start=0.25), 500), 0.25 * one)
    assert abs(one.mean()) < 0.15
    assert abs(one.std() - 1.0) < 0.1


def test_where_it_begins_does_not_depend_on_when_a_feature_comes() -> None:
    early = begun(40)
    late = begun(2, columns="grow").learn(np.zeros((1, 7)), [1]).learn(np.zeros((1, 40)), [1])
    assert (weights(early, 40) == weights(late, 40)).all()


def test_classes_begin_apart() -> None:
    W = weights(
        nr.make("perceptron", task="multiclass", classes=range(3), random_start=1.0).learn([[0.0, 0.0]], [0]), 2
    )
    assert len(set(W.ravel().tolist())) == 6


def test_without_a_deviation_it_begins_at_zero() -> None:
    assert (weights(begun(5, random_start=0.0), 5) == 0.0).all()


def test_a_model_file_goes_on_as_the_learner_would(tmp_path: Path) -> None:
    X, y = streams.dense(60, 6, seed=1)
    told = {**BY_CHANCE, "schedule": "inv_sqrt", "strict": True, "seed": 5, "columns": "grow"}
    learner = nr.make("perceptron", **told).learn(X[:30, :4], y[:30])
    learner.save(tmp_path / "begun.nr")
    again = nr.load(tmp_path / "begun.nr").learn(X[30:], y[30:])
    assert (again.scores(X) == learner.learn(X[30:], y[30:]).scores(X)).all()


def test_a_mean_over_the_rounds_begins_at_zero_only() -> None:
    with pytest.raises(nr.BadValue, match="a mean begins at weights of zero"):
        nr.make("perceptron", random_start=1.0, average=True)


def test_there_are_no_random_weights_over_kernels() -> None:
    with pytest.raises(nr.BadValue, match="random_start is for weights"):
        nr.make("perceptron", algebra="kernel", random_start=1.0)


# ---- how many mistakes it makes from there ------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [170.0, 190.0])
def test_from_a_bad_start_it_makes_more_mistakes_than_the_radius_and_the_margin_alone_allow(degrees: float) -> None:
    X, y = np.tile([[0.6, 0.8], [0.6, -0.8]], (20, 1)), np.ones(40)
    learner = begun(2, algebra="dense")
    learner.model.arrays.w[:2] = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    mistakes = int(learner.play(X, y).mistakes.sum())
    assert mistakes == 4
    assert mistakes > 1.0 / 0.6**2 + 1.0
    bound = bound_of(learner, radius=1.0, margin=0.6, initial_norm=1.0)
    written(np.array(bound), 1.0 / 0.36 + 2.0 / 0.6)
    assert mistakes <= bound


def updates(learner: nr.RuleLearner, X: Array, y: Array, most: float) -> int:
    while learner.play(X, y).updated.any() and learner.updates <= most:
        pass
    return learner.updates


@pytest.mark.parametrize("strict", [False, True], ids=["any", "strict"])
@pytest.mark.parametrize("eta", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("spread", [0.1, 1.0, 8.0])
@seeds(3)
def test_updates_grow_by_twice_the_first_length_over_the_margin(
    seed: int, spread: float, eta: float, strict: bool
) -> None:
    X, y, u = streams.separable(300, 6, 0.2, seed)
    learner = begun(6, random_start=spread, eta=eta, seed=seed, strict=strict)
    start = float(np.linalg.norm(weights(learner, 6)))
    most = bound_of(learner, radius=radius_of(X), margin=float((y * (X @ u)).min()), initial_norm=start)
    assert 0 <= updates(learner, X, y, most) <= most
    assert (y * learner.scores(X) >= 0.0).all()


# ---- strict -------------------------------------------------------------------------------------------------------


def test_strict_from_zero_would_never_move_and_is_refused() -> None:
    for told in ({}, {"random_start": 0.0}, {"random_start": 0}):
        with pytest.raises(
            nr.BadValue, match='perceptron: strict="yes" never leaves weights of zero; give random_start'
        ):
            nr.make("perceptron", strict=True, **told)
    with pytest.raises(nr.BadValue, match="perceptron: strict must be one of no, yes"):
        nr.make("perceptron", strict="very", random_start=1.0)


@engines
def test_only_a_strict_perceptron_leaves_a_score_of_zero_as_it_is(native: bool) -> None:
    for strict in (False, True):
        learner = begun(2, algebra="dense", strict=strict, native=native)
        learner.model.arrays.w[:2] = 1.0, 2.0
        said = learner.play([[2.0, -1.0], [-1.0, 0.0], [0.0, 1.0]], [1, 1, 1])
        assert said.scores[0] == 0.0
        assert said.updated.tolist() == ([False, True, False] if strict else [True, True, False])
        assert not said.mistakes[0]


# ---- schedules ----------------------------------------------------------------------------------------------------


@engines
@pytest.mark.parametrize(("schedule", "power"), [("constant", 0.0), ("inv_sqrt", 0.5), ("inv_t", 1.0), ("power", 0.75)])
def test_a_step_is_as_long_as_the_schedule_says(schedule: str, power: float, native: bool) -> None:
    X, y = streams.dense(80, 5, seed=6)
    learner = nr.make("perceptron", eta=0.7, schedule=schedule, power=power or 0.5, native=native)
    moved = 0
    for t, before, after, said in steps(learner, X, y, rounds=60):
        step = 0.7 * (t + 1) ** -power if y[t] * before @ X[t] <= 0.0 else 0.0
        np.testing.assert_allclose(after, before + step * y[t] * X[t], atol=1e-12)
        moved += int(said.updated[0])
    assert moved > 5


@engines
def test_a_step_may_be_shorter_with_every_step_before_it(native: bool) -> None:
    X, y = streams.dense(80, 5, seed=6)
    learner = nr.make("perceptron", eta=0.7, schedule="inv_mistakes", native=native)
    for t, before, after, said in steps(learner, X, y, rounds=60):
        step = 0.7 / learner.updates if y[t] * before @ X[t] <= 0.0 else 0.0
        np.testing.assert_allclose(after, before + step * y[t] * X[t], atol=1e-12)
        assert said.updated[0] == (step > 0.0)
    assert 5 < learner.updates < 70


@only_in_test_all
@pytest.mark.compiles
def test_the_options_are_compiled_into_loops_of_their_own() -> None:
    X, y = streams.dense(80, 5, seed=6)
    asked = [{"schedule": rate, "strict": strict} for rate, strict in (("constant", "yes"), ("inv_t", "no"))] * 2
    X[::5] = 0.0
    X[::5, 0] = 1.0
    for told in asked:
        compiled, plain = (nr.make("perceptron", **{**BY_CHANCE, **told, "native": native}) for native in (True, False))
        np.testing.assert_allclose(compiled.learn(X, y).scores(X), plain.learn(X, y).scores(X), rtol=1e-12)


# ---- the same rows again and again --------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", ["permute", "replace"])
def test_taught_in_epochs_it_separates_what_can_be_separated(sampling: Any) -> None:
    X, y, u = streams.separable(120, 5, 0.1, seed=2)
    learner = nr.make("perceptron", native=False)
    history = nr.epochs(learner, X, y, passes=1000, sampling=sampling)
    assert history.stopped == "no update"
    assert (learner.predict(X) == y).all()
    most = bound_of(learner, radius=radius_of(X), margin=float((y * (X @ u)).min()))
    assert sum(history.updates) == learner.updates <= most


@pytest.mark.parametrize(("spread", "eta"), [(0.0, 1.0), (0.5, 0.3)])
def test_the_weights_are_the_first_ones_and_every_row_as_often_as_it_was_missed(spread: float, eta: float) -> None:
    X, y = streams.dense(50, 5, seed=7)
    learner = begun(5, random_start=spread, eta=eta)
    first = weights(learner, 5)
    alpha = np.zeros(50)
    for epoch in range(6):
        order = np.random.default_rng(epoch).permutation(50)
        alpha[order] += eta * learner.play(X[order], y[order]).updated
    same(weights(learner, 5), first + (alpha * y) @ X)
    assert alpha.max() > eta


def test_the_four_points_are_missed_once_each_but_the_third() -> None:
    X, y = streams.four()
    assert nr.make("perceptron", native=False).play(X, y).updated.astype(int).tolist() == [1, 1, 0, 1]
