"""Frames handed to a learner: features by the names of columns, whatever their order and whoever made the frame."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import noregret as nr
from noregret.learner.model_file import pack

rng = np.random.default_rng(5)
DATA: dict[str, Any] = {
    "age": rng.integers(20, 60, 40).tolist(),
    "rich": (rng.random(40) < 0.5).tolist(),
    "height": rng.normal(1.7, 0.1, 40).tolist(),
}
Y = [["no", "yes"][int(a > 40)] for a in DATA["age"]]
ROWS = [{name: float(DATA[name][t]) for name in DATA} for t in range(40)]
MAKERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "batch": pa.record_batch,
    "pandas nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_frame_is_its_rows_by_name_in_any_order_of_its_columns(kind: str) -> None:
    frame, turned = (MAKERS[kind]({name: DATA[name] for name in names}) for names in (DATA, reversed(DATA)))
    by_hand = nr.make("arow", algebra="sparse").learn(ROWS, Y)
    learner = nr.make("arow", algebra="sparse").learn(frame, Y)
    assert pack(learner) == pack(by_hand)
    assert learner.features == list(DATA)
    assert np.array_equal(learner.scores(turned), by_hand.scores(ROWS))
    assert learner.predict(turned).tolist() == by_hand.predict(ROWS).tolist()
    assert np.array_equal(learner.confidence(turned), by_hand.confidence(ROWS))
    played, other = nr.make("arow").play(frame, Y), nr.make("arow").play(turned, Y)
    assert np.array_equal(played.scores, nr.make("arow").play(ROWS, Y).scores)
    assert played.scores == pytest.approx(other.scores, abs=1e-12)
    assert pack(learner.learn(turned, Y)) == pack(by_hand.learn(ROWS, Y))


@pytest.mark.parametrize("kind", MAKERS)
def test_columns_that_are_new_or_gone_are_as_in_dicts(kind: str) -> None:
    make = MAKERS[kind]
    learner = nr.make("arow").learn(make(DATA), Y)
    by_hand = nr.make("arow").learn(ROWS, Y)
    other = make({"height": DATA["height"], "new": DATA["age"], "age": DATA["age"]})
    rows = [{"height": row["height"], "new": row["age"], "age": row["age"]} for row in ROWS]
    assert np.array_equal(learner.scores(other), by_hand.scores(rows))
    assert learner.features == list(DATA)
    learner.learn(other, Y)
    by_hand.learn(rows, Y)
    assert learner.features == by_hand.features == [*DATA, "new"]
    assert learner.scores(make(DATA)) == pytest.approx(by_hand.scores(ROWS), abs=1e-12)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_column_that_holds_no_numbers_is_named_with_what_to_do(kind: str) -> None:
    frame = MAKERS[kind]({**DATA, "city": ["Oslo", "Rome"] * 20})
    learner = nr.make("pa1").learn(MAKERS[kind](DATA), Y)
    before = pack(learner)
    for act in (lambda: learner.learn(frame, Y), lambda: learner.predict(frame)):
        with pytest.raises(nr.BadValue, match=r"^column 'city' holds \w+, not numbers; .* with nr.open_source"):
            act()
    assert pack(learner) == before
    nr.play(nr.open_source((frame, Y), categorical=["city"]), made := nr.make("pa1"))
    assert "city=Rome" in made.features


def test_dates_lists_and_numbers_among_objects_are_no_numbers() -> None:
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=3)})
    for frame in (days, pl.DataFrame({"day": [[1], [2], [3]]}), pd.DataFrame({"day": ["a", 1, None]})):
        with pytest.raises(nr.BadValue, match=r"^column 'day' holds"):
            nr.make("pa1").learn(frame, [1, -1, 1])


@pytest.mark.parametrize("kind", MAKERS)
def test_missing_values_are_refused_unless_somebody_says_what_they_mean(kind: str) -> None:
    frame = MAKERS[kind]({"a": [1.0, 2.0, None], "b": [3.0, 4.0, 5.0], "c": [None, None, None]})
    with pytest.raises(nr.BadValue, match=r"^row 0, column 'c': the value is missing; fill it, or put nr\.missing"):
        nr.make("pa1").learn(frame, [1, -1, 1])
    learner = (nr.missing("indicator") | nr.make("pa1", algebra="sparse")).learn(frame, [1, -1, 1])
    rows = [{"a": 1.0, "b": 3.0, "c": None}, {"a": 2.0, "b": 4.0, "c": None}, {"a": None, "b": 5.0, "c": None}]
    assert pack((nr.missing("indicator") | nr.make("pa1", algebra="sparse")).learn(rows, [1, -1, 1])) == pack(learner)


def test_values_that_are_not_finite_are_located() -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, float("-inf")]})
    for learner in (nr.make("pa1"), nr.missing() | nr.make("pa1")):
        with pytest.raises(nr.BadValue, match=r"^row 1, column 'b': the value is -inf; every") as caught:
            learner.learn(frame, [1, -1])
        assert caught.value.row == 1
        assert learner.rounds == 0


def test_columns_with_numbers_for_names_are_those_of_a_matrix() -> None:
    X = rng.normal(size=(20, 3))
    y = [k % 2 for k in range(20)]
    matrix = nr.make("arow").learn(X, y)
    frame = pd.DataFrame(X)
    assert nr.make("arow").learn(frame[[2, 0, 1]], y).scores(frame) == pytest.approx(matrix.scores(X), abs=1e-12)
    assert np.array_equal(matrix.scores(frame[[1, 2, 0]]), matrix.scores(X))
    in_order, turned = (nr.make("arow").learn(frame[order], y) for order in ([0, 1, 2], [2, 0, 1]))
    assert pack(in_order) == pack(turned) == pack(matrix)
    gaps = [nr.make("arow").learn(frame[order], y) for order in ([0, 2], [2, 0])]
    assert pack(gaps[0]) == pack(gaps[1])
    assert gaps[0].scores(frame[[2, 0]]).tolist() == gaps[0].scores([{0: a, 2: b} for a, _, b in X]).tolist()
    with pytest.raises(nr.BadValue, match="knows its features by column number and was given names"):
        matrix.learn(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    with pytest.raises(nr.BadValue, match="knows its features by name and was given columns without names"):
        nr.make("arow").learn(pd.DataFrame(X, columns=["a", "b", "c"]), y).predict(X)


def test_frames_whose_columns_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(nr.BadValue, match=r"^more than one column is named 'a'"):
        nr.make("pa1").learn(pd.DataFrame([[1, 2]], columns=["a", "a"]), [1])
    for names in (["a", 1], [-1, 2], [True, 2], [("a", "b"), ("a", "c")]):
        with pytest.raises(nr.BadValue, match=r"^a column is named .*; name all columns by strings, or all by numbers"):
            nr.make("pa1").learn(pd.DataFrame([[1, 2]], columns=pd.Index(names, tupleize_cols=False)), [1])
    with pytest.raises(nr.BadValue, match=r"^a LazyFrame is lazy; collect it first"):
        nr.make("pa1").learn(pl.DataFrame({"a": [1]}).lazy(), [1])


def test_one_row_of_a_frame_is_a_row_by_name() -> None:
    frame = pd.DataFrame(DATA)
    by_hand, series, short = (nr.make("pa1", algebra="sparse") for _ in range(3))
    for t in range(40):
        by_hand.learn_one(ROWS[t], Y[t])
        series.learn_one(frame.iloc[t].astype(float), Y[t])
        short.learn_one(frame.iloc[[t]], Y[t])
    assert pack(by_hand) == pack(series) == pack(short)
    assert series.predict_one(frame.iloc[3]) == by_hand.predict_one(ROWS[3])
    assert series.explain_one(frame.iloc[3].astype(float)) == by_hand.explain_one(ROWS[3])
    with pytest.raises(nr.BadValue, match="a row is a dict of features"):
        short.learn_one(frame, "yes")


@pytest.mark.parametrize("kind", MAKERS)
def test_what_breaks_in_a_frame_is_found_and_undone(kind: str) -> None:
    learner = nr.make("ogd", task="regression", scale_target=False)
    learner.learn(MAKERS[kind]({"a": [1.0], "b": [2.0]}), [1.0])
    before = pack(learner)
    with pytest.raises(nr.BadValue, match=r"row 2 of this call"):
        learner.learn(MAKERS[kind]({"b": [1.0, 1e300, 1e300], "a": [1.0, 1e300, 1e300]}), [1.0, 2.0, 3.0])
    assert pack(learner) == before


def test_empty_frames_change_nothing_and_labels_may_come_from_the_frame() -> None:
    learner = nr.make("pa1").learn(pl.DataFrame({"a": [1.0, 2.0]}), pl.Series(["u", "v"]))
    before = pack(learner)
    learner.learn(pl.DataFrame({"a": []}), [])
    assert learner.predict(pl.DataFrame({"a": []})).size == 0
    assert pack(learner) == before
    frame = pd.DataFrame({"a": [1.0, 2.0], "y": ["u", "v"]})
    table = pa.table(frame)
    assert pack(nr.make("pa1").learn(frame[["a"]], frame["y"])) == before
    assert pack(nr.make("pa1").learn(table.select(["a"]), table["y"])) == before
    assert nr.make("pa1").play(table.select(["a"]), table["y"].combine_chunks()).truth.tolist() == ["u", "v"]


def test_epochs_over_a_frame_know_its_columns_by_name() -> None:
    frame = pd.DataFrame(DATA)
    learner, by_hand = (nr.make("perceptron", scale=True, algebra="sparse") for _ in range(2))
    nr.epochs(learner, frame, Y, 3, seed=1)
    nr.epochs(by_hand, ROWS, Y, 3, seed=1)
    assert pack(learner) == pack(by_hand)
    assert learner.predict(frame[["height", "age", "rich"]]).tolist() == by_hand.predict(ROWS).tolist()
