"""Single ratings: in one compiled call, with the same bits, errors and transactions as calls with many."""

import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition.rating_loops import BETA, COUNT, ETA, LAM_ITEMS, LAM_USERS, RANKING
from noregret.decomposition.rating_one import OneRating, play_one
from noregret.decomposition.rating_rows import read_pair
from noregret.learner.model_file import pack, unpack
from tests.attacks.cut_off import called_at_lines, cut_at_lines, outcome
from tests.support.cover import ALL

RNG = np.random.default_rng(3)
PAIRS = [(f"u{user}", int(item)) for user, item in zip(RNG.integers(0, 9, 80), RNG.integers(0, 12, 80), strict=True)]
Y = RNG.integers(2, 11, 80) / 2.0
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "pmf by sgd": ("factorisation", {"k": 3}),
    "rmf by da": ("factorisation", {"k": 2, "model": "rmf", "method": "da", "seed": 5}),
    "as in the paper": ("factorisation", {"k": 2, "biases": "no", "method": "da"}),
    "biases": ("rating_biases", {"minimum": 0.5}),
    "mean": ("rating_mean", {}),
}


def make(kind: str = "pmf by sgd", native: bool = True) -> Any:
    name, options = KINDS[kind]
    return nr.make(name, native=native, **options)


def bound(learner: Any) -> OneRating:
    """The loop over one rating of a learner in plain Python, whose arrays it reads."""
    return OneRating(learner.state, learner.plan.numbers)


def run(learner: Any, u: int, i: int, share: float, learns: int = 1) -> float:
    """A single rating in plain Python: its prediction; an error where it is refused."""
    one = bound(learner)
    one.ask(learns, u, i, share)
    with np.errstate(all="ignore"):
        play_one(**one.values)
    return float(one.prediction[0])


# ---- the same bits ---------------------------------------------------------------------------------------------------


@pytest.mark.compiles
@pytest.mark.parametrize("kind", KINDS)
def test_single_ratings_are_learned_and_predicted_as_many_are(kind: str) -> None:
    """In every form that rows have, with users and items that are new and ratings that are replaced."""
    forms: list[Callable[[Any, Any, Any], tuple[Any, ...]]] = [
        lambda user, item, y: ((user, item), y),
        lambda user, item, y: ({"user": user, "item": item}, float(y)),
        lambda user, item, y: ({"rating": y, "movieId": item, "USERID": user, "time": 3},),
        lambda user, item, y: ([np.str_(user), np.int64(item)], np.float32(y)),
        lambda user, item, y: ((user, float(item), y),),
        lambda user, item, y: (np.array([user, item], object), int(y) if y == int(y) else y),
    ]
    one, many = make(kind), make(kind)
    expected = many.play(PAIRS, Y)
    for t, ((user, item), y) in enumerate(zip(PAIRS, Y, strict=True)):
        row = forms[t % len(forms)](user, item, y)
        before = one.predict_one(row[0])
        assert before == (expected.predictions[t] if t else None)
        assert one.learn_one(*row) is one
    assert (one.rounds, one.updates, one.mistakes) == (80, 80, 0)
    assert pack(one) == pack(many)
    again = unpack(pack(one), "m.nr")
    for learner in (many, again, one.copy(), one):
        learner.learn_one(("u1", "new"), 4.0).learn_one(PAIRS[0], 1.5).learn(PAIRS[:9], Y[:9])
        assert pack(learner) == pack(many)
        assert learner.recommend("u1", 4) == many.recommend("u1", 4)
    unknown = [("u1", "?"), ("?", 1), ("?", "?")]
    assert [one.predict_one(pair) for pair in unknown] == one.predict(unknown).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_the_loop_over_one_rating_does_in_python_what_that_over_many_does(kind: str) -> None:
    one, many = make(kind, native=False), make(kind, native=False)
    for pair, y in zip(PAIRS, Y, strict=True):
        many.learn([pair], [y])
        u, i = one.user_numbers[pair[0]], one.item_numbers[pair[1]]
        one.state.grow(len(one.user_numbers), len(one.item_numbers), 1)
        one.state.memory = many.state.memory._replace(of_user=one.state.memory.of_user)
        share = (y - one.minimum) / (one.maximum - one.minimum)
        known = min(one.state.of_users.steps[u], one.state.of_items.steps[i])
        predicted = run(one, u, i, share, learns=0)
        assert run(one, u, i, share) == predicted or known == 0
        assert pack(one) == pack(many)


