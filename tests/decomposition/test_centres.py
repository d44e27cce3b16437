"""Centres of clusters: seeds drawn by k-means++, distances, steps, and iterations on the first rows."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from noregret.decomposition import centres
from noregret.decomposition.centres import Centres, squares_to
from tests.naive.kmeans import NaiveKMeans

Floats = NDArray[np.float64]
ROWS = np.random.default_rng(5).normal(size=(20, 3))


class Drawn:
    """A source of random numbers that a test has chosen."""

    def __init__(self, first: int, *parts: list[float]) -> None:
        self.first, self.parts = first, list(parts)
        self.asked: list[Any] = []

    def integers(self, below: int, size: int) -> NDArray[np.int64]:
        self.asked.append((below, size))
        return np.array([self.first])

    def random(self, size: int) -> Floats:
        self.asked.append(size)
        return np.array(self.parts.pop(0))


def seeds(rows: Any, k: int, random: Any, state: Centres | None = None) -> list[float]:
    """Seeds of rows with one feature."""
    found = Centres.start(1) if state is None else state
    found.seed(np.array(rows, float)[:, None], k, random)
    return [float(one) for one in found.centres[:, 0]]


def test_the_first_seed_is_any_row() -> None:
    random = Drawn(2)
    assert seeds([5.0, 6.0, 9.0, 7.0], 1, random) == [9.0]
    assert random.asked == [(4, 1)]


@pytest.mark.parametrize(("part", "seed"), [(0.0, 0.0), (0.09, 0.0), (0.11, 2.0), (0.49, 2.0), (0.51, 4.0), (1.0, 4.0)])
def test_a_row_is_drawn_by_its_squared_distance_to_the_nearest_seed(part: float, seed: float) -> None:
    """The first seed is 1; the others are at squared distances 1, 0, 4, 5 shares of 10 from it."""
    rows = [0.0, 1.0, 3.0, 1.0 + np.sqrt(5.0), 1.0]
    found = seeds(rows, 2, Drawn(1, [part, part]))
    assert found == [1.0, rows[{0.0: 0, 2.0: 2, 4.0: 3}[seed]]]


def test_of_several_rows_drawn_the_one_is_taken_that_leaves_the_smallest_sum() -> None:
    """Squared distances to 0 are 0, 100, 121, 400 (sum 621); 10 leaves 101, 11 leaves 82, 20 leaves 181."""
    rows = [0.0, 10.0, 11.0, 20.0]
    ten, eleven, twenty = 50 / 621, 150 / 621, 500 / 621
    assert seeds(rows, 2, Drawn(0, [ten, eleven])) == [0.0, 11.0]
    assert seeds(rows, 2, Drawn(0, [eleven, twenty])) == [0.0, 11.0]
    assert seeds(rows, 2, Drawn(0, [twenty, ten])) == [0.0, 10.0]


@pytest.mark.parametrize(("k", "draws"), [(2, 2), (3, 3), (8, 4), (21, 5)])
def test_more_rows_are_drawn_where_there_are_more_centres(k: int, draws: int) -> None:
    random = Drawn(0, *[[0.5] * draws] * (k - 1))
    assert len(seeds(np.arange(40.0) ** 2, k, random)) == k
    assert random.asked == [(40, 1), *[draws] * (k - 1)]


def test_seeds_are_added_to_the_centres_so_far() -> None:
    """By their distances to these; the counts of old centres stay."""
    state = Centres(np.array([[0.0], [10.0]]), np.array([4, 5]))
    assert seeds([0.0, 10.0, 3.0, 9.0], 3, Drawn(0, [0.85, 0.85, 0.85]), state) == [0.0, 10.0, 3.0]
    assert state.counts.tolist() == [4, 5, 0]
    assert seeds([0.0, 10.0, 3.0], 5, Drawn(0), state) == [0.0, 10.0, 3.0]  # every row is one of them
    assert seeds([7.0], 3, Drawn(0), state) == [0.0, 10.0, 3.0]  # there are k
    assert state.counts.dtype == np.int64


def test_there_are_as_many_seeds_as_different_rows_at_most() -> None:
    assert sorted(seeds([1.0, 1.0, 4.0, 1.0], 4, np.random.default_rng(0))) == [1.0, 4.0]
    assert seeds([], 4, np.random.default_rng(0)) == []
    state = Centres.start(3)
    state.seed(np.zeros((0, 3)), 2, np.random.default_rng(0))
    assert state.centres.shape == (0, 3)


def made() -> Centres:
    return Centres(ROWS[:4].copy(), np.array([3, 1, 0, 2]), 7)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_distances_are_squared_and_never_negative(shift: float) -> None:
    state = Centres(ROWS[:4] + shift, np.zeros(4, np.int64))
    found = state.distances(ROWS + shift)
    np.testing.assert_allclose(found, ((ROWS[:, None] - ROWS[:4]) ** 2).sum(axis=2), rtol=1e-7, atol=1e-9)
    assert (found >= 0.0).all()
    assert state.assign(ROWS + shift).tolist() == found.argmin(axis=1).tolist()
    assert Centres.start(3).distances(ROWS).shape == (20, 0)


def test_distances_of_rows_that_are_almost_centres_are_never_negative() -> None:
    rows = np.random.default_rng(1).normal(size=(200, 3))
    state = Centres(rows, np.zeros(200, np.int64))
    for almost in (rows, rows * (1.0 + 1e-12), rows + 1e-9):
        assert (state.distances(almost) >= 0.0).all()
    assert state.assign(rows).tolist() == list(range(200))


@pytest.mark.parametrize("far", [1e6, 1e9, 1e12])
def test_distances_have_digits_where_a_centre_is_far_from_all_others(far: float) -> None:
    """As one that has learned an outlier; the mean of all centres is then far from every row."""
    near = ROWS[:4].round(3)
    rows = np.concatenate((ROWS[4:].round(3), near))
    state = Centres(np.concatenate((near, [[far, 0.0, 0.0]])), np.zeros(5, np.int64))
    expected = ((rows[:, None] - near) ** 2).sum(axis=2)
    np.testing.assert_allclose(state.distances(rows)[:, :4], expected, rtol=1e-7)
    assert state.assign(rows).tolist() == expected.argmin(axis=1).tolist()
    assert [state.distances(row[None])[0].tolist() for row in rows] == state.distances(rows).tolist()


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_only_distances_that_lost_their_digits_are_computed_again(unit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those below 1e-8 of the squares of the row and of the centre together; here 2e-8."""
    again: list[float] = []
    exact, distances = centres.squares_to, Centres.distances

    def exact_again(X: Any, point: Any) -> Any:
        again.extend(X[:, 1])
        return exact(X, point)

    def distances_again(self: Centres, X: Any) -> Any:
        again.extend(X[:, 1])
        return distances(self, X)

    rows = unit * np.array([[1.0, 1.3e-4], [1.0, 1.5e-4], [-1.0, 1.5e-4], [0.5, 0.2]])
    two = Centres(unit * np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2, np.int64))
    one = Centres(rows[:1].copy(), np.zeros(1, np.int64))
    with monkeypatch.context() as patch:
        patch.setattr(centres, "squares_to", exact_again)
        np.testing.assert_allclose(two.distances(rows)[:3].min(axis=1), rows[:3, 1] ** 2, rtol=1e-7)
        assert one.distances(rows[:1]).tolist() == [[0.0]]
    assert again == [rows[0, 1]]
    again.clear()
    monkeypatch.setattr(Centres, "distances", distances_again)
    assert two.assign(rows).tolist() == [0, 0, 1, 0]
    assert one.assign(rows[:1]).tolist() == [0]
    assert again == [rows[0, 1]]


