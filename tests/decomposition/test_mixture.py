"""Gaussian mixtures: equal to online EM by its definition, EM's promise, and the likelihood of scikit-learn's fit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.decomposition import gaussian_components
from noregret.decomposition.centres import STARTS, Centres
from noregret.decomposition.gaussian_components import REFINEMENTS, Components, Smoothing
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.naive.gaussian import NaiveGaussian
from tests.naive.kmeans import Row, find_clusters
from tests.naive.mixture import NaiveMixture
from tests.support import by_name
from tests.support.command_line import noregret

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 3)) @ RNG.normal(size=(3, 3)) + 4.0 * RNG.normal(size=(3, 3))[RNG.integers(3, size=80)]
ROWS = [{name: value for at, (name, value) in enumerate(by_name(row).items()) if (number + at) % 4} for number, row
        in enumerate(X)]  # fmt: skip
NONE, LABELS = [None] * 80, [number % 3 for number in range(80)]
BAD_ROW, BAD_DICT = np.full(3, np.nan), {"f1": float("inf")}
EXACT = {"decay": 1.0, "shrink": 1e-9, "prior": 1e-9, "least": 0.0}


def make(**options: Any) -> Any:
    return nr.make("mixture", **{"k": 3, "batch": 8, "start": 40, "native": False, **options})


CASES = {
    "one row at a time": Case(lambda: make(batch=1, start=15), X[:30], NONE[:30], BAD_ROW, gains=True),
    "mini-batches of dicts": Case(lambda: make(batch=5, k=2, start=20), ROWS[:50], LABELS[:50], BAD_DICT, gains=True),
    "diagonal": Case(lambda: make(shape="diagonal", seed=3), X[:60], NONE[:60], BAD_ROW, gains=True),
    "hashed names": Case(
        lambda: make(bits=3, scale=True, least=0.9, start=16), ROWS[:40], NONE[:40], BAD_DICT, gains=True
    ),
    "a start that does not come": Case(lambda: make(start=1000), X[:20], NONE[:20], BAD_ROW, gains=True),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_follows_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_saved_and_loaded_goes_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


# ---- twin ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"batch": 1}, {"shape": "diagonal", "decay": 0.9, "shrink": 2.0}], ids=str)
def test_learns_as_its_twin(options: dict[str, Any]) -> None:
    learner = make(**{"batch": 10, "least": 0.0, **options})
    losses, first = learner.play(X).losses, NaiveGaussian(3, 1.0, 1.0)
    for start in range(0, 40, learner.batch):
        rows = X[start : start + learner.batch]
        if learner.shape == "full":
            np.testing.assert_allclose(losses[start : start + len(rows)], [first.loss(row) for row in rows], rtol=1e-9)
        first.learn(rows)
    twin = begin_twin(learner, X[:40])
    for start in range(40, 80, learner.batch):
        rows = X[start : start + learner.batch]
        expected = [-np.log(twin.densities(row).sum()) for row in rows]
        np.testing.assert_allclose(losses[start : start + len(rows)], expected, rtol=1e-9)
        twin.learn(rows, (len(rows) / (start + len(rows))) ** learner.decay)
        twin.see(rows)
    np.testing.assert_allclose(learner.weights, twin.shares, rtol=1e-9)
    np.testing.assert_allclose(learner.means, [twin.mean(j) for j in range(3)], rtol=1e-8)
    covariances = [twin.covariance(j) for j in range(3)]
    expected_covariances = covariances if learner.shape == "full" else [np.diag(one) for one in covariances]
    np.testing.assert_allclose(learner.covariances, expected_covariances, rtol=1e-7, atol=1e-9)
    densities = np.array([twin.densities(row) for row in X])
    shares = densities / densities.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(learner.predict_proba(X), shares, rtol=1e-6, atol=1e-12)
    assert learner.predict(X).tolist() == shares.argmax(axis=1).tolist()


def test_components_begin_with_a_step_of_k_means_and_some_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """One iteration here, so that it shows how many there were."""
    monkeypatch.setattr(gaussian_components, "REFINEMENTS", 1)
    rows = np.random.default_rng(1).normal(size=(40, 3))
    learner = make(k=3, start=40, batch=40).learn(rows)
    twin = begin_twin(learner, rows, 1)
    np.testing.assert_allclose(learner.weights, twin.shares, rtol=1e-9)
    np.testing.assert_allclose(learner.means, [twin.mean(j) for j in range(3)], rtol=1e-8)


def begin_twin(learner: Any, rows: NDArray[np.float64], iterations: int = REFINEMENTS) -> NaiveMixture:
    """The twin after k-means and EM on the rows of the start, from the same seeds."""
    twin = NaiveMixture(3, 3, learner.shrink, 1.0, learner.shape == "diagonal")
    twin.see(rows)
    variances = (((rows - rows.mean(axis=0)) ** 2).sum(axis=0) + 1.0) / (len(rows) + 1.0)
    scaled = (rows - rows.mean(axis=0)) / np.sqrt(variances)
    random = np.random.Generator(np.random.Philox(key=np.array([0, len(rows)], np.uint64)))

    def draw() -> list[Row]:
        seeds = Centres.start(3)
        seeds.seed(scaled, 3, random)
        return list(seeds.centres.tolist())

    clusters = find_clusters(scaled.tolist(), draw, STARTS, 1 + iterations)
    twin.add(rows, list(np.eye(3)[[clusters.nearest(row) for row in scaled.tolist()]]), 1.0)
    for _ in range(iterations):
        twin.learn(rows, 1.0)
    return twin


# ---- what the method promises --------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 7])
def test_one_component_without_decay_is_the_running_gaussian(batch: int) -> None:
    one = make(k=1, decay=1.0, batch=batch)
    gaussian: Any = nr.make("gaussian", batch=batch)
    np.testing.assert_allclose(one.play(X).losses, gaussian.play(X).losses, rtol=1e-11)
    np.testing.assert_allclose(one.means[0], X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(one.latest.spreads[0], np.cov(X.T, bias=True), rtol=1e-11)
    assert one.weights.tolist() == [1.0]
    assert one.latest.effective == pytest.approx(80.0)


@pytest.mark.parametrize("full", [True, False])
def test_a_step_on_the_same_rows_never_lowers_their_likelihood(full: bool) -> None:
    """Dempster, Laird and Rubin 1977, for a step that keeps nothing of the sums before it."""
    for seed in range(3):
        state = begun(X, full, seed)
        before = -np.inf
        for _ in range(12):
            state.step(X, 1.0)
            after = state.score(X, np.zeros(80))[0].sum()
            assert after >= before - 1e-9
            before = after


def begun(rows: NDArray[np.float64], full: bool, seed: int, k: int = 3) -> Components:
    state = Components.start(rows.shape[1], full, Smoothing(1e-9, 1.0, 1e-9))
    state.see(rows)
    state.waiting = rows
    state.begin(k, np.random.default_rng(seed))
    return state


def test_without_decay_the_sums_are_those_of_all_rows() -> None:
    """With the rate 1/t the mean and covariance of all components together are those of all rows."""
    learner = make(**EXACT, batch=10, start=40).learn(X)
    weights, means, spreads = learner.weights, learner.means, learner.latest.spreads
    np.testing.assert_allclose(weights @ means, X.mean(axis=0), rtol=1e-9)
    around = means - X.mean(axis=0)
    second = np.einsum("k,kij->ij", weights, spreads + around[:, :, None] * around[:, None, :])
    np.testing.assert_allclose(second, np.cov(X.T, bias=True), rtol=1e-9)
    assert learner.latest.effective == pytest.approx(80.0)


def test_shares_sum_to_1_and_the_density_integrates_to_1() -> None:
    learner = make().learn(X)
    shares = learner.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert (shares >= 0.0).all()
    one = make(k=2, start=30).learn(X[:, :1])
    grid = np.linspace(-100.0, 100.0, 20001)
    assert np.exp(one.log_density(grid[:, None])).sum() * 0.01 == pytest.approx(1.0, abs=1e-9)
    assert learner.log_density_one(X[3]) == learner.log_density(X)[3]


def test_the_shares_of_one_row_are_those_of_many_by_the_number_of_the_component() -> None:
    learner = make().learn(X)
    assert [learner.predict_proba_one(x) for x in X] == [
        dict(enumerate(own)) for own in learner.predict_proba(X).tolist()
    ]
    assert make().predict_proba_one(X[0]) == {}
    with pytest.raises(nr.BadValue, match=r"^row 0, feature 0: the value is nan"):
        learner.predict_proba_one(BAD_ROW)


def test_components_that_made_the_rows_are_found() -> None:
    rng = np.random.default_rng(1)
    means, weights = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 9.0]]), np.array([0.5, 0.3, 0.2])
    numbers = rng.choice(3, size=4000, p=weights)
    rows = means[numbers] + rng.normal(size=(4000, 2)) * np.array([[1.0, 1.0], [0.5, 2.0], [2.0, 0.5]])[numbers]
    learner = make(start=0, batch=64).learn(rows)
    order = np.argsort(-learner.weights)
    np.testing.assert_allclose(learner.weights[order], weights, atol=0.03)
    np.testing.assert_allclose(learner.means[order], means, atol=0.2)
    assert np.mean(np.argsort(order)[learner.predict(rows)] == numbers) > 0.99


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_samples_have_the_components_that_are_predicted(shape: str) -> None:
    learner = make(shape=shape).learn(X)
    drawn = learner.sample(10_000, seed=2)
    share = np.bincount(learner.predict(drawn), minlength=3) / 10_000
    np.testing.assert_allclose(share, learner.predict_proba(drawn).mean(axis=0), atol=0.05)


def test_a_component_without_rows_is_placed_anew() -> None:
    """Rows around three corners, the last of them only late: a component that has lost its rows goes there."""
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 300.0]])
    early, late = (corners[rng.choice(3, 400, p=p)] + rng.normal(size=(400, 2)) for p in ((0.5, 0.5, 0), (0.5, 0, 0.5)))
    moved, stayed = (make(k=2, start=64, batch=16, least=least).learn(early) for least in (0.2, 0.0))
    for learner in (moved, stayed):
        for _ in range(12):
            learner.learn(late)
    assert np.min(np.abs(moved.means - [0.0, 300.0]).sum(axis=1)) < 1.0
    assert moved.log_density(late).mean() > stayed.log_density(late).mean() - 0.01


def test_rows_that_are_all_equal_have_one_component_with_weight() -> None:
    learner = make(start=8, batch=4).learn(np.ones((8, 2)))
    assert learner.weights.tolist() == [1.0, 0.0, 0.0]
    assert np.isfinite(learner.log_density([[1.0, 1.0], [3.0, 1.0]])).all()
    learner.learn([[1.0, 1.0], [5.0, 1.0], [1.0, 1.0], [5.0, 1.0]] * 4)
    assert (learner.weights > 0.0).sum() >= 2


def test_components_are_found_early_among_10_rows_for_each() -> None:
    """Once for each state, however often results are asked for."""
    learner = make(k=3, start=1000, batch=1).learn(X[:29])
    assert learner.weights.tolist() == [1.0]
    assert len(learner.learn(X[29:30]).weights) == 3
    assert learner.latest is learner.latest


def test_few_rows_are_one_gaussian_then_components_are_found_early() -> None:
    learner = make(k=3, start=1000, batch=1)
    assert learner.learn(X[:20]).weights.tolist() == [1.0]
    assert len(learner.learn(X[20:40]).weights) == 3
    assert len(learner.state.weights) == 1  # what play says does not depend on who asks
    assert len(learner.flush().state.weights) == 1
    assert learner.log_density(X).mean() > nr.make("gaussian").learn(X[:40]).log_density(X).mean()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("shape", "peer"), [("full", "full"), ("diagonal", "diag")])
def test_likelihood_is_that_of_scikit_learn(shape: str, peer: str) -> None:
    """Mean log-likelihood of rows held out after three passes over digits: at most 1 % below GaussianMixture."""
    mixture, datasets = pytest.importorskip("sklearn.mixture"), pytest.importorskip("sklearn.datasets")
    digits = datasets.load_digits().data
    _, _, directions = np.linalg.svd(digits - digits.mean(axis=0), full_matrices=False)
    rows = (digits - digits.mean(axis=0)) @ directions[:10].T
    with pytest.importorskip("threadpoolctl").threadpool_limits(1):
        own, theirs = list[float](), list[float]()
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(len(rows))
            learned, held = rows[order[:1400]], rows[order[1400:]]
            learner: Any = nr.make("mixture", k=10, shape=shape, seed=seed)
            for _ in range(3):
                learner.learn(learned)
            own.append(-learner.evaluate(held).losses.mean())
            fitted = mixture.GaussianMixture(10, covariance_type=peer, random_state=seed, max_iter=3, tol=0.0)
            with pytest.warns(UserWarning, match="converge"):
                theirs.append(fitted.fit(learned).score(held))
    assert np.mean(own) >= 1.01 * np.mean(theirs)


def test_components_are_described_by_what_sets_them_apart() -> None:
    """The heaviest first, and at most five features of each, the largest differences first."""
    assert make().describe_results() == []
    rows = np.zeros((40, 7))
    rows[:24, :6] = np.arange(1.0, 7.0)
    rows += 1e-3 * np.random.default_rng(2).normal(size=rows.shape) * (np.arange(7.0) < 6.0)
    learner = make(k=2, start=20).learn(rows)
    head, *lines = learner.describe_results()
    assert head == "component    weight  largest differences from the mean, in standard deviations"
    assert [line[9:19] for line in lines] == [f"{weight:>10.4f}" for weight in sorted(learner.weights, reverse=True)]
    assert [int(line[:9]) for line in lines] == np.argsort(-learner.weights).tolist()
    state = learner.latest
    for line in lines:
        shown = dict(entry.split() for entry in line[21:].split(", "))
        at = list(map(int, shown))
        expected = (state.means[int(line[:9])] - rows.mean(axis=0)) / np.sqrt(state.spread_of_all())
        assert at == np.argsort(-np.abs(expected), kind="stable")[:5].tolist()
        assert list(shown.values()) == [f"{value:+.3g}" for value in expected[at]]


def test_features_without_a_difference_are_not_described() -> None:
    rows = np.column_stack((np.arange(40.0) % 2.0, np.zeros(40)))
    lines = make(k=2, start=20).learn(rows).describe_results()
    assert all(line[21:].startswith("0 ") and "," not in line for line in lines[1:])
    assert len(lines) == 3


def test_of_many_components_the_20_heaviest_are_described() -> None:
    lines = make(k=21, start=63).learn(np.random.default_rng(1).normal(size=(80, 2))).describe_results()
    weights = [float(line[9:19]) for line in lines[1:]]
    assert len(weights) == 20
    assert weights == sorted(weights, reverse=True)


def test_the_command_line_writes_the_shares_of_components(tmp_path: Path) -> None:
    named = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    make().learn(named).save(tmp_path / "model.nr")
    (tmp_path / "rows.csv").write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in X[:5].tolist()))
    done = noregret("predict", "model.nr", "rows.csv", "--proba", "--out", "found.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head, first = (tmp_path / "found.csv").read_text().splitlines()[:2]
    assert head == "prediction,probability 0,probability 1,probability 2"
    assert sum(map(float, first.split(",")[1:])) == pytest.approx(1.0, abs=1e-5)
    learners = "mixture(k=3),kernel_density,gaussian"
    done = noregret(
        "race", "rows.csv", "--learners", learners, "--task", "unsupervised", "--report", "race.html", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