# ---- what it leaves to a call with many ratings ----------------------------------------------------------------------


@pytest.mark.parametrize("side", ["of_users", "of_items"])
@pytest.mark.parametrize("kind", ["pmf by sgd", "rmf by da"])
@pytest.mark.parametrize(("u", "i"), [(0, 0), (0, 1), (1, 1)])
def test_a_single_rating_that_overflows_changes_nothing(kind: str, side: str, u: int, i: int) -> None:
    """One that replaces another, one that is new, the first ones of user and item."""
    learner = make(kind, native=False).learn([("a", 0), ("b", 0), ("a", 0)], [4.0, 2.0, 3.0])
    learner.item_numbers["new"]
    learner.state.grow(2, 2, 1)
    twin = learner.copy()
    numbers = learner.plan.numbers
    if kind == "pmf by sgd":
        numbers[[LAM_USERS if side == "of_users" else LAM_ITEMS, ETA]] = 1e160
    else:
        numbers[[LAM_USERS, LAM_ITEMS, BETA]] = 1e-310
        for state in (learner.state, twin.state):
            for one in (state.of_users, state.of_items):
                one.averages[:2], one.steps[:2] = 1e-320, 3
            getattr(state, side).averages[:2] = 1e300
    states = learner.state, twin.state
    with pytest.raises(ArithmeticError):
        run(learner, u, i, 0.25)
    for one, other in zip(everything(states[0]), everything(states[1]), strict=True):
        np.testing.assert_array_equal(one, other)
    assert learner.ratings_of("a") == twin.ratings_of("a")


def everything(state: Any) -> list[Any]:
    """All that a round changes, in the rows that are in use."""
    sides = [array[:2] for side in (state.of_users, state.of_items) for array in side]
    known = state.known
    return [
        state.totals,
        *sides,
        known.heads[:2],
        known.table,
        known.ratings[: state.ratings],
    ]


def test_a_single_rating_needs_room_and_arrays_that_are_where_they_were() -> None:
    learner = make("rmf by da", native=False).learn([("a", item) for item in range(8)], [3.0] * 8)
    state = learner.state
    assert (state.known.users.size, state.known.table.size, state.memory.entries.size) == (8, 16, 16)
    before = pack(learner)
    with pytest.raises(ArithmeticError):
        run(learner, 0, 0, 0.5)  # eight ratings, and no room for a ninth
    for users, slots, refused in ((9, 16, True), (8, 18, True), (9, 18, False)):
        copy = learner.copy()
        known = copy.state.known
        arrays = [np.resize(array, users) for array in known[:4]]
        table = np.full(slots, -1, np.int32)
        table[:16] = known.table
        copy.state.known = known._replace(**dict(zip(known._fields[:4], arrays, strict=True)), table=table)
        if refused:
            with pytest.raises(ArithmeticError):
                run(copy, 0, 0, 0.5)
            assert pack(copy) == before
        else:
            has_room = play_one.__globals__["has_room"]
            values = bound(copy).values
            given = (values["users"], values["known"], values["totals"])
            assert has_room(*given, values["memory"], values["numbers"], 0)
            tight = values["memory"]._replace(entries=np.zeros(8, np.int64))
            assert not has_room(*given, tight, values["numbers"], 0)
            values["numbers"][RANKING] = 0.0
            assert has_room(*given, tight, values["numbers"], 0)
    for u, i in ((8, 0), (0, 8)):
        with pytest.raises(ArithmeticError):
            run(learner, u, i, 0.5, learns=0)
    one = bound(learner)
    one.ask(0, 0, 0, 0.0)
    play_one(**one.values)
    state.moves += 1
    with pytest.raises(ArithmeticError):
        play_one(**one.values)


def test_a_prediction_that_is_not_finite_is_left_to_the_call_that_says_so() -> None:
    learner = make(native=False).learn([("a", 0)], [4.0])
    learner.state.of_users.factors[0], learner.state.of_items.factors[0] = np.inf, 0.0
    with pytest.raises(ArithmeticError):
        run(learner, 0, 0, 0.5, learns=0)