def test_the_squared_distance_of_equal_rows_is_0() -> None:
    np.testing.assert_allclose(squares_to(ROWS, ROWS[3]), ((ROWS - ROWS[3]) ** 2).sum(axis=1), rtol=1e-14)
    assert squares_to(ROWS, ROWS[3])[3] == 0.0


def test_a_step_moves_each_centre_to_the_mean_of_all_rows_it_has_learned() -> None:
    state, twin = made(), NaiveKMeans(ROWS[:4].tolist(), [3, 1, 0, 2])
    for rows in (ROWS[4:11], ROWS[11:12], ROWS[12:]):
        state.step(rows)
        twin.learn(rows.tolist())
        np.testing.assert_allclose(state.centres, twin.centres, rtol=1e-11)
        assert state.counts.tolist() == twin.counts
    assert state.steps == 10


@pytest.mark.parametrize("iterations", [1, 2, 3, 30])
def test_iterations_are_those_of_lloyd(iterations: int) -> None:
    state, twin = made(), NaiveKMeans(ROWS[:4].tolist(), [0] * 4)
    before = state.centres.copy()
    first = state.centres
    state.refine(ROWS, iterations)
    for _ in range(iterations):
        twin.iterate(ROWS.tolist())
    np.testing.assert_allclose(state.centres, twin.centres, rtol=1e-11)
    assert state.counts.tolist() == twin.counts
    assert state.steps == 1
    assert first.tolist() == before.tolist()


