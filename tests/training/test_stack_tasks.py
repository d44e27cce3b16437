"""Many tasks as one: rows seated by task."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array

import noregret as nr
from noregret.training.stack_tasks import stack_tasks


@pytest.mark.parametrize("kind", [np.array, csr_array, csc_matrix])
def test_a_feature_stands_beside_itself_in_other_tasks(kind: Any) -> None:
    X = np.array([[1.0, 0.0, 2.0], [3.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    seated = stack_tasks(kind(X), [1, 0, 1], 2)
    assert seated.shape == (3, 6)
    assert seated.toarray().tolist() == [[0, 1, 0, 0, 0, 2], [3, 0, 4, 0, 0, 0], [0] * 6]


def test_one_task_leaves_rows_as_they_are() -> None:
    X = np.random.default_rng(0).normal(size=(5, 4))
    assert stack_tasks(X, np.zeros(5, int), 1).toarray().tolist() == X.tolist()
    assert stack_tasks(X[:0], [], 3).shape == (0, 12)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (([[1.0]], [0], 0), "tasks must be a whole number of at least 1, not 0"),
        (([[1.0]], [0], True), "tasks must be a whole number"),
        (([[1.0]], [2], 2), "task must hold whole numbers from 0 to 1"),
        (([[1.0]], [-1], 2), "task must hold whole numbers from 0 to 1"),
        (([[1.0]], [0.5], 2), "task must hold whole numbers from 0 to 1"),
        (([[1.0]], [0, 1], 2), "task must name the task of each of the 1 rows"),
        (("rows", [0], 2), "X must be an array or a sparse matrix of numbers"),
    ],
)
def test_says_what_is_wrong(options: tuple[Any, ...], said: str) -> None:
    with pytest.raises(nr.BadValue, match=said):
        stack_tasks(*options)
