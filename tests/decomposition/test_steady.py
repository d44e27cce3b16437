"""Components for a learner behind: axes that follow the space of the components, by the smallest turn each time."""

import json
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.decomposition import steady
from noregret.decomposition.factors import Factors, leading_signs
from noregret.learner.model_file import pack, unpack
from tests.support.model_files import header, tensors

Floats = NDArray[np.float64]
RNG = np.random.default_rng(2)
ROWS = RNG.normal(size=(90, 7))  # of which no two singular values are far apart
LABELS = np.where(ROWS @ RNG.normal(size=7) > 0.0, "up", "down")


def make(name: str = "svd", **options: Any) -> Any:
    learner: Any = nr.make(name, **options)
    learner.keep_steady()
    return learner


def axes(learner: Any, features: int = 7) -> Floats:
    """The directions that rows are described by, in columns."""
    found = learner.score_settled(np.concatenate((np.eye(features), np.zeros((1, features))))).components
    return np.asarray(found[:-1] - found[-1])  # less that of the mean, which pca_incremental takes out


def nearest(space: Floats, before: Floats) -> Floats:
    """The axes in the space of these columns that are nearest to those before."""
    left, _, right = np.linalg.svd(space.T @ before)
    return np.asarray(space @ left @ right)


OPTIONS: dict[str, dict[str, Any]] = {
    "one by one": {"batch": 1}, "triangles": {"batch": 9}, "directly": {"batch": 9, "keep_rows": "yes"},
    "projected": {"batch": 3, "ceiling": "project"}, "missing": {"batch": 3, "missing": "nan"}, "few": {"batch": 3},
}  # fmt: skip


