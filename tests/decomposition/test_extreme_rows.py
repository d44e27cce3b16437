"""Rows that are constant, dependent, huge, tiny or far from the origin: learned, measured, saved and read again."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.learner.model_file import pack, unpack

RNG = np.random.default_rng(3)
ROWS = RNG.normal(size=(24, 3))
LEARNERS: dict[str, dict[str, Any]] = {
    "svd": {}, "svd one by one": {"batch": 1, "keep_rows": "yes"}, "svd projected": {"rank": 2, "ceiling": "project"},
    "pca": {"rank": 2}, "pca drawn": {"rank": 2, "choose": "draw", "batch": 3},
    "pca_incremental": {}, "pca_incremental one by one": {"batch": 1, "rank": 2}, "oja": {"rank": 2},
    "dictionary": {"k": 4, "batch": 3}, "kmeans": {"k": 3, "start": 6}, "kmeans one by one": {"k": 3, "batch": 1},
    "gaussian": {}, "mixture": {"k": 2, "start": 20, "batch": 8}, "mixture diagonal": {"k": 2, "shape": "diagonal"},
    "mixture of few": {}, "kernel_density": {"budget": 8}, "kernel_density random": {"budget": 8, "policy": "random"},
    "kernel_density diagonal": {"budget": 8, "shape": "diagonal"}, "mean_row": {},
}  # fmt: skip
DATA: dict[str, NDArray[np.float64]] = {
    "one row": ROWS[:1],
    "zeros": 0.0 * ROWS,
    "constant": np.full((40, 6), 3.7),
    "constant features": ROWS * [1.0, 0.0, 0.0] + [0.0, 0.1, 1e6],
    "equal rows": ROWS[[0, 1]].repeat(12, axis=0),
    "more features than rows": ROWS.reshape(6, 12),
    "multiples of one feature": 1e7 * np.outer(ROWS[:, 0], [1.0, 2.0, 3.0]),
    "scales": ROWS * [1e-9, 1.0, 1e9],
    "far away": ROWS + 1e9,
    "an outlier": np.concatenate((ROWS[:10], np.full((1, 3), 1e12), ROWS[10:])),
    "1e150": 0.0 * ROWS + 1e150,
    "1e-160": 1e-160 * ROWS,
    "1e-200": 1e-200 * ROWS,
    "the smallest number": 0.0 * ROWS + 5e-324,
}


def make(kind: str, **options: Any) -> Any:
    return nr.make(kind, native=False, **options)


def named(name: str) -> Any:
    return make(name.partition(" ")[0], **LEARNERS[name])


@pytest.mark.thinned(6)
@pytest.mark.parametrize("rows", DATA.values(), ids=DATA)
@pytest.mark.parametrize("name", LEARNERS)
def test_losses_are_finite_and_a_saved_learner_is_read_again(name: str, rows: NDArray[np.float64]) -> None:
    learner, parts = named(name), named(name)
    losses = learner.play(rows).losses
    assert np.isfinite(losses).all()
    assert [parts.play(rows[at : at + 5]).losses.tolist() for at in range(0, len(rows), 5)] == [
        losses[at : at + 5].tolist() for at in range(0, len(rows), 5)
    ]
    assert pack(parts) == pack(learner)
    again = unpack(pack(learner), "m.nr")
    assert pack(again.learn(rows[:3])) == pack(learner.learn(rows[:3]))
    learner.describe_results()


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e-160, 1e140])
@pytest.mark.parametrize("options", [{"batch": 1}, {"batch": 4}, {"batch": 1, "ceiling": "project"}, {}], ids=str)
def test_singular_values_do_not_depend_on_the_unit_of_the_rows(size: float, options: dict[str, Any]) -> None:
    """Unless it is so small that numbers lose digits: then rows are as good as 0."""
    learner = make("svd", rank=3, **options).learn(size * ROWS)
    expected = np.linalg.svd(ROWS, compute_uv=False) if size > 1e-300 else np.zeros(0)
    np.testing.assert_allclose(learner.singular_values / size, expected, rtol=1e-10)
    np.testing.assert_allclose(learner.components @ learner.components.T, np.eye(len(expected)), atol=1e-12)


@pytest.mark.parametrize("row", ROWS[:6], ids=range(6))
def test_rows_that_are_all_equal_have_no_directions_around_their_mean(row: NDArray[np.float64]) -> None:
    rows = row[None].repeat(7, axis=0)
    for batch in (0, 1, 3):
        centred = make("pca_incremental", rank=3, batch=batch).learn(rows)
        assert centred.explained_variance_ratio.tolist() == []
        assert centred.mean.tolist() == row.tolist()
        assert make("svd", rank=3, batch=batch).learn(rows).recenter().singular_values.tolist() == []
        assert make("svd", keep_rows="yes", batch=batch).learn(rows).recenter().singular_values.tolist() == []


@pytest.mark.parametrize("shape", ["full", "diagonal"])
@pytest.mark.parametrize("start", [16, 1000])
def test_a_mixture_far_from_the_origin_is_that_of_the_rows_around_their_mean(shape: str, start: int) -> None:
    """Wherever the rows are: squares of their distance from the origin have no digits left of those between them."""
    options: dict[str, Any] = {"k": 2, "start": start, "shape": shape, "batch": 8}
    near = make("mixture", **options).learn(ROWS.round(3))
    far = make("mixture", **options).learn(ROWS.round(3) + 1e9)
    np.testing.assert_allclose(far.covariances, near.covariances, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(far.log_density(ROWS + 1e9), near.log_density(ROWS), atol=1e-4)


@pytest.mark.parametrize("name", ["mean_row", "kmeans", "gaussian", "mixture", "pca_incremental", "kernel_density"])
def test_means_of_the_largest_rows_are_read_again(name: str) -> None:
    """Though rounding puts the sum of some of them, divided by their number, beyond each of them."""
    centre = {"kmeans": {"k": 1}, "mixture": {"k": 1}, "kernel_density": {"budget": 2}}.get(name, {})
    for rows in range(1, 60):
        learner = make(name, batch=rows, **centre).learn(np.full((rows, 1), -1e150)).flush()
        assert pack(unpack(pack(learner), "m.nr")) == pack(learner)
