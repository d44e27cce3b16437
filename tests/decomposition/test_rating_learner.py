"""Learners of ratings: what they tell, recommend and refuse, and that each call begins with what was cut off undone."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition.largest import find_largest
from noregret.learner.model_file import pack

PAIRS = [("a", 1), ("b", 2), ("a", 2), ("c", 1), ("a", 1)]
Y = [4.0, 1.0, 5.0, 3.0, 2.0]


def make(name: str = "factorisation", **options: Any) -> Any:
    sizes = {"k": 2} if name == "factorisation" else {}
    return nr.make(name, native=False, **sizes, **options)


# ---- what was cut off ------------------------------------------------------------------------------------------------

CALLS: dict[str, Callable[[Any], Any]] = {
    "play": lambda learner: learner.play(PAIRS, Y).predictions.tolist(),
    "predict": lambda learner: learner.predict(PAIRS).tolist(),
    "recommend": lambda learner: learner.recommend("b"),
    "ratings_of": lambda learner: learner.ratings_of("a"),
    "users": lambda learner: learner.users,
    "items": lambda learner: learner.items,
    "user_factors": lambda learner: learner.user_factors.tolist(),
    "item_factors": lambda learner: learner.item_factors.tolist(),
    "mean": lambda learner: learner.mean,
    "progress": lambda learner: learner.progress,
    "describe_results": lambda learner: learner.describe_results(),
    "dump": lambda learner: learner.dump()[0],
}


@pytest.mark.parametrize("call", CALLS)
def test_what_was_cut_off_is_undone_before_a_call(call: str) -> None:
    one, other = make().learn(PAIRS, Y), make().learn(PAIRS, Y)
    undone = list[None]()
    rounds = one.rounds

    def undo() -> None:
        undone.append(None)
        one.user_numbers.truncate(3)
        one.rounds = rounds

    one.user_numbers["nobody"]
    one.rounds, one._change.undo = 99, undo
    assert CALLS[call](one) == CALLS[call](other)
    assert len(undone) == 1
    assert pack(one) == pack(other)


def test_numbers_are_forgotten_from_the_last_one_on() -> None:
    learner = make().learn(PAIRS, Y)
    for size in (3, 2, 2, 0):
        learner.user_numbers.truncate(size)
        assert list(learner.user_numbers) == ["a", "b", "c"][:size]
    assert learner.user_numbers["d"] == 0


# ---- what is told ----------------------------------------------------------------------------------------------------


def test_results_are_told_in_two_lines() -> None:
    learner = make("rating_mean", minimum=0.0, maximum=10.0)
    assert learner.describe_results() == []
    assert learner.progress == (0.0, 0.0, 0.0)
    assert make("rating_mean").learn_one(("a", 1), 5.0).progress == (2.0, 2.0, 2.0)
    assert repr(learner) == "<rating_mean: recommendation, 0 rounds, 0 users, 0 items>"
    learner.learn([("a", 1), ("a", 2), ("b", 1)], [8.0, 4.0, 0.0])  # predicted as 5, 8 and 6; with biases 5, 8.6, 6.6
    assert repr(learner) == "<rating_mean: recommendation, 3 rounds, 2 users, 2 items>"
    assert learner.mean == pytest.approx(4.0)
    assert learner.describe_results() == [
        "2 users, 2 items, 3 ratings; mean rating 4 on a scale from 0 to 10",
        "RMSE before learning 4.509, of the biases alone 4.957, of the mean 4.509",
    ]
    assert learner.commands("m.nr") == [
        "noregret recommend m.nr --user ID", "noregret recommend MORE_RATINGS --resume m.nr"]  # fmt: skip


def test_a_transcript_has_squared_errors_no_mistakes_and_the_time_that_it_took() -> None:
    learner, began = make(), time.perf_counter()
    found = learner.play(PAIRS, Y)
    assert 0.0 < found.seconds < time.perf_counter() - began
    np.testing.assert_array_equal(found.losses, (found.predictions - Y) ** 2)
    np.testing.assert_array_equal(found.scores, found.predictions)
    assert found.truth.tolist() == Y
    assert not found.mistakes.any()
    assert found.updated.all()
    assert (learner.rounds, learner.updates, learner.mistakes) == (5, 5, 0)
    np.testing.assert_array_equal(learner.error_loss(np.array([-2.0, 0.5]), np.zeros(2)), [4.0, 0.25])


# ---- recommendations -------------------------------------------------------------------------------------------------


def test_of_equal_ratings_the_item_seen_first_leads() -> None:
    learner = make("rating_mean").learn([("a", 3), ("b", 1), ("b", 2), ("a", 5)], [1.0, 2.0, 3.0, 4.0])
    assert learner.recommend("b") == [(3, 2.5), (5, 2.5)]
    assert learner.recommend("b", again=True) == [(item, 2.5) for item in (3, 1, 2, 5)]
    assert learner.recommend("new", 1) == [(3, 2.5)]
    assert [len(learner.recommend("new", n)) for n in (1, 3, 4, 9)] == [1, 3, 4, 4]
    many = make("rating_mean").learn([("a", item) for item in range(12)], [3.0] * 12)
    assert [item for item, _ in many.recommend("b")] == list(range(10))
    for n in (0, 2.5):
        with pytest.raises(nr.BadValue, match="n must be"):
            learner.recommend("b", n)
    for ask in (learner.recommend, learner.ratings_of):
        with pytest.raises(nr.BadValue, match=r"^the user must be a text or a whole number, not 1\.5$"):
            ask(1.5)


def test_the_largest_values_are_those_of_a_stable_sort() -> None:
    rng = np.random.default_rng(2)
    for size in [*range(12), *[30] * 20]:
        values = rng.integers(0, 4, size) / 3.0
        for count in (1, 2, size - 1, size, size + 1):
            if count > 0:
                assert find_largest(values, count) == np.argsort(-values, kind="stable")[:count].tolist()
    many = rng.permutation(5000).astype(float)
    for count in (1, 7, 2500, 4000, 4990):
        assert find_largest(many, count) == np.argsort(-many, kind="stable")[:count].tolist()


def test_ratings_of_a_user_are_told_in_the_order_of_their_items() -> None:
    assert list(make().learn(PAIRS, Y).ratings_of("a").items()) == [(1, 2.0), (2, 5.0)]


@pytest.mark.parametrize("users", range(1, 10))
def test_a_user_who_is_not_known_has_no_ratings_however_many_are(users: int) -> None:
    """Not those of the last user either, where there is no room for more."""
    learner = make("rating_mean").learn([(user, user) for user in range(users)], [3.0] * users)
    assert learner.ratings_of("new") == {}
    assert [item for item, _ in learner.recommend("new")] == list(range(users))


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_ratings_may_be_the_ends_of_the_scale() -> None:
    learner = make(minimum=-1.0, maximum=1.0).learn([("a", 1), ("a", 2)], [-1.0, 1.0])
    assert learner.mean == 0.0
    assert learner.ratings_of("a") == {1: -1.0, 2: 1.0}


@pytest.mark.parametrize(("options", "problem"), [
    ({"minimum": 3, "maximum": 3}, "^factorisation: minimum must be below maximum, not 3 and 3$"),
    ({"seed": 2**63}, r"^seed must be below 2\^63, not 9223372036854775808$"),
    ({"native": 1}, "^native must be True or False, not 1$"),
    ({"minimum": -1.1e6}, "minimum must be"), ({"maximum": 1.1e6}, "maximum must be"),
])  # fmt: skip
def test_options_are_checked(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(nr.BadValue, match=problem):
        nr.make("factorisation", **options)


def test_the_largest_seed_and_options_that_are_left_out() -> None:
    assert nr.make("factorisation", native=False, seed=2**63 - 1).learn(PAIRS, Y).rounds == 5
    kind: Any = type(make("rating_mean"))
    assert (kind(1.0, 5.0).seed, kind(1.0, 5.0).native) == (0, True)


def test_problems_are_told_before_anything_is_learned() -> None:
    learner = make()
    for given, problem in (
        ({"X": PAIRS}, "^there are no ratings; give them as y, or as the column rating$"),
        (
            {"X": [(*pair, 1.0) for pair in PAIRS], "y": Y},
            "^ratings are given twice: as y, and beside users and items; in a table, name them as the label",
        ),
        ({"X": PAIRS, "y": Y[:4]}, "^there are 5 rows and 4 ratings$"),
        ({"X": PAIRS, "y": Y, "weight": 1.0}, "^factorisation does not support weight=: leave it out$"),
        ({"X": PAIRS, "y": Y, "query": PAIRS}, "^factorisation does not support query=: leave it out$"),
    ):
        with pytest.raises(nr.BadValue, match=problem):
            learner.play(**given)
    calls: list[Callable[[], Any]] = [
        lambda: learner.predict(PAIRS), lambda: learner.mean, lambda: learner.recommend("a")]  # fmt: skip
    for call in calls:
        with pytest.raises(nr.NotLearned, match=r"^factorisation has not seen a rating yet; learn something first$"):
            call()
    with pytest.raises(nr.BadValue) as error:
        learner.learn(PAIRS, [1.0, 5.5, 6.0, 7.0, 0.0])
    assert error.value.row == 1
    assert learner.ratings_of("a") == {}


def test_a_number_of_too_many_digits_is_no_name_and_its_row_is_told() -> None:
    """From 2^1024 on, of either sign: floats are below it."""
    learner, largest = make("rating_mean"), 2**1024 - 1
    before = pack(learner.learn([(largest, -largest)], [3.0]))
    for number in (2**1024, -(2**1024)):
        for rows, what in (([("a", 1), (5, 1), (number, 1)], "user"), ([("a", 1), (5, "b"), ("a", number)], "item")):
            with pytest.raises(nr.BadValue, match=f"^row 2: the {what} is a number of too many digits") as error:
                learner.learn(rows, [1.0, 2.0, 3.0])
            assert error.value.row == 2
            assert pack(learner) == before
