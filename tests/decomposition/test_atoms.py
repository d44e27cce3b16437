"""Atoms of a dictionary: which of them are used, rows in place of the others, and the step of block coordinates."""

import numpy as np
import pytest
from numpy.typing import NDArray

from noregret.decomposition import atoms
from noregret.decomposition.atoms import Atoms

Floats = NDArray[np.float64]


def made(squares: list[float], features: int = 2) -> Atoms:
    """Atoms whose codes have these sums of squares."""
    state = Atoms.start(len(squares), features)
    state.among_codes = np.diag(squares)
    return state


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_an_atom_is_used_by_its_share_of_the_largest_sum(scale: float) -> None:
    """The share is 1e-10; how large all sums are makes no difference."""
    squares = [scale * share for share in (0.0, 1.0, 0.9e-10, 1.1e-10, 1e-3)]
    assert made(squares).unused().tolist() == [True, False, True, False, False]


def test_an_atom_is_not_used_before_any_code() -> None:
    assert made([0.0, 0.0]).unused().all()
    assert made([]).unused().tolist() == []


def test_features_that_come_are_0_in_all_atoms_so_far() -> None:
    state = Atoms(np.eye(2), np.eye(2), np.full((2, 2), 3.0))
    state.grow(4)
    assert state.features == 4
    assert state.atoms.tolist() == [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    assert state.with_rows.tolist() == [[3.0, 3.0, 0.0, 0.0]] * 2
    assert state.among_codes.tolist() == np.eye(2).tolist()


def test_rows_become_atoms_of_length_1_in_their_direction() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -0.25]])
    state = Atoms.start(3, 2)
    state.fill(rows, np.random.default_rng(0), np.array([True, False, True]))
    assert sorted(state.atoms.tolist()) == [[0.0, -1.0], [0.0, 0.0], [0.6, 0.8]]
    assert not state.atoms[1].any()


def test_a_row_whose_square_may_have_lost_digits_makes_no_atom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the limit, here moved to where squares are exact."""
    monkeypatch.setattr(atoms, "SMALLEST_SQUARE", 9.0)
    rows, state = np.array([[0.0, 3.0], [3.5, 0.0]]), Atoms.start(2, 2)
    state.fill(rows, np.random.default_rng(0), np.ones(2, bool))
    assert state.atoms.tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_atoms_are_filled_from_different_rows_until_there_are_no_more() -> None:
    """Rows in the same direction make one atom; the rest of the atoms wait."""
    rows = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [4.0, 0.0]])
    for seed in range(5):
        state = Atoms.start(4, 2)
        state.fill(rows, np.random.default_rng(seed), np.ones(4, bool))
        assert sorted(state.atoms[:2].tolist()) == [[0.0, 1.0], [1.0, 0.0]]
        assert not state.atoms[2:].any()
        one = Atoms.start(1, 2)
        one.fill(rows, np.random.default_rng(seed), np.ones(1, bool))
        assert one.atoms.tolist() == state.atoms[:1].tolist()


def test_which_row_becomes_an_atom_is_drawn_at_random() -> None:
    found = set()
    for seed in range(20):
        state = Atoms.start(1, 3)
        state.fill(np.eye(3), np.random.default_rng(seed), np.ones(1, bool))
        found.add(int(state.atoms[0].argmax()))
    assert found == {0, 1, 2}


def test_a_new_atom_starts_without_the_sums_of_the_old_one() -> None:
    random = np.random.default_rng(6)
    state = Atoms(np.eye(3), random.uniform(1.0, 2.0, (3, 3)), random.uniform(1.0, 2.0, (3, 3)))
    before = state.copy()
    state.fill(np.array([[0.0, 0.0, 5.0]]), np.random.default_rng(0), np.array([False, True, False]))
    assert state.atoms.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    others = np.array([0, 2])
    assert not state.among_codes[1].any()
    assert not state.among_codes[:, 1].any()
    assert not state.with_rows[1].any()
    assert state.among_codes[np.ix_(others, others)].tolist() == before.among_codes[np.ix_(others, others)].tolist()
    assert state.with_rows[others].tolist() == before.with_rows[others].tolist()


def surrogate(atoms: Floats, codes: Floats, rows: Floats) -> float:
    """Half of the squared errors of rows as sums of atoms, without the squares of the rows themselves."""
    return float(0.5 * ((rows - codes @ atoms) ** 2).sum() - 0.5 * (rows**2).sum())


def test_the_surrogate_is_half_of_the_squared_errors() -> None:
    random, state = np.random.default_rng(6), Atoms.start(3, 4)
    codes, rows, state.atoms = random.normal(size=(7, 3)), random.normal(size=(7, 4)), random.normal(size=(3, 4))
    state.add(codes, rows, 1.0)
    assert state.surrogate() == pytest.approx(surrogate(state.atoms, codes, rows))
    state.add(codes, rows, 0.5)
    assert state.surrogate() == pytest.approx(1.5 * surrogate(state.atoms, codes, rows))


@pytest.mark.parametrize("size", [0.1, 10.0])
def test_an_atom_of_its_own_is_the_mean_direction_cut_at_length_1(size: float) -> None:
    """With one atom the best one is B / A; it is as short as that, or cut to length 1."""
    rows, state = size * np.array([[0.6, 0.8]] * 4), Atoms.start(1, 2)
    state.add(np.ones((4, 1)), rows, 1.0)
    state.step()
    np.testing.assert_allclose(state.atoms, [np.array([0.6, 0.8]) * min(size, 1.0)], rtol=1e-14)


def test_an_atom_that_is_not_used_is_not_moved() -> None:
    state = made([1.0, 1e-11])
    state.atoms, state.with_rows = np.eye(2), np.array([[0.0, 0.5], [0.7, 0.0]])
    state.step()
    assert state.atoms.tolist() == [[0.0, 0.5], [0.0, 1.0]]


def test_every_number_must_be_finite() -> None:
    for name in ("atoms", "among_codes", "with_rows"):
        state = made([1.0, 2.0])
        assert state.is_finite()
        getattr(state, name)[0, 1] = np.nan
        assert not state.is_finite()
