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
    narrow: Any = make(batch=1, variance=2.0).learn([{"a": 1.0}, {"a": 3.0}])
    before = narrow.evaluate([{"a": 2.5}]).losses[0]
    alone = 0.5 * (0.7**2 / 2.0 + np.log(2.0 * np.pi * 2.0))
    assert narrow.play([{"a": 2.5, "b": 0.7}]).losses[0] == pytest.approx(before + alone)


def test_the_density_integrates_to_1() -> None:
    learner = make(batch=1).learn(X[:9, :1])
    grid = np.linspace(-60.0, 60.0, 6001)
    assert np.exp(learner.predict(grid[:, None])).sum() * (grid[1] - grid[0]) == pytest.approx(1.0, abs=1e-6)
    distance = learner.transform([learner.mean])[0, 1]
    assert distance == pytest.approx(0.0, abs=1e-12)


def test_likelihood_is_that_of_scikit_learn() -> None:
    """Mean log-likelihood of rows held out, beside GaussianMixture with one component."""
    mixture = pytest.importorskip("sklearn.mixture")
    rows = np.random.default_rng(2).normal(size=(3000, 4)) @ np.linalg.qr(RNG.normal(size=(4, 4)))[0] * [1, 2, 3, 4]
    theirs = mixture.GaussianMixture(1).fit(rows[:2000]).score(rows[2000:])
    assert -make().learn(rows[:2000]).evaluate(rows[2000:]).losses.mean() == pytest.approx(theirs, abs=1e-3)


@pytest.mark.parametrize("options", [{"prior": 0.0}, {"variance": -1.0}, {"batch": 1.5}, {"batch": 0}], ids=str)
def test_parameters_are_in_their_limits(options: dict[str, Any]) -> None:
    with pytest.raises(nr.BadValue, match=next(iter(options))):
        make(**options)


@pytest.mark.parametrize("row", [[1.0, float("nan"), 0.0, 0.0], [1e200] * 4, [1.0, 2.0], list("abcd")], ids=str)
def test_rows_that_cannot_be_learned_change_nothing(row: Any) -> None:
    for rounds in (2, 20):
        learner = make(batch=1).learn(X[:rounds])
        before = pack(learner)
        with pytest.raises(nr.BadValue):
            learner.play([row])
        assert pack(learner) == before


def test_a_covariance_without_a_root_is_named() -> None:
    learner = make(batch=1, prior=1e-12, variance=1e-12).learn([[1e6, 1e6], [2e6, 2e6], [4e6, 4e6]])
    with pytest.raises(nr.BadValue, match="singular"):
        learner.evaluate([[1.0, 2.0]])


def test_moments_are_described() -> None:
    lines = make().learn(ROWS).describe_results()
    assert len(lines) == 5
    assert "f1" in " ".join(lines)
