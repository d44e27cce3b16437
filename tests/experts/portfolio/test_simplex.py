"""Problems on the simplex, one step at a time: the nearest point, and the steps of the active-set method."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from noregret.experts.portfolio import simplex
from noregret.experts.portfolio.simplex import find_joining, minimise, normalise, project, solve_face

Floats = NDArray[np.float64]


@pytest.mark.parametrize("far", [1.0, 1e8, -1e8])
def test_the_nearest_point_sums_to_1_however_far_away_it_is_looked_for(far: float) -> None:
    for seed in range(5):
        v = far + np.random.default_rng(seed).normal(scale=0.2, size=7)
        project(v)
        assert v.sum() == pytest.approx(1.0, abs=4e-16)
        assert v.min() >= 0.0


def test_fractions_are_scaled_to_sum_to_1() -> None:
    q = np.array([1.0, 0.0, 3.0])
    normalise(q)
    assert q.tolist() == [0.25, 0.0, 0.75]


def problem(seed: int, m: int) -> tuple[Floats, Floats, Floats]:
    """A positive definite matrix, a vector, and a point of the simplex, some of whose coordinates may be 0."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, m))
    q = rng.dirichlet(np.ones(m)) * (rng.random(m) < 0.6)
    q = q / q.sum() if q.any() else np.eye(m)[seed % m]
    return root @ root.T + 0.1 * np.eye(m), rng.normal(scale=2.0, size=m), q


def minimum(A: Floats, c: Floats, inside: NDArray[np.bool_]) -> tuple[Floats, float]:
    """The minimum over some coordinates that sum to 1, and the price of the sum."""
    size = int(inside.sum())
    equations = np.ones((size + 1, size + 1))
    equations[:size, :size], equations[size, size] = A[np.ix_(inside, inside)], 0.0
    found, y = np.linalg.solve(equations, np.append(c[inside], 1.0)), np.zeros(len(c))
    y[inside] = found[:size]
    return y, float(found[size])


def test_the_minimum_over_a_face_is_0_beside_it() -> None:
    A, c, _ = problem(3, 5)
    inside, work = np.array([0.0, 1.0, 0.0, 1.0, 1.0]), np.full((4, 5), 7.0)
    price = solve_face(A, c, inside, np.zeros((5, 5)), work)
    y, expected = minimum(A, c, inside > 0.0)
    np.testing.assert_allclose(work[1], y, atol=1e-12)
    assert work[1, [0, 2]].tolist() == [0.0, 0.0]
    assert price == pytest.approx(expected, rel=1e-12)


def test_steps_go_to_the_minimum_of_a_face_or_as_far_as_the_simplex(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first coordinate that becomes 0 leaves the face; one along which the objective falls joins it."""
    kinds, scaled = set(), list[int]()

    def scale(q: Any) -> None:
        scaled.append(len(q))
        normalise(q)

    monkeypatch.setattr(simplex, "normalise", scale)
    for seed in range(40):
        A, c, q = problem(seed, 2 + seed % 5)
        seen: list[tuple[Floats, NDArray[np.bool_]]] = []

        def watched(A: Any, c: Any, inside: Any, *rest: Any, q: Any = q, seen: Any = seen) -> float:
            seen.append((q.copy(), inside > 0.0))
            return solve_face(A, c, inside, *rest)

        monkeypatch.setattr(simplex, "solve_face", watched)
        minimise(A, c, q, np.zeros_like(A), np.full((4, len(c)), np.nan))
        assert (seen[0][1] == (seen[0][0] > 0.0)).all()
        for (before, inside), (after, then) in zip(seen, [*seen[1:], (q, q > 0.0)], strict=True):
            y, price = minimum(A, c, inside)
            shares = np.divide(before, before - y, out=np.ones_like(y), where=inside & (y < 0.0))
            np.testing.assert_allclose(after, before + shares.min() * (y - before), atol=1e-12)
            slopes = np.where(inside, 0.0, A @ after + price - c)
            changes = np.flatnonzero(inside != then).tolist()
            if (y < 0.0).any():
                assert changes == [int(shares.argmin())]
                assert after[changes[0]] == 0.0
            elif after is not q:
                assert changes == [int(slopes.argmin())]
            else:
                assert slopes.min() > -1e-12
            kinds.add((bool((y < 0.0).any()), after is not q))
        assert q.min() >= 0.0
    assert kinds == {(True, True), (False, True), (False, False)}
    assert len(scaled) == 40


@pytest.mark.parametrize("m", [1, 3])
def test_where_no_minimum_is_found_the_fractions_are_not_numbers(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After 20 steps for each coordinate, and 20 more."""
    faces: list[int] = []

    def counted(*problem: Any) -> float:
        faces.append(m)
        return solve_face(*problem)

    monkeypatch.setattr(simplex, "solve_face", counted)
    monkeypatch.setattr(simplex, "find_joining", lambda *_: 0)
    q = np.full(m, 1.0 / m)
    minimise(np.eye(m), np.zeros(m), q, np.zeros((m, m)), np.zeros((4, m)))
    assert np.isnan(q).all()
    assert len(faces) == 20 * m + 20


@pytest.mark.parametrize(("price", "slope", "joins"), [
    (1.0, -1.5e-13, False), (1.0, -3e-13, True), (-1.0, -1.5e-13, False), (-1.0, -3e-13, True),
    (1e-3, -1.5e-16, False), (1e-3, -3e-16, True), (1e3, -1.5e-10, False), (1e3, -3e-10, True),
    (1.0, -(1e-13 * 2.0), False), (1.0, 0.0, False), (0.0, -1e-300, True),
])  # fmt: skip
def test_a_coordinate_joins_where_the_objective_falls_by_more_than_rounding(
    price: float, slope: float, joins: bool
) -> None:
    """By 1e-13 of the price and of what the coordinate earns, here the same; its slope is that of the others."""
    A, c = np.array([[1.0, 0.0], [slope, 0.0]]), np.array([0.0, price])
    found = find_joining(A, c, np.array([1.0, 0.0]), np.array([1.0, 0.0]), price)
    assert found == (1 if joins else -1)


def test_the_coordinate_joins_along_which_the_objective_falls_fastest() -> None:
    """The first of equal ones; what is inside does not join."""
    A, q = np.zeros((5, 5)), np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    assert find_joining(A, np.array([9.0, 1.0, 3.0, 3.0, 2.0]), q, q, 0.0) == 2
    assert find_joining(A, np.array([9.0, 1.0, 0.0, 0.0, 0.5]), q, q, 0.0) == 1
    assert find_joining(A, np.array([9.0, 0.0, 0.0, 0.0, -1.0]), q, q, 0.0) == -1
