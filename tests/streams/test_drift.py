"""Streams that change do so when and how their schedule says."""

from typing import Any

import numpy as np
import pytest

from noregret.errors import BadValue
from noregret.streams import open_source
from noregret.streams.composed import Cursor
from noregret.streams.drift import DRIFTING, LabelShift, RotatingClasses, Sea
from noregret.streams.synthetic import Synthetic

Array = np.ndarray


def drawn(spec: str) -> tuple[Array, Array, Any]:
    source = Synthetic(spec)
    parts = list(source)
    return np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts]), source.generator


def sea_labels(X: Array, thresholds: Any) -> Array:
    return np.where(X[:, 0] + X[:, 1] <= thresholds, 1, -1)


def test_sea_has_the_thresholds_of_its_paper_one_after_another() -> None:
    X, y, _ = drawn("sea:noise=0,every=1000,rows=5000")
    thresholds = np.repeat([8.0, 9.0, 7.0, 9.5, 8.0], 1000)
    np.testing.assert_array_equal(y, sea_labels(X, thresholds))
    assert X.min() >= 0.0
    assert X.max() <= 10.0
    for size in (8.0, 7.0):
        assert not np.array_equal(y, sea_labels(X, size))


def test_sea_flips_the_share_of_labels_asked_for() -> None:
    X, y, _ = drawn("sea:noise=0.2,every=100000,rows=20000")
    assert (y != sea_labels(X, 8.0)).mean() == pytest.approx(0.2, abs=0.01)


def test_recurring_concepts_come_back() -> None:
    X, y, _ = drawn("sea:noise=0,change=recurring,concepts=2,every=500,rows=2000")
    np.testing.assert_array_equal(y, sea_labels(X, np.repeat([8.0, 9.0, 8.0, 9.0], 500)))


def test_an_incremental_change_is_always_on_its_way() -> None:
    X, y, _ = drawn("sea:noise=0,change=incremental,every=1000,rows=2000")
    t = np.arange(2000)
    thresholds = np.where(t < 1000, 8.0 + t / 1000.0, 9.0 - 2.0 * (t - 1000) / 1000.0)
    np.testing.assert_array_equal(y, sea_labels(X, thresholds))


def test_a_gradual_change_mixes_two_concepts_with_a_probability_that_rises() -> None:
    shares = np.zeros(1000)
    for seed in range(40):
        places = Sea(np.random.default_rng(0), 0.0, change="gradual", every=1024, width=600, concepts=2)
        parts = [places.schedule.place(np.random.default_rng([seed, block]), 1024 * block) for block in range(2)]
        found = np.concatenate(parts)
        assert set(np.unique(found)) <= {0.0, 1.0, 2.0}
        assert not found[: 1024 - 300].any()
        assert (found[1024 + 300 : 2048 - 300] == 1.0).all()
        shares[:600] += found[1024 - 300 : 1024 + 300] / 40.0
    for start in range(0, 600, 100):
        assert shares[start : start + 100].mean() == pytest.approx((start + 50) / 600.0, abs=0.05)


def test_the_first_concept_is_whole_where_a_gradual_change_is_wide() -> None:
    places = Sea(np.random.default_rng(0), 0.0, change="gradual", every=100, width=100, concepts=2).schedule
    found = places.place(np.random.default_rng(1), 0)
    assert not found[:50].any()
    assert found.min() == 0.0


@pytest.mark.parametrize("every", [500, 1000])
def test_a_hyperplane_that_jumps_stands_still_between_jumps(every: int) -> None:
    X, y, generator = drawn(f"hyperplane:change=abrupt,every={every},drift=60,rows=3000,features=4")
    u = generator.at(np.arange(3000) // every * every)
    np.testing.assert_array_equal(y, np.where((X * u).sum(axis=1) >= 0.0, 1, -1))
    assert np.degrees(np.arccos(u[0] @ u[every])) == pytest.approx(60.0 * every / 1000.0)
    np.testing.assert_array_equal(u[0], u[every - 1])


def test_rotating_classes_take_the_place_of_the_next_class() -> None:
    X, y, generator = drawn("rotating_classes:classes=5,spread=0,every=1000,rows=3000")
    assert isinstance(generator, RotatingClasses)
    corners = generator.centres(np.arange(5), 0.0)
    for concept in range(3):
        part = slice(1000 * concept, 1000 * (concept + 1))
        np.testing.assert_allclose(X[part], corners[(y[part] + concept) % 5], atol=1e-12)
    assert np.unique(y).size == 5


def test_label_shift_changes_how_often_classes_come_and_not_where_they_are() -> None:
    X, y, generator = drawn("label_shift:classes=3,share=0.7,every=5000,rows=15000")
    assert isinstance(generator, LabelShift)
    for concept in range(3):
        part = slice(5000 * concept, 5000 * (concept + 1))
        share = np.bincount(y[part], minlength=3) / 5000
        assert share[concept] == pytest.approx(0.7, abs=0.03)
        np.testing.assert_allclose(np.delete(share, concept), 0.15, atol=0.03)
        for one in range(3):
            rows = X[part][y[part] == one]
            np.testing.assert_allclose(rows.mean(axis=0), generator.centres[one], atol=0.2)


@pytest.mark.parametrize("name", DRIFTING)
@pytest.mark.parametrize("change", ["abrupt", "gradual", "incremental", "recurring"])
def test_a_stream_goes_on_where_it_was_left(name: str, change: str) -> None:
    spec = f"{name}:change={change},every=700,rows=3000"
    X, y, _ = drawn(spec)
    cursor, source = Cursor(), Synthetic(spec, batch=600)
    for batch, _ in zip(source, range(3), strict=False):
        cursor.advance(batch)
    assert cursor.dump() == {"at": {"row": 1800}, "past": 0}
    rest = list(cursor.resume(Synthetic(spec)))
    np.testing.assert_array_equal(np.concatenate([part.X for part in rest]), X[1800:])
    np.testing.assert_array_equal(np.concatenate([part.y for part in rest]), y[1800:])


def test_a_damaged_position_is_refused() -> None:
    source = Synthetic("sea:rows=100")
    source.start = {"row": -3}
    with pytest.raises(BadValue, match="the position to resume from is damaged"):
        next(iter(source))


def test_a_stream_knows_its_changes() -> None:
    assert Synthetic("sea:every=400,rows=1300").changes == [400, 800, 1200]
    assert Synthetic("hyperplane:rows=5000").changes == []
    assert Synthetic("sea:rows=0").changes == []
    assert Synthetic("separable").changes == []


def test_a_stream_opens_by_name_with_options_that_suit_it() -> None:
    source: Any = open_source("sea:rows=20")
    assert dict(source.learner_defaults) == {"scale": True, "bias": True}
    assert next(iter(source)).X.shape == (20, 3)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("sea:change=sudden", "sea: change must be one of abrupt, gradual, incremental, recurring, not 'sudden'"),
        ("sea:change=gradul", "did you mean gradual?"),
        ("sea:features=4", "sea: there is no setting 'features'"),
        ("sea:change", "sea: give change a value, as in sea:change=abrupt"),
        ("sea:change=gradual,every=100,width=200", "sea: width must be at most every, 100, not 200"),
        ("label_shift:share=1.5", "label_shift: share must be a number of at least 0 and at most 1"),
        ("rotating_classes:classes=1", "rotating_classes: classes must be a whole number of at least 2"),
        ("hyperplane:every=0", "hyperplane: every must be a whole number of at least 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(spec: str, words: str) -> None:
    with pytest.raises(BadValue) as refused:
        Synthetic(spec)
    assert words in str(refused.value)
