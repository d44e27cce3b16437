"""Orthogonal matching pursuit: equal to least squares on the atoms chosen, and steps shared where they help most."""

import numpy as np
import pytest

from noregret.decomposition.pursuit import approximate, pursue, share_steps
from tests.naive import pursuit as naive

RNG = np.random.default_rng(2)
ATOMS = RNG.normal(size=(9, 6))
ATOMS /= np.linalg.norm(ATOMS, axis=1, keepdims=True)
ROWS = RNG.normal(size=(300, 6))
ALL = np.ones(ROWS.shape, bool)


def test_errors_are_those_of_least_squares_on_the_atoms_chosen() -> None:
    found = pursue(ROWS, ATOMS, 4, ALL)
    rests = [naive.pursue(row, ATOMS, 4) for row in ROWS]
    np.testing.assert_allclose(found, [[rest @ rest for rest in own] for own in rests], rtol=1e-9)
    part = pursue(ROWS, ATOMS, 4, np.arange(6) < np.full((300, 1), 2))
    np.testing.assert_allclose(part, [[rest[:2] @ rest[:2] for rest in own] for own in rests], rtol=1e-9)
    counts = np.random.default_rng(6).integers(5, size=300)
    expected = [row - own[count] for row, own, count in zip(ROWS, rests, counts, strict=True)]
    np.testing.assert_allclose(approximate(ROWS, ATOMS, counts), expected, rtol=1e-7, atol=1e-12)


def test_steps_after_the_last_atom_change_nothing() -> None:
    few = ATOMS[:3]
    found = pursue(ROWS, few, 6, ALL)
    np.testing.assert_allclose(found[:, 3:], found[:, 3:4] + np.zeros((1, 4)), rtol=1e-9)
    exact = [np.linalg.lstsq(few.T, row, rcond=None)[1][0] for row in ROWS]
    np.testing.assert_allclose(found[:, 3], exact, rtol=1e-9)
    assert not np.isnan(pursue(np.zeros((3, 6)), ATOMS, 3, ALL[:3])).any()


def test_steps_go_where_they_lower_the_error_most() -> None:
    left = np.array([[10.0, 4.0, 3.5], [5.0, 3.0, 2.0], [1.0, 0.0, 0.0]])
    every = [np.array(counts) for counts in np.ndindex(3, 3, 3)]
    for most in range(6):
        counts = share_steps(left, most)
        best = min(left[np.arange(3), one].sum() for one in every if one.sum() <= most)
        assert counts.sum() <= most
        assert left[np.arange(3), counts].sum() == best
    assert share_steps(left, 100).tolist() == [2, 2, 1]
    assert share_steps(np.array([[10.0, 9.0, 8.5], [5.0, 1.0, 0.0]]), 1).tolist() == [0, 1]
    late = np.array([[10.0, 9.0, 2.0], [5.0, 3.0, 2.5]])  # a step that helps most may come after one that helps little
    assert share_steps(late, 1).tolist() == [0, 1]


def test_no_step_is_taken_of_an_empty_dictionary() -> None:
    assert pursue(ROWS, ATOMS, 0, ALL).shape == (300, 1)
    np.testing.assert_allclose(approximate(ROWS, ATOMS, np.zeros(300, np.int64)), 0.0)
    assert share_steps(pursue(ROWS, ATOMS, 0, ALL), 10).tolist() == [0] * 300


@pytest.mark.parametrize(("length", "left"), [(0.9e-7, 1.0), (1e-7, 1.0), (1.1e-7, 0.0)])
def test_an_atom_that_almost_depends_on_the_others_adds_nothing(length: float, left: float) -> None:
    """Outside of the first atom the second has this length."""
    atoms, row = np.array([[1.0, 0.0], [np.sqrt(1.0 - length**2), length]]), np.array([[1.0, -1.0]])
    found = pursue(row, atoms, 2, np.ones((1, 2), bool))
    np.testing.assert_allclose(found, [[2.0, 1.0, left]], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_steps_that_only_remove_rounding_errors_are_not_taken(scale: float) -> None:
    """A step must lower an error by more than 1e-20 of the largest error; how large errors are makes no difference."""
    left = scale * np.array([[1.0, 0.5], [2e-20, 0.0], [0.9e-20, 0.0], [1.0, 1.0]])
    assert share_steps(left, 4).tolist() == [1, 1, 0, 0]


def test_a_step_is_not_taken_for_exactly_the_share_of_rounding_errors() -> None:
    assert share_steps(np.array([[1.0, 0.5], [1e-20, 0.0]]), 2).tolist() == [1, 0]


def test_as_many_atoms_as_features_leave_nothing_however_alike_they_are() -> None:
    """Rounding errors of one projection alone would leave about 1e-6."""
    random = np.random.default_rng(1)
    atoms = 1.0 + 1e-6 * random.normal(size=(12, 12))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    found = pursue(random.normal(size=(5, 12)), atoms, 12, np.ones((5, 12), bool))
    assert (np.diff(found, axis=1) < 0.0).all()
    assert (found[:, -1] < 1e-20).all()
