"""Gaussian mixtures: equal to online EM by its definition, EM's promise, and the likelihood of scikit-learn's fit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from numpy.typing import NDArray

import noregret as nr
from noregret.decomposition.centres import Centres
from noregret.decomposition.gaussian_components import REFINEMENTS, Components, Smoothing
from noregret.learner.model_file import pack
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.naive.gaussian import NaiveGaussian
from tests.naive.kmeans import NaiveKMeans
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


def begin_twin(learner: Any, rows: NDArray[np.float64]) -> NaiveMixture:
    """The twin after k-means and EM on the rows of the start, from the same seeds."""
    twin = NaiveMixture(3, 3, learner.shrink, 1.0, learner.shape == "diagonal")
    twin.see(rows)
    variances = (((rows - rows.mean(axis=0)) ** 2).sum(axis=0) + 1.0) / (len(rows) + 1.0)
    scaled, seeds = (rows - rows.mean(axis=0)) / np.sqrt(variances), Centres.start(3)
    seeds.seed(scaled, 3, np.random.Generator(np.random.Philox(key=np.array([0, len(rows)], np.uint64))))
    clusters = NaiveKMeans(seeds.centres.tolist(), [0, 0, 0])
    for _ in range(1 + REFINEMENTS):
        clusters.iterate(scaled.tolist())
    twin.add(rows, list(np.eye(3)[[clusters.nearest(row) for row in scaled.tolist()]]), 1.0)
    for _ in range(REFINEMENTS):
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


def test_samples_have_the_moments_of_the_density() -> None:
    for shape in ("full", "diagonal"):
        learner = make(shape=shape).learn(X)
        drawn = learner.sample(10_000, seed=2)
        assert drawn.tolist() == learner.sample(10_000, seed=2).tolist()
        np.testing.assert_allclose(drawn.mean(axis=0), learner.weights @ learner.means, atol=0.1)
        share = np.bincount(learner.predict(drawn), minlength=3) / 10_000
        np.testing.assert_allclose(share, learner.predict_proba(drawn).mean(axis=0), atol=0.05)
        around = learner.means - learner.weights @ learner.means
        own = learner.covariances if shape == "full" else np.einsum("ki,ij->kij", learner.covariances, np.eye(3))
        whole = np.einsum("k,kij->ij", learner.weights, own + around[:, :, None] * around[:, None, :])
        np.testing.assert_allclose(np.cov(drawn.T), whole, rtol=0.1, atol=0.3)
    assert learner.sample(0).shape == (0, 3)


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


def test_few_rows_are_one_gaussian_then_components_are_found_early() -> None:
    learner = make(k=3, start=1000, batch=1)
    assert learner.learn(X[:20]).weights.tolist() == [1.0]
    assert len(learner.learn(X[20:40]).weights) == 3
    assert len(learner.state.weights) == 1  # what play says does not depend on who asks
    assert len(learner.flush().state.weights) == 1
    assert learner.log_density(X).mean() > nr.make("gaussian").learn(X[:40]).log_density(X).mean()  # type: ignore[attr-defined]


def test_densities_are_exact_far_from_the_origin() -> None:
    near, far = make().learn(X), make().learn(X + 1e7)
    np.testing.assert_allclose(far.log_density(X + 1e7), near.log_density(X), rtol=1e-5)


def test_sparse_rows_and_late_features_are_those_of_wide_rows() -> None:
    rows = np.where(np.abs(X) > 1.0, X, 0.0)
    rows[:30, 2] = 0.0
    one, other = make().learn(sparse.csr_matrix(rows)), make().learn(rows)
    assert one.means.tolist() == other.means.tolist()
    named = make().learn([{f"f{at}": value for at, value in enumerate(row) if value} for row in rows.tolist()])
    order = [named.feature_names.index(f"f{at}") for at in range(3)]
    np.testing.assert_allclose(np.sort(named.means[:, order], axis=0), np.sort(other.means, axis=0), rtol=1e-7)
    narrow: Any = make(k=1, batch=1, variance=2.0).learn([{"a": 1.0}, {"a": 3.0}])
    before = narrow.evaluate([{"a": 2.5}]).losses[0]
    alone = 0.5 * (0.7**2 / 2.0 + np.log(2.0 * np.pi * 2.0))
    assert narrow.play([{"a": 2.5, "b": 0.7}]).losses[0] == pytest.approx(before + alone)


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


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"k": 0}, {"k": 2.5}, {"start": 1.5}, {"batch": 0}, {"decay": 0.5}, {"decay": 1.1}, {"shape": "round"},
     {"shrink": 0.0}, {"least": 1.0}, {"prior": float("nan")}, {"variance": 0.0}],
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


@pytest.mark.parametrize(("n", "seed"), [(-1, 0), (1.5, 0), (3, -1), (3, None)])
def test_samples_are_counted_by_whole_numbers(n: Any, seed: Any) -> None:
    with pytest.raises(nr.BadValue):
        make().learn(X).sample(n, seed)
    with pytest.raises(nr.NotLearned):
        make().sample(3)


def test_too_many_features_for_full_covariances_are_refused() -> None:
    wide = sparse.csr_matrix(([1.0], ([0], [20_000])), shape=(1, 20_001))
    with pytest.raises(nr.BadValue, match="diagonal"):
        make(batch=1).learn(wide)
    assert make(batch=1, shape="diagonal").learn(wide).rounds == 1


def test_components_are_described() -> None:
    lines = make().learn(ROWS).describe_results()
    assert len(lines) == 4
    assert "f1" in " ".join(lines)


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
