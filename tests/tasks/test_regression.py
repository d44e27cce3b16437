"""Targets that are centred and scaled as they come: whatever unit they are in, the same is learned."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.learner.model_file import pack
from tests import naive
from tests.conformance.plays import near, rows_of
from tests.golden.make import FOLDER
from tests.naive.tasks import Regression
from tests.support.cover import ALL
from tests.support.model_files import header

NAMES = ["pa", "pa1", "pa2", "arow", "ogd", "adagrad", "eg_signed"]
LOSSES = ["eps_insensitive", "absolute", "squared", "huber"]


def stream(rounds: int = 80, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 5)) * (rng.random((rounds, 5)) < 0.7)
    X[7] = 0.0
    return X, X @ rng.normal(size=5) + 0.3 * rng.normal(size=rounds)


def player(name: str, **told: Any) -> nr.RuleLearner:
    return nr.make(name, **{"task": "regression", "native": False, **told})


# ---- units -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("factor", "shift"), [(1e6, 0.0), (1e-6, 0.0), (1.0, 1e3), (-3e5, -2e6), (1e-6, 1e-4)])
def test_predictions_follow_the_units_of_the_targets(name: str, factor: float, shift: float) -> None:
    X, y = stream()
    plain, other = player(name), player(name)
    first, second = plain.play(X, y), other.play(X, factor * y + shift)
    expected = factor * first.scores + shift
    assert (first.scores[0], second.scores[0]) == (0.0, 0.0)  # before any target there is no unit to speak in
    scale = abs(factor) * np.abs(first.scores).max() + 1e-3 * abs(shift)
    np.testing.assert_allclose(second.scores[1:], expected[1:], rtol=0.0, atol=1e-9 * scale)
    np.testing.assert_allclose(other.scores(X), factor * plain.scores(X) + shift, rtol=0.0, atol=1e-9 * scale)
    assert second.updated.tolist() == first.updated.tolist()


@pytest.mark.parametrize("factor", [1e6, 1e-6])
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_in_the_units_of_the_targets(loss: str, factor: float) -> None:
    X, y = stream()
    power = 2 if loss in ("squared", "huber") else 1
    one, other = (player("ogd", loss=loss).play(X, targets).losses for targets in (y, factor * y))
    np.testing.assert_allclose(other, factor**power * one, rtol=1e-7)
    size, spread = (
        np.abs(player("ogd", loss=loss).play(X, y).scores - y),
        np.array([0.0, *(y[:t].std() for t in range(1, 80))]),
    )
    expected = {
        "eps_insensitive": np.maximum(0.0, size - 0.1 * spread),
        "absolute": size,
        "squared": size**2,
        "huber": np.where(size <= spread, 0.5 * size**2, spread * (size - 0.5 * spread)),
    }[loss]
    near(one, expected)


def test_the_absolute_loss_is_the_insensitive_one_without_slack() -> None:
    X, y = stream()
    near(player("ogd", loss="absolute").play(X, y).scores, player("ogd", eps=0.0).play(X, y).scores, 1e-15)


# ---- the twin ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pa1", "pa2"])
def test_a_round_counts_in_the_mean_as_much_as_it_weighs(name: str) -> None:
    X, y = stream()
    weight = np.where(np.arange(80) % 3 == 0, 0.0, 0.2 + np.arange(80) % 5)
    twin = Regression(naive.rule(name, C=1.0), 0.1, scaled=True)
    learner = player(name)
    transcript = learner.play(X, y, weight)
    scores, updated = twin.run(X, y, weight)
    near(transcript.scores, scores)
    assert transcript.updated.tolist() == updated.tolist()
    n = learner.model.arrays.n
    assert n.target_count == pytest.approx(weight.sum())
    assert n.target_mean == pytest.approx(np.average(y, weights=weight))
    assert n.target_squares == pytest.approx(weight @ (y - np.average(y, weights=weight)) ** 2)


def test_targets_may_be_taken_as_they_are() -> None:
    X, y = stream()
    twin, learner = Regression(naive.rule("pa1", C=1.0), 0.1), player("pa1", scale_target=False)
    near(learner.play(X, 5.0 + y).scores, twin.run(X, 5.0 + y)[0])
    near(learner.scores(X), twin.final(X))


def test_rounds_that_weigh_little_are_rounds_and_those_that_weigh_nothing_are_none() -> None:
    X, y = stream(40)
    twin, learner = Regression(naive.rule("pa1", C=1.0), 0.1, scaled=True), player("pa1")
    near(learner.play(X, y, np.full(40, 0.01)).scores, twin.run(X, y, np.full(40, 0.01))[0])  # in all, less than one
    near(learner.scores(X), twin.final(X))
    assert player("eg").learn(X, y, np.zeros(40)).predict(X).tolist() == [0.0] * 40


@pytest.mark.parametrize("algebra", ["sparse", "dense"])
@pytest.mark.parametrize("name", ["pa1", "adagrad"] if ALL else ["pa1"])
def test_the_compiled_text_plays_alike(name: str, algebra: str) -> None:
    X, y = stream()
    rows = sp.csr_array(X) if algebra == "sparse" else X
    plain, compiled = (player(name, algebra=algebra, native=native) for native in (False, True))
    near(compiled.play(rows, 1e4 + y).scores, plain.play(rows, 1e4 + y).scores, 1e-13)
    near(compiled.scores(rows), plain.scores(rows), 1e-13)


def test_single_rounds_from_dicts_are_the_batch_also_in_the_fast_lane() -> None:
    X, y = stream()
    rows = rows_of(X)
    whole, single = (player("pa1", native=True) for _ in range(2))
    whole.learn(rows, 1e5 + 10.0 * y)
    for row, target in zip(rows, 1e5 + 10.0 * y, strict=True):
        single.learn_one(row, target)
    assert single._loops.fast_path is not None or not single._loops.engine.native
    assert pack(single) == pack(whole)
    assert single.predict_one(rows[3]) == whole.scores(rows)[3]
    before = pack(single)
    with pytest.raises(nr.BadValue, match="no longer finite"):
        single.learn_one(rows[3], 1e200)  # its square is beyond the floats
    assert pack(single) == before


# ---- before there is a deviation ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_while_all_targets_are_one_it_is_predicted_and_nothing_moves(name: str) -> None:
    X, _ = stream()
    learner = player(name)
    transcript = learner.play(X, np.full(80, 0.1))
    assert transcript.scores.tolist() == [0.0, *[0.1] * 79]
    assert learner.updates == 0
    assert learner.predict(X).tolist() == [0.1] * 80


# ---- keeping -----------------------------------------------------------------------------------------------------


def test_chunks_and_saving_change_no_bit(tmp_path: Path) -> None:
    X, y = stream()
    whole = player("pa1").learn(X, y)
    for size in (1, 7):
        parts = player("pa1")
        for start in range(0, 80, size):
            parts.learn(X[start : start + size], y[start : start + size])
        assert pack(parts) == pack(whole)
    half = player("pa1").learn(X[:23], y[:23])
    half.save(tmp_path / "half.nr")
    again = nr.load(tmp_path / "half.nr")
    assert repr(again) == repr(half)
    assert pack(again.learn(X[23:], y[23:])) == pack(whole)
    before = pack(half)
    with pytest.raises(nr.BadValue, match="row 1"):
        half.learn(X[:3], [1.0, np.nan, 2.0])
    assert pack(half) == before


def test_a_file_from_before_targets_were_scaled_goes_on_as_it_was() -> None:
    old = nr.load(FOLDER / "regression.nr")
    assert header(old)["parameters"]["scale_target"] is False
    assert old.params["scale_target"] == "no"
    assert old.copy().params["scale_target"] == "no"


def test_learners_that_scale_their_targets_are_not_merged() -> None:
    X, y = stream()
    with pytest.raises(nr.BadValue, match="scale_target=False"):
        player("pa1").learn(X, y).merge(player("pa1").learn(X, y))
    taken = [player("pa1", scale_target=False).learn(X, y) for _ in range(2)]
    near(taken[0].merge(taken[1]).scores(X), taken[0].scores(X))


# ---- what is told of it ------------------------------------------------------------------------------------------


def test_what_features_add_is_in_units_of_the_target_and_the_mean_is_left_out() -> None:
    X, y = stream()
    learner = player("pa1").learn(rows_of(X), 1e3 + 50.0 * y)
    row = rows_of(X)[1]
    shares = learner.explain_one(row)
    assert set(shares) == set(row)
    assert sum(shares.values()) + learner.scores_one({}) == pytest.approx(learner.scores_one(row), rel=1e-12)
    assert learner.scores_one({}) == pytest.approx((1e3 + 50.0 * y).mean())


def test_a_mean_is_no_weight() -> None:
    X, y = stream()
    learner = player("rda", lam=0.3).learn(X, 1e3 + y)
    assert 0 < learner.nonzeros < 5
    assert player("rda").learn(X, np.full(80, 7.0)).nonzeros == 0


def test_the_option_is_yes_or_no() -> None:
    for told in (True, "yes"):
        assert player("pa1", scale_target=told).params["scale_target"] == "yes"
    with pytest.raises(nr.BadValue, match="scale_target must be one of yes, no"):
        player("pa1", scale_target="often")
    with pytest.raises(nr.BadValue, match="no parameter 'scale_target'"):
        nr.make("pa1", scale_target=True)
