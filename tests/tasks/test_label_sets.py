"""Sets of labels as callers give them: what holds them, and which row an error names."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.support import refusal
from tests.tasks.test_multilabel import LABELS, made, same_model, stream


@pytest.mark.parametrize("bad", [set(), [None], {None, 1}])
def test_errors_name_the_row_where_there_are_several(bad: Any) -> None:
    alone, among = (refusal(partial(made("pa1").learn, np.eye(2)[:n], [[0], bad][-n:])) for n in (1, 2))
    assert among == f"row 1: {alone}"


@pytest.mark.parametrize("bad", [[0, 0], [0, 2]])
def test_errors_name_the_row_of_a_matrix_where_there_are_several(bad: list[int]) -> None:
    learner, matrix = made("pa1", classes=["a", "b"]), np.array([[1, 0], bad])
    alone, among = (refusal(partial(learner.learn, np.eye(2)[:n], matrix[-n:])) for n in (1, 2))
    assert among == f"row 1: {alone}"


def test_the_columns_of_a_matrix_are_the_classes_that_were_named() -> None:
    X, sets = stream(seed=12)
    matrix = np.array([[c in row for c in range(LABELS)] for row in sets])
    by_column, by_name = (made("pa1", classes=list("edcba")) for _ in range(2))
    by_name.learn(X, [{"edcba"[c] for c in row} for row in sets])
    assert same_model(by_column.learn(X, matrix), by_name)


def test_a_tuple_and_a_series_of_sets_are_lists_of_them() -> None:
    X, sets = stream(seed=12)
    whole = made("pa1").learn(X, sets)
    for labels in (tuple(sets), pd.Series(sets), np.array([*sets, None], object)[:-1]):
        assert same_model(made("pa1").learn(X, labels), whole)


@pytest.mark.parametrize("dtype", [np.int8, float, "U1", object])
def test_an_array_of_single_labels_is_one_of_sets_of_one(dtype: Any) -> None:
    labels = np.array([3, 1, 3, 2]).astype(dtype)
    learner = made("pa1").learn(np.eye(4), labels)
    assert same_model(learner, made("pa1").learn(np.eye(4), [[label] for label in labels.tolist()]))
    assert {type(label) for label in learner.classes} == {type(labels.tolist()[0])}