@pytest.mark.parametrize("first", [0, 5])
def test_whenever_arrays_are_replaced_a_loop_is_bound_anew(first: int) -> None:
    """Otherwise ratings would be learned by arrays that nobody reads; also where the first are those of a file."""
    learner = unpack(pack(make("rmf by da", native=False).learn(PAIRS[:first], Y[:first])), "m.nr")
    for pair, y in zip(PAIRS[first:], Y[first:], strict=True):
        one, moves = bound(learner), int(learner.state.moves[0])
        learner.state.one = one
        learner.learn([pair], [y])
        assert (learner.state.one is one) == (int(learner.state.moves[0]) == moves)
        if learner.state.one is one:
            assert all(mine is now for mine, now in zip(arrays_of(one), arrays_of(bound(learner)), strict=True))
    moves = int(learner.state.moves[0])
    learner.plan.numbers[LAM_USERS] = np.nan
    with pytest.raises(nr.BadValue, match="became infinite"):
        learner.learn(PAIRS[:1], Y[:1])
    assert int(learner.state.moves[0]) > moves


def arrays_of(one: OneRating) -> list[Any]:
    parts = ("users", "items", "known", "memory")
    return [array for part in parts for array in one.values[part]] + [one.values["totals"], one.values["numbers"]]


def test_what_a_round_changes_fills_the_room_for_it() -> None:
    learner = make("rmf by da", native=False).learn([("a", 0)], [4.0])
    one = bound(learner)
    call, rounds = one.values["call"], one.values["rounds"]
    assert [array.size for array in (*rounds, *call[:3])] == [1] * 9
    for array in (call.floats, call.integers):
        array[:] = -77
    one.ask(1, 0, 0, 0.5)
    play_one(**one.values)
    assert not (call.floats == -77.0).any()
    assert not (call.integers == -77).any()


def test_a_loop_that_was_bound_to_arrays_that_are_forgotten_is_of_no_use() -> None:
    learner = make(native=False).learn(PAIRS[:3], Y[:3])
    go_back = learner.state.remember_arrays()
    learner.state.grow(20, 20, 20)
    one = bound(learner)
    go_back()
    one.ask(1, 0, 0, 0.5)
    with pytest.raises(ArithmeticError):
        play_one(**one.values)


def test_a_copy_binds_a_loop_of_its_own() -> None:
    learner = make(native=False).learn(PAIRS, Y)
    learner.state.one = bound(learner)
    assert learner.copy().state.one is None


# ---- rows that are read ----------------------------------------------------------------------------------------------


def test_usual_rows_are_read_and_others_left_to_the_call_with_many() -> None:
    assert read_pair(("a", 7), 3.0) == read_pair(("a", 7, 3.0)) == read_pair(["a", 7.0], 3.0) == ("a", 7, 3.0)
    assert read_pair({"item": 7, "user": "a", "time": 5}, 3.0) == ("a", 7, 3.0)
    assert read_pair({"item": 7, "user": "a", "Rating": 3.0}) == ("a", 7, 3.0)
    assert read_pair(np.array([5.0, 7.0]), 3.0) == read_pair(np.array([5, 7, 3])) == (5, 7, 3)
    assert read_pair(("a", 7)) == ("a", 7, None)
    others: list[Any] = [
        None, 7, "ab", ("a",), ("a", 7, 3.0), ("a", 7, 3.0, 4.0), ("a", None), (True, 7), ("a", 7.5), ("a", ("b",)),
        {"user": "a"}, {"user": "a", "item": 7, "rating": 3.0}, {"user": "a", "item": 7, "genre": 1}, {5: 1, "user": 2},
        {"user": "a", "userId": "a", "item": 7}, {}, np.array(5), np.ones((2, 2)), np.ones(1), {"user", "item"},
    ]  # fmt: skip
    assert [read_pair(row, 3.0) for row in others] == [None] * len(others)
    short_or_long: list[Any] = [("a",), ("a", 7, 3.0, 4.0), []]
    assert [read_pair(row) for row in short_or_long] == [None] * 3


@pytest.mark.parametrize(("row", "y"), [
    (("a", 7), None), (("a", 7, 3.0), 3.0), (("a", 7), 0.5), (("a", 7), 5.5), (("a", 7), float("nan")),
    (("a", 7), "good"), (("a", 7), [3.0]), (("a", 7), 10**400), (("a", None), 3.0), ((True, 7), 3.0), ("a", 3.0),
    ({"user": "a"}, 3.0), ({"user": "a", "item": 7, "genre": "x"}, 3.0), (None, 3.0), (("a", 7.5), 3.0),
])  # fmt: skip
def test_a_single_rating_is_refused_in_the_words_for_many(row: Any, y: Any) -> None:
    learner, plain = make().learn(PAIRS[:9], Y[:9]), make(native=False).learn(PAIRS[:9], Y[:9])
    before = pack(learner)
    said = []
    for one in (learner, plain):
        with pytest.raises(nr.BadValue) as error:
            one.learn_one(row, y)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert pack(learner) == before
    with pytest.raises(nr.BadValue, match="does not support weight="):
        learner.learn_one(("a", 7), 3.0, weight=2.0)


