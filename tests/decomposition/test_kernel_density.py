"""Kernel density estimates: exact within the budget, as scipy and scikit-learn say; mergers that keep all moments."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.stats import gaussian_kde

import noregret as nr
from noregret.learner.model_file import pack
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.naive.kernel_density import NaiveKernelDensity
from tests.support import by_name

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


@pytest.mark.parametrize("options", [{}, {"shape": "diagonal"}, {"policy": "random"}], ids=str)
def test_samples_have_the_moments_of_the_density(options: dict[str, Any]) -> None:
    learner = make(**options).learn(X)
    drawn = learner.sample(10_000, seed=2)
    assert drawn.tolist() == learner.sample(10_000, seed=2).tolist()
    np.testing.assert_allclose(drawn.mean(axis=0), learner.weights @ learner.points, atol=0.15)
    state = learner.latest
    around = state.points - learner.weights @ state.points
    own = np.broadcast_to(
        state.covariances(learner.find_kernel(state)), (len(state.points), *(3,) * (1 + (learner.shape == "full")))
    )
    own = own if learner.shape == "full" else np.einsum("ki,ij->kij", own, np.eye(3))
    whole = np.einsum("k,kij->ij", learner.weights, own + around[:, :, None] * around[:, None, :])
    np.testing.assert_allclose(np.cov(drawn.T), whole, rtol=0.1, atol=0.3)
    assert learner.sample(0).shape == (0, 3)


def test_densities_are_exact_far_from_the_origin() -> None:
    near, far = make().learn(X), make().learn(X + 1e7)
    np.testing.assert_allclose(far.log_density(X + 1e7), near.log_density(X), rtol=1e-5)


def test_sparse_rows_and_late_features_are_those_of_wide_rows() -> None:
    rows = np.where(np.abs(X) > 1.0, X, 0.0)
    rows[:30, 2] = 0.0
    one, other = make().learn(sparse.csr_matrix(rows)), make().learn(rows)
    assert one.points.tolist() == other.points.tolist()
    named = make().learn([{f"f{at}": value for at, value in enumerate(row) if value} for row in rows.tolist()])
    order = [named.feature_names.index(f"f{at}") for at in range(3)]
    np.testing.assert_allclose(named.points[:, order], other.points, rtol=1e-9, atol=1e-9)
    narrow: Any = make(batch=1, variance=2.0).learn([{"a": 1.0}, {"a": 3.0}])
    before = narrow.evaluate([{"a": 2.5}]).losses[0]
    alone = 0.5 * (0.7**2 / 2.0 + np.log(2.0 * np.pi * 2.0))
    assert narrow.play([{"a": 2.5, "b": 0.7}]).losses[0] == pytest.approx(before + alone)


def test_densities_are_raced_by_rows_held_out() -> None:
    rows = np.random.default_rng(3).normal(size=(600, 2)) + 6.0 * np.random.default_rng(4).integers(2, size=(600, 2))
    table = nr.race(rows, ["gaussian", "mixture(k=4)", "kernel_density"], holdout=0.3)
    assert table.best_held_out is not None
    assert table.best_held_out.name == "mixture(k=4)"
    assert [entry.name for entry in table][-1] == "gaussian"


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"budget": 1}, {"budget": 2.5}, {"policy": "none"}, {"bandwidth": "own"}, {"width": 0.0}, {"batch": 0},
     {"shape": "round"}, {"prior": float("nan")}, {"variance": 0.0}, {"budget": 5000, "policy": "merge"},
     {"bandwidth": "fixed", "shape": "full"}],
    ids=str,
)  # fmt: skip
def test_parameters_are_in_their_limits(options: dict[str, Any]) -> None:
    with pytest.raises(nr.BadValue, match=next(iter(options))):
        make(**options)


@pytest.mark.parametrize("row", [[1.0, float("nan"), 0.0], [1e200] * 3, [1.0, 2.0], list("abc")], ids=str)
def test_rows_that_cannot_be_learned_change_nothing(row: Any) -> None:
    for rounds in (5, 60):
        learner = make(batch=1).learn(X[:rounds])
        before = pack(learner)
        with pytest.raises(nr.BadValue):
            learner.play([row])
        assert pack(learner) == before


def test_too_many_features_for_full_covariances_are_refused() -> None:
    wide = sparse.csr_matrix(([1.0], ([0], [20_000])), shape=(1, 20_001))
    with pytest.raises(nr.BadValue, match="diagonal"):
        make(batch=1).learn(wide)
    assert make(batch=1, shape="diagonal").learn(wide).rounds == 1


def test_what_is_kept_is_described() -> None:
    lines = make().learn(ROWS).describe_results()
    assert "of 60 rows" in lines[0]
    assert "f1" in " ".join(lines)
