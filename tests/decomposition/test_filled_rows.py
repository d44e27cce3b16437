"""svd of rows with missing values: a penalty for the noise that the rank leaves out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.decomposition.factors import MOST_LOST, Factors, Limits
from noregret.decomposition.factors_file import MOST_FREEDOM, dump_factors, restore_factors
from tests.naive.svd import NoisySVD

Floats = NDArray[np.float64]
RANK = 3


def make(**options: Any) -> Any:
    return nr.make("svd", **{"rank": RANK, "batch": 1, "missing": "nan", **options})


def rows_with_holes(noise: float, seed: int = 0, rows: int = 120, features: int = 12) -> tuple[Floats, Floats]:
    """Rows of rank 3 with noise, a share of which is missing; and the rows before that."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, RANK)) @ random.normal(size=(RANK, features))
    X += noise * random.normal(size=X.shape)
    return np.where(random.random(X.shape) < 0.4, np.nan, X), X


def test_rows_are_filled_in_as_by_the_twin() -> None:
    given, _ = rows_with_holes(0.5)
    learner, twin = make(), NoisySVD(RANK)
    for row in given[:60]:
        learner.learn(row[None])
        twin.learn(row)
    expected = np.array([twin.fill(row) for row in given[60:]])
    np.testing.assert_allclose(learner.impute(given[60:]), expected, rtol=1e-7, atol=1e-9)
    assert learner.latest.lost == pytest.approx(twin.lost, rel=1e-9)
    assert learner.latest.freedom == twin.freedom


def test_where_the_rank_leaves_nothing_out_nothing_is_penalised() -> None:
    given, X = rows_with_holes(0.0)
    unknown = (~np.isnan(given)).sum(axis=1) < 5
    unknown[:10] = True
    given[unknown] = X[unknown]
    ridge, pinv = make(rank=5).learn(given), make(rank=5, fill="pinv").learn(given)
    assert np.array_equal(ridge.impute(given), pinv.impute(given))
    np.testing.assert_allclose(ridge.impute(given), X, atol=1e-7)


def test_complete_rows_are_described_as_without_missing_values() -> None:
    given, X = rows_with_holes(0.5)
    learner = make().learn(given)
    assert learner.latest.noise > 1.0
    np.testing.assert_allclose(learner.transform(X) @ learner.components, X @ learner.components.T @ learner.components,
                               atol=1e-9)  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_not_filled_in(seed: int) -> None:
    """What least squares fills in of a few noisy values is farther from the truth than the means of the columns."""
    given, X = rows_with_holes(1.0, seed)
    holes, means = np.isnan(given), np.nanmean(given, axis=0)

    def error(filled: Floats) -> float:
        return float(((filled - X)[holes] ** 2).mean())

    ridge = error(make().learn(given).impute(given))
    assert ridge < 0.8 * error(np.broadcast_to(means, X.shape))
    assert ridge < 0.8 * error(make(fill="pinv").learn(given).impute(given))


def test_revised_rows_tell_of_the_noise_too() -> None:
    given, _ = rows_with_holes(0.5)
    learner = make(keep_rows="yes").learn(given[:40])
    before = learner.latest.freedom
    learner.revise(7, given[50])
    assert learner.latest.freedom == before + max(np.count_nonzero(~np.isnan(given[50])) - RANK, 0)


def test_a_merged_learner_knows_the_noise_of_both() -> None:
    given, _ = rows_with_holes(0.5)
    one, other = make().learn(given[:50]), make().learn(given[50:])
    both = one.merge(other).latest
    assert both.freedom == one.latest.freedom + other.latest.freedom
    assert both.lost > one.latest.lost + other.latest.lost  # and what the merger drops


def test_a_saved_learner_goes_on_with_the_noise(tmp_path: Path) -> None:
    given, _ = rows_with_holes(0.5)
    learner = make().learn(given[:50])
    learner.save(tmp_path / "svd.nr")
    loaded: Any = nr.load(tmp_path / "svd.nr")
    assert loaded.play(given[50:]).losses.tolist() == learner.play(given[50:]).losses.tolist()
    assert loaded.impute(given).tolist() == learner.impute(given).tolist()


@pytest.mark.parametrize(
    "forged", [{"lost": -1.0}, {"lost": 1e301}, {"lost": "x"}, {"freedom": 0.0}, {"freedom": 1e19}, {"freedom": None}]
)
def test_noise_that_cannot_be_is_refused(forged: dict[str, Any]) -> None:
    header, arrays = dump_factors(make().learn(rows_with_holes(0.5)[0]).latest)
    fresh = Factors.start(12, Limits(RANK, 0.0, spare=16))
    assert restore_factors(fresh, header, arrays).freedom > 0.0
    with pytest.raises(nr.Error, match="corrupt"):
        restore_factors(Factors.start(12, Limits(RANK, 0.0, spare=16)), {**header, **forged}, arrays)


@pytest.mark.parametrize("lost", [0.0, 0.5, MOST_LOST])
@pytest.mark.parametrize("freedom", [1.0, MOST_FREEDOM])
def test_noise_at_its_limits_is_read(lost: float, freedom: float) -> None:
    header, arrays = dump_factors(make().learn(rows_with_holes(0.5)[0]).latest)
    fresh = Factors.start(12, Limits(RANK, 0.0, spare=16))
    found = restore_factors(fresh, {**header, "lost": lost, "freedom": freedom}, arrays)
    assert (found.lost, found.freedom) == (lost, freedom)


def test_what_is_lost_stays_finite() -> None:
    factors = Factors.start(3, Limits(1, 0.0))
    factors.lost = MOST_LOST
    factors.append(1e149 * np.eye(3))
    assert factors.lost == MOST_LOST


@pytest.mark.parametrize(("lost", "both"), [(2.0, 3.0), (MOST_LOST, MOST_LOST), (0.7 * MOST_LOST, MOST_LOST)])
def test_merged_factors_have_lost_what_both_have(lost: float, both: float) -> None:
    parts = [Factors.start(2, Limits(3, 0.0)) for _ in range(2)]
    for part, own in zip(parts, (1.0 if lost < MOST_LOST / 2 else lost, lost), strict=True):
        part.append(np.eye(2))
        part.lost = own
    parts[0].merge(parts[1])
    assert parts[0].lost == both


def test_rows_that_may_not_have_holes_tell_nothing_of_noise() -> None:
    learner = make(missing="refuse", keep_rows="yes").learn(rows_with_holes(0.5)[1])
    assert learner.latest.freedom == 0.0
    assert learner.revise(3, np.ones(12)).latest.freedom == 0.0
