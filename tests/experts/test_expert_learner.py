"""Experts as learners: they follow the protocol, read losses and predictions, and predict by mean, vote or draw."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.experts.card import list_algorithms
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on

NAMES = sorted(list_algorithms())
DRAWS = np.random.default_rng(3)
LOSSES = DRAWS.random((40, 3))
TRUTHS = DRAWS.integers(0, 2, 40)
CALLS = [
    {"a": int(truth), "b": int(DRAWS.integers(0, 2)), "c": int(truth if DRAWS.random() < 0.8 else 1 - truth)}
    for truth in TRUTHS
]
NUMBERS = [[float(value) for value in row] for row in LOSSES]
NONE = [None] * 40


def make(name: str, **options: Any) -> Any:
    return nr.make(name, native=False, **options)


def sleepy(rows: list[dict[str, int]]) -> list[dict[str, int]]:
    return [
        {name: one for at, (name, one) in enumerate(row.items()) if (t + at) % 3 or at == 0}
        for t, row in enumerate(rows)
    ]


ABC = ["a", "b", "c"]
BAD = np.array([0.1, math.nan, 0.2])
CASES = {
    **{f"{name}": Case(lambda name=name: make(name), LOSSES, NONE, BAD) for name in NAMES},  # type: ignore[misc]
    "votes": Case(lambda: make("hedge", loss="zero_one", names=ABC), CALLS, TRUTHS.tolist(), {"a": 1, "b": 0, "x": 1}),
    "draws": Case(
        lambda: make("weighted_majority_randomised", loss="zero_one", names=ABC), CALLS, TRUTHS.tolist(), {"a": 1}
    ),
    "means": Case(lambda: make("adahedge", loss="squared"), NUMBERS, TRUTHS.tolist(), [0.5, math.inf, 0.5]),
    "log loss": Case(lambda: make("squint", loss="log"), NUMBERS, TRUTHS.tolist(), ["a", 0.5, 0.5]),
    "named": Case(lambda: make("hedge", names=ABC), LOSSES, NONE, BAD),
    "sleep": Case(
        lambda: make("fixed_share", loss="zero_one", missing="sleep", names=ABC),
        sleepy(CALLS),
        TRUTHS.tolist(),
        {"x": 1},
    ),
    "without names": Case(lambda: make("weighted_majority", loss="zero_one"), CALLS, TRUTHS.tolist()),
    "compiled": Case(lambda: nr.make("hedge"), LOSSES, NONE, BAD),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.thinned(4)
def test_experts_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_experts_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


# ---- what is read ----------------------------------------------------------------------------------------------------


def test_rows_of_all_forms_are_the_same_rounds() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    expected = make("hedge", names=ABC).play(LOSSES).scores
    dicts = [dict(zip(ABC, row, strict=True)) for row in LOSSES.tolist()]
    turned = [dict(reversed(row.items())) for row in dicts]
    frame = pandas.DataFrame(LOSSES, columns=ABC)
    for rows in (LOSSES, LOSSES.tolist(), dicts, turned, frame, frame[["c", "a", "b"]], polars.DataFrame(dicts)):
        assert np.array_equal(make("hedge", names=ABC).play(rows).scores, expected)


def test_experts_are_named_by_the_columns() -> None:
    learner = make("hedge").learn([{"x": 0.0, "y": 1.0}, {"y": 1.0, "x": 0.0}])
    assert learner.best_expert == "x"
    assert list(learner.weights) == ["x", "y"]
    assert learner.losses == {"x": 0.0, "y": 2.0}
    assert learner.regrets["x"] == pytest.approx(learner.loss)
    assert make("hedge").learn([[0.0, 1.0]]).names == [0, 1]


@pytest.mark.parametrize(
    ("options", "X", "y", "said"),
    [
        ({}, [[0.1, 1.2]], None, r"round 0, expert 1: the loss 1.2 is not in \[0, 1\]; give .* as loss_range"),
        ({}, [[0.1, None]], None, 'round 0, expert 1: the value is missing; with missing="sleep" it sleeps'),
        ({}, [[0.1, "a"]], None, "round 0, expert 1: a loss must be a number, not 'a'"),
        ({}, [[0.1, 0.2], [0.1]], None, "row 1 has 1 values, the first has 2"),
        ({}, [[0.1, 0.2]], [1], "takes losses, without truths"),
        ({}, {"a": 0.1}, None, "not a single dict"),
        ({}, [[], []], None, "there are no experts"),
        ({"loss": "zero_one"}, [[1, 0]], None, "needs the truths"),
        ({"loss": "zero_one"}, [[1, 0]], [1, 0], "1 rounds and 2 truths"),
        ({"loss": "zero_one"}, [[1, 0]], [math.nan], "round 0: the truth must be a number or a text"),
        ({"loss": "squared"}, [[1.0, 3.0]], [0.0], "the loss 9 is not in"),
        ({"loss": "squared"}, [[1.0, 0.5]], ["up"], "round 0: the truth must be a finite number"),
        ({"loss": "log"}, [[1.0, 0.5]], [0.5], "round 0: the truth must be 0 or 1"),
        ({"loss": "squared"}, [["up", 0.5]], [0.5], "round 0, expert 0: a prediction must be a number"),
    ],
)
def test_bad_rounds_are_refused_by_round_and_expert(options: dict[str, Any], X: Any, y: Any, said: str) -> None:
    learner = make("hedge", **options)
    with pytest.raises(nr.BadValue, match=said):
        learner.learn(X, y)
    assert learner.rounds == 0
    assert learner.state is None


def test_bad_options_are_refused() -> None:
    with pytest.raises(nr.BadValue, match="loss must be one of none, zero_one, squared"):
        make("hedge", loss="hinge")
    with pytest.raises(nr.BadValue, match="loss_range must be two finite numbers, the lower one first"):
        make("hedge", loss_range=(1.0, 0.0))
    with pytest.raises(nr.BadValue, match="two experts are named 'a'"):
        make("hedge", names=["a", "b", "a"])
    with pytest.raises(nr.BadValue, match="does not support experts that sleep"):
        make("follow_the_leader", missing="sleep")
    with pytest.raises(nr.BadValue, match="cannot play binary: it plays experts"):
        make("hedge", task="binary")
    with pytest.raises(nr.BadValue, match="does not support weight="):
        make("hedge").learn(LOSSES, weight=np.ones(40))


def test_losses_of_any_range_are_rescaled_and_told_in_their_own_units() -> None:
    scaled, plain = make("hedge", loss_range=(-2.0, 6.0)), make("hedge")
    first, second = scaled.play(8.0 * LOSSES - 2.0), plain.play(LOSSES)
    np.testing.assert_allclose(first.scores, second.scores, rtol=1e-9)
    assert scaled.regret == pytest.approx(8.0 * plain.regret)
    assert scaled.bound().value == pytest.approx(8.0 * plain.bound().value)
    assert scaled.loss == pytest.approx(8.0 * plain.loss - 2.0 * 40)
    assert scaled.loss == pytest.approx(first.losses.sum())


# ---- what is predicted -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "absolute", "log"])
def test_with_a_convex_loss_the_weighted_mean_predicts_and_loses_no_more_than_the_weights(loss: str) -> None:
    learner = make("hedge", loss=loss)
    played = learner.play(LOSSES, TRUTHS)
    np.testing.assert_allclose(played.predictions, (played.scores * LOSSES).sum(axis=1))
    assert played.losses.sum() <= learner.loss
    assert learner.regret <= learner.bound().value
    assert learner.mistakes == 0


def test_with_zero_one_loss_the_weighted_vote_predicts_and_a_tie_goes_to_1() -> None:
    learner = make("weighted_majority", loss="zero_one")
    assert learner.predict_one({"a": 0, "b": 1}) == 1
    assert learner.predict_one({"a": 1, "b": 0}) == 1
    learner.learn([{"a": 0, "b": 1}] * 2, [0, 0])
    assert learner.mistakes == 1
    assert learner.predict_one({"a": 0, "b": 1}) == 0
    assert learner.predict_one({"a": "Up", "b": "Down"}) == "Up"


def test_votes_are_lost_only_where_half_of_the_weight_was_wrong() -> None:
    for name in ("hedge", "weighted_majority", "squint"):
        learner = make(name, loss="zero_one")
        played = learner.play(CALLS, TRUTHS.tolist())
        own = (
            played.scores * np.array([[row[n] != y for n in ABC] for row, y in zip(CALLS, TRUTHS, strict=True)])
        ).sum(axis=1)
        assert not (played.mistakes & (own < 0.5 - 1e-12)).any()
        assert learner.mistakes <= learner.state.lost_votes
        assert learner.mistakes <= 2.0 * learner.loss + 1e-9
        np.testing.assert_allclose(played.losses, own)


def test_randomised_majority_follows_an_expert_drawn_by_its_weight() -> None:
    mistakes = [make("weighted_majority_randomised", loss="zero_one", seed=seed).learn(CALLS, TRUTHS.tolist()).mistakes
                for seed in range(200)]  # fmt: skip
    learner = make("weighted_majority_randomised", loss="zero_one").learn(CALLS, TRUTHS.tolist())
    assert len(set(mistakes)) > 1
    assert np.mean(mistakes) == pytest.approx(learner.loss, abs=4 * np.std(mistakes) / math.sqrt(200))


def test_the_prediction_of_losses_is_the_expert_that_would_be_followed() -> None:
    learner = make("follow_the_leader", names=["a", "b"])
    assert learner.play([[0.5, 0.0], [0.0, 1.0], [1.0, 0.0]]).predictions.tolist() == ["a", "b", "a"]
    assert learner.predict_one([0.0, 0.0]) == "b"


# ---- sleep, arrivals, merging ----------------------------------------------------------------------------------------


def test_missing_values_let_experts_sleep_where_that_is_asked_for() -> None:
    learner = make("hedge", missing="sleep", names=ABC)
    played = learner.play([{"a": 0.1, "b": 0.5}, {"b": 0.2, "c": 0.4}, {"a": math.nan, "b": 0.3, "c": None}])
    assert (played.scores == 0.0).tolist() == [[False, False, True], [True, False, False], [True, False, True]]
    assert learner.losses == pytest.approx({"a": 0.1, "b": 1.0, "c": 0.4})
    with pytest.raises(nr.BadValue, match="round 0: all experts sleep"):
        learner.learn([{}])


def test_experts_that_arrive_are_added_by_name() -> None:
    learner = make("hedge", names=["a", "b"]).learn([[0.1, 0.9]] * 3)
    with pytest.raises(nr.BadValue, match=r"there is no expert 'c'; add it first: learner.add\('c'\)"):
        learner.learn([{"a": 0.1, "b": 0.2, "c": 0.0}])
    assert learner.add("c").weights["c"] == pytest.approx(1 / 3)
    with pytest.raises(nr.BadValue, match="two experts are named 'c'"):
        learner.add("c")
    learner.learn([{"a": 0.1, "b": 0.2, "c": 0.0}])
    assert learner.losses["c"] == 0.0
    assert learner.rounds == 4


def test_merged_learners_are_those_of_all_rounds() -> None:
    parts = [make("hedge", eta=0.5).learn(part) for part in (LOSSES[:15], LOSSES[15:])]
    merged, whole = parts[0].merge(parts[1]), make("hedge", eta=0.5).learn(LOSSES)
    assert merged.weights == pytest.approx(whole.weights)
    assert merged.rounds == 40
    assert merged.regret <= merged.bound().value
    with pytest.raises(nr.BadValue, match="squint cannot be merged"):
        make("squint").learn(LOSSES).merge(make("squint").learn(LOSSES))
    with pytest.raises(nr.BadValue, match="the same experts"):
        parts[0].merge(make("hedge", eta=0.5).learn(LOSSES[:, :2]))


def test_experts_race_over_one_stream_of_losses() -> None:
    board = nr.race((LOSSES, [None] * 40), ["hedge", "fixed_share", "follow_the_leader"], native=False)
    assert {entry.name for entry in board} == {"hedge", "fixed_share", "follow_the_leader"}
    assert nr.play((LOSSES, [None] * 40), make("hedge"))["loss"] == pytest.approx(make("hedge").learn(LOSSES).loss)
