"""The online SVD is that of the whole matrix: numpy's while the rank allows, and then that of an obvious twin."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.naive.svd import NaiveSVD, best_approximation

EXACT = 1e-10


def random_matrix(seed: int, rows: int = 40, features: int = 9, rank: int = 9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, features)))


def make(rank: int = 9, batch: int = 1, **options: Any) -> Any:
    return nr.make("svd", rank=rank, batch=batch, **options)


def rebuilt(learner: Any) -> np.ndarray:
    return np.asarray((learner.row_factors * learner.singular_values) @ learner.components)


def close(one: Any, other: Any, most: float = EXACT) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    size = max(1.0, float(np.abs(other).max(initial=0.0)))
    return one.shape == other.shape and float(np.abs(one - other).max(initial=0.0)) <= most * size


@pytest.mark.parametrize("batch", [1, 4, 16, 100])
@pytest.mark.parametrize("rank", [3, 9])
def test_equals_numpy_while_the_rank_allows(batch: int, rank: int) -> None:
    X = random_matrix(batch, rank=rank)
    X[7], X[11] = 0.0, X[3]
    learner = make(rank, batch, keep_rows="yes").learn(X)
    left, values, right = np.linalg.svd(X, full_matrices=False)
    signs = np.sign(right[np.arange(rank), np.abs(right[:rank]).argmax(axis=1)])
    assert close(learner.singular_values, values[:rank])
    assert close(learner.components, right[:rank] * signs[:, None], 1e-9)
    assert close(learner.row_factors, left[:, :rank] * signs, 1e-9)
    assert close(rebuilt(learner), X)
    assert close(learner.mean, X.mean(axis=0))


@pytest.mark.parametrize("ceiling", ["drop", "project"])
@pytest.mark.parametrize("batch", [1, 5])
def test_equals_the_twin_beyond_the_rank(batch: int, ceiling: str) -> None:
    X = random_matrix(3, rows=60)
    learner, twin = make(4, batch, keep_rows="yes", ceiling=ceiling), NaiveSVD(4, ceiling == "project")
    for start in range(0, 60, batch):
        part = X[start : start + batch]
        losses = [twin.loss(row) for row in part]
        assert close(learner.play(part).losses, losses, 1e-9)
        twin.append(part)
    assert close(learner.singular_values, twin.values())
    assert close(rebuilt(learner), twin.matrix, 1e-9)


def test_errors_beyond_the_rank_are_near_those_of_the_best_rank() -> None:
    X = random_matrix(8, rows=300, features=20, rank=20) * 0.9 ** np.arange(20)
    learner = make(5, 8).learn(X)
    kept = X @ learner.components.T @ learner.components
    best = best_approximation(X, 5)
    assert np.linalg.norm(X - kept) <= 1.02 * np.linalg.norm(X - best)


def test_features_that_come_later_were_zero() -> None:
    X = random_matrix(1, rows=30)
    X[:10, 5:] = 0.0
    rows = [{f"f{at}": value for at, value in enumerate(row) if value != 0.0} for row in X.tolist()]
    learner = make(9, 4, keep_rows="yes").learn(rows)
    order = [int(name[1:]) for name in learner.feature_names]
    assert close(rebuilt(learner), X[:, order])


# ---- changes of the matrix -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [9, 12])
def test_revised_rows_are_as_if_learned_so(rank: int) -> None:
    X, new = random_matrix(2, rank=5), np.random.default_rng(0).normal(size=(2, 9))
    learner = make(rank, 3, keep_rows="yes").learn(X).revise(4, new[0]).revise(39, new[1])
    X[4], X[39] = new
    assert close(rebuilt(learner), X)
    assert close(learner.mean, X.mean(axis=0))
    assert close(learner.singular_values, np.linalg.svd(X, compute_uv=False)[: len(learner.singular_values)])


def test_a_row_can_be_revised_to_have_new_features_or_none() -> None:
    rows = [{"a": 1.0, "b": 2.0}, {"a": 3.0}, {"b": 1.0}]
    learner = make(9, 3, keep_rows="yes").learn(rows)
    assert learner.revise(1, {"c": 4.0, "a": 1.0}).feature_names == ["a", "b", "c"]
    assert close(rebuilt(learner), [[1.0, 2.0, 0.0], [1.0, 0.0, 4.0], [0.0, 1.0, 0.0]])
    assert close(rebuilt(learner.revise(0, {})), [[0.0, 0.0, 0.0], [1.0, 0.0, 4.0], [0.0, 1.0, 0.0]])
    assert close(rebuilt(learner.learn([{"d": 1.0}]).revise(2, {"b": 2.0}))[2], [0.0, 2.0, 0.0, 0.0])
    gaps = make(1, 2, keep_rows="yes", missing="nan", fill="pinv").learn([[1.0, 2.0], [2.0, 4.0], [5.0, 5.0]])
    gaps.learn([[1.0, 2.0]] * 9).remove(2)
    known = gaps.components[0, 1] / gaps.components[0, 0]
    assert close(gaps.impute([[4.0, np.nan]]), [[4.0, 4.0 * known]])
    assert close(rebuilt(gaps.copy().revise(0, [4.0, np.nan]))[0], gaps.impute([[4.0, np.nan]])[0])
    with pytest.raises(nr.BadValue, match="without transforms"):
        learner.append_columns([[1.0]] * 4)
    scaled = make(2, 1, keep_rows="yes", scale=True).learn([[1.0, 2.0], [3.0, 1.0]])
    with pytest.raises(nr.BadValue, match="without transforms"):
        scaled.append_columns([[1.0]] * 2)


def test_removed_rows_are_forgotten() -> None:
    X = random_matrix(4, rows=8, features=6, rank=6)
    learner = make(6, 3, keep_rows="yes").learn(X)
    for row in (7, 0, 3):
        X = np.delete(X, row, axis=0)
        assert close(rebuilt(learner.remove(row)), X)
    assert len(learner.singular_values) == 5
    assert close(learner.mean, X.mean(axis=0))


def test_removing_the_only_row_of_a_direction_lowers_the_rank() -> None:
    learner = make(3, keep_rows="yes").learn([[1.0, 0.0], [2.0, 0.0], [0.0, 5.0]])
    assert close(learner.remove(2).singular_values, [5.0**0.5])


@pytest.mark.parametrize("keep", ["yes", "no"])
def test_recentred_rows_have_the_mean_zero(keep: str) -> None:
    X = random_matrix(6) + 3.0
    learner = make(9, 4, keep_rows=keep).learn(X[:25]).recenter()
    centred = X[:25] - X[:25].mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)
    assert close(learner.singular_values, values)
    assert close(learner.mean, np.zeros(9), 1e-9)
    if keep == "yes":
        assert close(rebuilt(learner), centred)
    learner.learn(X[25:])
    assert close(learner.singular_values, np.linalg.svd(np.concatenate((centred, X[25:])), compute_uv=False))
    assert close(learner.mean, X[25:].sum(axis=0) / 40)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_changes_are_exact_where_every_row_is_a_direction_of_its_own(rows: int) -> None:
    """Then V is square, and no change can add a column to it."""
    X, new = random_matrix(13, rows=rows), np.arange(9.0)
    learner = make(9, 2, keep_rows="yes").learn(X)
    revised = learner.copy().revise(0, new)
    assert close(rebuilt(revised), np.concatenate((new[None], X[1:])))
    assert len(revised.singular_values) == rows
    centred = X - X.mean(axis=0)
    for recentred in (learner.recenter(), make(9, 2).learn(X).recenter()):
        assert close(recentred.singular_values, np.linalg.svd(centred, compute_uv=False)[: rows - 1], 1e-9)
        assert close(recentred.mean, np.zeros(9))
    assert close(rebuilt(learner), centred)


def test_rows_of_zeros_can_be_recentred() -> None:
    learner = make(3, keep_rows="yes").learn(np.zeros((4, 2))).recenter()
    assert learner.singular_values.size == 0
    assert learner.row_factors.shape == (4, 0)


def test_appended_columns_are_as_if_they_had_been_there() -> None:
    X = random_matrix(9, rows=20, features=9, rank=7)
    learner = make(9, 4, keep_rows="yes").learn(X[:, :5]).append_columns(X[:, 5:6]).append_columns(X[:, 6:])
    assert close(rebuilt(learner), X)
    assert learner.features == 9
    assert close(rebuilt(learner.learn(X[:3])), np.concatenate((X, X[:3])))


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("before", [0.0, 1e-3, 1e3])
def test_columns_that_depend_on_others_add_no_direction(size: float, before: float) -> None:
    rng = np.random.default_rng(14)
    X = before * size * rng.normal(size=(30, 2))
    new = size * np.outer(rng.normal(size=30), [1.0, -2.0, 0.5])
    new[:, 2] += X[:, 0]
    learner = make(9, 4, keep_rows="yes").learn(X).append_columns(new)
    assert close(rebuilt(learner) / size, np.concatenate((X, new), axis=1) / size)
    assert len(learner.singular_values) == (3 if before else 1)


def test_rows_are_kept_in_few_blocks() -> None:
    """As many as 1 occurs in the number of rows in binary, so that a row is rotated a logarithmic number of times."""
    learner = make(3, 1, keep_rows="yes")
    for rows in range(1, 40):
        learner.learn_one([1.0, float(rows), 0.5])
        assert len(learner.state.left.blocks) == rows.bit_count()
        assert learner.state.left.rows == rows


@pytest.mark.parametrize("batch", [1, 6])
def test_merged_learners_have_the_rows_of_both(batch: int) -> None:
    X = random_matrix(10)
    one, two = make(9, batch, keep_rows="yes").learn(X[:23]), make(9, batch, keep_rows="yes").learn(X[23:])
    both = one.merge(two)
    assert close(rebuilt(both), X)
    assert both.rounds == 40
    assert close(both.mean, X.mean(axis=0))
    named = [{"b": 1.0, "a": 2.0}], [{"c": 1.0, "b": 3.0}, {"a": 1.0}]
    one, two = (make(3, keep_rows="yes").learn(rows) for rows in named)
    assert one.merge(two).feature_names == ["b", "a", "c"]
    assert close(rebuilt(one.merge(two)), [[1.0, 2.0, 0.0], [3.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


# ---- missing entries -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 3])
def test_missing_entries_are_filled_in_as_by_the_twin(batch: int) -> None:
    X = random_matrix(12, rows=30, rank=3)
    holes = np.random.default_rng(1).random(X.shape) < 0.2
    holes[:6] = False
    given = np.where(holes, np.nan, X)
    learner, twin = make(3, batch, keep_rows="yes", missing="nan"), NaiveSVD(3)
    for start in range(0, 30, batch):
        learner.learn(given[start : start + batch])
        twin.append(np.array([row if not start else twin.fill(row) for row in given[start : start + batch]]))
    assert close(rebuilt(learner), twin.matrix, 1e-8)
    assert close(learner.impute(given), X, 1e-8)  # the rows have rank 3, so that what is missing can be known


def test_losses_with_missing_entries_are_those_of_the_observed_ones() -> None:
    X = random_matrix(15, rows=12, features=5, rank=5)
    holes = np.random.default_rng(3).random(X.shape) < 0.3
    holes[:3] = False
    given = np.where(holes, np.nan, X)
    learner, twin = make(2, missing="nan", fill="pinv"), NaiveSVD(2)
    for number, row in enumerate(given):
        loss = learner.play(row[None]).losses[0]
        filled = twin.fill(row) if number else row
        _, _, right = np.linalg.svd(twin.matrix, full_matrices=False)
        kept = right[: min(number, 2)].T
        there = ~np.isnan(row)
        best = np.linalg.lstsq(kept[there], row[there], rcond=None)[0] if number else np.zeros(0)
        rest = row[there] - (kept[there] @ best if number else 0.0)
        assert loss == pytest.approx(float(rest @ rest), rel=1e-7, abs=1e-9)
        twin.append(filled[None])


def test_what_was_never_observed_counts_as_zero_until_something_is_known() -> None:
    learner = make(2, missing="nan", keep_rows="yes").learn([[np.nan, 2.0], [np.nan, np.nan], [1.0, 1.0]])
    assert close(rebuilt(learner), [[0.0, 2.0], [0.0, 0.0], [1.0, 1.0]])
    assert close(learner.impute([[np.nan, np.nan]]), [[0.0, 0.0]])


@pytest.mark.parametrize(("threshold", "small"), [(1e-8, 1e-12), (1e-8, 1e-8), (0.1, 0.05)])
def test_what_components_hardly_touch_says_nothing_of_what_is_missing(threshold: float, small: float) -> None:
    """Divided by a rounding error, any value would explain what is missing, and be learned as a row of that size."""
    learner = make(3, batch=1, missing="nan", threshold=threshold).learn([[1.0, small, 0.0]])
    assert close(learner.impute([[np.nan, 2.0, np.nan]]), [[0.0, 2.0, 0.0]])
    assert learner.play([[np.nan, 2.0, np.nan]]).losses[0] == 4.0
    learner = make(3, batch=1, missing="nan", threshold=threshold).learn([[4.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, small]])
    assert close(learner.impute([[np.nan, 1.0, np.nan, 2.0]]), [[2.0, 1.0, 0.0, 2.0]])


def test_what_components_touch_beyond_the_threshold_says_what_is_missing() -> None:
    for threshold, small in ((1e-8, 1e-7), (0.1, 0.2)):
        learner = make(3, batch=1, missing="nan", threshold=threshold).learn([[1.0, small]])
        assert close(learner.impute([[np.nan, small]]), [[1.0, small]])


def test_nan_is_missing_however_rows_are_given() -> None:
    rows = [{"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 4.0}]
    for missing, expected in (("nan", 0.0), ("absent", 6.0)):
        learner = make(1, missing=missing).learn(rows)
        assert close(learner.impute([{"a": 3.0, "b": float("nan")}]), [[3.0, 6.0]])
        assert close(learner.impute([{"a": 3.0}]), [[3.0, expected]])
    dense = make(1, missing="absent").learn([[1.0, 2.0], [2.0, 4.0]])
    assert close(dense.impute([[3.0, np.nan], [0.0, 0.0]]), [[3.0, 6.0], [0.0, 0.0]])


def test_filling_in_learns_no_features() -> None:
    learner = make(1, missing="nan").learn([{"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 4.0}])
    assert close(learner.impute([{"a": 3.0, "b": None, "c": 9.0}]), [[3.0, 6.0]])
    assert learner.features == 2


def test_features_left_out_can_count_as_missing() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 6))
    rows = [{f"f{at}": row[at] for at in range(6) if number < 4 or (number + at) % 3} for number, row in enumerate(X)]
    learner = make(2, missing="absent")
    losses = learner.play(rows).losses
    assert (losses[4:] < 1e-20).all()
    assert losses[0] == pytest.approx(float(X[0] @ X[0]))
    assert close(learner.impute([{"f0": X[7, 0], "f1": X[7, 1], "f2": X[7, 2]}])[0], X[7], 1e-9)


# ---- conventions and errors ------------------------------------------------------------------------------------------


def test_components_have_a_fixed_sign_and_order_and_stay_orthonormal() -> None:
    X = random_matrix(20, rows=1500, features=12, rank=12)
    learner = make(4, 1).learn(X)
    C = learner.components
    assert (np.diff(learner.singular_values) < 0.0).all()
    assert (C[np.arange(4), np.abs(C).argmax(axis=1)] > 0.0).all()
    assert np.abs(C @ C.T - np.eye(4)).max() < 1e-8
    assert close(learner.transform(X), X @ C.T, 1e-9)
    assert close(learner.inverse_transform(learner.transform(X[:3])), X[:3] @ C.T @ C, 1e-9)


def test_while_learning_components_do_not_change_their_signs() -> None:
    X = random_matrix(21, rows=200, features=6, rank=6) * [9, 3, 1, 0.3, 0.1, 0.03]
    scores = make(2, 1).play(np.repeat(X, 2, axis=0)).scores
    assert (np.sign(scores[20::2]) == np.sign(scores[21::2])).mean() > 0.99


def test_results_include_rows_of_a_mini_batch_that_is_not_full() -> None:
    X = random_matrix(30, rows=5)
    learner = make(9, 100).learn(X)
    assert close(learner.singular_values, np.linalg.svd(X, compute_uv=False)[:5])
    assert learner.flush().pending.rows == 0
    assert close(learner.singular_values, np.linalg.svd(X, compute_uv=False)[:5])


def test_before_the_first_row_there_is_nothing_to_tell() -> None:
    learner = make()
    with pytest.raises(nr.NotLearned):
        assert learner.components
    with pytest.raises(nr.NotLearned):
        learner.transform([[1.0]])
    with pytest.raises(nr.NotLearned):
        learner.recenter()
    assert learner.learn(np.zeros((3, 4))).components.shape == (0, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.learn([[1.0, 2.0]]), "1 column|2 columns"),
        (lambda s: s.learn([[1.0, 2.0, np.nan]]), "row 0, feature 2"),
        (lambda s: s.learn([[1.0, 2.0, 1e200]] * 3), "too large"),
        (lambda s: s.play([[1.0, 2.0, 1e200]]), "too large"),
        (lambda s: s.learn([[1.0, 2.0, 3.0]], weight=[1.0]), "weight"),
        (lambda s: s.learn([[1.0, 2.0, 3.0]], [1, 2]), "1 rows and 2 labels"),
        (lambda s: s.revise(9, [1.0, 2.0, 3.0]), "below 4"),
        (lambda s: s.revise(4, [1.0, 2.0, 3.0]), "row must be below 4, the number of rows, not 4"),
        (lambda s: s.remove(4), "below 4"),
        (lambda s: s.revise(-1, [1.0, 2.0, 3.0]), "row must be"),
        (lambda s: s.revise(1, [1.0, np.inf, 3.0]), "finite"),
        (lambda s: s.append_columns([[1.0]]), "matrix of 4 rows"),
        (lambda s: s.append_columns([1.0] * 4), "matrix of 4 rows"),
        (lambda s: s.append_columns("abcd"), "matrix of 4 rows"),
        (lambda s: s.append_columns([[1.0], [2.0, 3.0], [], [1.0]]), "matrix of 4 rows"),
        (lambda s: s.append_columns(np.zeros((4, 1, 1))), "matrix of 4 rows"),
        (lambda s: s.append_columns([[1.0], [1.0], [1.0], [np.nan]]), "^row 3, column 0: the value is nan; .* finite"),
        (lambda s: s.append_columns([[1.0, -1e200]] * 4), r"^row 0, column 1: the value is -1e\+200; .* most 1e\+150$"),
        (lambda s: s.append_columns(np.full((4, 1), -1.1e150)), "finite and at most"),
        (lambda s: s.append_columns([["a"]] * 4), "^columns are a matrix of 4 rows, .* not .*'a'"),
        (lambda s: s.append_columns([[1.0], [2.0, 3.0]]), r"not \[\[1.0\], \[2.0, 3.0\]\]$"),
        (lambda s: s.append_columns([[1j]] * 4), "not .*1j"),
        (lambda s: s.append_columns(np.zeros((4, 0))), "matrix of 4 rows"),
        (lambda s: s.inverse_transform("abc"), "^components are a matrix of 3 columns, .* not 'abc'$"),
        (lambda s: s.inverse_transform([[1.0, 2.0, np.inf]]), "^row 0, column 2: the value is inf"),
        (lambda s: s.merge(make(2)), "same parameters"),
        (lambda s: s.impute([[1.0, 2.0, 3.0]]), "missing values"),
        (lambda s: s.inverse_transform([[1.0]]), "matrix of 3 columns"),
        (lambda s: s.inverse_transform([1.0, 2.0, 3.0]), "matrix of 3 columns"),
        (lambda s: s.inverse_transform(1.0), "matrix of 3 columns"),
        (lambda s: s.inverse_transform("x"), "matrix of 3 columns"),
        (lambda s: s.inverse_transform(np.zeros((2, 3, 1))), "matrix of 3 columns"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(call: Any, message: str) -> None:
    learner = make(3, keep_rows="yes").learn([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [2.0, 2.0, 1.0], [4.0, 0.0, 1.0]])
    before = learner.dump()
    with pytest.raises(nr.BadValue, match=message):
        call(learner)
    after = learner.dump()
    assert before[0] == after[0]
    assert all((before[1][name] == after[1][name]).all() for name in before[1])


WRONG = {"rank": 0, "batch": 1.5, "threshold": -1.0, "keep_rows": "maybe", "missing": "yes", "seed": -1, "scale": "x"}


@pytest.mark.parametrize(("name", "value"), [*WRONG.items(), ("rank", 2.5), ("batch", -1), ("depth", 3)])
def test_bad_parameters_are_refused(name: str, value: Any) -> None:
    with pytest.raises(nr.BadValue, match=name):
        nr.make("svd", **{name: value})


def test_rows_must_be_kept_to_be_changed() -> None:
    learner = make(2).learn([[1.0, 2.0], [3.0, 1.0]])
    with pytest.raises(nr.BadValue, match="keep_rows"):
        assert learner.row_factors
    with pytest.raises(nr.BadValue, match="keep_rows"):
        learner.revise(0, [1.0, 1.0])
    with pytest.raises(nr.BadValue, match="keep_rows"):
        learner.remove(0)