def test_ratings_of_other_types_count_as_they_do_in_a_batch() -> None:
    ones: list[Any] = [True, np.int32(4), np.float16(2.5), np.uint8(3), np.float64(1.5), np.longdouble(2.25)]
    one, many = make(native=True), make(native=True)
    for t, y in enumerate(ones):
        one.learn_one(PAIRS[t], y)
        many.learn([PAIRS[t]], [y])
    assert pack(one) == pack(many)


# ---- transactions ----------------------------------------------------------------------------------------------------

NEW: dict[str, tuple[Any, float]] = {
    "known": (PAIRS[0], 1.0),
    "new": (("new", "new"), 5.0),
    "no room": (("u1", 99), 2.0),
}


def started(kind: str) -> Any:
    learner = make(kind).learn(PAIRS, Y)
    learner.predict_one(PAIRS[0])
    return learner


def full(learner: Any) -> Any:
    """The learner, with as many ratings as there is room for."""
    state = learner.state
    left = range(state.ratings, state.known.users.size)
    learner.learn([("u2", 1000 + number) for number in left], [3.0] * len(left))
    assert state.ratings == state.known.users.size
    return learner


@pytest.mark.thinned(2)
@pytest.mark.parametrize("what", NEW)
@pytest.mark.parametrize("kind", ["pmf by sgd", "rmf by da"])
def test_a_single_rating_that_is_cut_off_is_learned_or_not(kind: str, what: str) -> None:
    def build() -> Any:
        return full(started(kind)) if what == "no room" else started(kind)

    def act(learner: Any) -> object:
        return learner.learn_one(*NEW[what])

    allowed = outcome(build, act)
    for learner in cut_at_lines(build, act, random.Random(kind).randrange(1, 4), 1 if ALL else 4):
        assert pack(learner) in allowed
        again = unpack(pack(learner), "m.nr")
        for one in (learner, again):
            one.learn_one(*NEW["new"]).learn_one(*NEW["known"]).learn(PAIRS, Y)
        assert pack(learner) == pack(again)
        assert learner.ratings_of("u1") == again.ratings_of("u1")


CALLS: dict[str, Callable[[Any], Any]] = {
    "learn": lambda m: m.learn([*PAIRS[:3], ("other", "other")], [1.0, 2.0, 3.0, 4.0]),
    "learn_one": lambda m: m.learn_one(PAIRS[3], 4.5),
    "learn_one new": lambda m: m.learn_one(("other", 77), 4.5),
    "predict_one": lambda m: m.predict_one(PAIRS[0]),
    "copy": lambda m: m.copy(),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("what", NEW)
def test_a_call_at_any_line_of_a_single_rating_comes_before_it_or_after_it(what: str, call: str) -> None:
    """Or it is refused; no rating is lost, or learned twice."""

    def build() -> Any:
        return full(started("rmf by da")) if what == "no room" else started("rmf by da")

    def act(learner: Any) -> Any:
        return learner.learn_one(*NEW[what])

    alone = pack(act(build()))
    one, other = build(), act(build())
    CALLS[call](one)
    CALLS[call](other)
    both = (pack(act(one)), pack(other))
    for learner, answer in called_at_lines(
        build, act, CALLS[call], random.Random(call).randrange(1, 4), 1 if ALL else 3
    ):
        refused = isinstance(answer, nr.Error)
        assert not refused or "called again" in str(answer)
        assert pack(learner) in ((alone,) if refused else both)


def test_threads_learn_all_their_single_ratings() -> None:
    make().learn([(0, 0)], [3.0])  # loops are there
    learner, each = make(), 300

    def learn(user: int) -> None:
        for t in range(each):
            learner.learn_one((user, t % 40), 3.0).predict_one((user, t))

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=learn, args=(user,)) for user in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert (
        learner.rounds == 4 * each == int(learner.state.of_users.steps.sum()) == int(learner.state.of_items.steps.sum())
    )
    assert learner.state.totals[COUNT] == 160
    assert pack(unpack(pack(learner), "m.nr")) == pack(learner)
