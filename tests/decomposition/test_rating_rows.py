"""Ratings in every form that they come in, and those that are refused: nothing of these is learned."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition.rating_columns import check_ids
from noregret.decomposition.rating_loops import LAM_USERS
from noregret.learner.model_file import pack

ROWS = [(7, 1, 4.0), (8, 2, 1.0), (7, 2, 5.0), (0, 1, 3.0), (7, 1, 2.0)]
PAIRS, Y = [(user, item) for user, item, _ in ROWS], [rating for _, _, rating in ROWS]
DICTS = [{"user": user, "item": item} for user, item in PAIRS]


def make(**options: Any) -> Any:
    return nr.make("factorisation", k=2, native=False, **options)


EXPECTED = pack(make().learn(PAIRS, Y))


# ---- forms -----------------------------------------------------------------------------------------------------------


def frame(library: str, **columns: str) -> Any:
    cells = {columns.get(name, name): [row[at] for row in ROWS] for at, name in enumerate(("user", "item", "rating"))}
    return (
        pytest.importorskip(library).table(cells)
        if library == "pyarrow"
        else pytest.importorskip(library).DataFrame(cells)
    )


FORMS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "dicts": lambda: (DICTS, Y),
    "dicts with ratings": lambda: ([{"user": u, "item": i, "rating": y, "time": 3} for u, i, y in ROWS], None),
    "dicts of other names": lambda: ([{"userId": user, "movieId": item, "Rating": y} for user, item, y in ROWS], None),
    "triples": lambda: (ROWS, None),
    "lists": lambda: ([[user, item] for user, item in PAIRS], tuple(Y)),
    "array": lambda: (np.array(PAIRS), np.array(Y)),
    "array of floats with ratings": lambda: (np.array(ROWS), None),
    "array of objects": lambda: (np.array(PAIRS, object), Y),
    "arrays": lambda: (list(np.array(ROWS)), None),
    "pandas": lambda: (frame("pandas"), None),
    "record batch": lambda: (frame("pyarrow").to_batches()[0], None),
    "polars": lambda: (frame("polars", user="user_id", item="ItemID"), None),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_learned_alike(form: str) -> None:
    X, y = FORMS[form]()
    learner = make().learn(X, y)
    assert pack(learner) == EXPECTED
    np.testing.assert_array_equal(learner.predict(X), learner.predict(PAIRS))


@pytest.mark.parametrize("text", ["user,item,rating\n{}", "rating,time,item,user\n{}", "userId,movieId,rating\n{}"])
def test_tables_are_read_by_the_names_of_their_columns(text: str, tmp_path: Path) -> None:
    names = text.partition("\n")[0].split(",")
    cells = [dict(zip(("user", "item", "rating"), row, strict=True)) for row in ROWS]
    lines = [",".join(str(row.get({"userId": "user", "movieId": "item"}.get(name, name), 9)) for name in names)
             for row in cells]  # fmt: skip
    path = tmp_path / "r.csv"
    path.write_text(text.format("\n".join(lines) + "\n"))
    numbers, texts = make(), make()
    for batch in nr.open_source(path, label="rating", targets=True):
        numbers.learn(batch.X, batch.y)
    for batch in nr.open_source(
        path, label="rating", targets=True, categorical=names[-2:] if "time" in names else names[:2]
    ):
        texts.learn(batch.X, batch.y)
    assert pack(numbers) == EXPECTED
    assert texts.users == ["7", "8", "0"]
    np.testing.assert_allclose(texts.user_factors, numbers.user_factors)


def test_ids_that_need_no_change_are_taken_as_they_are() -> None:
    given = ["a", 7, "7"]
    assert check_ids(given, "user") is given
    assert check_ids([7.0, np.int64(8), np.str_("a")], "user") == [7, 8, "a"]


def test_one_rating_at_a_time() -> None:
    learner = make()
    for (user, item), rating in zip(PAIRS, Y, strict=True):
        learner.learn_one({"user": user, "item": item}, rating)
    assert pack(learner) == EXPECTED
    learner = make()
    for row in ROWS:
        learner.learn_one(np.array(row))
    assert pack(learner) == EXPECTED
    assert learner.predict_one(np.array([7, 1])) == learner.predict_one((7, 1)) == learner.predict_one(DICTS[0])


def test_nothing_is_learned_of_no_rows() -> None:
    assert pack(make().learn([], [])) == pack(make())
    assert make().predict_one((1, 2)) is None
    with pytest.raises(nr.NotLearned, match="has not seen a rating"):
        make().recommend(7)


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("X", "y", "problem"), [
    ([(7, 1), (7, 2)], [3.0, 9.0], "row 1: the rating 9 is outside of the scale from 1 to 5"),
    ([(7, 1), (7, 2)], [0.5, 9.0], "row 0: the rating 0.5 is outside"),
    ([(7, 1), (7, 2)], [3.0, float("nan")], "row 1: the rating is nan"),
    ([(7, 1), (7, 2)], [3.0, "good"], "ratings must be numbers, not 'good'"),
    ([(7, 1), (7, 2)], [3.0], "2 rows and 1 ratings"),
    ([(7, 1), (7, 2)], None, "there are no ratings"),
    (ROWS[:2], [3.0, 3.0], "given twice"),
    ([(7, 1), (7, None)], [3.0, 3.0], "row 1: the item must be a text or a whole number, not None"),
    ([(7, 1), (True, 1)], [3.0, 3.0], "row 1: the user must be a text or a whole number, not True"),
    ([(7, 1), (7, 1.5)], [3.0, 3.0], "row 1: the item"),
    ([(7, 1), (float("nan"), 1)], [3.0, 3.0], "row 1: the user"),
    ([(7, 1), ((1, 2), 1)], [3.0, 3.0], "row 1: the user"),
    ([(7, 1), 3], [3.0, 3.0], "row 1: a row is a dict with user and item, or a pair"),
    ([(7, 1), (7, 1, 2, 3)], [3.0, 3.0], "row 1: a row is a dict"),
    ([(7, 1, 2), (7, 1)], None, "row 1: a row is a dict"),
    ([7, (7, 1)], [3.0, 3.0], r"row 0: a row is a dict with user and item, or a pair \(user, item\), not 7$"),
    ([(7, 1), np.array(7)], [3.0, 3.0], "row 1: a row is a dict"),
    ([(7,), (7, 1)], [3.0, 3.0], "row 0: a row is a dict"),
    ([DICTS[0], (7, 1)], [3.0, 3.0], "row 1 must be a dict"),
    ([DICTS[0], {"user": 7}], [3.0, 3.0], "row 1: the item is missing"),
    ([DICTS[0], {**DICTS[0], "genre": "x"}], [3.0, 3.0], "row 1: unknown column 'genre'"),
    ([DICTS[0], {"item": 7}], [3.0, 3.0], "row 1: the user is missing"),
    ([DICTS[0], {"user": 7, 5: 7}], [3.0, 3.0], "row 1: unknown column 5; a rating has user, item, rating, time:"),
    ([DICTS[0], {**DICTS[0], "userId": 8}], [3.0, 3.0],
     "row 1: the columns 'user' and 'userId' both hold the user; leave one of them out$"),
    ([{**DICTS[0], "rating": 3}, DICTS[1]], None, "row 1: the rating is missing"),
    (np.ones((2, 4)), [3.0, 3.0], "two columns, user and item, not the shape"),
    (np.ones(2), [3.0, 3.0], "two columns"),
    ({"user": [1], "item": [2]}, [3.0], "use learn_one"),
    ("ratings", [3.0], "ratings are a list of dicts"),
    (7, [3.0], "ratings are a list of dicts"),
])  # fmt: skip
def test_ratings_that_cannot_be_learned_change_nothing(X: Any, y: Any, problem: str) -> None:
    for learner in (make(), make().learn(PAIRS, Y)):
        before = pack(learner)
        with pytest.raises(nr.BadValue, match=problem):
            learner.learn(X, y)
        assert pack(learner) == before


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_that_cannot_be_learned_say_which_column(library: str) -> None:
    table = pytest.importorskip(library).DataFrame
    for cells, problem in (
        ({"user": [1, 2], "rating": [3, 3]}, "there is no column 'item'"),
        ({"user": [1, 2], "item": [1, 2], "genre": [3, 3]}, "^unknown column 'genre'"),
        ({"user": [1, 2], "userid": [1, 2], "item": [3, 3]}, "both hold the user"),
        ({"user": ["a", None], "item": [1, 2], "rating": [3, 3]}, "row 1: the user is missing"),
    ):
        with pytest.raises(nr.BadValue, match=problem):
            make().learn(table(cells))


def test_a_frame_that_is_not_computed_yet_is_refused() -> None:
    X = frame("polars").lazy()
    with pytest.raises(nr.BadValue, match="a LazyFrame is lazy; collect it first"):
        make().learn(X)
    assert pack(make().learn(X.collect())) == EXPECTED


@pytest.mark.parametrize(("options", "problem"), [
    ({"minimum": 5, "maximum": 5}, "minimum must be below maximum"), ({"k": 2.5}, "k must be a whole number"),
    ({"k": 0}, "k must be"), ({"model": "svd"}, "model must be one of pmf, rmf"), ({"eta": -1}, "eta must be"),
    ({"seed": 2**70}, "seed must be below"), ({"seed": -1}, "seed"), ({"damping": 0}, "damping"),
    ({"minimum": float("nan")}, "minimum"),
])  # fmt: skip
def test_parameters_are_checked(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(nr.BadValue, match=problem):
        nr.make("factorisation", **options)


def test_weights_and_queries_are_refused() -> None:
    for given in ({"weight": 2.0}, {"query": [1] * 5}):
        with pytest.raises(nr.BadValue, match="does not support"):
            make().learn(PAIRS, Y, **given)


@pytest.mark.parametrize("method", ["sgd", "da"])
@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_factors_that_overflow_are_undone(method: str, native: bool) -> None:
    """Also ratings that were replaced, new users and items, and the lists of ratings."""
    options: dict[str, Any] = {"method": method, "eta": 1e3, "lam_users": 1e250, "beta": 1e-300, "lam_items": 1e-320}
    learner = nr.make(
        "factorisation", k=2, native=native, **(options if method == "sgd" else {**options, "lam_users": 0.0})
    )
    reference = make().learn(PAIRS, Y)
    header, arrays = reference.dump()
    learner = type(reference).restore({**header, "params": learner.params, "options": {"native": native}},
                                      {**arrays, **averages(arrays)} if method == "da" else arrays, None)  # fmt: skip
    before = pack(learner)
    for _ in range(2):
        with pytest.raises(nr.BadValue, match="became infinite"):
            learner.learn([*PAIRS, (7, 2), ("new", 1), (8, "new")] * 3, [*Y, 1.0, 2.0, 5.0] * 3)
        assert pack(learner) == before
        assert learner.ratings_of(7) == {1: 2.0, 2: 5.0}


@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_ratings_that_are_undone_are_not_in_the_lists(native: bool) -> None:
    """Also where there was room for them, so that nothing had grown."""
    learner, twin = (nr.make("factorisation", k=2, native=native).learn(PAIRS, Y) for _ in range(2))
    numbers: Any = learner.plan.numbers  # type: ignore[attr-defined]
    usual = numbers[LAM_USERS]
    numbers[LAM_USERS] = 1e250
    with pytest.raises(nr.BadValue, match="became infinite"):
        learner.learn([(8, 1), (8, 1), (0, 2)], [3.0, 3.0, 3.0])
    numbers[LAM_USERS] = usual
    for one in (learner, twin):
        one.learn([(8, 1), (0, 2), (8, 1)], [2.0, 1.0, 4.0])
    assert pack(learner) == pack(twin)
    assert learner.ratings_of(8) == {2: 1.0, 1: 4.0}  # type: ignore[attr-defined]


def averages(arrays: Any) -> dict[str, Any]:
    return {f"{side}.averages": np.zeros_like(arrays[f"{side}.factors"]) for side in ("users", "items")}