def test_signs_are_found_once_for_each_state(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, find = make(batch=9).learn(ROWS[:18]), Mock(wraps=leading_signs)
    monkeypatch.setattr(steady, "leading_signs", find)
    for _ in range(3):
        learner.transform(ROWS[:2])
    assert find.call_count == 1
    learner.learn(ROWS[18:27]).transform(ROWS[:2])
    assert find.call_count == 2


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("features", [7, 40])
def test_axes_turn_as_little_as_possible(options: dict[str, Any], features: int) -> None:
    rows = ROWS @ np.linalg.qr(RNG.normal(size=(features, features)))[0][:7]
    learner = make(rank=4, **options).learn(rows[:9])
    for start in range(9, 90, 9):
        for at in range(start, start + 9, options["batch"]):
            before = axes(learner, features)
            learner.learn(rows[at : at + options["batch"]])
            found = axes(learner, features)
            np.testing.assert_allclose(found, nearest(learner.components.T, before), atol=1e-9)
    np.testing.assert_allclose(found.T @ found, np.eye(4), atol=1e-9)


@pytest.mark.parametrize("name", ["svd", "pca_incremental"])
def test_axes_follow_each_other_while_the_first_mini_batch_fills(name: str) -> None:
    """States that learned 16, 32 and all 35 rows are made anew, not from each other."""
    learner, found = make(name, rank=3), []
    for row in ROWS:
        found.append(axes(learner))
        learner.learn(row[None])
    assert not found[15].any()
    assert [at for at in range(1, 90) if not np.allclose(found[at], found[at - 1])] == [16, 32, 35, 70]
    for at in (32, 35, 70):
        np.testing.assert_allclose(found[at], nearest(found[at], found[at - 1]), atol=1e-9)
    parts, whole = make(name, rank=3), make(name, rank=3)
    scores = whole.play(ROWS).scores
    assert np.concatenate([parts.play(ROWS[at : at + 7]).scores for at in range(0, 90, 7)]).tolist() == scores.tolist()
    assert pack(whole) == pack(parts) == pack(learner)


@pytest.mark.parametrize("rank", [32, 33])
def test_axes_of_the_first_mini_batch_follow_those_of_the_rows_before_its_last(rank: int) -> None:
    """Of many features, whose mini-batches have as many rows as components: it is the state of 16 rows, or of 32."""
    rows = np.random.default_rng(5).normal(size=(rank, 450))
    learner = make(rank=rank).learn(rows[:-1])
    before = axes(learner, 450)
    found = axes(learner.learn(rows[-1:]), 450)
    assert learner.pending.rows == 0
    assert np.linalg.matrix_rank(before) == {32: 16, 33: 32}[rank]
    width = np.linalg.matrix_rank(before)
    turned = found.T @ before[:, :width]  # the polar factor of which is the identity, where nothing can turn further
    left, _, right = np.linalg.svd(turned, full_matrices=False)
    np.testing.assert_allclose(left @ right, np.eye(rank)[:, :width], atol=1e-9)


def test_rows_that_wait_are_flushed_in_parts_which_turn_the_axes_least_each() -> None:
    """Of 50 rows, 32 have made the axes; the parts after them have 16 and 2."""
    rows = np.random.default_rng(6).normal(size=(50, 12))
    learner = make(rank=3).learn(rows)
    expected = axes(learner, 12)
    for stop in (48, 50):
        expected = nearest(nr.make("svd", rank=3).learn(rows[:stop]).components.T, expected)  # type: ignore[attr-defined]
    np.testing.assert_allclose(axes(learner.flush(), 12), expected, atol=1e-9)


def count_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows are appended to factors from now on, call by call."""
    learned: list[int] = []
    append = Factors.append

    def counted(self: Factors, rows: Floats) -> None:
        learned.append(len(rows))
        append(self, rows)

    monkeypatch.setattr(Factors, "append", counted)
    return learned


def test_states_that_nothing_follows_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a learner behind: rows are learned once, and once more to score those after them."""
    learned = count_rows(monkeypatch)
    learner: Any = nr.make("svd", rank=3)
    learner.learn(ROWS[:33]).score_settled(ROWS[:1])
    assert learned == [32]
    learner.learn(ROWS[33:35])
    assert learned == [32, 35]
    learned.clear()
    nr.make("svd", rank=3).learn(ROWS[:35])
    assert learned == [35]


def test_what_the_last_row_of_a_first_mini_batch_is_scored_by_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mini-batch of 32 rows is followed from the state of 16."""
    learned = count_rows(monkeypatch)
    make(rank=32).learn(np.random.default_rng(5).normal(size=(32, 450)))
    assert learned == [16, 32]


@pytest.mark.parametrize("name", ["svd", "pca_incremental"])
def test_without_a_learner_behind_rows_are_described_by_their_components_alone(name: str) -> None:
    """But for signs, which change no loss: there is no frame, in memory or in a file."""
    learner: Any = nr.make(name, rank=3).learn(ROWS)
    learner.flush()
    np.testing.assert_allclose(np.abs(axes(learner)), np.abs(learner.components.T), atol=1e-12)
    assert "state.frame" not in tensors(learner)


@pytest.mark.parametrize("name", ["svd", "pca_incremental"])
def test_results_are_those_of_components_and_losses_are_the_same(name: str) -> None:
    steady = make(name, rank=3)
    usual: Any = nr.make(name, rank=3)
    np.testing.assert_allclose(steady.play(ROWS).losses, usual.play(ROWS).losses, rtol=1e-10)
    assert steady.components.tolist() == usual.components.tolist()
    np.testing.assert_allclose(steady.transform(ROWS), usual.transform(ROWS), atol=1e-10)
    assert np.abs(steady.score(ROWS).components - usual.score(ROWS).components).max() > 0.5


def test_changes_of_rows_keep_the_axes() -> None:
    learner = make(rank=4, batch=3, keep_rows="yes").learn(ROWS[:12])
    for change in (lambda: learner.revise(2, ROWS[20]), lambda: learner.remove(5), learner.recenter):
        before = axes(learner)
        change()
        np.testing.assert_allclose(axes(learner), nearest(learner.components.T, before), atol=1e-9)
    before = np.concatenate((axes(learner), np.zeros((2, 4))))
    learner.append_columns(RNG.normal(size=(11, 2)))
    np.testing.assert_allclose(axes(learner, 9), nearest(learner.components.T, before), atol=1e-9)


def test_axes_are_kept_where_there_are_fewer_directions_for_a_while() -> None:
    learner = make(rank=3, batch=1, keep_rows="yes").learn([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    before = axes(learner, 3)
    learner.remove(0)
    np.testing.assert_allclose(axes(learner, 3)[1:], before[1:], atol=1e-12)
    learner.learn([[1.0, 0.0, 0.0]])
    np.testing.assert_allclose(np.abs(axes(learner, 3)), np.abs(before), atol=1e-12)


def test_a_trained_decomposition_begins_with_its_components() -> None:
    learner: Any = nr.make("svd", rank=3, batch=5).learn(ROWS[:42])
    before = axes(learner)
    learner.keep_steady()
    assert axes(learner).tolist() == before.tolist()
    learner.learn(ROWS[42:45])
    np.testing.assert_allclose(axes(learner), nearest(learner.components.T, before), atol=1e-9)


@pytest.mark.parametrize("name", ["svd", "pca_incremental"])
def test_weights_of_a_learner_behind_keep_their_meaning(name: str) -> None:
    """Of 7 features whose singular values are close, and labels that are linear in them."""
    rows, labels = np.tile(ROWS, (4, 1)), np.tile(LABELS, 4)
    model = nr.make(name, rank=7) | nr.make("arow")  # type: ignore[operator]
    assert model.play(rows, labels).mistakes[180:].mean() < 0.04  # arow makes 0.033 of the rows as they are
    again = unpack(pack(model), "m.nr")
    assert pack(again.learn(rows[:5], labels[:5])) == pack(model.learn(rows[:5], labels[:5]))


@pytest.mark.parametrize("change", [
    lambda frame: 2.0 * frame, lambda frame: frame[:-1], lambda frame: frame[:, :-1], lambda frame: np.nan * frame,
    lambda frame: frame[0], lambda frame: frame.astype(np.float32),
])  # fmt: skip
def test_frames_that_do_not_fit_are_refused(change: Any) -> None:
    learner = make(rank=3, batch=5).learn(ROWS[:20])
    arrays = tensors(learner)
    kind, contents = type(learner), json.loads(json.dumps(header(learner)))
    assert pack(kind.restore(contents, arrays, lambda card: card)) == pack(learner)
    arrays["state.frame"] = change(arrays["state.frame"])
    with pytest.raises(nr.Error, match="frame"):
        kind.restore(contents, arrays, lambda card: card)


@pytest.mark.parametrize("name", ["svd", "pca_incremental"])
def test_signs_are_those_of_the_rows_learned_so_far(name: str) -> None:
    """They are found once for a state, and a copy has those of its own."""
    learner: Any = nr.make(name, rank=2, batch=1).learn(ROWS[:5])
    for start in range(5, 40):
        before, found = learner.copy(), learner.transform(ROWS[:3])
        assert np.array_equal(learner.transform(ROWS[:3]), found)
        np.testing.assert_allclose(centred(learner, ROWS[:3]) @ learner.components.T, found, atol=1e-9)
        learner.learn(ROWS[start : start + 1])
        assert np.array_equal(before.transform(ROWS[:3]), found)


def centred(learner: Any, rows: Floats) -> Floats:
    return rows - learner.mean if learner.kind == "pca_incremental" else rows
