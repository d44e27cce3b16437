"""Supports of a kernel density estimate: mergers, samples of rows, moments, and scores in slices."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import noregret as nr
from noregret.decomposition import kernel_supports
from noregret.decomposition.gaussian_scores import Gaussians
from noregret.decomposition.kernel_supports import Kernel, Limits, Supports, find_costs, find_costs_of
from tests.naive.kernel_density import NaiveKernelDensity, Support

Floats = NDArray[np.float64]
RNG = np.random.default_rng(5)
ROWS = RNG.normal(size=(40, 3)) @ RNG.normal(size=(3, 3))
shapes = pytest.mark.parametrize("full", [True, False], ids=["full", "diagonal"])


def kept(rows: Floats, budget: int = 8, merges: bool = True, full: bool = True) -> Supports:
    state = Supports.start(rows.shape[1], Limits(budget, merges, full))
    state.add(rows)
    return state


def merged(full: bool = True) -> tuple[Supports, list[Support]]:
    """Five supports of one, two, or three rows, and these rows."""
    groups = [Support(list(part)) for part in np.split(ROWS[:9], [1, 3, 6, 7])]
    state = kept(ROWS[:5], full=full)
    state.points = np.array([group.mean for group in groups])
    state.weights = np.array([float(len(group.rows)) for group in groups])
    state.spreads = np.array([group.covariance if full else np.diag(group.covariance) for group in groups])
    state.count = 9
    return state, groups


# ---- rows ------------------------------------------------------------------------------------------------------------


@shapes
@pytest.mark.parametrize("merges", [True, False])
def test_rows_that_are_added_are_supports_of_their_own(full: bool, merges: bool) -> None:
    state = kept(ROWS[:2], merges=merges, full=full)
    state.add(ROWS[2:5])
    assert state.points.tolist() == ROWS[:5].tolist()
    assert state.weights.tolist() == [1.0] * 5
    wide = 3 if merges else 0
    assert state.spreads.shape == ((5, wide, wide) if full else (5, wide))
    assert not state.spreads.any()
    assert (state.count, state.features) == (5, 3)


@shapes
@pytest.mark.parametrize("merges", [True, False])
def test_features_that_come_are_0_in_all_supports_so_far(full: bool, merges: bool) -> None:
    state, _ = merged(full)
    if not merges:
        state = kept(ROWS[:5], merges=False, full=full)
    before = state.copy()
    state.grow(5)
    assert state.features == 5
    np.testing.assert_array_equal(state.points, np.pad(before.points, ((0, 0), (0, 2))))
    more = ((0, 0), *((0, 2),) * (1 + full)) if merges else ((0, 0),) * (2 + full)
    np.testing.assert_array_equal(state.spreads, np.pad(before.spreads, more))


def test_covariances_of_all_supports_must_fit_in_memory() -> None:
    Supports.start(8192, Limits(2, False, True))
    for limits, words in ((Limits(2, True, True), "2 covariances"), (Limits(2, False, True), "1 covariances")):
        with pytest.raises(nr.BadValue, match=f"kernel_density: {words} of 12000 features"):
            Supports.start(12_000, limits)
    with pytest.raises(nr.BadValue, match="300 covariances of 1000 features"):
        Supports.start(1000, Limits(300, True, True))
    Supports.start(1000, Limits(300, False, True))
    Supports.start(1000, Limits(300, True, False))


def test_the_latest_rows_are_kept() -> None:
    state = kept(ROWS[:3], merges=False)
    for start, stop, first in ((3, 7, 0), (7, 8, 0), (8, 9, 1), (9, 30, 22)):
        state.keep_latest(ROWS[start:stop])
        assert state.points.tolist() == ROWS[first:stop].tolist()
        assert len(state.weights) == len(state.spreads) == stop - first
        assert state.count == stop


class Drawn:
    """Random whole numbers that a test has chosen."""

    def __init__(self, *places: int) -> None:
        self.places = places
        self.below: list[int] = []

    def integers(self, below: NDArray[np.int64]) -> NDArray[np.int64]:
        self.below += below.tolist()
        return np.array(self.places, np.int64)


def test_row_number_t_takes_a_place_that_is_drawn_below_t() -> None:
    """It is not kept where that place is not in the sample: after t rows each is kept with probability budget / t."""
    state, random = kept(ROWS[:0], budget=3, merges=False), Drawn(2, 3, 0)
    state.keep_sample(ROWS[:6], random)  # type: ignore[arg-type]
    assert random.below == [4, 5, 6]
    assert state.points.tolist() == ROWS[[5, 1, 3]].tolist()
    assert (state.count, state.weights.tolist()) == (6, [1.0] * 3)
    later = Drawn(1, 7)
    before = state.copy()
    state.keep_sample(ROWS[6:8], later)  # type: ignore[arg-type]
    assert later.below == [7, 8]
    assert state.points.tolist() == ROWS[[5, 6, 3]].tolist()
    assert before.points.tolist() == ROWS[[5, 1, 3]].tolist()
    assert state.count == 8


# ---- mergers ---------------------------------------------------------------------------------------------------------


@shapes
@pytest.mark.parametrize(("rows", "times"), [(2, 1), (12, 5), (40, 30), (40, 39)])
def test_the_nearest_pair_is_merged_again_and_again(full: bool, rows: int, times: int) -> None:
    """As the twin does, which tries all pairs each time."""
    state, twin = kept(ROWS[:rows], full=full), NaiveKernelDensity(8, "merge", full)
    twin.supports = [Support([row]) for row in ROWS[:rows]]
    covariance = twin.covariance()
    for _ in range(times):
        twin.merge(np.asarray(np.linalg.inv(covariance)))
    whiten = Gaussians.of(ROWS[:1], (covariance if full else np.diag(covariance))[None], "x").whiten[0]
    state.merge_nearest(times, whiten)
    order = np.lexsort(state.points.T[::-1])
    expected = sorted(twin.supports, key=lambda support: support.mean.tolist())
    assert len(state.points) == len(state.spreads) == rows - times
    np.testing.assert_allclose(state.points[order], [one.mean for one in expected], rtol=1e-10)
    assert state.weights[order].tolist() == [len(one.rows) for one in expected]
    own = [one.covariance if full else np.diag(one.covariance) for one in expected]
    np.testing.assert_allclose(state.spreads[order], own, rtol=1e-8, atol=1e-12)
    assert state.count == rows


def test_equal_rows_are_merged_first() -> None:
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [5.0, 5.0], [0.0, 0.0]])
    state = kept(rows)
    state.merge_nearest(2, np.eye(2))
    assert state.points[np.argsort(-state.weights)].tolist()[0] == [0.0, 0.0]
    assert sorted(state.weights.tolist()) == [1.0, 1.0, 3.0]
    assert not state.spreads.any()


@pytest.mark.parametrize(("budget", "left"), [(8, 8), (16, 15), (32, 30), (33, 31)])
def test_a_sixteenth_of_the_budget_is_free_after_mergers(budget: int, left: int) -> None:
    state = kept(ROWS[:budget], budget=budget)
    state.keep_merged(ROWS[:0], np.eye(3))
    assert len(state.points) == budget  # nothing is merged within the budget
    state.keep_merged(ROWS[-1:], np.eye(3))
    assert len(state.points) == left
    assert state.weights.sum() == state.count == budget + 1


@shapes
def test_mergers_change_no_array_in_place(full: bool) -> None:
    state, _ = merged(full)
    before, arrays = state.copy(), [state.points.copy(), state.weights.copy(), state.spreads.copy()]
    state.merge_nearest(2, np.eye(3) if full else np.ones(3))
    for one, other in zip((before.points, before.weights, before.spreads), arrays, strict=True):
        assert one.tolist() == other.tolist()


def test_costs_are_what_a_merger_adds_to_the_squares_within_supports() -> None:
    """Squares within two supports of n and m rows become n m / (n + m) |x - y|^2 more."""
    _, groups = merged()

    def within(rows: list[Floats]) -> float:
        return float(((np.array(rows) - np.mean(rows, axis=0)) ** 2).sum())

    places = np.array([group.mean for group in groups])
    weights = np.array([float(len(group.rows)) for group in groups])
    costs = find_costs(places, weights)
    for i, one in enumerate(groups):
        for j, other in enumerate(groups):
            if i == j:
                assert costs[i, j] == np.inf
            else:
                added = within(one.rows + other.rows) - within(one.rows) - within(other.rows)
                assert costs[i, j] == pytest.approx(added, rel=1e-9)
        own = find_costs_of(i, places, weights)
        np.testing.assert_allclose(own, costs[i], rtol=1e-9)
    weights[2] = 0.0
    assert np.flatnonzero(np.isinf(find_costs_of(1, places, weights))).tolist() == [1, 2]


def test_costs_are_never_negative() -> None:
    """Rows that come twice, far from 0: differences of their squares may be below 0 by rounding."""
    for seed in range(5):
        places = np.repeat(np.random.default_rng(seed).normal(size=(20, 3)) + 1e3, 2, axis=0)
        assert (find_costs(places, np.ones(40)) >= 0.0).all()


def test_a_merger_comes_nearer_to_no_other_support() -> None:
    """Ward's criterion is reducible, so only supports that lose their nearest one need another."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        places, weights = random.normal(size=(12, 2)), random.integers(1, 9, 12).astype(float)
        costs = find_costs(places, weights)
        one, other = (int(at) for at in np.unravel_index(np.argmin(costs), costs.shape))
        share = weights[other] / (weights[one] + weights[other])
        places[one] += share * (places[other] - places[one])
        weights[one] += weights[other]
        weights[other] = 0.0
        rest = weights > 0.0
        rest[one] = False
        before = np.minimum(costs[one], costs[other])
        assert (find_costs_of(one, places, weights)[rest] >= before[rest] * (1.0 - 1e-12)).all()


