"""Single ratings in usual rows take the short way, a call of one loop; whatever it refuses is as it was before."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition import rating_state
from noregret.decomposition.rating_loops import LAM_ITEMS, LAM_USERS
from noregret.decomposition.rating_one import OneRating
from noregret.learner.model_file import pack

PAIRS = [("a", 1), ("b", 2), ("a", 2), ("c", 1), ("a", 1)]
Y = [4.0, 1.0, 5.0, 3.0, 2.0]


def make(native: bool = True, **options: Any) -> Any:
    return nr.make("factorisation", k=2, native=native, **options).learn(PAIRS, Y)


def refuse(*_: Any) -> Any:
    raise AssertionError


USUAL = [(("a", 1), 5.0), (("b", 1), 1.0), (("new", 1), 5.0), (("a", "new"), 1.0), (("newer", "newer"), 2.5)]


@pytest.mark.parametrize(("row", "y"), USUAL)
def test_a_usual_rating_is_learned_and_predicted_without_a_call_with_many(
    row: Any, y: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, many = make(), make()
    many.learn([row], [y])
    predicted = many.predict([row])[0]
    for name in ("learn", "predict"):
        monkeypatch.setattr(type(one), name, refuse)
    one.learn_one(row, y)
    assert pack(one) == pack(many)
    assert one.predict_one(row) == predicted
    assert one.predict_one(("a", "?")) is not None


def test_a_learner_in_plain_python_compiles_no_loop_for_a_single_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating_state, "OneRating", refuse)
    plain, many = make(native=False), make(native=False)
    for row, y in USUAL:
        plain.learn_one(row, y)
        assert plain.predict_one(row) == many.learn([row], [y]).predict([row])[0]
    assert pack(plain) == pack(many)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("row", [("a", 7.5), ("a",), 7])
def test_the_prediction_of_an_unusual_row_is_refused_in_words(row: Any, native: bool) -> None:
    with pytest.raises(nr.BadValue, match=r"^row 0: "):
        make(native).predict_one(row)


@pytest.mark.parametrize(
    "call",
    [lambda learner: learner.learn_one(("a", 1), 5.0), lambda learner: learner.learn_one(("b", 7), 5.0),
     lambda learner: learner.predict_one(("b", 1))],
    ids=["learn", "learn new", "predict"],
)  # fmt: skip
def test_what_was_cut_off_is_undone_before_a_single_rating(call: Callable[[Any], Any]) -> None:
    one, other = make(), make()
    undone = list[None]()
    one._change.undo = lambda: undone.append(None)
    call(one)
    call(other)
    assert len(undone) == 1
    assert one._change.undo is None
    assert pack(one) == pack(other)


@pytest.mark.parametrize("users", [2, 3, 4])
@pytest.mark.parametrize("row", [("new", "new"), ("u1", "new"), ("new", 1)])
def test_a_first_rating_that_overflows_leaves_no_user_and_no_item(row: Any, users: int) -> None:
    """However many there are of both."""
    learner: Any = nr.make("factorisation", k=2)
    learner.learn([(f"u{n % users}", n % 3) for n in range(12)], [3.0] * 12)
    before, rooms = pack(learner), learner.state.rooms
    learner.plan.numbers[[LAM_USERS, LAM_ITEMS]] = np.nan
    with pytest.raises(nr.BadValue, match="became infinite"):
        learner.learn_one(row, 3.0)
    assert pack(learner) == before
    assert learner.state.rooms == rooms
    assert (learner.state.users, learner.state.items) == (users, 3)


def test_a_loop_is_bound_once_for_many_single_ratings(monkeypatch: pytest.MonkeyPatch) -> None:
    bound, bind = list[OneRating](), OneRating

    def counted(*given: Any) -> OneRating:
        bound.append(bind(*given))
        return bound[-1]

    monkeypatch.setattr(rating_state, "OneRating", counted)
    learner = make()
    for call in ("learn", "predict", "learn", "predict", "predict", "learn", "learn"):
        if call == "learn":
            learner.learn_one(("a", 1), 3.0)
        else:
            learner.predict_one(("a", 1))
    assert len(bound) == 1


def test_a_single_rating_makes_as_much_room_as_a_call_with_many() -> None:
    one, many = make(), make()
    for user in range(20):
        one.learn_one((user, user), 3.0)
        many.learn([(user, user)], [3.0])
        assert one.state.rooms == many.state.rooms
        assert one.state.known.table.size == many.state.known.table.size


def test_a_prediction_that_is_not_finite_is_refused_in_words() -> None:
    learner = make()
    learner.state.of_users.factors[0] = np.inf
    learner.state.of_items.factors[0] = 0.0
    with pytest.raises(nr.BadValue, match="a prediction is not finite"):
        learner.predict_one(("a", 1))


def test_an_interrupt_before_a_first_rating_is_learned_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes while the learner notes how to go back: there is nothing to undo yet."""
    learner = make()
    before = pack(learner)

    def interrupt() -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(learner, "undo_of_one", interrupt)
    with pytest.raises(KeyboardInterrupt):
        learner.learn_one(("new", 1), 3.0)
    assert learner._change.undo is None
    assert pack(learner) == before


def test_a_name_of_too_many_digits_is_refused_in_the_words_for_many() -> None:
    learner = make()
    before = pack(learner)
    for row in ((2**1024, 1), ("a", 2**1024), (2**1024, "new"), ("new", 2**1024)):
        with pytest.raises(nr.BadValue, match=r"^row 0: the (user|item) is a number of too many digits"):
            learner.learn_one(row, 3.0)
        assert pack(learner) == before