@pytest.mark.parametrize(("k", "starts"), [(1, 5), (4, 5), (80, 5), (81, 4), (199, 2), (201, 1), (2000, 1)])
def test_the_closest_clusters_of_several_starts_are_taken(k: int, starts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The n-th start has its seed at n - 2, so that the third is closest to rows around 0."""
    made: list[Centres] = []

    def seed(self: Centres, rows: Floats, k: int, random: Any) -> None:
        made.append(self)
        self.centres, self.counts = np.array([[len(made) - 3.0]]), np.zeros(1, np.int64)

    monkeypatch.setattr(Centres, "seed", seed)
    monkeypatch.setattr(Centres, "step", lambda self, rows: None)
    monkeypatch.setattr(Centres, "refine", lambda self, rows, iterations: None)
    found = Centres.find(np.array([[-0.1], [0.1]]), k, np.random.default_rng(0), 7)
    assert len(made) == starts
    assert found is made[min(starts, 3) - 1]


def test_found_clusters_are_iterated_from_their_seeds() -> None:
    found = Centres.find(ROWS[:4], 4, np.random.default_rng(0), 3)  # as many as there are rows
    assert sorted(found.centres.tolist()) == sorted(ROWS[:4].tolist())
    assert (found.counts.tolist(), found.steps) == ([1, 1, 1, 1], 1)


@pytest.mark.parametrize("iterations", [0, 1, 2])
def test_clusters_are_found_by_a_step_and_iterations_after_it(iterations: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def seed(self: Centres, rows: Floats, k: int, random: Any) -> None:
        self.centres, self.counts = rows[:4].copy(), np.zeros(4, np.int64)

    monkeypatch.setattr(Centres, "seed", seed)
    found = Centres.find(ROWS, 4, np.random.default_rng(0), iterations)
    twin = NaiveKMeans(ROWS[:4].tolist(), [0] * 4)
    for _ in range(1 + iterations):
        twin.iterate(ROWS.tolist())
    np.testing.assert_allclose(found.centres, twin.centres, rtol=1e-11)
    assert found.counts.tolist() == twin.counts


def test_features_that_come_are_0_in_all_centres_so_far() -> None:
    state = made()
    state.grow(5)
    assert state.features == 5
    assert state.centres.tolist() == [[*row, 0.0, 0.0] for row in ROWS[:4].tolist()]


def test_a_copy_learns_alone() -> None:
    state = made()
    other = state.copy()
    other.step(ROWS)
    other.counts[0] = -5
    assert (state.centres.tolist(), state.counts.tolist(), state.steps) == (ROWS[:4].tolist(), [3, 1, 0, 2], 7)


def test_centres_must_be_finite() -> None:
    state = made()
    assert state.is_finite()
    state.centres[2, 1] = np.inf
    assert not state.is_finite()
