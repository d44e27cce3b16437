"""Principal components online: equal to their twins and to scikit-learn, and within the bound on adversarial rows."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from noregret.decomposition import oja
from noregret.decomposition.density import Density
from noregret.decomposition.factors import orthonormal_columns
from tests.naive.pca import NaiveOja, NaivePCA, capped
from tests.support import refusal


def spread_rows(seed: int, rows: int = 60, features: int = 8, decay: float = 0.7) -> np.ndarray:
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(features, features)))[0]
    return np.asarray((rng.normal(size=(rows, features)) * decay ** np.arange(features)) @ turn)


def make(name: str, **options: Any) -> Any:
    return nr.make(name, **options)


def unit_rows(X: np.ndarray) -> np.ndarray:
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


# ---- incremental PCA -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rank", "batch"), [(3, 10), (3, 20), (8, 15)])
def test_incremental_pca_equals_that_of_scikit_learn(rank: int, batch: int) -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    X = spread_rows(1) + np.arange(8.0)
    ours, theirs = make("pca_incremental", rank=rank, batch=batch).learn(X), decomposition.IncrementalPCA(rank)
    for start in range(0, 60, batch):
        theirs.partial_fit(X[start : start + batch])
    signs = np.sign(theirs.components_[np.arange(rank), np.abs(theirs.components_).argmax(axis=1)])
    assert np.allclose(ours.components, theirs.components_ * signs[:, None], atol=1e-10)
    assert np.allclose(ours.mean, theirs.mean_, atol=1e-12)
    assert np.allclose(ours.singular_values, theirs.singular_values_, rtol=1e-10)
    assert np.allclose(ours.explained_variance, theirs.explained_variance_, rtol=1e-10)
    if rank == 8:
        assert np.allclose(ours.explained_variance_ratio, theirs.explained_variance_ratio_, atol=1e-10)
    assert np.allclose(ours.transform(X), theirs.transform(X) * signs, atol=1e-9)


@pytest.mark.parametrize("batch", [1, 7])
def test_incremental_pca_is_exact_while_the_rank_allows(batch: int) -> None:
    X = spread_rows(2) + 5.0
    learner = make("pca_incremental", rank=8, batch=batch).learn(X)
    centred = X - X.mean(axis=0)
    assert np.allclose(learner.singular_values, np.linalg.svd(centred, compute_uv=False), rtol=1e-10)
    assert learner.explained_variance_ratio.sum() == pytest.approx(1.0, abs=1e-10)
    assert np.allclose(learner.mean, X.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("batch", [7, 60])
def test_rows_are_made_of_components_as_by_scikit_learn(batch: int) -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    X = spread_rows(4) + 3.0
    ours, theirs = make("pca_incremental", rank=3, batch=batch).learn(X), decomposition.IncrementalPCA(3)
    for start in range(0, 60, batch):
        theirs.partial_fit(X[start : start + batch])
    found = ours.inverse_transform(ours.transform(X))
    np.testing.assert_allclose(found, theirs.inverse_transform(theirs.transform(X)), atol=1e-9)
    np.testing.assert_allclose(ours.inverse_transform(np.zeros((2, 3))), np.tile(ours.mean, (2, 1)))
    assert "matrix of 3 columns" in refusal(lambda: ours.inverse_transform([[1.0]]))


def test_losses_of_incremental_pca_are_what_is_left_of_centred_rows() -> None:
    X = spread_rows(2, rows=30) + 5.0
    learner = make("pca_incremental", rank=3, batch=5)
    for start in range(5, 30, 5):
        learner.learn(X[start - 5 : start])
        centred = X[start : start + 5] - learner.mean
        rest = centred - centred @ learner.components.T @ learner.components
        np.testing.assert_allclose(learner.copy().play(X[start : start + 5]).losses, np.sum(rest * rest, axis=1))
    new = [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 2.0}, {"a": 2.0, "c": 7.0}]
    named = make("pca_incremental", rank=1, batch=2).learn(new[:2])
    assert named.play(new[2:]).losses.tolist() == pytest.approx([4.0 + 49.0])
    alone = make("pca_incremental", rank=2, batch=1).learn([[3.0, 4.0]])
    assert (alone.explained_variance.tolist(), alone.explained_variance_ratio.tolist()) == ([], [])
    small = make("pca_incremental", rank=2).learn(1e-170 * X)  # their squares are 0
    assert (small.singular_values > 0.0).all()
    assert small.explained_variance_ratio.tolist() == [0.0, 0.0]
    two = alone.learn([[1.0, 4.0]])
    assert two.explained_variance.tolist() == pytest.approx([2.0])
    assert two.explained_variance_ratio.tolist() == pytest.approx([1.0])


# ---- Oja -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 4])
def test_oja_equals_its_twin(batch: int) -> None:
    X = spread_rows(3)
    learner = make("oja", rank=3, eta=5.0, delay=2.0, batch=batch)
    twin = NaiveOja(learner.start_state(8).columns, 5.0, 2.0)
    for start in range(0, 60, batch):
        learner.learn(X[start : start + batch])
        twin.learn(X[start : start + batch])
        assert np.allclose(learner.latest.columns, twin.W, atol=1e-9)
        assert np.allclose(learner.variances, np.mean(twin.squares, axis=0))
    assert np.allclose(learner.components @ learner.components.T, np.eye(3), atol=1e-12)


def drawn(seed: int, features: int, rank: int) -> np.ndarray:
    return np.array([np.random.default_rng([seed, number]).normal(size=rank) for number in range(features)])


def test_new_features_are_drawn_and_do_not_depend_on_when_they_come() -> None:
    learner = make("oja", rank=3, seed=4)
    state, twin = learner.start_state(2), NaiveOja(drawn(4, 2, 2), 1.0, 1.0)
    twin.orthonormalize()
    assert np.allclose(state.columns, twin.W)
    state.variances = np.array([3.0, 2.0])
    state.grow(5)
    larger = drawn(4, 5, 3) / np.sqrt(5.0)
    larger[:2, :2] = twin.W
    twin = NaiveOja(larger, 1.0, 1.0)
    twin.orthonormalize()
    assert np.allclose(state.columns, twin.W)
    assert state.variances.tolist() == [3.0, 2.0, 0.0]
    assert np.array_equal(learner.start_state(5).columns, learner.start_state(5).columns)
    assert learner.start_state(0).columns.shape == (0, 0)


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_directions_and_losses_of_oja_do_not_depend_on_the_unit(size: float) -> None:
    X = spread_rows(3)
    learner, other = make("oja", rank=3).learn(X), make("oja", rank=3).learn(size * X)
    assert np.allclose(learner.components, other.components)
    new = spread_rows(4, rows=5)
    rest = new - new @ learner.components.T @ learner.components
    assert np.allclose(learner.score(new).losses, np.sum(rest * rest, axis=1))
    assert np.allclose(other.score(size * new).losses / size**2, np.sum(rest * rest, axis=1))
    assert make("oja", rank=3).learn(np.zeros((3, 8))).variances.tolist() == [0.0, 0.0, 0.0]
    named = make("oja", rank=1).learn([{"a": 2.0}])
    assert named.score([{"a": 1.0, "b": 3.0}]).losses.tolist() == [0.0]
    assert named.play([{"a": 1.0, "b": 3.0}]).losses.tolist() == [9.0]


def test_oja_does_not_turn_by_rows_whose_squares_may_have_lost_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the limit, here moved to where squares are exact."""
    monkeypatch.setattr(oja, "SMALLEST_SQUARE", 9.0)
    state = make("oja", rank=1).start_state(2)
    before = state.columns.tolist()
    state.step(np.array([[0.0, 3.0]]), 1.0, 1.0)
    assert (state.squares, state.columns.tolist()) == (9.0, before)
    state.step(np.array([[0.0, 0.5]]), 1.0, 1.0)
    assert state.columns.tolist() != before


