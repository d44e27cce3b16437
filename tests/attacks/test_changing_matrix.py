"""Arrays of the caller may change at any moment of a call: compiled code uses no index that it has not copied."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.algebra import add
from noregret.data.blocks import SparseBlock, as_block, verify
from noregret.learner.model_file import pack

X = csr_array(np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]]))
y = [1, -1, 1]
CHANGED, RIGHT = csr_array(X, copy=True), X.indices.copy()


def test_threads_that_write_a_matrix_cannot_crash_the_calls_that_read_it() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.attacks.changing_matrix", "0.3", "0", "1", "2"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= {"learned", "refused"}


def test_what_changes_between_the_check_of_a_row_and_its_use_changes_nothing() -> None:
    @nr.margin_rule(paper="a test", params={}, state={"w": nr.plain})
    def meddling(p: Any, s: Any, z: Any, margin: float) -> bool:
        """Update as the perceptron does, while the matrix is wrong."""
        CHANGED.indices[:] = 2**31 - 1
        add(s.w, 1.0 if margin <= 0.0 else 0.0, z)
        CHANGED.indices[:] = RIGHT
        return margin <= 0.0

    found = nr.make(meddling, native=False).learn(CHANGED, y)
    assert np.array_equal(found.scores(X), nr.make("perceptron", native=False).learn(X, y).scores(X))


def test_checked_rows_share_no_offsets_and_no_indices_with_the_matrix() -> None:
    given = csr_array(X)
    given.indptr = given.indptr.astype(np.int64)
    block = as_block(given)
    assert isinstance(block, SparseBlock)
    assert not np.shares_memory(block.indptr, given.indptr)
    assert np.shares_memory(block.idx, given.indices)  # copied row by row, as it is read
    sound = verify(block)
    assert isinstance(sound, SparseBlock)
    assert not np.shares_memory(sound.idx, given.indices)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("wrong", [-1, 4, 2**31 - 1])
def test_wrong_indices_are_refused_by_every_call(wrong: int, native: bool) -> None:
    learner = nr.make("pa1", native=native).learn(X, y)
    before = pack(learner)
    bad = csr_array(X)
    bad.indices = X.indices.copy()
    bad.indices[3] = wrong
    for call in (learner.scores, learner.predict, lambda rows: learner.learn(rows, y)):
        with pytest.raises(nr.BadValue, match=r"row 1: feature number .* is outside 0 to 3; the sparse matrix is"):
            call(bad)
    assert pack(learner) == before


@pytest.mark.parametrize("native", [True, False])
def test_a_row_with_more_values_than_there_are_columns_is_refused_or_summed(native: bool) -> None:
    learner = nr.make("pa1", native=native).learn(X, y)
    twice = csr_array((3, 4))
    twice.indices, twice.data = np.array([0, 1, 2, 3] * 2, np.int32), np.ones(8)
    twice.indptr = np.array([0, 8, 8, 8])
    assert learner.scores(twice)[0] == pytest.approx(learner.scores(np.full((1, 4), 2.0))[0])


@pytest.mark.parametrize("native", [True, False])
def test_values_in_a_matrix_without_columns_are_refused(native: bool) -> None:
    corrupt: Any = csr_array((3, 0))
    corrupt.indices, corrupt.data = np.array([2**31 - 2, 0, 5], np.int32), np.ones(3)
    corrupt.indptr = np.array([0, 0, 1, 3])
    learner = nr.make("pa1", native=native).learn(X, y)
    for call in (learner.scores, lambda rows: learner.learn(rows, y), lambda rows: nr.make("pa1").learn(rows, y)):
        with pytest.raises(nr.BadValue, match="row 1: it has values, and the sparse matrix has no columns"):
            call(corrupt)
    assert learner.learn(csr_array((3, 0)), y).scores(csr_array((2, 0))).tolist() == [0.0, 0.0]
