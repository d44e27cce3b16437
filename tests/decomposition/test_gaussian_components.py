"""Components of a mixture: E-steps and M-steps by their definitions, smoothing, and where components begin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import noregret as nr
from noregret.decomposition.gaussian_components import Components, Smoothing
from tests.naive.mixture import NaiveMixture

Floats = NDArray[np.float64]
RNG = np.random.default_rng(5)
ROWS = RNG.normal(size=(12, 3)) @ RNG.normal(size=(3, 3)) + 2.0 * RNG.normal(size=(2, 3))[RNG.integers(2, size=12)]
SMOOTHING = Smoothing(prior=0.5, variance=3.0, shrink=0.7)
shapes = pytest.mark.parametrize("full", [True, False], ids=["full", "diagonal"])


def diagonals(covariances: Floats, full: bool) -> Floats:
    return covariances if full else np.array([np.diag(one) for one in covariances])


def made(k: int, full: bool, d: int = 3, effective: float = 6.0) -> Components:
    """A state with k components at random places."""
    state, random = Components.start(d, full, SMOOTHING), np.random.default_rng(k)
    roots, weights = random.normal(size=(k, d, d)), random.uniform(0.5, 1.0, k)
    state.weights, state.means = weights / weights.sum(), random.normal(size=(k, d))
    state.spreads = diagonals(roots @ roots.transpose(0, 2, 1), full)
    state.effective = effective
    state.see(random.normal(size=(9, d)))
    return state


@shapes
def test_a_start_is_one_component_with_the_variance_of_the_start(full: bool) -> None:
    state = Components.start(3, full, SMOOTHING)
    assert (state.features, state.count, state.effective) == (3, 0, 0.0)
    assert state.weights.tolist() == [1.0]
    assert state.means.tolist() == [[0.0, 0.0, 0.0]]
    assert state.spreads.shape == ((1, 3, 3) if full else (1, 3))
    assert state.waiting.shape == (0, 3)
    assert state.covariances().tolist() == diagonals(3.0 * np.eye(3)[None], full).tolist()
    assert state.spread_of_all().tolist() == [3.0, 3.0, 3.0]
    assert state.is_finite()


@shapes
def test_features_that_come_have_no_mean_and_no_variance_so_far(full: bool) -> None:
    state = made(2, full, 2)
    state.waiting = np.ones((4, 2))
    before = state.copy()
    before.gaussians()
    state.gaussians()
    state.grow(3)
    assert state.features == 3
    for name, tail in (("means", (0,)), ("spreads", (0, 0)[: 1 + full]), ("mean", (0,)), ("squares", (0,)),
                       ("waiting", (0,))):  # fmt: skip
        new = getattr(state, name)
        inner = new[:, :2, :2] if name == "spreads" and full else new[..., :2]
        assert inner.tolist() == getattr(before, name).tolist()
        assert not new[..., 2:].any()
        assert new.ndim == getattr(before, name).ndim
        if len(tail) == 2:
            assert not new[:, 2].any()
    assert state.gaussians().means.shape == (2, 3)


def test_covariances_that_do_not_fit_in_memory_are_refused() -> None:
    state = Components.start(2, True, SMOOTHING)
    with pytest.raises(nr.BadValue, match="mixture: 1 covariances of 12000 features are too large"):
        state.grow(12_000)
    Components.start(12_000, False, SMOOTHING)


@pytest.mark.parametrize("sizes", [(12,), (1, 4, 7), (1,) * 12], ids=str)
def test_moments_of_all_rows_do_not_depend_on_how_they_come(sizes: tuple[int, ...]) -> None:
    state, start = Components.start(3, True, SMOOTHING), 0
    for size in sizes:
        state.see(ROWS[start : start + size])
        start += size
    assert state.count == 12
    np.testing.assert_allclose(state.mean, ROWS.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(state.squares, 12.0 * ROWS.var(axis=0), rtol=1e-12)
    np.testing.assert_allclose(state.spread_of_all(), (12.0 * ROWS.var(axis=0) + 1.5) / 12.5, rtol=1e-12)


@shapes
@pytest.mark.parametrize(("k", "d"), [(1, 3), (3, 3), (3, 1), (2, 2)])
def test_covariances_are_smoothed_by_the_start_or_by_all_rows(full: bool, k: int, d: int) -> None:
    """One component: the start as `prior` rows; several: the variances of all rows, by k^(-2/d), as `shrink` rows."""
    state = made(k, full, d)
    expected = []
    for weight, spread in zip(state.weights, state.spreads, strict=True):
        rows, own = weight * 6.0, spread if full else np.diag(spread)
        if k == 1:
            expected.append((rows * own + 0.5 * 3.0 * np.eye(d)) / (rows + 0.5))
        else:
            more = np.diag(state.spread_of_all()) / k ** (2.0 / d)
            expected.append((rows * own + 0.7 * more) / (rows + 0.7))
    np.testing.assert_allclose(state.covariances(), diagonals(np.array(expected), full), rtol=1e-12)


def test_densities_follow_the_moments_of_all_rows() -> None:
    """Covariances of several components are smoothed by those of all rows, which `see` changes."""
    state = made(3, True)
    state.gaussians()
    state.see(10.0 * ROWS)
    fresh = state.copy()
    fresh.roots = None
    assert state.score(ROWS, np.zeros(12))[0].tolist() == fresh.score(ROWS, np.zeros(12))[0].tolist()


@shapes
def test_components_without_features_have_a_density(full: bool) -> None:
    state = made(2, full, 0)
    logs, shares = state.score(np.zeros((2, 0)), np.array([0.0, 4.0]))
    np.testing.assert_allclose(logs, [0.0, -2.0], atol=1e-12)
    np.testing.assert_allclose(shares, [state.weights] * 2, rtol=1e-12)


def weighted_logs(state: Components, rows: Floats) -> Floats:
    """The logarithm of the weight of every component times its density, n x k, by scipy."""
    own = state.covariances() if state.full else np.array([np.diag(one) for one in state.covariances()])
    logs = [multivariate_normal.logpdf(rows, mean, one) for mean, one in zip(state.means, own, strict=True)]
    with np.errstate(divide="ignore"):
        return np.transpose(logs) + np.log(state.weights)


@shapes
@pytest.mark.parametrize("k", [1, 3])
def test_shares_and_densities_are_those_of_scipy(full: bool, k: int) -> None:
    state, beyond = made(k, full), np.arange(12.0)
    logs = weighted_logs(state, ROWS)
    expected = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    found, shares = state.score(ROWS, beyond)
    np.testing.assert_allclose(found, logsumexp(logs, axis=1) - 0.5 * beyond, rtol=1e-11)
    np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-14)
    away, shares, distances = state.expect(ROWS)
    np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(away, ROWS - state.means[:, None], rtol=1e-12)
    np.testing.assert_allclose(distances, 2.0 * (state.gaussians().logs + state.log_weights() - logs), rtol=1e-9)


@shapes
def test_a_component_without_weight_has_no_share(full: bool) -> None:
    state = made(3, full)
    state.weights = np.array([0.25, 0.0, 0.75])
    assert (state.score(ROWS, np.zeros(12))[1][:, 1] == 0.0).all()
    _, shares, _ = state.expect(ROWS)
    assert (shares[:, 1] == 0.0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-13)


@shapes
@pytest.mark.parametrize("rates", [(1.0, 0.3), (1.0, 0.5, 0.9, 0.05), (1.0, 1.0)], ids=str)
def test_sums_move_to_those_of_the_rows(full: bool, rates: tuple[float, ...]) -> None:
    """Weights, means and covariances are those of the twin, which keeps sums of 1, x and xx'."""
    state, twin, random = made(2, full), NaiveMixture(2, 3, 0.7, 3.0), np.random.default_rng(1)
    state.effective = 0.0
    for at, rate in enumerate(rates):
        rows = ROWS[3 * at : 3 * at + 3 + at % 2]
        shares = random.dirichlet([1.0, 1.0], size=len(rows))
        state.gaussians()
        state.move(rows - state.means[:, None], shares, rate)
        twin.add(rows, list(shares), rate)
        np.testing.assert_allclose(state.weights, twin.shares, rtol=1e-12)
        np.testing.assert_allclose(state.means, [twin.mean(j) for j in (0, 1)], rtol=1e-11)
        np.testing.assert_allclose(state.spreads, diagonals(own_covariances(twin), full), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(state.effective, 1.0 / twin.squares, rtol=1e-13)
        assert state.gaussians().means is state.means


def own_covariances(twin: NaiveMixture) -> Floats:
    """Those of the components themselves, before smoothing."""
    return np.array([one / share - np.outer(twin.mean(j), twin.mean(j)) for j, (one, share)
                     in enumerate(zip(twin.seconds, twin.shares, strict=True))])  # fmt: skip


@shapes
def test_a_step_moves_by_the_shares_before_it(full: bool) -> None:
    state, twin = made(2, full), made(2, full)
    distances = state.step(ROWS, 0.3)
    away, shares, before = twin.expect(ROWS)
    twin.move(away, shares, 0.3)
    assert distances.tolist() == before.tolist()
    assert state.means.tolist() == twin.means.tolist()


@shapes
def test_a_component_that_loses_all_rows_keeps_finite_numbers(full: bool) -> None:
    state = made(2, full)
    shares = np.tile([1.0, 0.0], (12, 1))
    state.move(ROWS - state.means[:, None], shares, 1.0)
    assert state.weights.tolist() == [1.0, 0.0]
    assert state.is_finite()
    np.testing.assert_allclose(state.means[0], ROWS.mean(axis=0), rtol=1e-12)
    state.move(ROWS - state.means[:, None], shares, 0.5)
    assert state.weights.tolist() == [1.0, 0.0]
    assert state.is_finite()
    assert np.isfinite(state.covariances()).all()


def test_variances_are_never_negative() -> None:
    """Rows that are all equal: by rounding their variance may come out below 0."""
    for seed in range(30):
        state, random = made(2, False), np.random.default_rng(seed)
        rows = random.normal(scale=1e3, size=(1, 3)).repeat(3, axis=0)
        state.move(rows - state.means[:, None], random.dirichlet([1.0, 1.0], size=3), 1.0)
        np.testing.assert_allclose(state.spreads, 0.0, atol=1e-7)
        assert (state.spreads >= 0.0).all()


# ---- where components begin ------------------------------------------------------------------------------------------


@shapes
def test_components_begin_at_clusters_of_rows_in_standard_deviations(full: bool) -> None:
    """Three clusters that four features of a small scale set apart, beside a feature of a large scale."""
    random = np.random.default_rng(3)
    numbers = random.integers(3, size=90)
    small = 1e-3 * (5.0 * numbers[:, None] + 0.1 * random.normal(size=(90, 4)))
    rows = np.column_stack((1e6 * random.normal(size=90), small))
    state = Components.start(5, full, Smoothing(1e-9, 1.0, 1e-9))
    state.see(rows)
    state.waiting = rows
    state.begin(3, np.random.default_rng(0))
    assert state.waiting.shape == (0, 5)
    order = np.argsort(state.means[:, 1])
    for number, at in enumerate(order):
        own = rows[numbers == number]
        assert state.weights[at] == pytest.approx(len(own) / 90.0, rel=1e-6)
        np.testing.assert_allclose(state.means[at], own.mean(axis=0), rtol=1e-6)
        expected = np.cov(own.T, bias=True)
        scales = np.sqrt(np.diag(expected))
        found = state.spreads[at] / (np.outer(scales, scales) if full else scales**2)
        np.testing.assert_allclose(found, np.corrcoef(own.T) if full else 1.0, atol=1e-6)
    assert state.effective == pytest.approx(90.0)


def test_begun_components_must_fit_in_memory() -> None:
    state = Components.start(100, True, SMOOTHING)
    state.see(np.eye(3, 100))
    state.waiting = np.eye(3, 100)
    with pytest.raises(nr.BadValue, match="20000 covariances of 100 features"):
        state.begin(20_000, np.random.default_rng(0))


def test_dead_components_have_less_than_their_share_of_the_mean_weight() -> None:
    state = made(4, True)
    state.weights = np.array([0.05, 0.0499, 0.9, 0.0])
    assert state.find_dead(0.2).tolist() == [1, 3]
    assert state.find_dead(0.0).tolist() == []


def revived(state: Components, dead: list[int], distances: Any, seed: int = 0) -> Components:
    state.gaussians()
    state.revive(np.array(dead), ROWS[: len(distances)], np.array(distances, float), np.random.default_rng(seed))
    return state


def test_a_component_of_one_feature_is_placed_with_a_kth_of_the_deviation_of_all() -> None:
    state = made(3, False, 1)
    state.revive(np.array([0]), np.array([[4.0]]), np.array([[0.0, 1.0, 2.0]]), np.random.default_rng(0))
    np.testing.assert_allclose(state.spreads[0], state.spread_of_all() / 9.0, rtol=1e-13)


@shapes
def test_dead_components_are_placed_at_rows_with_the_variances_of_all(full: bool) -> None:
    """With the weight 1/k beside what the others have; only the second row is far from the living component."""
    before, state = made(3, full), revived(made(3, full), [0, 2], [[9.0, 0.0, 9.0], [0.0, 2.0, 1.0], [9.0, 0.0, 9.0]])
    living = before.weights[1]
    np.testing.assert_allclose(state.means, [ROWS[1], before.means[1], ROWS[1]], rtol=1e-14)
    weights = np.array([1 / 3, living, 1 / 3])
    np.testing.assert_allclose(state.weights, weights / weights.sum(), rtol=1e-13)
    spread = np.diag(before.spread_of_all() / 3.0 ** (2.0 / 3.0))
    np.testing.assert_allclose(state.spreads[[0, 2]], diagonals(np.array([spread] * 2), full), rtol=1e-13)
    np.testing.assert_allclose(state.spreads[1], before.spreads[1], rtol=1e-14)
    assert state.gaussians().means is state.means


def test_far_rows_are_drawn_by_their_squared_distance_to_the_nearest_living_component() -> None:
    """The distances to the nearest are 1, 0 and 3: by how often each row is drawn."""
    counts = np.zeros(3)
    for seed in range(400):
        state = revived(made(3, False), [1], [[1.0, 7.0, 2.0], [4.0, 9.0, 0.0], [3.0, 0.0, 5.0]], seed)
        counts += (state.means[1] == ROWS[:3]).all(axis=1)
    assert counts.sum() == 400
    assert counts[1] == 0
    assert abs(counts[0] - 100) < 35


def test_rows_are_drawn_where_the_sum_of_their_distances_is_beyond_all_numbers() -> None:
    state = revived(made(2, True), [0], [[0.0, 1.7e308], [0.0, 0.0], [0.0, 1.7e308]])
    assert state.means[0].tolist() in (ROWS[0].tolist(), ROWS[2].tolist())


@pytest.mark.parametrize(("dead", "distances"), [
    ([0, 1], [[1.0, 2.0], [3.0, 4.0]]), ([0], [[5.0, 0.0], [7.0, 0.0]]), ([0], [[5.0, 1.0], [7.0, np.nan]]),
], ids=["none lives", "all rows are means", "a distance is not a number"])  # fmt: skip
def test_nothing_is_placed_where_no_row_is_far(dead: list[int], distances: Any) -> None:
    before, state = made(2, True), revived(made(2, True), dead, distances)
    assert state.means.tolist() == before.means.tolist()
    assert state.weights.tolist() == before.weights.tolist()


ACTS: dict[str, Callable[[Components], object]] = {
    "see": lambda state: state.see(ROWS),
    "step": lambda state: state.step(ROWS, 0.4),
    "revive": lambda state: revived(state, [0], [[1.0, 1.0, 2.0], [3.0, 1.0, 5.0]]),
    "grow": lambda state: state.grow(5),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_arrays_are_replaced_and_never_changed(act: Callable[[Components], object]) -> None:
    """So a copy shares the arrays of the original."""
    state = made(3, True)
    copied = state.copy()
    assert copied.means is state.means
    before = [array.copy() for array in (copied.weights, copied.means, copied.spreads, copied.mean, copied.squares)]
    act(state)
    after = (copied.weights, copied.means, copied.spreads, copied.mean, copied.squares)
    assert [array.tolist() for array in after] == [array.tolist() for array in before]


@pytest.mark.parametrize("name", ["means", "spreads", "squares"])
def test_every_number_must_be_finite(name: str) -> None:
    state = made(2, True)
    assert state.is_finite()
    getattr(state, name)[..., 0] = np.inf
    assert not state.is_finite()


@shapes
def test_rows_are_drawn_from_components_by_their_weights(full: bool) -> None:
    state = made(2, full)
    state.weights, state.means = np.array([0.25, 0.75]), np.array([[-50.0] * 3, [50.0] * 3])
    state.spreads = 1e-6 * state.spreads
    state.effective = 1e9
    drawn = state.draw(2000, np.random.default_rng(0))
    assert drawn.shape == (2000, 3)
    assert abs((drawn[:, 0] < 0.0).mean() - 0.25) < 0.04
    np.testing.assert_allclose(np.abs(drawn), 50.0, atol=0.1)