@pytest.mark.parametrize("sizes", [(3, 6, 7), (7,), (2, 3, 5)], ids=str)
def test_oja_draws_random_numbers_once_for_each_feature(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They depend on its number alone; as long as there are fewer features than directions, all are drawn anew."""
    state, drawn, make_random = make("oja", rank=3, seed=4).start_state(0), list[int](), np.random.default_rng

    def draw(key: list[int]) -> np.random.Generator:
        drawn.append(key[1])
        return make_random(key)

    monkeypatch.setattr(np.random, "default_rng", draw)
    before = 0
    for features in sizes:
        old, drawn[:] = state.columns, []
        state.grow(features)
        assert drawn == list(range(0 if before < 3 else before, features))
        expected = np.array([make_random([4, one]).normal(size=3) for one in range(features)])[:, : min(3, features)]
        expected /= np.sqrt(features)
        expected[:before, : old.shape[1]] = old
        assert np.allclose(state.columns, orthonormal_columns(expected), atol=1e-12)
        before = features


def test_oja_turns_toward_the_principal_directions_as_fast_as_its_theorem_says() -> None:
    """Where the variances have a gap, the squared sine of the angle falls like 1 / t."""
    X = np.random.default_rng(4).normal(size=(4000, 6)) * np.array([3.0, 2.5, 1.0, 1.0, 1.0, 1.0])
    learner, sines = make("oja", rank=2), []
    for rounds in (250, 1000, 4000):
        learner.learn(X[learner.rounds : rounds])
        sines.append(2.0 - np.sum(learner.components[:, :2] ** 2))
    assert sines[2] < 0.02
    assert sines[2] < sines[1] / 2 < sines[0] / 4


def test_oja_without_tuning_is_near_the_best_of_a_grid() -> None:
    for decay in (0.6, 0.9):
        X = spread_rows(5, rows=500, features=20, decay=decay)
        found = [make("oja", rank=4, eta=eta).play(X).losses.sum() for eta in (10.0, 30.0, 100.0, 300.0)]
        assert make("oja", rank=4).play(X).losses.sum() < 1.05 * min(found)


# ---- Warmuth and Kuzmin ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eta", [0.3, 2.0])
def test_online_pca_equals_its_twin(eta: float) -> None:
    X = unit_rows(spread_rows(6))
    learner, twin = make("pca", rank=3, eta=eta, radius=1.0), NaivePCA(8, 3, eta)
    expected = 0.0
    for number, row in enumerate(X[: round(30 / eta)]):  # later, eigenvalues are too small for a matrix logarithm
        losses = learner.play(row[None]).losses
        if number > 2:  # before, eigenvalues are equal, and which eigenvectors are kept is arbitrary
            assert losses[0] == pytest.approx(twin.loss(row), abs=1e-6)
        expected += twin.expected(row)
        twin.learn(row)
        state = learner.state
        assert np.allclose((state.vectors * state.weights) @ state.vectors.T, twin.W, atol=1e-7)
    assert learner.expected_loss == pytest.approx(expected, rel=1e-7)


def test_capped_weights_solve_their_defining_problem() -> None:
    rng = np.random.default_rng(7)
    for _ in range(5):
        weights = rng.dirichlet(np.full(6, 0.3))
        state = Density(3, 0, np.eye(6), np.log(weights))
        state.cap()
        found = state.weights
        assert found.sum() == pytest.approx(1.0)
        assert found.max() <= 1 / 3 + 1e-12
        assert np.allclose(found, capped(weights, 1 / 3))

        def divergence(v: Any, weights: Any = weights) -> float:
            return float(np.sum(v * np.log(v / weights)))

        sums_to_1: Any = {"type": "eq", "fun": lambda v: np.sum(v) - 1.0}
        best: Any = minimize(divergence, np.full(6, 1 / 6), bounds=[(1e-12, 1 / 3)] * 6, constraints=sums_to_1)
        assert divergence(found) <= best.fun + 1e-6


def test_directions_are_left_out_with_the_probability_of_their_weights() -> None:
    logs = np.log(np.array([0.3, 0.25, 0.2, 0.15, 0.1]))
    counts = np.zeros(5)
    for seed in range(2000):
        kept = Density(2, seed, np.eye(5), logs).draw()
        assert len(kept) == 2
        counts += ~np.isin(np.arange(5), kept)
    assert np.allclose(counts / 2000, 3 * np.exp(logs), atol=0.04)


def adversarial_rows(kind: str, rng: np.random.Generator, features: int = 6) -> np.ndarray:
    """Rows of length at most 1 that are hard: one direction, then another; all in turn; what is left out now."""
    axes = np.eye(features)
    if kind == "switch":
        return np.repeat(axes[:4], 25, axis=0)
    if kind == "turns":
        return axes[np.arange(120) % features]
    return unit_rows(rng.normal(size=(100, features))) * rng.random((100, 1))


@pytest.mark.parametrize("eta", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("kind", ["switch", "turns", "random", "follow"])
def test_the_expected_loss_stays_within_the_bound(kind: str, eta: float) -> None:
    learner = make("pca", rank=2, eta=eta, radius=2.0, choose="draw")
    rows = []
    if kind == "follow":  # the row that the density likes to leave out most
        for _ in range(60):
            state = learner.state or learner.start_state(6)
            rows.append(2.0 * state.vectors[:, np.argmax(state.logs)])
            learner.learn(rows[-1][None])
    else:
        rows = list(2.0 * adversarial_rows(kind, np.random.default_rng(8)))
        learner.learn(np.array(rows))
    best = (np.linalg.svd(np.array(rows), compute_uv=False)[2:] ** 2).sum()
    bound = learner.card.bound(learner.params, features=6, best_subspace_loss=best)
    assert learner.expected_loss <= bound + 1e-9


def test_the_bound_is_the_number_worked_out_by_hand() -> None:
    card = nr.learners()["pca"]
    options = {"rank": 2, "eta": np.log(2.0), "radius": 3.0, "choose": "draw", "batch": 1}
    assert card.bound(options, features=4, best_subspace_loss=10.0) == pytest.approx(
        (10.0 * np.log(2.0) + 2 * 9.0 * np.log(2.0)) / 0.5
    )
    with pytest.raises(nr.BadValue, match="radius"):
        card.bound({**options, "radius": 0.0}, features=4, best_subspace_loss=10.0)


def test_drawn_losses_are_as_expected_on_average() -> None:
    X = unit_rows(spread_rows(9, rows=20))
    learner = make("pca", rank=3, choose="draw", radius=1.0).learn(X[:1])  # before it, the features are not known
    first, totals = learner.expected_loss, []
    for seed in range(150):
        other = make("pca", rank=3, choose="draw", radius=1.0, seed=seed).learn(X[:1])
        totals.append(other.play(X[1:]).losses.sum())
    assert np.mean(totals) == pytest.approx(learner.learn(X[1:]).expected_loss - first, rel=0.03)


@pytest.mark.parametrize("eta", [1e12, 1e16])
def test_weights_sum_to_one_however_large_the_learning_rate_is(eta: float) -> None:
    learner = make("pca", rank=1, eta=eta).learn(spread_rows(7, rows=12))
    assert learner.weights_of_directions.sum() == pytest.approx(1.0)


def test_new_features_begin_with_the_weight_that_all_had_in_the_beginning() -> None:
    turned = np.linalg.qr(np.random.default_rng(10).normal(size=(3, 3)))[0]
    state = Density(2, 0, turned, np.log(np.array([0.1, 0.3, 0.6])))
    before = (turned * state.weights) @ turned.T
    state.grow(6)
    after = (state.vectors * state.weights) @ state.vectors.T
    expected = np.zeros((6, 6))
    expected[:3, :3], expected[3:, 3:] = before / 2, np.eye(3) / 6
    heaviest = np.append(turned[:, 2], np.zeros(3))
    alone = np.outer(heaviest, heaviest)  # its weight of 0.3 is capped at 1/4, and the others share what it loses
    assert np.allclose(after, (expected - 0.3 * alone) * (0.75 / 0.7) + 0.25 * alone)
    assert after.trace() == pytest.approx(1.0)


def test_features_that_come_later_are_learned_like_those_before() -> None:
    rng = np.random.default_rng(11)
    rows = [{"a": float(x), "b": float(2 * x)} for x in rng.normal(size=60)]
    rows += [{"a": float(x), "b": float(2 * x), "c": float(-x)} for x in rng.normal(size=120)]
    losses = make("pca", rank=1, eta=1.0).play(rows).losses
    assert losses[40:60].mean() < 0.05 * losses[:2].sum()
    assert losses[-30:].mean() < 0.05 * np.mean([sum(value**2 for value in row.values()) for row in rows[-30:]])


def test_with_as_many_components_as_features_nothing_is_lost() -> None:
    X = spread_rows(12, rows=10, features=3)
    for choose in ("draw", "lightest"):
        learner = make("pca", rank=5, choose=choose)
        assert np.allclose(learner.play(X).losses[1:], 0.0)
        assert learner.components.shape == (3, 3)
        assert learner.expected_loss == 0.0
        assert learner.transform(X).shape == (10, 5)


def test_every_round_has_a_draw_of_its_own() -> None:
    rows = np.zeros((40, 6))
    learner, drawn = make("pca", rank=2, choose="draw", radius=1.0), set()
    for row in rows:
        learner.learn(row[None])
        drawn.add(tuple(np.flatnonzero(np.abs(learner.components).sum(axis=0) > 0.5).tolist()))
    assert drawn == {(0, 3), (1, 4), (2, 5)}  # of equal weights, systematic sampling leaves out every third pair
    again = make("pca", rank=2, choose="draw", radius=1.0).learn(rows)
    assert np.array_equal(again.components, learner.components)
    other = [make("pca", rank=2, choose="draw", radius=1.0, seed=seed).learn(rows).components for seed in range(5)]
    assert any(not np.array_equal(one, learner.components) for one in other)


def test_weights_stay_a_distribution_after_very_large_steps() -> None:
    X = unit_rows(spread_rows(13, rows=3000, features=5, decay=0.9))
    learner = make("pca", rank=2, eta=5.0, radius=1.0, batch=1500).learn(X)
    weights = learner.weights_of_directions
    assert weights.sum() == pytest.approx(1.0)
    assert weights.max() <= 1 / 3 + 1e-12


def test_a_row_longer_than_the_radius_is_refused() -> None:
    learner = make("pca", rank=1, radius=1.0).learn([[0.5, 0.5]])
    with pytest.raises(nr.BadValue, match="above radius=1"):
        learner.learn([[0.1, 0.1], [3.0, 0.0]])
    assert learner.rounds == 1


def test_too_many_features_are_refused() -> None:
    with pytest.raises(nr.BadValue, match="use svd or oja"):
        make("pca").learn(np.ones((1, 5000)))
