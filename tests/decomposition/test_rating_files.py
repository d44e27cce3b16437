"""Calls of learners of ratings that are cut off, and model files whose parts do not fit together."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

import noregret as nr
from noregret.learner.model_file import FORMAT, KEY, digest, pack, unpack
from tests.attacks.cut_off import outcome
from tests.support.cover import only_in_test_all
from tests.support.interrupts import interrupted_at_every_line

ROWS = [(7, 1, 4.0), (8, 2, 1.0), (7, 2, 5.0), (0, 1, 3.0), (7, 1, 2.0)]
PAIRS, Y = [(user, item) for user, item, _ in ROWS], [rating for _, _, rating in ROWS]


def make(**options: Any) -> Any:
    return nr.make("factorisation", k=2, native=False, **options)


EXPECTED = pack(make().learn(PAIRS, Y))


# ---- interrupts and files written by others --------------------------------------------------------------------------

NEW, NEW_Y = [(7, 1), ("new", 3), (8, 2)], [1.0, 5.0, 3.0]
ACTS: dict[str, Callable[[Any], Any]] = {
    "learn": lambda learner: learner.learn(NEW, NEW_Y),
    "learn_one": lambda learner: learner.learn_one(("new", 1), 2.0),
    "recommend": lambda learner: learner.recommend(7),
}


@pytest.mark.parametrize(("act", "file"), [
    ("learn", "rating_learner.py"), ("learn", "rating_state.py"), ("learn_one", "rating_loops.py"),
    ("recommend", "rating_learner.py"), pytest.param("learn", "rating_loops.py", marks=only_in_test_all),
])  # fmt: skip
def test_a_call_that_is_cut_off_changes_all_or_nothing(act: str, file: str) -> None:
    does = ACTS[act]

    def prepare() -> tuple[Any, Callable[[], Any]]:
        learner = make(model="rmf", method="da").learn(PAIRS, Y)
        return learner, lambda: does(learner)

    allowed = outcome(lambda: prepare()[0], does)
    for learner in interrupted_at_every_line(prepare, f"decomposition/{file}", KeyboardInterrupt):
        assert pack(learner) in allowed
        assert pack(learner.copy().learn(PAIRS, Y)) == pack(unpack(pack(learner), "m.nr").learn(PAIRS, Y))


def broken(**changes: Any) -> bytes:
    """A file whose arrays are others, with the right checksum."""
    learner = make(method="da").learn(PAIRS, Y)
    header, arrays = learner.dump()
    for name, change in changes.items():
        where = header if name in header else arrays
        key = name if name in header else name.replace("_", ".", 1)
        if change is None:
            del where[key]
        else:
            where[key] = change(where[key])
    text = json.dumps({"format": FORMAT, "kind": learner.kind, **header})
    content: bytes = save(dict(arrays), metadata={KEY: text, "sha256": digest(text, arrays)})
    return content


def widened(array: Any) -> Any:
    return array.astype(np.int64)


def changed(at: int, value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        new = array.copy()
        new[at] = value
        return new

    return change


FIT = "do not fit together$"
USERS, STEPS = r"^m\.nr: .*ratings\.users must be numbers below 3$", "must be whole numbers, at least those of differ"
FINITE, TOTALS = "must be an array of finite numbers$", "its totals are not those of its ratings$"
SUM = "its sum is not that of its ratings$"
NAMES, OBJECTS = "users must be different texts or whole numbers$", "params and options must be objects$"
ROUNDS = "its rounds are not those of its users and items$"


def shorter(array: Any) -> Any:
    return array[:-1].copy()


def first(array: Any) -> Any:
    return array[0].copy()


def added(value: float) -> Callable[[Any], Any]:
    return lambda array: np.concatenate(([array[0] + value], array[1:]))


def flat(array: Any) -> Any:
    return array.reshape(1, -1)


@pytest.mark.parametrize(("name", "change", "problem"), [
    ("ratings_users", changed(0, 3), USERS), ("ratings_users", changed(0, -1), USERS), ("ratings_users", flat, USERS),
    ("ratings_users", None, USERS), ("ratings_items", widened, "ratings.items must be numbers below 2$"),
    ("ratings_users", changed(2, 1), "users.steps must be"), ("ratings_users", shorter, FIT),
    ("ratings_items", shorter, FIT), ("ratings_ratings", shorter, FIT),
    ("ratings_ratings", changed(0, 1.5), FIT), ("ratings_ratings", changed(0, -0.5), FIT),
    ("ratings_ratings", flat, FINITE), ("ratings_ratings", None, FINITE), ("totals", flat, FINITE),
    ("totals", changed(1, 3.0), TOTALS), ("totals", shorter, TOTALS),
    ("totals", changed(2, -1.0), TOTALS), ("totals", changed(3, -1.0), TOTALS), ("totals", changed(4, -1.0), TOTALS),
    ("totals", added(6e-6), SUM), ("totals", added(-6e-6), SUM),
    ("users_steps", changed(0, 1), f"users.steps {STEPS}"), ("users_steps", flat, STEPS), ("users_steps", None, STEPS),
    ("items_steps", lambda it: it.astype(np.int32), f"items.steps {STEPS}"), ("users_steps", shorter, STEPS),
    ("users_steps", changed(0, 2**62), ROUNDS), ("rounds", lambda it: it + 1, ROUNDS),
    ("updates", lambda it: it - 1, ROUNDS), ("items_steps", lambda it: it + 1, ROUNDS),
    ("users_steps", lambda _: np.array([2**63 - 1, 2**63 - 1, 7]), ROUNDS),  # their sum is 5 where it overflows
    ("users_factors", lambda it: it[:, :1].copy(), "the arrays of its users do"), ("users_sums", shorter, FIT),
    ("items_factors", shorter, "the arrays of its items do not fit together$"), ("users_factors", flat, FIT),
    ("items_averages", lambda it: it[:1], "the averages of its items do not fit together$"),
    ("items_averages", lambda it: it[:, :1].copy(), "the averages of its items do"), ("users_averages", None, FINITE),
    ("users_factors", changed(0, np.nan), FINITE), ("items_sums", changed(0, np.inf), FINITE),
    ("users_sums", flat, FINITE), ("users_averages", first, FINITE), ("users_factors", first, FINITE),
    ("users", lambda it: [*it, 9], "users.steps"), ("users", lambda it: [*it[:-1], it[0]], NAMES),
    ("users", lambda it: [*it[:-1], 1.5], NAMES), ("users", lambda it: [*it[:-1], True], NAMES),
    ("items", lambda it: [*it[:-1], None], "items must be diff"), ("items", lambda it: [*it[:-1], [1]], "items must"),
    ("params", lambda it: {**it, "k": 3}, FIT), ("params", lambda it: {**it, "model": "x"}, "model must be one of"),
    ("params", lambda it: {**it, "power": 3}, "factorisation has no such param"), ("params", lambda it: [], OBJECTS),
    ("options", lambda it: {"seed": -1}, "seed must be"), ("options", lambda it: [], OBJECTS),
    ("options", lambda it: {"seeds": 1}, "seeds"),
])  # fmt: skip
def test_files_that_contradict_themselves_are_refused(name: str, change: Any, problem: str) -> None:
    with pytest.raises(nr.Error, match=problem):
        unpack(broken(**{name: change}), "m.nr")


def test_files_may_differ_by_rounding_and_have_no_ratings() -> None:
    learner = unpack(broken(totals=added(3e-6)), "m.nr")
    assert learner.rounds == 5  # of four ratings, which may be off by 1e-6 each
    empty = unpack(pack(make()), "m.nr")
    assert pack(empty.learn(PAIRS, Y)) == EXPECTED


def test_a_file_with_a_rating_that_is_there_twice_is_refused() -> None:
    content = broken(ratings_users=changed(2, 1), users_steps=lambda _: np.array([2, 2, 1]))
    with pytest.raises(nr.Error, match="a rating is there twice"):
        unpack(content, "m.nr")


def test_factors_of_a_file_that_are_too_large_do_not_make_predictions() -> None:
    huge = unpack(broken(users_factors=lambda it: it * 1e300, items_factors=lambda it: it * -1e300), "m.nr")
    before = pack(huge)
    acts: list[Callable[[Any], Any]] = [
        lambda learner: learner.predict(PAIRS),
        lambda learner: learner.learn(PAIRS, Y),
        lambda learner: learner.recommend(7, again=True),
    ]
    for act in acts:
        try:
            found = act(huge)
        except nr.BadValue:
            assert pack(huge) == before
        else:
            assert np.isfinite(np.asarray(found if isinstance(found, np.ndarray) else 0.0)).all()
