"""Kernel density estimates: exact within the budget, as scipy and scikit-learn say; mergers that keep all moments."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import gaussian_kde

import noregret as nr
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.naive.kernel_density import NaiveKernelDensity
from tests.support import by_name, refusal

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3)) @ RNG.normal(size=(3, 3)) + 3.0 * RNG.normal(size=(3, 3))[RNG.integers(3, size=60)]
ROWS = [{name: value for at, (name, value) in enumerate(by_name(row).items()) if (number + at) % 4} for number, row
        in enumerate(X)]  # fmt: skip
NONE, LABELS = [None] * 60, [number % 3 for number in range(60)]
BAD_ROW, BAD_DICT = np.full(3, np.nan), {"f1": float("inf")}


def make(**options: Any) -> Any:
    return nr.make("kernel_density", **{"budget": 20, "batch": 8, "native": False, **options})


CASES = {
    "merged": Case(make, X, NONE, BAD_ROW, gains=True),
    "merged, one dict at a time": Case(
        lambda: make(batch=1, shape="diagonal"), ROWS[:40], LABELS[:40], BAD_DICT, gains=True
    ),
    "a random sample": Case(lambda: make(policy="random", seed=3, bandwidth="silverman"), X, NONE, BAD_ROW, gains=True),
    "hashed names, the latest": Case(
        lambda: make(policy="oldest", bits=3, scale=True), ROWS, NONE, BAD_DICT, gains=True
    ),
    "a budget that is not reached": Case(
        lambda: make(budget=100, bandwidth="fixed", shape="diagonal", batch=3), ROWS, NONE, BAD_DICT, gains=True
    ),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_follows_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_saved_and_loaded_goes_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


# ---- twin and peers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["full", "diagonal"])
@pytest.mark.parametrize("policy", ["merge", "oldest"])
def test_learns_as_its_twin(policy: Any, shape: str) -> None:
    learner, twin = make(policy=policy, shape=shape), NaiveKernelDensity(20, policy, shape == "full")
    losses = learner.play(X).losses
    np.testing.assert_allclose(losses[:8], 0.5 * (X[:8] ** 2).sum(axis=1) + 1.5 * np.log(2.0 * np.pi))
    for start in range(0, 60, 8):
        if start:
            expected = [twin.loss(row) for row in X[start : start + 8]]
            np.testing.assert_allclose(losses[start : start + 8], expected, rtol=1e-9)
        twin.learn(X[start : start + 8])
    np.testing.assert_allclose(-learner.predict(X[:20]), [twin.loss(row) for row in X[:20]], rtol=1e-9)
    assert len(learner.points) == len(twin.supports) <= 20


@pytest.mark.parametrize("policy", ["merge", "random", "oldest"])
@pytest.mark.parametrize("bandwidth", ["scott", "silverman"])
def test_within_the_budget_it_is_the_estimate_of_scipy(bandwidth: Any, policy: str) -> None:
    for rows in (X, X[:, :1]):
        learner = make(budget=60, policy=policy, bandwidth=bandwidth, prior=1e-12).learn(rows)
        peer = gaussian_kde(rows.T, bandwidth)
        near = np.vstack((rows, rows + 0.3))
        np.testing.assert_allclose(learner.log_density(near), peer.logpdf(near.T), rtol=1e-9)
        widths = np.sqrt(np.diag(np.atleast_2d(peer.covariance)))
        np.testing.assert_allclose(learner.bandwidths, widths, rtol=1e-9)
    diagonal = make(budget=60, policy=policy, bandwidth=bandwidth, shape="diagonal", prior=1e-12)
    product = [gaussian_kde(X.T, bandwidth).factor * X[:, at].std(ddof=1) for at in range(3)]
    np.testing.assert_allclose(diagonal.learn(X).bandwidths, product, rtol=1e-9)


def test_with_a_fixed_bandwidth_it_is_the_estimate_of_scikit_learn() -> None:
    neighbors = pytest.importorskip("sklearn.neighbors")
    learner = make(budget=60, bandwidth="fixed", width=0.7, shape="diagonal").learn(X)
    peer = neighbors.KernelDensity(bandwidth=0.7, rtol=0.0, atol=0.0).fit(X)
    np.testing.assert_allclose(learner.log_density(X), peer.score_samples(X), rtol=1e-9)


# ---- what the method promises --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["merge", "random", "oldest"])
def test_the_density_integrates_to_1(policy: str) -> None:
    grid = np.linspace(-60.0, 60.0, 12001)
    learner = make(policy=policy).learn(X[:, :1])
    assert np.exp(learner.log_density(grid[:, None])).sum() * 0.01 == pytest.approx(1.0, abs=1e-9)
    assert learner.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_mergers_keep_weight_mean_and_covariance(shape: str) -> None:
    learner = make(shape=shape, prior=1e-12).learn(X)
    state, full = learner.latest, shape == "full"
    assert state.weights.sum() == 60
    assert len(state.weights) <= 20
    total, mean, squares = state.moments()
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-12)
    whole = np.cov(X.T)
    np.testing.assert_allclose(squares / (total - 1.0), whole if full else np.diag(whole), rtol=1e-11, atol=1e-12)


def test_merged_rows_lose_less_than_those_that_are_dropped() -> None:
    rows = np.random.default_rng(3).normal(size=(1200, 2)) + 4.0 * np.random.default_rng(4).integers(2, size=(1200, 2))
    held, kept = rows[1000:], rows[:1000]
    exact = make(budget=1000).learn(kept).log_density(held).mean()
    merged = make(budget=60).learn(kept).log_density(held).mean()
    random = np.mean(
        [make(budget=60, policy="random", seed=at).learn(kept).log_density(held).mean() for at in range(3)]
    )
    assert exact - merged < 0.02
    assert exact - random > 0.05


@pytest.mark.parametrize(("budget", "rows", "batch"), [(2, 3, 1), (10, 40, 8)])
def test_a_random_sample_is_uniform(budget: int, rows: int, batch: int) -> None:
    learners = [make(budget=budget, policy="random", batch=batch, seed=seed) for seed in range(150)]
    found = np.concatenate([one.learn(np.arange(float(rows))[:, None]).points[:, 0] for one in learners])
    counts, expected = np.bincount(found.astype(int), minlength=rows), 150 * budget / rows
    assert counts.sum() == 150 * budget
    assert ((counts - expected) ** 2 / expected).sum() < rows + 6.0 * np.sqrt(rows)  # chi-square


def test_the_oldest_rows_are_forgotten() -> None:
    learner = make(policy="oldest", budget=30, batch=1).learn(X)
    assert learner.points.tolist() == X[30:].tolist()
    np.testing.assert_allclose(learner.log_density(X), make(budget=30, batch=1).learn(X[30:]).log_density(X), rtol=1e-9)


def test_rows_from_elsewhere_are_novel() -> None:
    learner = make(budget=40).learn(X)
    assert learner.log_density(X + 50.0).max() < learner.log_density(X).min()
    distances = learner.transform(np.vstack((learner.points[:1], X[:1] + 50.0)))[:, 1]
    assert distances[0] < 1e-6 < 10.0 < distances[1]


def test_densities_are_raced_by_rows_held_out() -> None:
    rows = np.random.default_rng(3).normal(size=(600, 2)) + 6.0 * np.random.default_rng(4).integers(2, size=(600, 2))
    table = nr.race(rows, ["gaussian", "mixture(k=4)", "kernel_density"], holdout=0.3)
    assert table.best_held_out is not None
    assert table.best_held_out.name == "mixture(k=4)"
    assert [entry.name for entry in table][-1] == "gaussian"


def test_what_is_kept_is_described() -> None:
    assert make().describe_results() == []
    learner = make(budget=2, policy="oldest", batch=1, shape="diagonal", bandwidth="fixed", width=0.25)
    assert learner.learn([{"a": 1.0, "b": 2.0}] * 1200).describe_results() == [
        "2 of 1,200 rows are kept", "     bandwidth  feature", "          0.25  a", "          0.25  b",
    ]  # fmt: skip


@pytest.mark.parametrize(("features", "more"), [(20, []), (21, ["    and 1 more"]), (25, ["    and 5 more"])])
def test_of_many_features_the_first_20_are_described(features: int, more: list[str]) -> None:
    lines = make().learn(np.eye(3, features)).describe_results()
    assert lines[22:] == more
    assert lines[21].split()[-1] == "19"
    assert float(lines[2].split()[0]) == pytest.approx(make().learn(np.eye(3, features)).bandwidths[0], rel=1e-5)


@pytest.mark.parametrize("shape", ["full", "diagonal"])
@pytest.mark.parametrize("bandwidth", ["scott", "silverman"])
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_bandwidths_follow_the_rule_and_the_start(bandwidth: str, shape: str, rows: int) -> None:
    """The covariance with `prior` rows of the start, times (width n^(-1/(d+4)))^2, or with n (d + 2) / 4 rows."""
    learner = make(bandwidth=bandwidth, shape=shape, prior=0.4, variance=3.0, width=1.5, batch=1).learn(X[:rows])
    around = X[:rows] - X[:rows].mean(axis=0)
    squares = (around.T @ around).diagonal() + 0.4 * 3.0
    effective = rows * 5.0 / 4.0 if bandwidth == "silverman" else rows
    expected = np.sqrt(squares / (rows - 1.0 + 0.4)) * 1.5 * effective ** (-1.0 / 7.0)
    np.testing.assert_allclose(learner.bandwidths, expected, rtol=1e-12)


def test_a_row_is_described_by_its_log_density_and_its_distance() -> None:
    """The distance is that from the nearest row that is kept, in bandwidths."""
    learner = make(budget=60, policy="oldest", shape="diagonal").learn(X)
    near = X[:9] + 0.2
    found = learner.transform(near)
    scaled = ((near[:, None] - X) / learner.bandwidths) ** 2
    np.testing.assert_allclose(found[:, 1], np.sqrt(scaled.sum(axis=2)).min(axis=1), rtol=1e-9)
    np.testing.assert_allclose(found[:, 0], learner.log_density(near), rtol=1e-14)


def test_the_first_rows_are_merged_by_the_variance_of_the_start() -> None:
    """How many rows the start counts for makes no difference where there are no others."""
    one, other = (make(budget=5, batch=9, prior=prior).learn(X[:9]) for prior in (0.4, 1.0))
    assert one.points.tolist() == other.points.tolist()


def test_a_large_budget_is_only_for_rows_that_are_not_merged() -> None:
    assert make(budget=4096).budget == 4096
    assert make(budget=65536, policy="oldest").budget == 65536
    assert make(bandwidth="fixed", shape="diagonal").bandwidth == "fixed"


def test_samples_are_those_of_their_seed() -> None:
    for policy in ("merge", "random"):
        one, other, third = (make(policy=policy, seed=seed).learn(X) for seed in (1, 1, 2))
        assert one.points.tolist() == other.points.tolist()
        assert (one.points.tolist() == third.points.tolist()) == (policy == "merge")


@pytest.mark.parametrize(("policy", "covariances", "most"), [("merge", 20, 2590), ("random", 1, 11585)])
def test_merged_rows_have_a_covariance_each_and_other_rows_one_together(
    policy: str, covariances: int, most: int
) -> None:
    """They may take 2^27 numbers."""
    learner = make(budget=20, policy=policy, shape="full")
    assert learner.count_numbers(most) == 20 * most
    words = f"kernel_density: {covariances} covariances of {most + 1} features are too large"
    assert words in refusal(lambda: learner.count_numbers(most + 1))
    assert make(budget=20, policy=policy, shape="diagonal").count_numbers(most + 1) == 20 * (most + 1)
