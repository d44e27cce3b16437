"""What learners of densities have in common: mini-batches that grow, features that are new, and log-densities."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import noregret as nr
from noregret.data.blocks import Block, DenseBlock, SparseBlock
from noregret.decomposition.density_learner import count_beyond
from noregret.decomposition.matrix_rows import MatrixRows
from noregret.learner import outside_rounds
from tests.support import refused

NAMES = ["gaussian", "mixture", "kernel_density"]
ROWS = np.array([[1.0, 0.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0], [0.0, 5.0, 0.0, -1.0]])


def learned_after_each_row(name: str, rows: int, batch: int) -> list[int]:
    """How many rows were learned when a mini-batch was full."""
    learner: Any = nr.make(name, batch=batch, native=False)
    found = []
    for x in np.random.default_rng(0).normal(size=(rows, 2)):
        learner.learn_one(x)
        found.append(learner.learned_rows)
    return [int(one) for one in np.unique(found)[1:]]


@pytest.mark.parametrize("name", NAMES)
def test_mini_batches_are_a_quarter_of_the_rows_so_far(name: str) -> None:
    """At least 16 rows, and at most as many as were asked for."""
    assert learned_after_each_row(name, 200, 1000) == [16, 32, 48, 64, 80, 100, 125, 156, 195]
    assert learned_after_each_row(name, 130, 21) == [16, 32, 48, 64, 80, 100, 121]
    assert learned_after_each_row(name, 9, 4) == [4, 8]


@pytest.mark.parametrize(("name", "size"), [("kernel_density", "budget"), ("mixture", "k")])
def test_a_state_has_as_many_numbers_as_rows_or_components_times_features(
    name: str, size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """60 numbers of 8 bytes are half of the memory of this machine: all that a state may take."""
    monkeypatch.setattr(outside_rounds, "physical_memory", lambda: 2 * 8 * 60)
    learner: Any = nr.make(name, batch=4, columns="grow", native=False, **{size: 20})
    learner.learn(ROWS[:, :3])
    assert f"{name} would have 80 numbers, which do not fit in memory" in refused(learner, lambda: learner.learn(ROWS))


def test_values_of_features_that_are_not_known_are_counted_by_row() -> None:
    none, stored = np.zeros(3), sparse.csr_matrix(ROWS)
    idx, val = np.append(stored.indices, [3, 3]), np.append(stored.data, [7.0, 7.0])  # room that no row uses
    blocks: list[Block] = [DenseBlock(ROWS), SparseBlock(stored.indptr.astype(np.int64), idx.astype(np.int32), val, 4)]
    for block in blocks:
        for known, expected in ((0, [3, 0, 2]), (1, [2, 0, 2]), (2, [2, 0, 1]), (3, [1, 0, 1]), (4, [0, 0, 0])):
            found = count_beyond(MatrixRows(block, 4, none), known)
            assert found.tolist() == expected
            assert found.dtype == np.float64
    zeros = SparseBlock(np.array([0, 2, 2, 3]), np.array([0, 3, 1], np.int32), np.array([1.0, 0.0, 0.0]), 4)
    assert count_beyond(MatrixRows(zeros, 4, none), 0).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variance", [0.5, 1.0, 3.0])
def test_the_first_rows_have_the_density_of_the_start(name: str, variance: float) -> None:
    """Features that are 0 in a row are not known yet, and have no density."""
    losses = nr.make(name, variance=variance, native=False).play(ROWS).losses
    count = np.array([3.0, 0.0, 2.0])
    expected = 0.5 * ((ROWS**2).sum(axis=1) / variance + count * np.log(2.0 * np.pi * variance))
    np.testing.assert_allclose(losses, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_the_log_density_of_a_row_is_minus_its_loss(name: str) -> None:
    learner: Any = nr.make(name, batch=2, native=False)
    assert learner.log_density_one([1.0, 2.0]) is None
    X = np.random.default_rng(0).normal(size=(30, 2))
    learner.learn(X)
    assert learner.log_density(X[:5]).tolist() == (-learner.evaluate(X[:5]).losses).tolist()
    assert learner.log_density_one(X[3]) == learner.log_density(X[:5])[3]
    assert learner.log_density_one(dict(enumerate(X[3].tolist()))) == learner.log_density(X[3:4])[0]


@pytest.mark.parametrize("name", ["gaussian", "kernel_density"])
def test_new_features_are_in_the_log_density_and_in_the_distance(name: str) -> None:
    learner: Any = nr.make(name, batch=1, variance=2.0, native=False).learn([{"a": 1.0}, {"a": 3.0}])
    (plain,), wide = learner.transform([{"a": 2.5}]), learner.play([{"a": 2.5, "b": 0.7}])
    ((log_density, distance),) = wide.scores
    assert log_density == pytest.approx(plain[0] - 0.5 * (0.7**2 / 2.0 + np.log(2.0 * np.pi * 2.0)))
    assert log_density == -wide.losses[0]
    assert distance**2 == pytest.approx(plain[1] ** 2 + 0.7**2 / 2.0)


@pytest.mark.parametrize("name", ["gaussian", "kernel_density"])
def test_the_first_row_has_its_length_in_deviations_of_the_start_as_distance(name: str) -> None:
    first = nr.make(name, batch=1, variance=2.0, native=False).play([{"a": 3.0, "b": 4.0}])
    assert first.losses[0] == pytest.approx(25.0 / 4.0 + np.log(2.0 * np.pi * 2.0))
    assert first.scores is not None
    assert first.scores[0].tolist() == [-first.losses[0], pytest.approx(5.0 / np.sqrt(2.0))]
