"""Matrix games and swap players at their borders: what is allowed, what files may hold, calls that were cut off."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.games.swap_regret import best_rate
from noregret.learner.model_file import pack
from tests.support import refusal

MatrixGame, SwapPlayer = nr.games.MatrixGame, nr.games.SwapPlayer


def test_payoffs_cannot_be_changed() -> None:
    for game in (MatrixGame([[1.0, 2.0]]), MatrixGame([[1.0, 2.0]], [[3.0, 4.0]])):
        for payoffs in (game.row, game.column):
            with pytest.raises(ValueError, match="read-only"):
                payoffs[0, 0] = 5.0


def test_payoffs_are_at_most_1e150() -> None:
    assert MatrixGame([[1e150, -1e150]]).actions == (1, 2)
    assert "rescale" in refusal(lambda: MatrixGame([[1.0, 1.1e150]]))


@pytest.mark.parametrize(("share", "allowed"), [(1.0 + 0.9e-6, True), (1.0 - 0.9e-6, True), (1.0 + 1.5e-6, False)])
def test_probabilities_sum_to_1_but_for_rounding(share: float, allowed: bool) -> None:
    game = MatrixGame([[1.0, 2.0]])
    if allowed:
        assert game.value_of([share], [1.0, 0.0])[0] == share
    else:
        assert "sum to 1" in refusal(lambda: game.value_of([share], [1.0, 0.0]))


def test_swap_gains_are_those_of_the_best_action_for_each_that_is_recommended() -> None:
    rng = np.random.default_rng(6)
    game, joint = MatrixGame(rng.random((3, 4)), rng.random((3, 4))), rng.dirichlet(np.ones(12)).reshape(3, 4)
    row = sum(max((game.row[j] - game.row[i]) @ joint[i] for j in range(3)) for i in range(3))
    column = sum(max((game.column[:, j] - game.column[:, i]) @ joint[:, i] for j in range(4)) for i in range(4))
    assert game.swap_gains(joint) == pytest.approx((row, column))


def test_plays_and_losses_that_are_no_numbers_are_refused() -> None:
    words: Any = [["a", "b"]]
    for pair in ((words, [[0.5, 0.5]]), ([[0.5, 0.5]], words), ([[0.5, 0.5]], [[0.5, float("inf")]])):
        assert "same shape" in refusal(lambda pair=pair: nr.games.swap_regret(*pair))  # type: ignore[misc]


def test_before_the_first_round_the_bound_is_0() -> None:
    several: list[dict[str, Any]] = [{}, {"eta": 0.5}, {"rounds": 9}]
    for options in several:
        assert SwapPlayer(3, native=False, **options).bound == 0.0
        assert SwapPlayer(3, native=False, **options).observe([0.0, 0.5, 1.0]).bound > 0.0


@pytest.mark.parametrize("options", [{"actions": 0, "rounds": 5}, {"actions": 3, "rounds": 0}])
def test_the_best_rate_is_that_of_at_least_one_action_and_one_round(options: dict[str, Any]) -> None:
    assert "whole number of at least 1" in refusal(lambda: SwapPlayer(native=False, **options))
    assert SwapPlayer(1, rounds=1, native=False).weights.eta == best_rate(1, 1) == math.sqrt(8.0 * math.log(2.0))


def player(actions: int = 3, rounds: int = 2) -> Any:
    made = SwapPlayer(actions, eta=0.75, native=False)
    for losses in np.random.default_rng(1).random((rounds, actions)):
        made.observe(losses)
    return made


def read(found: Any, change: Callable[[Any, Any], None]) -> Any:
    """Read the header and the arrays of a player after a change of them."""
    header, arrays = found.dump()
    header = json.loads(json.dumps(header))
    change(header, arrays)
    find: Any = nr.learners().__getitem__
    return SwapPlayer.restore(header, arrays, find)


@pytest.mark.parametrize(("actions", "rounds"), [(1, 0), (1, 2), (2, 0), (3, 2)])
def test_players_of_any_number_of_actions_and_rounds_are_read(actions: int, rounds: int) -> None:
    whole = player(actions, rounds)
    assert pack(read(whole, lambda header, arrays: None)) == pack(whole)


def put(name: str, value: Any) -> Callable[[Any, Any], None]:
    return lambda header, arrays: header.__setitem__(name, value)


def put_array(name: str, change: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
    return lambda header, arrays: arrays.__setitem__(name, change(arrays[name]))


def renamed(header: Any, arrays: Any) -> None:
    arrays["other"] = arrays.pop("suffered")


CHANGES: dict[str, Callable[[Any, Any], None]] = {
    "native": put("native", 1), "a rate below 0": put("eta", -0.75), "squares below 0": put("squares", -1e-9),
    "one array more": lambda header, arrays: arrays.__setitem__("more", np.zeros(1)), "no suffered": renamed,
    "short numbers": put_array("suffered", lambda one: one.astype(np.float32)),
    "another shape": put_array("suffered", lambda one: one[:2].copy()),
    "a loss below 0": put_array("suffered", lambda one: -one),
    "one loss below 0": put_array("suffered", lambda one: np.where(one == one.max(), -1e-9, one)),
    "no number": put_array("suffered", lambda one: np.where(one == one.max(), np.inf, one)),
    "rounds": put("rounds", 1),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_files_that_contradict_themselves_are_refused(change: Callable[[Any, Any], None]) -> None:
    refusal(lambda: read(player(), change))


@pytest.mark.parametrize(
    "act", [lambda one: one.observe([0.1, 0.2, 0.3]), lambda one: one.dump()], ids=["observe", "dump"]
)
def test_a_call_first_undoes_what_was_cut_off(act: Callable[[Any], Any]) -> None:
    torn, whole = player(), player()
    torn._change.undo = torn._own_state()
    torn.rounds, torn.weights = 7, SwapPlayer(3, native=False).weights
    act(torn)
    act(whole)
    assert torn._change.undo is None
    assert pack(torn) == pack(whole)
