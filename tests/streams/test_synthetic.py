"""What the made-up streams promise holds for every row, and does not depend on how the rows are drawn."""

from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest

from noregret.data.blocks import Rows, to_dense
from noregret.errors import BadValue
from noregret.streams.drift import Hyperplane
from noregret.streams.synthetic import GENERATORS, Disjunction, Separable, Synthetic

Array = np.ndarray


def table(X: Any) -> Array:
    return to_dense(X.block).val if isinstance(X, Rows) else np.asarray(X)


def drawn(spec: str, batch: int = 8192, seed: int = 0) -> tuple[Array, Array]:
    parts = list(Synthetic(spec, seed=seed, batch=batch))
    return np.concatenate([table(part.X) for part in parts]), np.concatenate([part.y for part in parts])


@pytest.mark.parametrize("name", GENERATORS)
def test_rows_do_not_depend_on_how_many_are_drawn_at_a_time(name: str) -> None:
    X, y = drawn(f"{name}:rows=2500")
    assert X.shape[0] == y.size == 2500
    labels = {"binary": {-1, 1}, "recommendation": {1, 2, 3, 4, 5}}
    assert set(y.tolist()) == labels.get(GENERATORS[name].task, set(range(y.max() + 1)))
    for batch in (700, 1024, 1, 2500):
        again = drawn(f"{name}:rows=2500", batch) if batch > 1 else drawn(f"{name}:rows=30", batch)
        np.testing.assert_array_equal(again[0], X[: len(again[0])])
        np.testing.assert_array_equal(again[1], y[: len(again[1])])


@pytest.mark.parametrize("name", GENERATORS)
def test_the_seed_decides_and_may_stand_in_the_name(name: str) -> None:
    X, y = drawn(f"{name}:rows=50", seed=3)
    np.testing.assert_array_equal(drawn(f"{name}:rows=50,seed=3")[0], X)
    assert not np.array_equal(drawn(f"{name}:rows=50,seed=4")[0], X)
    assert GENERATORS[name].task != "binary" or 10 < (y > 0).sum() < 40


@pytest.mark.parametrize("name", GENERATORS)
def test_a_stream_without_end_goes_on(name: str) -> None:
    endless = Synthetic(f"{name}:rows=0", batch=100)
    assert endless.rows is None
    X, y = drawn(f"{name}:rows=300")
    parts = list(islice(endless, 3))
    np.testing.assert_array_equal(np.concatenate([table(part.X) for part in parts]), X)
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), y)
    assert all(part.progress is None for part in parts)


@pytest.mark.parametrize("name", GENERATORS)
def test_iterating_twice_gives_the_same_rows(name: str) -> None:
    source = Synthetic(f"{name}:rows=20")
    first, second = list(source), list(source)
    np.testing.assert_array_equal(table(first[0].X), table(second[0].X))
    assert (source.rows, first[-1].progress) == (20, 1.0)


@pytest.mark.parametrize("margin", [0.001, 0.1, 0.9])
@pytest.mark.parametrize("features", [2, 50])
def test_every_separable_row_keeps_its_margin(margin: float, features: int) -> None:
    spec = f"separable:margin={margin},features={features},rows=3000"
    X, y = drawn(spec)
    generator = Synthetic(spec).generator
    assert isinstance(generator, Separable)
    u = generator.u
    margins = y * (X @ u)
    assert np.linalg.norm(u) == pytest.approx(1.0, abs=1e-12)
    assert margin <= margins.min() <= margin + 0.05
    assert np.linalg.norm(X, axis=1).max() <= 1.0
    nearest = int(np.argmin(margins))
    exact = int(y[nearest]) * sum(Fraction(a) * Fraction(b) for a, b in zip(X[nearest], u, strict=True))
    assert exact >= Fraction(margin)


def test_noise_turns_over_the_share_of_labels_asked_for() -> None:
    spec = "noisy:noise=0.2,rows=20000"
    X, y = drawn(spec)
    generator = Synthetic(spec).generator
    assert isinstance(generator, Separable)
    turned = (y * (X @ generator.u) < 0.0).mean()
    assert turned == pytest.approx(0.2, abs=0.01)
    assert np.abs(X @ generator.u).min() >= 0.1


def test_a_disjunction_labels_by_its_relevant_variables_and_they_can_be_found() -> None:
    spec = "disjunction:features=60,relevant=4,active=6,rows=3000"
    X, y = drawn(spec)
    generator = Synthetic(spec).generator
    assert isinstance(generator, Disjunction)
    np.testing.assert_array_equal(X[:, generator.relevant].any(axis=1), y > 0)
    assert set(np.unique(X)) == {0.0, 1.0}
    np.testing.assert_array_equal(X.sum(axis=1), 6 + (y > 0))
    never_on_in_negatives = np.flatnonzero(~X[y < 0].any(axis=0))
    np.testing.assert_array_equal(never_on_in_negatives, generator.relevant)


def test_a_disjunction_hands_over_sorted_rows_without_duplicates() -> None:
    block = next(iter(Synthetic("disjunction:rows=3000"))).X.block
    for first, last in zip(block.indptr[:-1], block.indptr[1:], strict=True):
        assert (np.diff(block.idx[first:last]) > 0).all()
    assert (block.idx.dtype, block.indptr.dtype, block.val.dtype) == (np.int32, np.int64, np.float64)


def test_the_plane_turns_as_far_as_it_was_told() -> None:
    spec = "hyperplane:drift=45,rows=4000,features=5"
    X, y = drawn(spec)
    generator = Synthetic(spec).generator
    assert isinstance(generator, Hyperplane)
    u = generator.at(np.arange(4000))
    np.testing.assert_allclose(np.linalg.norm(u, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(np.where((X * u).sum(axis=1) >= 0.0, 1, -1), y)
    for after, angle in ((1000, 45.0), (2000, 90.0)):
        assert np.degrees(np.arccos(u[0] @ u[after])) == pytest.approx(angle)
    at_first = np.where(X @ u[0] >= 0.0, 1, -1) == y
    assert at_first[:100].mean() > 0.95
    assert at_first[3900:].mean() < 0.1


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("separable:margn=0.1", "no setting 'margn'; did you mean margin?"),
        ("separable:margin=2", "margin must be a number of at least 1e-06 and at most 0.9, not '2'"),
        ("separable:margin=nan", "margin must be"),
        ("separable:margin=", "margin must be"),
        ("separable:margin", "give margin a value, as in separable:margin=0.1"),
        ("separable:features=2.5", "features must be a whole number of at least 2"),
        ("separable:rows=-1", "rows must be a whole number of at least 0"),
        ("separable:rows=inf", "rows must be"),
        ("noisy:noise=0.7", "at most 0.5"),
        ("disjunction:features=5,relevant=5,active=1", "together must be at most features"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(spec: str, words: str) -> None:
    with pytest.raises(BadValue) as refused:
        Synthetic(spec)
    assert words in str(refused.value)
    assert str(refused.value).startswith(spec.split(":")[0])