# ---- densities -------------------------------------------------------------------------------------------------------


@shapes
def test_moments_are_those_of_all_rows_in_the_supports(full: bool) -> None:
    state, groups = merged(full)
    total, mean, squares = state.moments()
    rows = np.array([row for group in groups for row in group.rows])
    around = rows - rows.mean(axis=0)
    assert total == 9.0
    np.testing.assert_allclose(mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(squares, around.T @ around if full else (around**2).sum(axis=0), rtol=1e-12)
    plain = kept(rows, merges=False, full=full).moments()
    np.testing.assert_allclose(plain[2], squares, rtol=1e-12)
    assert kept(rows[:1], full=full).moments()[1].tolist() == rows[0].tolist()
    assert kept(rows[:0], full=full).moments()[0] == 0.0
    assert not kept(rows[:0], full=full).moments()[1].any()


def kernel(full: bool) -> Kernel:
    variances = np.array([0.3, 0.5, 0.2])
    return Kernel(np.array([0.5, -1.0, 0.0]), np.diag(variances) + 0.05 if full else variances)


@shapes
@pytest.mark.parametrize("merges", [True, False])
def test_the_density_is_the_sum_of_the_kernels(full: bool, merges: bool) -> None:
    state, _ = merged(full)
    if not merges:
        state = kept(ROWS[:5], merges=False, full=full)
    logs, distances = state.score(ROWS, kernel(full))
    own = kernel(full).covariance + (state.spreads if merges else np.zeros((5, *(3,) * (1 + full))))
    own = own if full else np.array([np.diag(one) for one in own])
    each = np.transpose([multivariate_normal.logpdf(ROWS, *one) for one in zip(state.points, own, strict=True)])
    np.testing.assert_allclose(logs, logsumexp(each + np.log(state.weights / state.weights.sum()), axis=1), rtol=1e-10)
    away = ROWS[:, None] - state.points
    squares = np.einsum("nmi,mij,nmj->nm", away, np.linalg.inv(own), away)
    np.testing.assert_allclose(distances, squares.min(axis=1), rtol=1e-8, atol=1e-10)
    assert [len(one) for one in state.score(ROWS[:0], kernel(full))] == [0, 0]


@shapes
@pytest.mark.parametrize(("room", "most"), [(1 << 22, 40), (150, None), (1, 1)])
def test_rows_are_scored_in_slices_that_fit_in_memory(
    full: bool, room: int, most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row takes a number for each support, and one for each number of its spread."""
    state, _ = merged(full)
    whole, sizes, distances = state.score(ROWS, kernel(full)), list[int](), Gaussians.distances

    def watched(gaussians: Gaussians, rows: Floats, middle: Floats) -> Floats:
        sizes.append(len(rows))
        return distances(gaussians, rows, middle)

    monkeypatch.setattr(Gaussians, "distances", watched)
    monkeypatch.setattr(kernel_supports, "SLICE", room)
    parts = state.score(ROWS, kernel(full))
    assert sizes[0] == (room // (5 + 5 * 3 ** (1 + full)) if most is None else most)
    assert sum(sizes) == 40
    assert len(sizes) == -(-40 // sizes[0])
    for one, other in zip(whole, parts, strict=True):
        assert one.tolist() == other.tolist()


@shapes
def test_rows_are_drawn_from_supports_by_their_weights(full: bool) -> None:
    state = kept(np.array([[-50.0, 0.0, 0.0], [50.0, 0.0, 0.0]]), full=full)
    state.weights, state.count = np.array([1.0, 3.0]), 4
    drawn = state.draw(2000, kernel(full), np.random.default_rng(0))
    assert drawn.shape == (2000, 3)
    assert abs((drawn[:, 0] < 0.0).mean() - 0.25) < 0.04
    np.testing.assert_allclose(np.abs(drawn[:, 0]).mean(), 50.0, atol=0.1)
    np.testing.assert_allclose(drawn[:, 1:].var(axis=0), [0.55, 0.25] if full else [0.5, 0.2], rtol=0.15)


@pytest.mark.parametrize("name", ["points", "spreads"])
def test_every_number_must_be_finite(name: str) -> None:
    state, _ = merged()
    assert state.is_finite()
    getattr(state, name)[0, 0] = np.nan
    assert not state.is_finite()
