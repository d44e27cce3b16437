"""Mini-batches whose size is not given, and the rows that wait for one."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.decomposition.base import UnsupervisedLearner
from noregret.decomposition.factors import Factors
from noregret.decomposition.matrix_rows import take_rows
from noregret.decomposition.mini_batches import early_look, free_batch_param, next_look, part_ends, quickest_batch
from noregret.decomposition.waiting_rows import WaitingRows
from noregret.learner.model_file import load, save

LEARNERS = ["svd", "pca_incremental"]


def sizes(name: str, X: NDArray[np.float64], **options: Any) -> list[int]:
    """How many rows were learned after each row."""
    learner: Any = nr.make(name, **options)
    learned = []
    for x in X:
        learner.learn_one(x)
        learned.append(learner.learned_rows)
    return [int(one) for one in np.unique(learned)[1:]]


def random_rows(rows: int, features: int, seed: int = 0) -> NDArray[np.float64]:
    return np.asarray(np.random.default_rng(seed).normal(size=(rows, features)))


@pytest.mark.parametrize("name", LEARNERS)
def test_mini_batches_have_five_rows_for_each_feature(name: str) -> None:
    assert sizes(name, random_rows(170, 10), rank=3) == [50, 100, 150]
    assert sizes(name, random_rows(70, 2), rank=2) == [16, 32, 48, 64]


@pytest.mark.parametrize("name", LEARNERS)
def test_many_features_are_learned_in_mini_batches_of_the_rank(name: str) -> None:
    assert sizes(name, random_rows(90, 400), rank=20) == [20, 40, 60, 80]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_size_that_is_given_is_kept(name: str) -> None:
    assert sizes(name, random_rows(21, 4), rank=2, batch=5) == [5, 10, 15, 20]


@pytest.mark.parametrize("name", LEARNERS)
def test_features_that_come_later_do_not_change_the_size(name: str) -> None:
    rows = random_rows(60, 40)
    rows[:30, 2:] = 0.0
    learner: Any = nr.make(name, rank=2)
    learned = []
    for row in rows:
        learner.learn_one({f"x{at}": value for at, value in enumerate(row.tolist()) if value})
        learned.append(learner.learned_rows)
    assert learned == [0] * 15 + [16] * 16 + [32] * 29  # then the state has 40 features: 200 rows


@pytest.mark.parametrize("name", LEARNERS)
def test_the_basis_may_have_as_many_columns_more_as_a_mini_batch_brings(name: str) -> None:
    more = int(name == "pca_incremental")  # the row by which the mean moves
    for rank, batch, spare in ((3, 10, 10 + more), (20, 5, 20), (3, 0, 16 + more), (16, 16, 16 + more), (40, 0, 40)):
        learner: Any = nr.make(name, rank=rank, batch=batch, threshold=0.25)
        fresh = learner.start_state(7)
        factors = fresh.factors if more else fresh
        assert (factors.limits.rank, factors.limits.threshold, factors.limits.spare) == (rank, 0.25, spare)


def test_rows_that_are_filled_in_or_projected_do_not_wait_long() -> None:
    X = random_rows(70, 4)
    assert sizes("svd", X, rank=2, missing="nan") == [16, 32, 48, 64]
    assert sizes("svd", X, rank=2, ceiling="project") == [16, 32, 48, 64]


def test_the_size_that_is_not_given_is_zero() -> None:
    size = free_batch_param()
    assert (size.default, size.at_least, size.at_most) == (0.0, 0.0, 1 << 16)


def test_the_largest_narrow_rows_and_the_smallest_wide_ones() -> None:
    assert [quickest_batch(width, 10) for width in (0, 3, 340, 341)] == [16, 16, 1700, 16]
    assert [quickest_batch(width, 50) for width in (500, 501)] == [2500, 50]
    assert quickest_batch(4096, 1000) == 4096
    assert quickest_batch(1 << 20, 1 << 17) == 1 << 16


def test_the_first_rows_are_looked_at_whenever_there_are_twice_as_many() -> None:
    assert [early_look(0, waiting) for waiting in (0, 15, 16, 31, 32, 63, 64, 200)] == [0, 0, 16, 16, 32, 32, 64, 128]
    assert [early_look(40, waiting) for waiting in (16, 63, 64)] == [0, 0, 64]
    for learned in (0, 10, 40, 64):
        looks = [early_look(learned, waiting) for waiting in range(300)]
        assert [next_look(learned, waiting) for waiting in range(200)] == [
            next(more for more in range(waiting, 300) if looks[more] != looks[waiting]) for waiting in range(200)
        ]


@pytest.mark.parametrize("name", LEARNERS)
def test_rows_that_wait_for_the_first_mini_batch_score_those_after_them(name: str) -> None:
    X = random_rows(60, 4) @ random_rows(4, 40, seed=1)
    losses = nr.make(name, rank=4).play(X).losses
    assert np.min(losses[:16]) > 1.0
    assert np.max(losses[32:]) < 1e-15 if name == "svd" else np.max(losses[32:]) < 1e-10


@pytest.mark.parametrize("name", LEARNERS)
def test_components_keep_their_signs_while_the_first_rows_are_looked_at_again(name: str) -> None:
    """The first state is made anew from 16, 32, 64 ... rows; a learner of the components sees no change of sign."""
    X = random_rows(220, 40, seed=3) * 0.7 ** np.arange(40)
    learner: Any = nr.make(name, rank=2)
    row, found = np.eye(40)[:2], list[Any]()
    for x in X:
        learner.learn_one(x)
        found.append(learner.score_settled(row).components[:, :2] - learner.score_settled(0 * row).components[:, :2])
    signs = np.sign(np.array([np.diag(one) for one in found[16:]]))
    assert np.all(signs == signs[0])
    assert np.all(signs != 0.0)


def test_features_that_appear_end_a_mini_batch_that_is_large_enough_for_them() -> None:
    """With 4 features 20 rows wait; as soon as there are 400, only 16."""
    rows: list[dict[str, float]] = [dict.fromkeys("abcd", 1.0)] * 18
    wide = {f"x{number}": 1.0 for number in range(400)}
    whole: Any = nr.make("svd", rank=3).learn([*rows, wide, *rows])
    assert (whole.learned_rows, whole.rounds) == (35, 37)
    parts: Any = nr.make("svd", rank=3)
    for row in [*rows, wide, *rows]:
        parts.learn_one(row)
    assert parts.learned_rows == 35
    np.testing.assert_array_equal(parts.components, whole.components)


SPARSE = [{f"x{number}": float(number % 7 - 3) for number in range(row % 5, 4 + row // 6, 2)} for row in range(120)]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("X", [random_rows(200, 30, seed=1), SPARSE], ids=["dense", "dicts"])
def test_results_do_not_depend_on_how_rows_are_cut(name: str, X: Any, tmp_path: Any) -> None:
    whole: Any = nr.make(name, rank=3)
    parts: Any = nr.make(name, rank=3)
    losses, rows = [], len(X)
    for start, stop in pairwise((0, 7, 8, 21, 40, 90, 91, rows)):
        if start == 40:
            parts.learn(X[start:stop])
            losses.append(np.full(stop - start, np.nan))
        else:
            losses.append(parts.play(X[start:stop]).losses)
        save(parts, tmp_path / "model.nrm")
        parts = load(tmp_path / "model.nrm")
        settled = parts.score_settled(X[stop : stop + 2]).components[:1]
        np.testing.assert_array_equal(settled, parts.copy().play(X[stop : stop + 1]).scores)
    found = np.concatenate(losses)
    np.testing.assert_array_equal(np.where(np.isnan(found), found, whole.play(X).losses), found)
    for result in ("learned_rows", "components", "singular_values"):
        np.testing.assert_array_equal(getattr(parts, result), getattr(whole, result))
    np.testing.assert_array_equal(whole.flush().transform(X), parts.flush().transform(X))


@pytest.mark.parametrize("name", LEARNERS)
def test_large_mini_batches_leave_no_more_of_the_rows_than_small_ones(name: str) -> None:
    """On average; a direction that is dropped may return in one order of the rows and not in another."""
    left: list[list[float]] = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2000, 50)) @ rng.normal(size=(50, 50)) * 0.8 ** np.arange(50)
        learners: list[Any] = [nr.make(name, rank=10, **options) for options in ({}, {"batch": 16})]
        found = [learner.learn(X).components for learner in learners]
        left.append([float(np.sum((X - X @ one.T @ one) ** 2)) for one in found])
    assert np.mean([large / small for large, small in left]) < 1.0


def test_rows_that_wait_are_learned_in_parts_of_powers_of_two() -> None:
    assert [part_ends(count) for count in (1, 15, 16, 17, 48, 100, 700)] == [
        [1], [15], [16], [16, 17], [32, 48], [64, 96, 100], [512, 640, 672, 688, 700],
    ]  # fmt: skip
    for count in range(1, 300):
        for end in part_ends(count):
            assert part_ends(end) == part_ends(count)[: len(part_ends(end))]


@pytest.mark.parametrize("name", LEARNERS)
def test_results_after_every_row_learn_no_row_many_times(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of the rows that wait is kept; only those of the last part, fewer than 16, are learned again."""
    learned: list[int] = []
    learner: Any = nr.make(name, rank=4)
    learn_rows = type(learner).learn_rows

    def count(self: Any, state: Any, rows: Any) -> None:
        learned.append(rows.rows)
        learn_rows(self, state, rows)

    monkeypatch.setattr(type(learner), "learn_rows", count)
    X = random_rows(260, 50)
    for x in X:
        learner.learn_one(x)
        found = learner.components
    assert learner.learned_rows == 250
    assert sum(learned) < 260 * (8 + np.log2(260))
    np.testing.assert_array_equal(nr.make(name, rank=4).learn(X).components, found)  # type: ignore[attr-defined]


