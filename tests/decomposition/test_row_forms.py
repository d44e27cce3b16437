"""Clusters, densities and dictionaries of rows in other forms: sparse, with features that come late, or refused."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import noregret as nr
from noregret.decomposition.memory import require_sample_memory
from noregret.learner import outside_rounds
from noregret.learner.model_file import pack
from tests.support import refusal

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 4)) + 3.0 * RNG.normal(size=(3, 4))[RNG.integers(3, size=60)]
LATE = np.where(np.abs(X) > 1.0, X, 0.0)  # the last feature is known only after half of the rows
LATE[:30, 3] = 0.0
OPTIONS: dict[str, dict[str, Any]] = {  # features come late while a mixture waits: its components depend on how many
    "kmeans": {"k": 3, "batch": 4, "start": 12},
    "gaussian": {"batch": 4},
    "mixture": {"k": 3, "batch": 8, "start": 40},
    "mixture, diagonal": {"k": 3, "batch": 8, "start": 40, "shape": "diagonal"},
    "kernel_density": {"budget": 20, "batch": 8},
    "kernel_density, diagonal": {"budget": 20, "batch": 8, "shape": "diagonal"},
    "kernel_density, oldest": {"budget": 20, "batch": 8, "policy": "oldest"},
    "kernel_density, random": {"budget": 20, "batch": 8, "policy": "random"},
    "dictionary": {"k": 3, "batch": 4, "penalty": 0.1, "tolerance": 1e-12},
}
DENSITIES = [name for name in OPTIONS if name.startswith(("gaussian", "mixture", "kernel_density"))]
learners = pytest.mark.parametrize("name", OPTIONS)


def make(name: str, **options: Any) -> Any:
    return nr.make(name.partition(",")[0], **{**OPTIONS[name], "native": False, **options})


def results(learner: Any, order: list[int]) -> list[Any]:
    """The vectors that a learner has found, and what is known of them; features are put in this order."""
    assert len(learner.feature_names) == len(order)
    if learner.kind == "gaussian":
        return [learner.mean[order], learner.covariance[np.ix_(order, order)]]
    if learner.kind == "kernel_density":
        return [in_order(learner.points, order), learner.weights, learner.bandwidths[order]]
    if learner.kind == "kmeans":
        return [in_order(learner.centres, order), learner.counts]
    if learner.kind == "dictionary":
        state = learner.latest
        return [in_order(learner.components, order), state.among_codes, in_order(state.with_rows, order)]
    covariances = in_order(learner.covariances, order)
    if learner.shape == "full":
        covariances = covariances[:, :, order]
    return [in_order(learner.means, order), learner.weights, covariances]


def in_order(array: Any, order: list[int]) -> Any:
    assert array.shape[1] == len(order)
    return array[:, order]


def check_same(one: list[Any], other: list[Any]) -> None:
    for found, expected in zip(one, other, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@learners
def test_sparse_rows_are_those_of_dense_rows(name: str) -> None:
    one, other = make(name).learn(sparse.csr_matrix(LATE)), make(name).learn(LATE)
    for found, expected in zip(results(one, [0, 1, 2, 3]), results(other, [0, 1, 2, 3]), strict=True):
        assert found.tolist() == expected.tolist()


@learners
def test_features_that_come_late_were_0_before(name: str) -> None:
    wide = make(name).learn(LATE)
    named = make(name).learn([{f"f{at}": value for at, value in enumerate(row) if value} for row in LATE.tolist()])
    order = [named.feature_names.index(f"f{at}") for at in range(4)]
    check_same(results(named, order), results(wide, [0, 1, 2, 3]))


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("rows", [2, 30])
def test_a_feature_that_is_new_has_the_variance_of_the_start(name: str, rows: int) -> None:
    learner = make(name, batch=1, variance=2.0, **({"k": 1} if name.startswith("mixture") else {}))
    learner.learn([{"a": value} for value in X[:rows, 0].tolist()])
    before = learner.evaluate([{"a": 2.5}]).losses[0]
    for new in ({"b": 0.7}, {"b": 0.4, "c": -0.3}):
        squares = sum(value**2 for value in new.values())
        alone = 0.5 * (squares / 2.0 + len(new) * np.log(2.0 * np.pi * 2.0))
        assert learner.copy().play([{"a": 2.5, **new}]).losses[0] == pytest.approx(before + alone)
    assert learner.play([{"a": 2.5, "b": 0.0}]).losses[0] == pytest.approx(before)


BAD_ROWS: list[Any] = [[1.0, float("nan"), 0.0, 0.0], [1e200] * 4, [1.0, 2.0], list("abcd")]


@learners
@pytest.mark.parametrize("row", BAD_ROWS, ids=str)
def test_rows_that_cannot_be_learned_change_nothing(name: str, row: Any) -> None:
    for rounds in (2, 60):
        learner = make(name, batch=1).learn(X[:rounds])
        before = pack(learner)
        with pytest.raises(nr.BadValue):
            learner.play([row])
        assert pack(learner) == before


@learners
def test_nothing_is_described_before_the_first_row(name: str) -> None:
    assert make(name).describe_results() == []


WRONG: dict[str, list[dict[str, Any]]] = {
    "kmeans": [{"k": 0}, {"k": 2.5}, {"start": 1.5}, {"batch": 0}, {"k": float("nan")}],
    "gaussian": [{"prior": 0.0}, {"variance": -1.0}, {"batch": 1.5}, {"batch": 0}],
    "mixture": [
        {"k": 0}, {"k": 2.5}, {"start": 1.5}, {"batch": 0}, {"decay": 0.5}, {"decay": 1.1}, {"shape": "round"},
        {"shrink": 0.0}, {"least": 1.0}, {"prior": float("nan")}, {"variance": 0.0},
    ],
    "kernel_density": [
        {"budget": 1}, {"budget": 2.5}, {"policy": "none"}, {"bandwidth": "own"}, {"width": 0.0}, {"batch": 0},
        {"shape": "round"}, {"prior": float("nan")}, {"variance": 0.0}, {"budget": 4097, "policy": "merge"},
        {"bandwidth": "fixed", "shape": "full"},
    ],
    "dictionary": [{"k": 0}, {"k": 2.5}, {"sweeps": 1.5}, {"penalty": -1.0}, {"batch": 0}, {"tolerance": 1.0}],
}  # fmt: skip


@pytest.mark.parametrize(("name", "options"), [(name, one) for name, several in WRONG.items() for one in several])
def test_parameters_are_in_their_limits(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(nr.BadValue, match=next(iter(options))):
        make(name, **options)


@pytest.mark.parametrize("name", ["mixture", "kernel_density"])
def test_too_many_features_for_full_covariances_are_refused(name: str) -> None:
    def row(features: int) -> Any:
        return sparse.csr_matrix(([1.0], ([0], [features - 1])), shape=(1, features))

    with pytest.raises(nr.BadValue, match="diagonal"):
        make(name, batch=1).learn(row(20_001))
    assert make(name, batch=1, shape="diagonal").learn(row(20_001)).rounds == 1


@pytest.mark.parametrize("name", DENSITIES)
def test_densities_are_exact_far_from_the_origin(name: str) -> None:
    near, far = make(name).learn(X), make(name).learn(X + 1e7)
    np.testing.assert_allclose(far.log_density(X + 1e7), near.log_density(X), rtol=1e-5)


def parts(learner: Any) -> tuple[Any, Any]:
    """The means and covariances of the Gaussians whose weighted sum is the density."""
    state = learner.latest
    if learner.kind == "gaussian":
        return learner.mean[None], learner.smoothed(state)[None]
    if learner.kind == "mixture":
        means, own = learner.means, learner.covariances
    else:
        means, own = learner.points, state.covariances(learner.find_kernel(state))
        own = np.broadcast_to(own, (len(means), *own.shape[1:]))
    return means, own if learner.shape == "full" else np.einsum("ki,ij->kij", own, np.eye(4))


@pytest.mark.parametrize("name", DENSITIES)
def test_samples_have_the_moments_of_the_density(name: str) -> None:
    learner = make(name).learn(X)
    drawn = learner.sample(10_000, seed=2)
    assert drawn.tolist() == learner.sample(10_000, seed=2).tolist()
    means, own = parts(learner)
    weights = getattr(learner, "weights", np.ones(1))
    mean = weights @ means
    around = means - mean
    whole = np.einsum("k,kij->ij", weights, own + around[:, :, None] * around[:, None, :])
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.15)
    np.testing.assert_allclose(np.cov(drawn.T), whole, rtol=0.1, atol=0.3)
    assert learner.sample(0).shape == (0, 4)
    assert learner.sample().shape == (1, 4)


@pytest.mark.parametrize(("n", "seed"), [(-1, 0), (1.5, 0), (3, -1), (3, None)])
@pytest.mark.parametrize("name", ["mixture", "kernel_density", "gaussian"])
def test_samples_are_counted_by_whole_numbers(name: str, n: Any, seed: Any) -> None:
    with pytest.raises(nr.BadValue):
        make(name).learn(X).sample(n, seed)
    with pytest.raises(nr.NotLearned):
        make(name).sample(3)
    with pytest.raises(nr.BadValue, match=f"^{name}: a sample of n=1,000,000,000,000 rows does not fit in memory"):
        make(name).learn(X).sample(10**12)


@pytest.mark.parametrize(("name", "options", "numbers"), [
    ("mixture", {"shape": "full"}, 9), ("mixture", {"shape": "diagonal"}, 3), ("gaussian", {}, 9),
    ("kernel_density", {"shape": "full"}, 9), ("kernel_density", {"shape": "diagonal"}, 3),
])  # fmt: skip
def test_each_row_of_a_sample_takes_the_numbers_of_a_covariance(
    name: str, options: dict[str, str], numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int, int]] = []
    module = import_module(f"noregret.decomposition.{name}")
    monkeypatch.setattr(module, "require_sample_memory", lambda *of: asked.append(of))
    learner: Any = nr.make(name, **options).learn(np.random.default_rng(0).normal(size=(40, 3)))
    assert learner.sample(5).shape == (5, 3)
    assert asked == [(name, 5, numbers)]


def test_a_sample_has_the_numbers_of_all_its_rows_and_the_rows_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def fits(numbers: int) -> bool:
        asked.append(numbers)
        return True

    monkeypatch.setattr(outside_rounds, "fits_in_memory", fits)
    require_sample_memory("mixture", 7, 4)
    assert asked == [7 * 5]
    monkeypatch.setattr(outside_rounds, "fits_in_memory", lambda numbers: False)
    with pytest.raises(nr.BadValue, match="n=7 rows does not fit"):
        require_sample_memory("mixture", 7, 4)


def test_entries_of_a_masked_array_are_missing() -> None:
    rows, absent = np.arange(12.0).reshape(4, 3), np.eye(4, 3, dtype=bool)
    masked = np.ma.MaskedArray(rows, mask=absent)
    with_nan = np.where(absent, np.nan, rows)
    learner: Any = nr.make("svd", rank=2, missing="nan").learn(masked).learn_one(masked[0])
    same: Any = nr.make("svd", rank=2, missing="nan").learn(with_nan).learn_one(with_nan[0])
    assert np.array_equal(learner.impute(masked), same.impute(with_nan))
    for refused in (lambda: nr.make("svd").learn(masked), lambda: nr.make("arow", native=False).learn_one(masked[0])):
        assert "row 0, feature 0: the value is nan" in refusal(refused)
    labels = np.ma.MaskedArray([0, 1, 1], mask=[False, True, False])
    assert "row 1: a label must be" in refusal(lambda: nr.make("arow", native=False).learn(rows[:3], labels))
    targets = np.ma.MaskedArray([3.0, 1e20], mask=[False, True])
    assert "row 1: the rating is nan" in refusal(lambda: nr.make("rating_mean").learn([(1, 1), (1, 2)], targets))


@pytest.mark.parametrize("name", ["gaussian", "mixture", "kernel_density", "kernel_density, random"])
def test_rows_of_too_many_features_do_not_wait_for_a_mini_batch_that_cannot_be_learned(name: str) -> None:
    learner = make(name).learn(sparse.csr_matrix([[1.0, 2.0]]))
    before = pack(learner)
    wide = sparse.csr_matrix(([1.0], ([0], [10**6])), shape=(1, 10**6 + 1))
    assert name.partition(",")[0] in refusal(lambda: learner.learn(wide))
    assert pack(learner) == before
