"""Factors of a matrix that changes: when their parts are made orthonormal again, which directions are left out."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.blocks import DenseBlock
from noregret.decomposition.factor_changes import add_rank_one, kept_rows, recenter
from noregret.decomposition.factors import (
    Factors,
    Limits,
    choose_signs,
    leading_signs,
    longest_column,
    orthonormal_columns,
    orthonormalize,
    remove_projection,
    upright_rows,
)
from noregret.decomposition.matrix_rows import take_rows
from noregret.decomposition.missing_entries import fill_missing, find_observed
from noregret.decomposition.row_factors import RowFactors

RNG = np.random.default_rng(3)


def orthonormal(rows: int, columns: int) -> np.ndarray:
    return np.asarray(np.linalg.qr(RNG.normal(size=(rows, columns)))[0])


def make(features: int, columns: int, rank: int, limits: Limits | None = None) -> Factors:
    """Factors of as many rows as their rank, with a basis of so many columns."""
    values = np.arange(rank, 0.0, -1.0)
    basis, turn, sums = orthonormal(features, columns), orthonormal(columns, rank), orthonormal(rank, rank).sum(axis=0)
    return Factors(limits or Limits(rank, 1e-8, spare=columns), basis, turn, values, sums, rank)


def whole(factors: Factors) -> np.ndarray:
    assert factors.left is not None
    return np.asarray(factors.left.whole(factors.rank) * factors.values @ factors.right.T)


# ---- appended rows ---------------------------------------------------------------------------------------------------


def test_a_matrix_without_rows_has_no_factors() -> None:
    fresh = Factors.start(3, Limits(2, 0.0))
    shapes = [array.shape for array in (fresh.basis, fresh.turn, fresh.values, fresh.sums, fresh.right)]
    assert shapes == [(3, 0), (0, 0), (0,), (0,), (3, 0)]
    assert (fresh.rank, fresh.features, fresh.rows, fresh.left) == (0, 3, 0, None)
    assert fresh.mean.tolist() == [0.0, 0.0, 0.0]
    assert Factors.start(3, Limits(2, 0.0), keep_rows=True).left == RowFactors()


@pytest.mark.parametrize("size", [1e-20, 1.0, 1e20])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("features", [4, 30])
@pytest.mark.parametrize("project", [False, True])
def test_values_directions_and_mean_are_those_of_the_matrix(
    size: float, keep: bool, features: int, project: bool
) -> None:
    X = size * RNG.normal(size=(9, 3)) @ RNG.normal(size=(3, features))
    factors = Factors.start(features, Limits(3, 1e-8, project), keep)
    for start, stop in ((0, 4), (4, 5), (5, 9)):
        factors.append(X[start:stop])
        so_far = X[:stop]
        values = np.linalg.svd(so_far, compute_uv=False)[:3]
        np.testing.assert_allclose(factors.values, values, rtol=1e-10)
        np.testing.assert_allclose(factors.right.T @ factors.right, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(factors.mean / size, so_far.mean(axis=0) / size, atol=1e-12)
        np.testing.assert_allclose(factors.errors(so_far / size, factors.project(so_far / size)), 0.0, atol=1e-20)
        assert factors.rows == stop
        if keep:
            np.testing.assert_allclose(whole(factors) / size, so_far / size, atol=1e-12)


def test_a_share_of_the_largest_value_is_left_out_but_never_less_than_rounding() -> None:
    values = np.array([2.0, 1.0, 0.5, 4e-13, 2e-13, 1e-13])
    counts = [Limits(rank, share).count(values) for rank, share in ((9, 0.0), (9, 0.25), (9, 0.2499), (2, 0.0))]
    assert counts == [4, 2, 3, 2]
    assert [Limits(9, 0.0).count(np.array(few)) for few in ([], [0.0, 0.0], [3.0])] == [0, 0, 1]
    assert Limits(9, 0.0).share == 1e-13


@pytest.mark.parametrize(
    ("rank", "rows", "features", "direct"),
    [(2, 3, 5, True), (2, 3, 6, False), (2, 4, 6, True), (3, 3, 6, True), (0, 4, 4, True), (0, 4, 5, False)],
)
def test_rows_are_decomposed_with_all_features_where_that_is_the_smaller_matrix(
    rank: int, rows: int, features: int, direct: bool
) -> None:
    """Then the basis is that of U itself, and nothing remains to be turned."""
    for keep in (False, True):
        factors = make(features, rank, rank, Limits(4, 1e-8, spare=9))
        factors.left = RowFactors([np.eye(rank)], [np.eye(rank)]) if keep else None
        assert factors.is_direct(rows) is direct
        factors.append(RNG.normal(size=(rows, features)))
        assert np.array_equal(factors.turn, np.eye(4)) is direct
        assert Factors.start(features, Limits(4, 1e-8, project=True)).is_direct(features) is False


@pytest.mark.parametrize(("features", "compact"), [(24, True), (25, False)])
def test_columns_that_are_not_used_leave_the_basis_where_that_costs_less_than_their_rows(
    features: int, compact: bool
) -> None:
    """24 features times 4 x 2 entries of the turn are less than 4 times 2 columns more times 5 x 5 entries; 25 not."""
    factors = make(features, 4, 2, Limits(2, 1e-8, spare=20))
    factors.append(RNG.normal(size=(3, features)))
    assert factors.basis.shape == (features, 5 if compact else 7)


def test_the_basis_has_no_more_columns_than_it_may_have() -> None:
    factors, sizes = Factors.start(400, Limits(2, 1e-8, spare=4)), []
    for row in RNG.normal(size=(9, 400)):
        factors.append(row[None])
        sizes.append(factors.basis.shape[1])
    assert sizes == [1, 2, 3, 4, 5, 6, 2, 3, 4]


def test_directions_too_small_beside_the_largest_do_not_enter_the_basis() -> None:
    for size, columns in ((0.9e-8, 3), (1.1e-8, 4)):
        factors = make(50, 3, 3, Limits(4, 1e-8, spare=9))
        direction = orthonormal_columns(remove_projection(factors.basis, RNG.normal(size=(50, 1)))[1])
        factors.append(size * 3.0 * direction.T)
        assert factors.basis.shape[1] == columns


def test_copies_share_no_rows() -> None:
    factors = Factors.start(3, Limits(3, 0.0), keep_rows=True)
    factors.append(np.eye(3))
    copied = factors.copy()
    factors.append(np.eye(3))
    assert np.abs(whole(copied) - np.eye(3)).max() < 1e-12
    assert len(whole(factors)) == 6


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("features", [4, 30])
def test_a_matrix_can_be_appended_by_its_factors(keep: bool, features: int) -> None:
    X = RNG.normal(size=(7, 2)) @ RNG.normal(size=(2, features))
    parts = [Factors.start(features, Limits(4, 1e-8), keep) for _ in range(3)]
    for part, rows in zip(parts, (X[:4], X[4:], np.zeros((3, features))), strict=True):
        part.append(rows)
    one, two, zeros = parts
    one.merge(zeros)
    zeros.merge(two)
    np.testing.assert_allclose(zeros.mean, X[4:].sum(axis=0) / 6, atol=1e-12)
    one.merge(two)
    both = np.concatenate((X[:4], np.zeros((3, features)), X[4:]))
    assert (one.rows, zeros.rows) == (10, 6)
    np.testing.assert_allclose(one.values, np.linalg.svd(both, compute_uv=False)[:2])
    np.testing.assert_allclose(one.mean, both.mean(axis=0), atol=1e-12)
    if keep:
        np.testing.assert_allclose(whole(one), both, atol=1e-12)
        np.testing.assert_allclose(whole(zeros), both[4:], atol=1e-12)


# ---- orthonormal columns ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("longer", [1e-6, -1e-6])
def test_a_basis_that_has_drifted_is_made_orthonormal(longer: float) -> None:
    factors = make(9, 3, 3)
    before = factors.right
    factors.basis = factors.basis * (1.0 + longer)
    factors.compact()
    np.testing.assert_allclose(factors.basis.T @ factors.basis, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(factors.right, before, atol=1e-12)
    assert np.array_equal(factors.turn, np.eye(3))


def test_a_basis_that_is_orthonormal_enough_stays_as_it_is() -> None:
    basis = np.array([[1.0, 1e-8], [0.0, 1.0], [0.0, 0.0]])
    factors = Factors(Limits(2, 0.0), basis, np.eye(2), np.ones(2), np.zeros(2))
    factors.compact()
    assert np.array_equal(factors.basis, basis)
    factors.basis = basis * [1.0, 1.1]
    factors.compact()
    assert np.array_equal(factors.basis, np.eye(3)[:, :2])
    np.testing.assert_array_equal(orthonormal_columns(np.diag([-2.0, 0.25])), np.diag([-1.0, 1.0]))


def test_what_is_left_of_columns_is_outside_of_the_basis_to_the_last_digits() -> None:
    basis, new = orthonormal(50, 5), RNG.normal(size=(50, 2))
    inside, rest = remove_projection(basis, basis @ np.full((5, 2), 1e8) + new)
    assert np.abs(basis.T @ rest).max() < 1e-13
    np.testing.assert_allclose(inside, 1e8 + basis.T @ new, rtol=1e-12)
    drifted = basis * (1.0 + 4e-9)
    inside, rest = remove_projection(drifted, new)
    np.testing.assert_allclose(drifted @ inside + rest, new, atol=1e-14)


def test_directions_shorter_than_the_least_are_left_out() -> None:
    column = np.array([[3.0], [4.0], [0.0]])
    q, upper = orthonormalize(column, 4.9)
    assert (q.tolist(), upper.tolist()) == ((column / 5.0).tolist(), [[5.0]])
    q, upper = orthonormalize(column, 5.0)
    assert (q.shape, upper.shape) == ((3, 0), (0, 1))
    for columns, least, kept in ((np.eye(3)[:, :2] * [3.0, 2.0], 2.0, 1), (np.ones((4, 3)), 1e-9, 1)):
        q, upper = orthonormalize(columns, least)
        assert (q.shape[1], upper.shape) == (kept, (kept, columns.shape[1]))
        np.testing.assert_allclose(q.T @ q, np.eye(kept), atol=1e-14)
        np.testing.assert_allclose(q @ upper, columns if least < 1.0 else columns * [1.0, 0.0], atol=1e-14)


@pytest.mark.parametrize("size", [1e-6, 1.0])
@pytest.mark.parametrize(("last", "least", "triangular"), [
    (1e-3, 0.0, False), (1.0001e-3, 0.0, True), (-1.5e-3, 0.0, True), (0.5, 0.5, False), (0.5, 0.4999, True),
])  # fmt: skip
def test_columns_that_are_far_from_dependent_need_no_decomposition(
    size: float, last: float, least: float, triangular: bool
) -> None:
    columns = np.array([[1.0, 5.0], [0.0, last], [0.0, 0.0]]) * size
    q, upper = orthonormalize(columns, least * size)
    assert bool(upper[-1, 0] == 0.0) is triangular
    if triangular or not least:
        np.testing.assert_allclose(q @ upper, columns, atol=1e-15)
    else:
        assert upper.shape == (1, 2)


def test_more_columns_than_features_are_some_directions() -> None:
    columns = RNG.normal(size=(2, 4))
    q, upper = orthonormalize(columns, 1e-9)
    np.testing.assert_allclose(q @ upper, columns)
    q, upper = orthonormalize(columns[:0], 1e-9)
    assert (q.shape, upper.shape) == ((0, 0), (0, 4))


def test_directions_keep_their_signs_and_new_ones_point_up() -> None:
    before, after = np.eye(3)[:, :2], np.array([[-0.6, 0.0, 0.0], [0.0, 0.0, 0.1], [0.0, 0.8, -0.9]])
    assert choose_signs(before, after).tolist() == [-1.0, 1.0, -1.0]
    assert choose_signs(before, after[:, :1]).tolist() == [-1.0]
    assert choose_signs(before[:2], after, np.diag([1.0, 20.0, 1.0])).tolist() == [-1.0, 1.0, 1.0]
    columns = np.array([[1.0, -2.0, 0.0, 0.5], [-3.0, 1.0, 0.0, 0.1]])
    assert leading_signs(columns).tolist() == [-1.0, -1.0, 1.0, 1.0]
    assert upright_rows(columns).tolist() == [[-1.0, 3.0], [2.0, -1.0], [0.0, 0.0], [0.5, 0.1]]
    assert (leading_signs(columns[:0]).tolist(), leading_signs(columns[:, :0]).tolist()) == ([1.0] * 4, [])


# ---- factors of rows -------------------------------------------------------------------------------------------------


def test_rows_are_rotated_whenever_one_is_appended() -> None:
    factors, rows = RowFactors(), np.zeros((0, 2))
    for size in (1, 1, 4, 2, 1, 3, 5, 1, 1, 2, 1):
        rotation, new = RNG.normal(size=(2, 2)), RNG.normal(size=(size, 2))
        rows = np.concatenate((rows @ rotation, new))
        factors.append(rotation, new)
        np.testing.assert_allclose(factors.whole(2), rows, rtol=1e-12)
        assert factors.rows == len(rows)
        assert (np.diff([len(block) for block in factors.blocks]) < 0).all()
    copied = factors.copy()
    factors.replace(rows[:1])
    assert (factors.rows, copied.rows, len(factors.blocks)) == (1, 22, 1)
    assert RowFactors().whole(3).shape == (0, 3)
    with pytest.raises(ValueError, match="zip"):
        RowFactors([np.eye(2)]).whole(2)


# ---- changes ---------------------------------------------------------------------------------------------------------


def learned(X: np.ndarray, rank: int = 9, **options: Any) -> Any:
    return nr.make("svd", rank=rank, batch=4, keep_rows="yes", **options).learn(X)


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_changes_do_not_depend_on_the_unit(size: float) -> None:
    X, new = size * RNG.normal(size=(12, 5)), size * RNG.normal(size=(12, 2))
    wide = size * RNG.normal(size=60)
    learner = learned(X).revise(3, wide[:5]).append_columns(new).remove(7).recenter()
    X[3] = wide[:5]
    X = np.delete(np.concatenate((X, new), axis=1), 7, axis=0)
    X = X - X.mean(axis=0)
    np.testing.assert_allclose(whole(learner.state) / size, X / size, atol=1e-12)
    np.testing.assert_allclose(learner.mean / size, 0.0, atol=1e-12)


@pytest.mark.parametrize(("outside", "kept"), [(0.05, False), (0.2, True)])
def test_rows_that_hardly_leave_those_known_are_taken_as_if_they_did_not(outside: float, kept: bool) -> None:
    """The threshold of 0.1 is a share of the length of what is added along the rows."""
    factors = Factors.start(2, Limits(2, 0.1), keep_rows=True)
    factors.append(np.array([[1.0, 0.0], [0.0, 0.0]]))
    add_rank_one(factors, np.array([0.0, 1.0]), 100.0 * np.array([np.sqrt(1.0 - outside**2), outside]))
    assert bool((kept_rows(factors).whole(1)[1] != 0.0).all()) is kept


def test_equal_rows_are_their_mean_however_many_there_are() -> None:
    for rows in range(900, 1000, 7):
        factors = Factors.start(2, Limits(2, 0.0))
        factors.append(np.tile([3.0, 0.4], (rows, 1)))
        recenter(factors)
        assert (factors.values < 1e-10).all()
        assert (np.abs(factors.mean) < 1e-12).all()


def test_a_matrix_of_zeros_can_be_changed() -> None:
    for keep in ("yes", "no"):
        learner: Any = nr.make("svd", rank=2, batch=1, keep_rows=keep).learn(np.zeros((3, 2)))
        assert learner.recenter().singular_values.size == 0
    learner.learn([[0.0, 2.0]])
    assert learner.singular_values.tolist() == [2.0]
    changed = learned(np.zeros((3, 2))).append_columns([[0.0], [0.0], [5.0]]).revise(0, [0.0, 1.0, 0.0])
    np.testing.assert_allclose(whole(changed.state), [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 5.0]], atol=1e-14)
    alone = learned(np.ones((1, 2))).remove(0)
    assert (alone.mean.tolist(), alone.row_factors.shape) == ([0.0, 0.0], (0, 0))


# ---- missing entries -------------------------------------------------------------------------------------------------


def test_without_factors_or_entries_the_guess_is_zero() -> None:
    there = np.array([[True, False], [False, False]])
    rows = np.array([[3.0, np.nan], [np.nan, np.nan]])
    for factors in (Factors.start(2, Limits(2, 0.0)), make(2, 2, 2)):
        filled = fill_missing(factors, rows[1:], there[1:])
        assert (filled.rows.tolist(), filled.errors.tolist()) == ([[0.0, 0.0]], [0.0])
    filled = fill_missing(Factors.start(2, Limits(2, 0.0)), rows, there)
    assert (filled.rows.tolist(), filled.errors.tolist()) == ([[3.0, 0.0], [0.0, 0.0]], [9.0, 0.0])
    assert filled.components.shape == (2, 0)
    assert np.isnan(rows[0, 1])


def test_zeros_are_observed_in_dense_rows_and_where_a_sparse_row_names_them() -> None:
    dense = take_rows(DenseBlock(np.array([[0.0, np.nan, 2.0]])), 0, 1, 3, missing=True)
    sparse = dense.sparse
    assert sparse.idx.tolist() == [1, 2]
    assert find_observed(dense, absent=True).tolist() == [[True, False, True]]
    named = type(dense)(sparse._replace(idx=sparse.idx, val=np.array([0.0, np.nan])), 3, np.zeros(1))
    assert find_observed(named, absent=True).tolist() == [[False, True, False]]
    assert find_observed(named, absent=False).tolist() == [[True, True, False]]


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_the_longest_of_some_columns_has_this_length(size: float) -> None:
    assert longest_column(size * np.array([[1.0, 3.0, 0.0], [-2.0, 4.0, 0.0]])) == pytest.approx(
        5.0 * size, rel=1e-14, abs=0.0
    )
    assert longest_column(np.zeros((2, 3))) == 0.0
