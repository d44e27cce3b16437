"""A few rows as a matrix: dense and sparse alike, wider, cut, put together, and in a model file."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.blocks import DenseBlock, SparseBlock, to_sparse
from noregret.decomposition.matrix_rows import (
    LARGEST,
    MatrixRows,
    as_floats,
    empty_rows,
    find_too_large,
    pad_columns,
    row_dots,
    row_products,
    take_rows,
)
from tests.support import refusal

X = np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 3.0, -4.0, 5.0], [6.0, 0.0, 0.0, 0.0]])
FORMS: dict[str, Callable[[Any], Any]] = {"dense": DenseBlock, "sparse": lambda X: to_sparse(DenseBlock(X))}
forms = pytest.mark.parametrize("form", FORMS)


def rows_of(form: str, X: Any = X, missing: bool = False) -> MatrixRows:
    X = np.asarray(X)
    return take_rows(FORMS[form](X), 0, len(X), X.shape[1], missing)


def offsets(rows: MatrixRows) -> list[Any]:
    return [part.tolist() for part in rows.sparse[:3]]


@forms
def test_rows_are_the_same_dense_and_sparse(form: str) -> None:
    for start, stop in ((0, 4), (1, 3), (2, 4), (3, 3), (1, 2)):
        part = take_rows(FORMS[form](X), start, stop, 4)
        assert (part.rows, part.width) == (stop - start, 4)
        assert part.dense.tolist() == X[start:stop].tolist()
        assert offsets(part) == [array.tolist() for array in to_sparse(DenseBlock(X[start:stop]))[:3]]
        assert part.beyond.tolist() == [0.0] * (stop - start)
    block = FORMS[form](X.copy())
    part = take_rows(block, 0, 4, 4)
    block.val[...] = 9.0
    assert part.dense.tolist() == X.tolist()


@forms
def test_wider_rows_have_zeros(form: str) -> None:
    rows = rows_of(form)
    assert rows.widen(4) is rows
    assert rows.cut(4) is rows
    for wide in (rows.widen(6), rows.cut(6)):
        assert (wide.width, wide.sparse.width) == (6, 6)
        assert wide.dense.tolist() == np.pad(X, ((0, 0), (0, 2))).tolist()
    assert take_rows(FORMS[form](X), 0, 4, 5).dense.shape == (4, 5)
    full = rows_of("dense")
    assert full.dense is full.block.val


@forms
def test_what_is_cut_off_is_added_up(form: str) -> None:
    rows = rows_of(form).cut(3)
    assert rows.dense.tolist() == X[:, :3].tolist()
    assert rows.beyond.tolist() == [0.0, 0.0, 25.0, 0.0]
    rows = rows.cut(1)
    assert rows.dense.tolist() == X[:, :1].tolist()
    assert rows.beyond.tolist() == [4.0, 0.0, 50.0, 0.0]
    assert rows.beyond.dtype == np.float64
    assert rows_of(form, [[1.0, np.nan, 3.0]], missing=True).cut(1).beyond.tolist() == [9.0]


@pytest.mark.parametrize(("columns", "last"), [(X, 3), (X[:, :2], 1), (X[:1], 2), (X[1:2], -1), (X[:, :0], -1)])
@forms
def test_the_last_feature_that_is_used(form: str, columns: Any, last: int) -> None:
    assert rows_of(form, columns).last_used == last
    named = SparseBlock(np.array([0, 2, 3]), np.array([0, 3, 1], np.int32), np.array([1.0, 0.0, 2.0]), 4)
    assert take_rows(named, 0, 2, 4).last_used == 1
    assert take_rows(named, 0, 1, 4).last_used == 0


@pytest.mark.parametrize("first", FORMS)
@pytest.mark.parametrize("second", FORMS)
def test_rows_are_put_after_others(first: str, second: str) -> None:
    one, two = rows_of(first, X[:3]).cut(3), rows_of(second, X[2:, :2])
    for both, expected in (
        (one.add(two), [*X[:3, :3], *np.pad(X[2:, :2], ((0, 0), (0, 1)))]),
        (two.add(one), [*np.pad(X[2:, :2], ((0, 0), (0, 1))), *X[:3, :3]]),
    ):
        assert both.width == 3
        assert both.dense.tolist() == np.array(expected).tolist()
        assert offsets(both) == [array.tolist() for array in to_sparse(DenseBlock(np.array(expected)))[:3]]
        assert isinstance(both.block, DenseBlock) is (first == second == "dense")
    assert one.add(two).beyond.tolist() == [0.0, 0.0, 25.0, 0.0, 0.0]
    assert two.add(one).beyond.tolist() == [0.0, 0.0, 0.0, 0.0, 25.0]
    assert empty_rows().add(one) is one


def test_no_rows_are_a_matrix_without_anything() -> None:
    none = empty_rows()
    assert (none.rows, none.width, none.block.width, none.dense.shape) == (0, 0, 0, (0, 0))
    assert [part.tolist() for part in none.block[:3]] == [[0], [], []]
    assert none.beyond.tolist() == []
    assert none.dump() == {}


def test_a_mini_batch_that_does_not_fit_in_memory_is_refused() -> None:
    wide = MatrixRows(
        SparseBlock(np.zeros(1001, np.int64), np.zeros(0, np.int32), np.zeros(0), 5), 1 << 28, np.zeros(1000)
    )
    assert "do not fit in memory" in refusal(lambda: wide.dense)


# ---- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [1.1e150, -1.1e150, 1e300, np.inf, np.nan])
@pytest.mark.parametrize("row", [0, 2, 3])
@forms
def test_the_row_of_a_value_that_is_too_large_is_named(form: str, row: int, wrong: float) -> None:
    changed = np.concatenate((X, np.ones((2, 4))))
    changed[row, 1] = wrong
    for missing in (False, True):
        message = f"row {row}: a value is too large: {wrong:g}; scale the rows first"
        if missing:
            changed[0, 3], changed[5, 0] = np.nan, wrong
        if missing and np.isnan(wrong):
            assert rows_of(form, changed, missing).rows == 6
            continue
        assert refusal(lambda: rows_of(form, changed, missing)) == message  # noqa: B023
        with pytest.raises(nr.BadValue) as caught:
            take_rows(FORMS[form](changed), row, 5, 4, missing)
        assert caught.value.row == row
    assert find_too_large(np.array([LARGEST, -LARGEST, 1.1e150, np.nan]), True).tolist() == [False, False, True, False]
    assert rows_of(form, [[LARGEST, -LARGEST]]).rows == 1


@forms
def test_rows_without_features_are_fine(form: str) -> None:
    assert rows_of(form, np.zeros((2, 0))).dense.shape == (2, 0)


def test_products_of_rows_do_not_depend_on_those_beside_them() -> None:
    A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    assert row_dots(A, A + 1.0).tolist() == [8.0, 62.0]
    assert row_products(A, B).tolist() == (A @ B).tolist()
    assert as_floats(A) is not A
    assert as_floats([[1, 2]]).tolist() == [[1.0, 2.0]]
    wrong: tuple[Any, ...] = ("ab", [[1.0], [2.0, 3.0]], {}, None)
    assert all(as_floats(one).ndim < 2 for one in wrong)
    assert as_floats("ab").tolist() == []
    assert pad_columns(A, 5).tolist() == [[0.0, 1.0, 2.0, 0.0, 0.0], [3.0, 4.0, 5.0, 0.0, 0.0]]


# ---- model files -----------------------------------------------------------------------------------------------------


@forms
def test_rows_are_read_as_they_were_written(form: str) -> None:
    rows = rows_of(form)
    again = MatrixRows.restore(4, rows.dump(), 4, False)
    assert type(again.block) is type(rows.block)
    assert (again.dense.tolist(), again.width, again.beyond.tolist()) == (X.tolist(), 4, [0.0] * 4)
    assert sorted(rows.dump()) == [f"pending.{name}" for name in (
        ["values"] if form == "dense" else ["features", "offsets", "values"])]  # fmt: skip
    gaps = rows_of(form, [[np.nan, 2.0]], missing=True)
    assert np.isnan(MatrixRows.restore(1, gaps.dump(), 2, True).dense[0, 0])
    assert "too large" in refusal(lambda: MatrixRows.restore(1, gaps.dump(), 2, False))
    largest = rows_of(form, [[LARGEST, -LARGEST]])
    assert MatrixRows.restore(1, largest.dump(), 2, False).rows == 1
    for wrong in (1.1e150, -1.1e150, np.inf):
        arrays = {**rows.dump(), "pending.values": np.full_like(rows.dump()["pending.values"], wrong)}
        for missing in (False, True):
            assert "too large" in refusal(lambda: MatrixRows.restore(4, arrays, 4, missing))  # noqa: B023
    assert MatrixRows.restore(0, {}, 4, False).rows == 0
    assert MatrixRows.restore(0, rows.dump(), 4, False).rows == 0


WRONG: list[tuple[str, str, Any]] = [
    ("dense", "values", None), ("dense", "values", X.astype(np.float32)), ("dense", "values", X[:3]),
    ("dense", "values", X[:, :3]), ("dense", "values", X.ravel()), ("dense", "values", X[None]),
    ("dense", "values", X.T[:3].T[:3]), ("sparse", "values", None), ("sparse", "values", np.ones(5)),
    ("sparse", "values", np.ones(7)), ("sparse", "values", np.ones((6, 1))), ("sparse", "offsets", None),
    ("sparse", "features", None), ("sparse", "offsets", np.array([0, 2, 2, 5, 6], np.int32)),
    ("sparse", "features", np.array([0, 2, 1, 2, 3, 0], np.int64)), ("sparse", "offsets", np.array([0, 2, 2, 6])),
    ("sparse", "offsets", np.array([0, 2, 1, 5, 6])), ("sparse", "offsets", np.array([1, 2, 2, 5, 6])),
    ("sparse", "offsets", np.array([0, 2, 2, 5, 7])), ("sparse", "features", np.array([0, 2, 1, 2, 4, 0], np.int32)),
    ("sparse", "features", np.array([0, -2, 1, 2, 3, 0], np.int32)), ("sparse", "features", np.zeros(6, np.int32)),
]  # fmt: skip


@pytest.mark.parametrize(("form", "name", "array"), WRONG)
def test_rows_that_contradict_themselves_are_refused(form: str, name: str, array: Any) -> None:
    arrays: dict[str, Any] = {**rows_of(form).dump(), f"pending.{name}": array}
    given = {key: one for key, one in arrays.items() if one is not None}
    message = refusal(lambda: MatrixRows.restore(4, given, 4, False))
    assert message.startswith("corrupt model file: ")
    assert "mini-batch" in message
