"""Rows as decompositions read them: how many features are known at each row, what is refused, what a file keeps."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import noregret as nr
from noregret.data.blocks import DenseBlock, SparseBlock, sort_rows, to_dense
from noregret.decomposition.row_encoder import RowConfig, RowEncoder, is_sorted, verify_observed
from tests.support import refusal, refused

X = np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0], [1.0, 2.0, 3.0, 0.0]])


def encoder(**options: Any) -> RowEncoder:
    learner: Any = nr.make("svd", native=False, **options)
    found: RowEncoder = learner.encoder
    return found


def widths(one: RowEncoder, rows: Any) -> list[int]:
    found: list[int] = one.encode(rows, True)[1].tolist()
    assert one.features == (found[-1] if found else one.features)
    return found


def restored(saved: RowEncoder, options: Any = None, **changes: Any) -> RowEncoder:
    header, arrays = saved.dump()
    new = encoder(**(options or {}))
    new.restore({**header, **changes}, arrays)
    return new


# ---- options ---------------------------------------------------------------------------------------------------------


def test_options_have_their_defaults_and_only_others_are_kept() -> None:
    usual = RowConfig.of({})
    assert (len(usual.transforms), usual.scale, usual.bits, usual.grows) == (0, False, None, False)
    assert (usual.native, usual.seed, usual.missing, usual.allows_missing) == (True, 0, False, False)
    assert usual.options == {}
    given = {"transforms": [str(nr.pairs())], "scale": True, "bits": 4, "columns": "grow", "native": False, "seed": 3}
    assert RowConfig.of(given).options == given
    assert RowConfig.of(RowConfig.of(given).options) == RowConfig.of(given)
    for name in ("scale", "native"):
        assert refusal(lambda: RowConfig.of({name: 1})) == f"{name} must be True or False, not 1"  # noqa: B023
    assert "seed" in refusal(lambda: RowConfig.of({"seed": -1}))


def test_values_may_be_missing_where_the_learner_or_a_transform_can_handle_them() -> None:
    assert RowConfig.of({}, True).allows_missing
    assert RowConfig.of({"transforms": nr.missing()}).allows_missing
    assert not RowConfig.of({"transforms": nr.pairs()}).allows_missing


# ---- features known at each row --------------------------------------------------------------------------------------


def test_features_of_dicts_are_known_from_their_first_row_on() -> None:
    one = encoder()
    assert widths(one, [{}, {"a": 1.0}, {}, {"c": 1.0, "a": 1.0, "b": 2.0}, {"a": 2.0}]) == [0, 1, 1, 3, 3]
    assert widths(one, [{"b": 1.0}, {}, {"d": 1.0, "a": 0.0}]) == [3, 3, 4]
    assert one.feature_names() == ["a", "c", "b", "d"]
    assert widths(one, []) == []
    assert widths(encoder(bits=3), [{}, {"a": 1.0}]) == [8, 8]


def test_a_matrix_tells_how_many_columns_it_has() -> None:
    for rows in (X, sparse.csr_matrix(X)):
        one = encoder(columns="grow")
        assert widths(one, rows) == [4, 4, 4]
        assert widths(one, rows[:, :2]) == [4, 4, 4]
        assert widths(one, np.pad(X, ((0, 0), (0, 1)))) == [5, 5, 5]
        assert one.feature_names() == [0, 1, 2, 3, 4]
    assert widths(encoder(), [{0: 1.0}, {3: 1.0}, {1: 1.0}]) == [1, 4, 4]


def test_products_of_features_are_known_when_both_are() -> None:
    for rows in (sparse.csr_matrix(X), [{0: 1.0}, {0: 1.0, 1: 2.0}, {0: 1.0, 1: 2.0, 2: 3.0}]):
        one = encoder(transforms=nr.pairs())
        assert widths(one, rows) == [1, 3, 6]
        assert one.feature_names() == [0, 1, "0*1", 2, "0*2", "1*2"]
        assert (one.makes_features, one.columns, one.algebra) == (True, 0, "sparse")
    dense = encoder(transforms=nr.pairs())
    assert widths(dense, X[:, :2]) == [3, 3, 3]
    assert (dense.columns, dense.algebra) == (2, "dense")
    assert "have 4 columns" in refusal(lambda: dense.encode(X, True))
    again = restored(dense, {"transforms": nr.pairs()})
    assert "learned rows with 2" in refusal(lambda: again.encode(X, True))
    assert not encoder(scale=True).makes_features


def test_features_that_are_not_known_are_left_out_unless_they_are_learned() -> None:
    one = encoder()
    one.encode([{"a": 1.0, "b": 2.0}], True)
    block, known = one.encode([{"c": 5.0, "b": 3.0, "a": 4.0}, {"d": 1.0}], False)
    assert (known.tolist(), block.width, one.features, one.feature_names()) == ([2, 2], 2, 2, ["a", "b"])
    assert isinstance(block, SparseBlock)
    assert (block.idx.tolist(), block.val.tolist(), block.indptr.tolist()) == ([0, 1], [4.0, 3.0], [0, 2, 2])
    block, known = one.encode([], False)
    assert (block.rows, block.width, known.tolist()) == (0, 2, [])
    assert isinstance(block, SparseBlock)
    assert [part.tolist() for part in block[:3]] == [[0], [], []]
    assert one.encode((), True)[0].rows == 0
    assert one.features == 2


def test_the_first_rows_say_whether_a_learner_is_of_dense_ones() -> None:
    one = encoder()
    assert (one.algebra, one.dense) == (None, False)
    one.encode(np.zeros((0, 4)), True)
    assert (one.algebra, one.dense, one.features) == (None, False, 0)
    one.encode([{}], True)
    assert one.algebra is None
    one.encode(X, True)
    assert one.algebra == "dense"
    one.encode(sparse.csr_matrix(X), True)
    assert one.algebra == "dense"
    assert "have 2 columns" in refusal(lambda: one.encode(X[:, :2], True))
    other = encoder()
    other.encode(sparse.csr_matrix(X), True)
    assert other.algebra == "sparse"
    assert widths(other, X[:, :2]) == [4, 4, 4]
    assert other.algebra == "sparse"
    assert other.learned_features == 4


def test_what_was_learned_last_can_be_undone() -> None:
    one = encoder(transforms=nr.pairs())
    one.encode([{"a": 1.0, "b": 2.0}], True)
    before = one.dump()[0]
    undo = one.savepoint()
    one.encode([{"b": 1.0, "c": 2.0, "a": 1.0}], True)
    assert one.features == 6
    for _ in range(2):
        undo()
        assert (one.dump()[0], one.feature_names()) == (before, ["a", "b", "a*b"])
    scaled = encoder(scale=True)
    scaled.encode(X, True)
    known = {name: array.tolist() for name, array in scaled.dump()[1].items()}
    scaled.savepoint()()
    assert {name: array.tolist() for name, array in scaled.dump()[1].items()} == known
    fresh = encoder(columns="grow")
    undo = fresh.savepoint()
    fresh.encode(X, True)
    undo()
    assert fresh.dump()[0] == {"names": None, "features": 0, "columns": 0, "dense": False}
    assert widths(fresh, [{"a": 1.0}]) == [1]


# ---- checks ----------------------------------------------------------------------------------------------------------


def matrix(values: list[float], indices: list[int]) -> Any:
    """A sparse matrix of one row, as it is given."""
    found = sparse.csr_matrix((1, 4))
    found.data, found.indices, found.indptr = np.array(values), np.array(indices, np.int32), np.array([0, len(values)])
    return found


def test_values_of_sparse_matrices_are_checked_and_sorted() -> None:
    for missing in ("refuse", "nan"):
        one = encoder(missing=missing)
        block, _ = one.encode(matrix([1.0, 2.0, 3.0], [2, 0, 1]), True)
        assert isinstance(block, SparseBlock)
        assert (block.idx.tolist(), block.val.tolist(), block.ready) == ([0, 1, 2], [2.0, 3.0, 1.0], True)
        for wrong in (np.inf, -np.inf):
            message = refusal(lambda: one.encode(matrix([1.0, wrong], [0, 3]), True))  # noqa: B023
            assert message == f"row 0, feature 3: the value is {wrong}; every value must be finite"
        assert "outside 0 to 3" in refusal(lambda: one.encode(matrix([1.0], [4]), True))  # noqa: B023
    gaps = matrix([np.nan, 1.0], [0, 3])
    assert "row 0, feature 0: the value is nan" in refusal(lambda: encoder().encode(gaps, True))
    block, _ = encoder(missing="nan").encode(gaps, True)
    assert isinstance(block, SparseBlock)
    assert np.isnan(block.val[0])
    assert np.isnan(encoder(missing="nan").encode(X * np.nan, True)[0].val).all()
    assert verify_observed(block) is block
    dense = DenseBlock(X)
    assert verify_observed(dense) is dense


GAPS = np.where(np.random.default_rng(4).random((9, 3)) < 0.4, np.nan, np.random.default_rng(5).normal(size=(9, 3)))


@pytest.mark.parametrize("steps", [
    nr.scale(), nr.min_max(), nr.unit_norm(), nr.clip(0.5), nr.log1p(), nr.tf_idf(), nr.scale() | nr.clip(0.5),
    nr.scale(only=["1"]),
], ids=str)  # fmt: skip
def test_missing_values_stay_missing_behind_transforms_which_see_only_the_others(steps: Any) -> None:
    """As if the row had no such feature, of which transforms do not hear either."""
    learned = [{str(at): one for at, one in enumerate(row) if one == one} for row in GAPS.tolist()]
    given = [{str(at): one for at, one in enumerate(row)} for row in GAPS.tolist()]
    expected, one = encoder(transforms=steps, missing="nan"), encoder(transforms=steps, missing="nan")
    expected.names.add_names(["0", "1", "2"])
    values = to_dense(expected.encode(learned, True)[0]).val
    found = to_dense(one.encode(given, True)[0]).val
    np.testing.assert_array_equal(found, np.where(np.isnan(GAPS), np.nan, values))
    again, known = (to_dense(each.encode(rows, False)[0]).val for each, rows in ((one, given), (expected, learned)))
    np.testing.assert_array_equal(again, np.where(np.isnan(GAPS), np.nan, known))


def test_missing_values_of_matrices_pass_transforms_as_those_of_dicts() -> None:
    dicts = [dict(enumerate(row)) for row in GAPS.tolist()]
    found = [to_dense(encoder(scale=True, missing="nan").encode(rows, True)[0]).val
             for rows in (GAPS, sparse.csr_matrix(GAPS), dicts)]  # fmt: skip
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])
    assert np.isfinite(found[0]).sum() == np.isfinite(GAPS).sum()


@pytest.mark.parametrize("step", [nr.pairs(), nr.squares(), nr.fourier(features=4)], ids=str)
def test_features_are_not_made_of_missing_values(step: Any) -> None:
    rows = np.ones((4, 2))
    rows[2, 1] = np.nan
    learner = nr.make("svd", missing="nan", rank=2, transforms=step)
    for given in (rows, sparse.csr_matrix(rows)):
        assert refused(learner, partial(learner.learn, given)).startswith("row 2: a value is missing, and")
    assert nr.make("svd", missing="nan", rank=2, transforms=nr.missing("mean") | step).learn(rows).rounds == 4
    assert learner.learn(rows[:2]).rounds == 2


def test_where_no_value_may_be_missing_transforms_refuse_nan_in_the_usual_words() -> None:
    learner: Any = nr.make("svd", rank=2, transforms=nr.fourier(features=4))
    message = "row 0, feature 1: the value is nan; every value must be finite"
    assert refused(learner, lambda: learner.learn(sparse.csr_matrix([[1.0, np.nan]]))) == message


def test_a_block_without_entries_is_sorted_whatever_room_it_has() -> None:
    idx = np.array([3, 2, 1, 0], np.int32)
    assert is_sorted(SparseBlock(np.zeros(3, np.int64), idx, np.zeros(4), 4))
    assert not is_sorted(SparseBlock(np.array([0, 2]), idx, np.zeros(4), 4))


def test_whole_numbers_beyond_floats_are_refused_also_where_values_may_be_missing() -> None:
    learner: Any = nr.make("svd", missing="nan").learn(X)
    for action in (learner.learn, learner.transform, learner.impute):
        assert "row 0, feature 1: the value is inf" in refused(learner, partial(action, [[1, 10**400, None, 2]]))
    assert "row 0, feature 1: the value is inf" in refused(learner, partial(learner.learn_one, [1, 10**400, None, 2]))


def test_values_of_a_sorted_matrix_are_not_copied_and_features_of_dicts_are_sorted() -> None:
    rows = sparse.csr_matrix(X)
    assert np.shares_memory(encoder().encode(rows, True)[0].val, rows.data)
    one = encoder()
    block, _ = one.encode([{"a": 1.0, "b": 2.0}, {"b": 3.0, "a": 4.0}], True)
    assert isinstance(block, SparseBlock)
    assert (block.idx.tolist(), block.val.tolist()) == ([0, 1, 0, 1], [1.0, 2.0, 4.0, 3.0])
    assert encoder().encode(X.tolist(), True)[0].val.tolist() == X.tolist()


@pytest.mark.parametrize(("indptr", "idx", "expected"), [
    ([0, 3], [0, 1, 4], True), ([0, 3], [0, 1, 1], False), ([0, 3], [1, 0, 2], False), ([0, 0], [], True),
    ([0, 2, 2, 3], [3, 5, 0], True), ([0, 0, 2, 4, 4], [1, 2, 0, 1], True), ([0, 2, 4], [0, 2, 2, 1], False),
    ([0, 1, 2], [7, 7], True), ([0, 2], [0, 1, 0], True), ([0], [], True), ([0, 2, 4], [1, 1, 0, 2], False),
])  # fmt: skip
def test_rows_are_sorted_whose_features_are_in_order_each_once(
    indptr: list[int], idx: list[int], expected: bool
) -> None:
    block = SparseBlock(np.array(indptr), np.array(idx, np.int32), np.arange(float(len(idx))), 8)
    assert is_sorted(block) == expected
    same = sort_rows(block)
    assert ((same.indptr.tolist(), same.idx.tolist()) == (indptr, idx[: indptr[-1]])) == expected


# ---- model files -----------------------------------------------------------------------------------------------------

NAMED = [{"a": 1.0, "b": 2.0}, {"b": 1.0, "c": 3.0}]
SAVED: dict[str, tuple[dict[str, Any], Any]] = {
    "fresh": ({}, []),
    "names": ({}, NAMED),
    "columns": ({}, X),
    "sparse": ({}, sparse.csr_matrix(X)),
    "hashed": ({"bits": 4}, NAMED),
    "fresh, hashed": ({"bits": 4}, []),
    "hashed, without names": ({"bits": 4}, [{}]),
    "scaled": ({"scale": True}, NAMED),
    "products": ({"transforms": nr.pairs()}, NAMED),
    "products, scaled": ({"transforms": nr.pairs(), "scale": True}, NAMED),
}


def saved(name: str) -> RowEncoder:
    options, rows = SAVED[name]
    one = encoder(**options)
    one.encode(rows, True)
    return one


@pytest.mark.parametrize("name", SAVED)
def test_encoders_are_read_as_they_were_written(name: str) -> None:
    one = saved(name)
    again = restored(one, SAVED[name][0])
    (header, arrays), (found, others) = one.dump(), again.dump()
    assert found == header
    assert sorted(others) == sorted(arrays)
    assert all(np.array_equal(others[key], arrays[key]) for key in arrays)
    assert again.feature_names() == one.feature_names()
    assert (again.algebra, again.features) == (one.algebra, one.features)
    if name not in ("columns", "sparse"):
        blocks = [both.encode([*NAMED, {"d": 1.0}], True)[0] for both in (again, one)]
        assert all(np.array_equal(*parts) for parts in zip(*blocks, strict=True))


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("names", {"dense": None}, "description of its rows"),
    ("names", {"dense": 1}, "description of its rows"),
    ("names", {"names": "hashed"}, "names must say"),
    ("columns", {"names": "numbers"}, "names must say"),
    ("hashed", {"names": "names"}, "names must say"),
    ("hashed", {"names": "columns"}, "names must say"),
    ("columns", {"names": None}, "it has features, but not how they are known"),
    ("columns", {"features": 2**31}, "features must be a whole number from 0 to 2147483647"),
    ("columns", {"features": -1}, "features must be"),
    ("columns", {"columns": 2**31 + 1}, "columns must be a whole number from 0 to 2147483648"),
    ("names", {"features": 4}, "names and features do not fit"),
    ("scaled", {"features": 4}, "do not fit"),
    ("products", {"features": 7}, "names and features do not fit"),
    ("products, scaled", {"features": 7}, "do not fit"),
    ("hashed", {"features": 15}, "marks of its names"),
]


@pytest.mark.parametrize(("name", "changes", "message"), WRONG)
def test_encoders_that_contradict_themselves_are_refused(name: str, changes: dict[str, Any], message: str) -> None:
    assert message in refusal(lambda: restored(saved(name), SAVED[name][0], **changes))


def test_headers_that_are_none_and_transforms_of_others_are_refused() -> None:
    wrong: tuple[Any, ...] = (None, [], "x")
    for other in wrong:
        assert "description of its rows is missing" in refusal(lambda: encoder().restore(other, {}))  # noqa: B023
    header, arrays = saved("scaled").dump()
    short = {name: array[:-1] if name.startswith("transform") else array for name, array in arrays.items()}
    assert "has seen does not fit together" in refusal(lambda: encoder(scale=True).restore(header, short))


def test_numbers_at_their_limits_are_read() -> None:
    assert restored(saved("columns"), features=2**31 - 1, columns=2**31).features == 2**31 - 1
