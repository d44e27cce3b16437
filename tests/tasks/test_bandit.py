"""The bandit task: what is played is drawn, and only whether it was right is told."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.algebra.partial_features import PRIME
from noregret.learner.model_file import pack
from noregret.tasks.bandit import drawn, past_plays
from tests.conformance.plays import rows_of
from tests.tasks.bandits import K, player, stream, weights

NAMES = ["banditron", "exp3"]
every_player = pytest.mark.parametrize("name", NAMES)


@pytest.mark.compiles
@every_player
def test_compiled_play_is_the_plain_text_bit_for_bit(name: str) -> None:
    X, y = stream()
    plain, compiled = player(name), player(name, native=True)
    assert plain.play(sp.csr_array(X), y).scores.tobytes() == compiled.play(sp.csr_array(X), y).scores.tobytes()
    assert weights(plain).tobytes() == weights(compiled).tobytes()


@every_player
def test_what_is_played_depends_on_the_seed(name: str) -> None:
    X, y = stream()
    first, same, other = (player(name, seed=seed).play(X, y).predictions.tolist() for seed in (1, 1, 2))
    assert first == same != other


# ---- the same bits however the rounds come -----------------------------------------------------------------------


@every_player
@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_chunks_saving_and_copying_leave_no_trace(name: str, native: bool, tmp_path: Path) -> None:
    X, y = stream()
    rows = rows_of(X)
    whole = player(name, native=native).learn(rows, y)
    one_by_one = player(name, native=native)
    for x, label in zip(rows, y, strict=True):
        one_by_one.learn_one(x, label)
    by_seven = player(name, native=native)
    for start in range(0, len(y), 7):
        by_seven.learn(rows[start : start + 7], y[start : start + 7])
        by_seven.save(tmp_path / "model.nr")
        by_seven = nr.load(tmp_path / "model.nr").copy()
    assert pack(whole) == pack(one_by_one) == pack(by_seven)


@every_player
def test_a_refused_call_leaves_no_trace(name: str) -> None:
    X, y = stream()
    learner = player(name).learn(X, y)
    before = pack(learner)
    for bad in ([9], ["a"], [None], [0.5], [[0, 1]]):
        with pytest.raises(nr.BadValue):
            learner.learn(X[:1], bad)
    with pytest.raises(nr.BadValue, match="cannot weigh rounds"):
        learner.learn(X[:1], y[:1], weight=2.0)
    assert pack(learner) == before
    assert pack(learner.learn(X, y)) == pack(player(name).learn(np.vstack([X, X]), np.concatenate([y, y])))


def test_a_call_that_overflows_is_undone_with_its_random_numbers() -> None:
    X, y = stream()
    learner = player("banditron").learn(X, y)
    before = pack(learner)
    with pytest.raises(nr.BadValue, match="no longer finite"):
        learner.learn(np.full((30, 5), 1e308), np.zeros(30, int))
    assert pack(learner) == before


# ---- in life, where nobody knows the truth -----------------------------------------------------------------------


@every_player
@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_choosing_and_being_told_is_the_simulated_task_bit_for_bit(name: str, native: bool) -> None:
    X, y = stream()
    rows = rows_of(X)
    simulated = player(name, native=native)
    transcript = simulated.play(rows, y)
    told = player(name, native=native)
    for t, (x, label) in enumerate(zip(rows, y, strict=True)):
        chosen = told.choose_one(x)
        assert chosen.label == transcript.predictions[t]
        told.reward_one(x, chosen, right=bool(chosen.label == label))
    assert pack(told) == pack(simulated)


@every_player
def test_batches_are_rows_chosen_and_told_in_turn(name: str) -> None:
    X, y = stream()
    start = player(name).learn(X, y)
    batch, single = start.copy(), start.copy()
    chosen = batch.choose(X[:9])
    ones = [single.choose_one(x) for x in X[:9]]
    assert chosen.label.tolist() == [one.label for one in ones]
    assert chosen.chance.tolist() == [one.chance for one in ones]
    right = chosen.label == y[:9]
    batch.reward(X[:9], chosen, right)
    for x, one, good in zip(X[:9], ones, right.tolist(), strict=True):
        single.reward_one(x, one, good)
    assert pack(batch) == pack(single)


@every_player
def test_choosing_moves_nothing_but_the_random_numbers(name: str) -> None:
    X, y = stream()
    learner = player(name).learn(rows_of(X), y)
    before, n = weights(learner), learner.model.arrays.n.copy()
    learner.choose_one({"f0": 1.0, "never seen": 2.0})
    learner.choose(rows_of(X))
    assert weights(learner).tobytes() == before.tobytes()
    assert "never seen" not in learner.features
    assert (learner.rounds, learner.model.arrays.n.t) == (len(y), n.t)
    assert learner.model.arrays.n.random != n.random


@every_player
def test_a_fresh_learner_can_choose_be_saved_and_go_on(name: str, tmp_path: Path) -> None:
    learner = player(name)
    first = [learner.choose_one({"a": 1.0}).label for _ in range(40)]
    assert set(first) == set(range(K)) if name == "exp3" else 0 in first
    learner.save(tmp_path / "fresh.nr")
    again = nr.load(tmp_path / "fresh.nr")
    assert again.choose_one({"a": 1.0}) == learner.choose_one({"a": 1.0})
    assert learner.rounds == 0
    for one in (learner, again):
        one.reward_one({"b": 2.0}, nr.Chosen(2, 0.5), right=True)
    assert pack(again) == pack(learner)


def test_no_rows_choose_nothing_and_settle_nothing() -> None:
    learner = player("banditron")
    assert [len(part) for part in learner.choose([])] == [0, 0]
    assert (learner.model.arrays, learner.algebra) == (None, None)
    X, y = stream()
    assert pack(learner.learn(X, y)) == pack(player("banditron").learn(X, y))
    before = pack(learner)
    assert pack(learner.reward([], nr.Chosen([], []), [])) == before


def test_labels_of_any_kind_come_back_as_they_were_named() -> None:
    learner = nr.make("exp3", classes=["a", 2, True], native=False)
    found = {learner.choose_one().label for _ in range(60)}
    assert {(type(one), one) for one in found} == {(str, "a"), (int, 2), (bool, True)}


@pytest.mark.parametrize(
    ("chosen", "told", "complaint"),
    [
        ((9, 0.5), {"right": True}, "not one of the classes"),
        (([0], 0.5), {"right": True}, "not one of the classes"),
        ((0, 0.0), {"right": True}, "above 0 and at most 1"),
        ((0, 1.5), {"right": True}, "above 0 and at most 1"),
        ((0, float("nan")), {"right": True}, "one number for every row"),
        ((0, "x"), {"right": True}, "one number for every row"),
        (0, {"right": True}, "a pair of a label and its chance"),
        ((0, 0.5), {}, "one of both"),
        ((0, 0.5), {"right": True, "loss": 0.0}, "one of both"),
        ((0, 0.5), {"right": 1}, "must be True or False"),
        ((0, 0.5), {"right": "yes"}, "must be True or False"),
        ((0, 0.5), {"loss": 1.5}, "from 0 to 1"),
        ((0, 0.5), {"loss": -0.1}, "from 0 to 1"),
        ((0, 0.5), {"loss": float("inf")}, "one number for every row"),
    ],
)
@every_player
def test_a_reward_that_makes_no_sense_is_refused_and_changes_nothing(
    name: str, chosen: Any, told: Any, complaint: str
) -> None:
    X, y = stream()
    learner = player(name).learn(X, y)
    before = pack(learner)
    with pytest.raises(nr.BadValue, match=complaint):
        learner.reward_one(X[0], chosen, **told)
    assert pack(learner) == before


def test_banditron_knows_right_and_wrong_only_and_looks_at_rows() -> None:
    X, y = stream()
    learner = player("banditron").learn(X, y)
    before = pack(learner)
    with pytest.raises(nr.BadValue, match="a loss must be 0 or 1"):
        learner.reward_one(X[0], (0, 0.5), loss=0.5)
    for bad in ([1.0, float("nan"), 0, 0, 0], None, "row"):
        with pytest.raises(nr.BadValue):
            learner.choose_one(bad)
        with pytest.raises(nr.BadValue):
            learner.reward_one(bad, (0, 0.5), right=True)
    assert pack(learner) == before
    assert pack(learner.copy().reward_one(X[0], (0, 0.5), loss=1)) == pack(
        learner.copy().reward_one(X[0], (0, 0.5), right=False)
    )


def test_only_the_bandit_task_chooses() -> None:
    with pytest.raises(nr.BadValue, match="use predict and learn"):
        nr.make("perceptron").choose_one([1.0])
    with pytest.raises(nr.BadValue, match="use predict and learn"):
        nr.make("perceptron").reward_one([1.0], (0, 0.5), right=True)


# ---- settings ----------------------------------------------------------------------------------------------------


def test_the_classes_must_be_named_beforehand() -> None:
    for told in ({}, {"task": "bandit"}):
        with pytest.raises(nr.BadValue, match="needs classes"):
            nr.make("banditron", **told)
    with pytest.raises(nr.BadValue, match="cannot play bandit"):
        nr.make("perceptron", task="bandit", classes=[0, 1])
    with pytest.raises(nr.BadValue, match="cannot play multiclass"):
        nr.make("banditron", task="multiclass")
    with pytest.raises(nr.BadValue, match="cannot be averaged"):
        player("banditron", average=True)


def test_exp3_does_not_look_at_rows() -> None:
    X, y = stream()
    seen = pack(player("exp3").learn(X, y))
    for rows in (rows_of(X), sp.csr_array(X), [None] * len(y), np.full((len(y), 2), np.nan)):
        assert pack(player("exp3").learn(rows, y)) == seen
    odd = player("exp3", scale=True, bias=True, transforms=["clip:limit=1"]).learn(X, y)
    assert odd.copy().predict(X).tolist() == player("exp3").learn(X, y).predict(X).tolist()
    with pytest.raises(nr.BadValue, match="X must be"):
        player("exp3").learn({"a": 1.0}, [1])


# ---- the doors ---------------------------------------------------------------------------------------------------


def test_a_race_shows_what_full_information_would_have_done() -> None:
    X, y = stream(400)
    race = nr.race((X, y), task="bandit", classes=range(K), native=False)
    assert {one.name for one in race} == {"banditron", "exp3"}
    perceptron = nr.make("perceptron", task="multiclass", competitor="predicted", classes=range(K), native=False)
    assert race["banditron"].full_information == perceptron.learn(X, y).mistakes
    assert race["exp3"].full_information is None
    assert "full information" in str(race)
    assert "full information" not in str(nr.race((X, y), ["pa1"], native=False))
    assert nr.play((X, y), player("banditron"))["full_information"] == perceptron.mistakes
    assert "full_information" not in nr.play((X, y), nr.make("pa1", native=False))


def test_whoever_plays_a_rule_of_ones_own_tells_its_chances() -> None:
    with pytest.raises(nr.BadValue, match="must declare its chances"):

        @nr.bandit_rule(paper="A, b, 2026", state={"w": nr.plain})
        def lucky(p: Any, s: Any, steps: Any, scores: Any, chance: float, played: int, loss: float) -> bool:
            return False


def test_what_is_drawn_is_where_the_random_number_falls() -> None:
    odds = np.array([0.2, 0.0, 0.5, 0.3])
    assert [drawn(odds, share * PRIME) for share in (0.1, 0.25, 0.6, 0.75, 0.999)] == [0, 2, 2, 3, 3]
    assert drawn(np.array([5.0 / PRIME, 1.0 - 5.0 / PRIME]), 5.0) == 1  # a chance ends where it is reached
    assert drawn(np.array([0.5, 0.4999, 0.0]), PRIME - 1.0) == 1  # never what has no chance


def test_of_a_class_that_was_played_before_the_truth_is_not_known() -> None:
    played = past_plays(np.array([2.0, 0.0]), np.array([0.5, 0.25]), np.array([1.0, 0.0]))
    assert played.columns.tolist() == [[-1.0, 2.0, 0.5, 1.0], [-1.0, 0.0, 0.25, 0.0]]
    assert len(played) == len(played[:1]) + 1 == 2