def test_blocks_are_cut_only_where_a_mini_batch_is_full_or_rows_are_scored_by_more_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts: list[int] = []
    monkeypatch.setattr(UnsupervisedLearner, "check_rows", lambda self, rows, start: starts.append(start))
    X = random_rows(90, 10)
    for name, options, scores, expected in (
        ("svd", {}, False, [0, 50]),
        ("svd", {}, True, [0, 16, 32, 50]),
        ("oja", {"batch": 60}, False, [0, 60]),
        ("oja", {"batch": 60}, True, [0, 60]),
    ):
        learner: Any = nr.make(name, rank=3, **options)
        starts.clear()
        (learner.play if scores else learner.learn)(X)
        assert starts == expected


def test_a_state_is_copied_once_in_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[int] = []
    copy = Factors.copy

    def counted(self: Factors) -> Factors:
        copies.append(self.rows)
        return copy(self)

    monkeypatch.setattr(Factors, "copy", counted)
    learner: Any = nr.make("svd", rank=3, batch=2)
    learner.learn(random_rows(9, 4))
    assert copies == []
    learner.learn(random_rows(9, 4))
    assert copies == [8]


def test_rows_that_wait_are_kept_in_order_and_few_parts() -> None:
    X = random_rows(100, 3)
    waiting, copied = WaitingRows(), 0
    for start in range(100):
        before = {id(part) for part in waiting.parts}
        waiting = waiting.add(take_rows(nr.data.blocks.DenseBlock(X), start, start + 1, 3))
        copied += sum(part.rows for part in waiting.parts if id(part) not in before)
        assert waiting.rows == start + 1
        assert len(waiting.parts) == (start + 1).bit_count()
        assert (np.diff([part.rows for part in waiting.parts]) < 0).all()
    assert copied <= 100 * (1 + np.log2(100))
    np.testing.assert_array_equal(waiting.whole.dense, X)
    assert waiting.add(WaitingRows().whole).parts == waiting.parts
    for start, stop in ((0, 100), (0, 1), (3, 64), (63, 65), (64, 96), (10, 97), (97, 100), (99, 100)):
        np.testing.assert_array_equal(waiting.between(start, stop).dense, X[start:stop])
    narrow = WaitingRows().add(take_rows(nr.data.blocks.DenseBlock(X[:3] * [1.0, 0.0, 0.0]), 0, 3, 3))
    assert (narrow.width, narrow.between(0, 2).width, narrow.add(waiting.whole).between(0, 4).width) == (3, 1, 3)
    assert (WaitingRows().rows, WaitingRows().width, WaitingRows().whole.rows) == (0, 0, 0)
