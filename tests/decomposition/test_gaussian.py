"""The Gaussian density of a stream: exact moments, the density of the definition, and scikit-learn's likelihood."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.naive.gaussian import NaiveGaussian
from tests.support import by_name

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 4)) @ RNG.normal(size=(4, 4)) + [1.0, -2.0, 0.0, 5.0]
ROWS = [{name: value for at, (name, value) in enumerate(by_name(row).items()) if (number + at) % 4} for number, row
        in enumerate(X)]  # fmt: skip
NAMES = tuple(f"f{number}" for number in range(4))
PADDED = np.array([[row.get(name, 0.0) for name in NAMES] for row in ROWS])
NONE, LABELS = [None] * 40, [number % 3 for number in range(40)]
BAD_ROW, BAD_DICT = np.full(4, np.nan), {"f1": float("inf")}


def make(**options: Any) -> Any:
    return nr.make("gaussian", **{"batch": 4, "native": False, **options})


CASES = {
    "one row at a time": Case(lambda: make(batch=1), X, NONE, BAD_ROW, gains=True),
    "mini-batches of dicts": Case(lambda: make(batch=5, prior=2.0), ROWS, LABELS, BAD_DICT, gains=True),
    "hashed names": Case(lambda: make(bits=3, scale=True), ROWS, NONE, BAD_DICT, gains=True),
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_follows_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_saved_and_loaded_goes_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


@pytest.mark.parametrize("options", [{"batch": 1}, {}, {"prior": 0.3, "variance": 7.0}], ids=str)
def test_learns_as_its_twin(options: dict[str, Any]) -> None:
    learner = make(**options)
    twin = NaiveGaussian(4, learner.prior, learner.variance)
    losses = learner.play(X).losses
    for start in range(0, 40, learner.batch):
        batch = X[start : start + learner.batch]
        expected = [twin.loss(row) for row in batch]
        np.testing.assert_allclose(losses[start : start + learner.batch], expected, rtol=1e-10)
        twin.learn(batch)
    np.testing.assert_allclose(-learner.predict(X), [twin.loss(row) for row in X], rtol=1e-10)


def test_mean_and_covariance_are_those_of_all_rows() -> None:
    for rows in (X, X + 1e7):
        for batch in (1, 7, 40):
            learner = make(batch=batch).learn(rows)
            np.testing.assert_allclose(learner.mean, rows.mean(axis=0), rtol=1e-13)
            np.testing.assert_allclose(learner.covariance, np.cov(rows.T, bias=True), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(make().learn(X).covariance, np.cov(X.T, bias=True), rtol=1e-12, atol=1e-13)


def test_features_that_come_late_were_0_before() -> None:
    learner = make().learn(ROWS)
    order = [learner.feature_names.index(name) for name in NAMES]
    np.testing.assert_allclose(learner.mean[order], PADDED.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(learner.covariance[np.ix_(order, order)], np.cov(PADDED.T, bias=True), rtol=1e-11)


def test_the_density_integrates_to_1() -> None:
    learner = make(batch=1).learn(X[:9, :1])
    grid = np.linspace(-60.0, 60.0, 6001)
    assert np.exp(learner.predict(grid[:, None])).sum() * (grid[1] - grid[0]) == pytest.approx(1.0, abs=1e-6)
    distance = learner.transform([learner.mean])[0, 1]
    assert distance == pytest.approx(0.0, abs=1e-12)


def test_likelihood_is_that_of_scikit_learn() -> None:
    """Mean log-likelihood of rows held out, beside GaussianMixture with one component."""
    mixture = pytest.importorskip("sklearn.mixture")
    rows = (
        np.random.default_rng(2).normal(size=(3000, 4))
        @ np.linalg.qr(np.random.default_rng(6).normal(size=(4, 4)))[0]
        * [1, 2, 3, 4]
    )
    theirs = mixture.GaussianMixture(1).fit(rows[:2000]).score(rows[2000:])
    assert -make().learn(rows[:2000]).evaluate(rows[2000:]).losses.mean() == pytest.approx(theirs, abs=1e-3)


def test_features_that_are_multiples_of_each_other_have_a_density() -> None:
    """Their covariance is singular but for rounding; rows that keep to it are by far the more probable."""
    rows = np.outer(np.random.default_rng(1).normal(size=60), [1e6, 2e6])
    learner = make(prior=1e-12, variance=1e-12)
    assert np.isfinite(learner.play(rows).losses).all()
    near, far = learner.log_density([[3e5, 6e5], [3e5, 6.1e5]])
    assert near > -20.0
    assert far < -1e6


@pytest.mark.parametrize("prior", [0.5, 3.0])
def test_a_row_is_described_by_its_log_density_and_its_distance(prior: float) -> None:
    """The distance is that of Mahalanobis by the covariance with `prior` rows of the start."""
    learner = make(prior=prior, variance=2.0).learn(X)
    around = X - X.mean(axis=0)
    smoothed = (around.T @ around + prior * 2.0 * np.eye(4)) / (40 + prior)
    squares = np.einsum("ni,ij,nj->n", around, np.linalg.inv(smoothed), around)
    found = learner.transform(X)
    np.testing.assert_allclose(found[:, 1], np.sqrt(squares), rtol=1e-10)
    np.testing.assert_allclose(found[:, 0], learner.log_density(X), rtol=1e-14)
    assert found.shape == (40, 2)


def test_moments_must_be_finite() -> None:
    for name in ("mean", "scatter"):
        state = make().start_state(2)
        assert state.is_finite()
        getattr(state, name)[..., 0] = np.nan
        assert not state.is_finite()
    assert make().count_numbers(7) == make().start_state(7).scatter.size


def test_moments_are_described() -> None:
    lines = make().learn([{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": -2.0}]).describe_results()
    assert lines == ["          mean     deviation  feature", "             2             1  a",
                     "             0             2  b"]  # fmt: skip


@pytest.mark.parametrize(("features", "more"), [(20, []), (21, ["    and 1 more"]), (25, ["    and 5 more"])])
def test_of_many_features_the_first_20_are_described(features: int, more: list[str]) -> None:
    lines = make().learn(np.eye(3, features)).describe_results()
    assert lines[21:] == more
    assert lines[20].split()[-1] == "19"


def test_moments_are_copied_before_they_are_changed() -> None:
    learner = make(batch=1).learn(X[:5])
    before = pack(learner)
    learner.mean[0] = learner.covariance[0, 0] = 7.0
    other = learner.copy().learn(X[5:])
    assert pack(learner) == before
    np.testing.assert_allclose(other.mean, X.mean(axis=0), rtol=1e-13)
