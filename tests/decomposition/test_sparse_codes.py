"""Codes of a few atoms: least squares on the atoms that orthogonal matching pursuit chooses, and rows made of codes."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from numpy.typing import NDArray

import noregret as nr
from noregret.decomposition import pursuit
from noregret.decomposition.pursuit import Pursuit, find_sparse_codes
from noregret.learner.model_file import pack
from tests.naive import pursuit as naive
from tests.support import by_name

Floats = NDArray[np.float64]
RNG = np.random.default_rng(2)
ATOMS = RNG.normal(size=(9, 6))
ATOMS *= RNG.uniform(0.2, 1.0, (9, 1)) / np.linalg.norm(ATOMS, axis=1, keepdims=True)  # of different lengths
ROWS = RNG.normal(size=(300, 6))


def make(atoms: Floats = ATOMS, **options: Any) -> Any:
    """A learner that has these atoms."""
    learner: Any = nr.make("dictionary", k=len(atoms), penalty=0.1, native=False, **options)
    learner.learn(np.eye(6)).flush()
    learner.state.atoms = atoms.copy()
    return learner


@pytest.mark.parametrize("most", [1, 2, 4])
def test_codes_are_those_of_least_squares_on_the_atoms_chosen(most: int) -> None:
    found = make().sparse_codes(ROWS, most)
    np.testing.assert_allclose(found, [naive.find_code(x, ATOMS, most) for x in ROWS], rtol=1e-8, atol=1e-12)
    assert (np.count_nonzero(found, axis=1) == most).all()


def test_what_is_left_is_orthogonal_to_the_atoms_chosen_and_becomes_less_with_each() -> None:
    left = np.inf * np.ones(len(ROWS))
    for most in range(1, 6):
        codes = find_sparse_codes(ROWS, ATOMS, most)
        rest = ROWS - codes @ ATOMS
        assert np.abs((rest @ ATOMS.T)[codes != 0.0]).max() < 1e-12
        now = (rest**2).sum(axis=1)
        assert (now < left).all()
        left = now


def test_as_many_atoms_as_features_leave_nothing() -> None:
    learner = make()
    for most in (6, 7, 10**9):
        codes = learner.sparse_codes(ROWS, most)
        np.testing.assert_allclose(learner.inverse_transform(codes), ROWS, atol=1e-10)
        assert (np.count_nonzero(codes, axis=1) <= 6).all()


def test_a_sum_of_few_atoms_has_no_other_atoms() -> None:
    """Once only rounding errors are left no atom is taken, however many are allowed."""
    atoms, random = np.linalg.qr(np.random.default_rng(3).normal(size=(6, 6)))[0], np.random.default_rng(4)
    weights = random.uniform(0.3, 1.0, (50, 6)) * (random.random((50, 6)) < 0.4)
    found = find_sparse_codes(weights @ atoms, atoms, 6)
    np.testing.assert_allclose(found, weights, atol=1e-14)
    assert np.array_equal(found != 0.0, weights != 0.0)


def test_a_row_of_zeros_and_atoms_that_are_zero_have_no_weights() -> None:
    assert not find_sparse_codes(np.zeros((2, 6)), ATOMS, 3).any()
    some = ATOMS.copy()
    some[[0, 4]], some[5] = 0.0, 1e-160 * ATOMS[5]  # the square of its length has too few digits
    used = np.array([1, 2, 3, 6, 7, 8])
    found = find_sparse_codes(ROWS, some, 3)
    assert found[:, used].tolist() == find_sparse_codes(ROWS, ATOMS[used], 3).tolist()
    assert not found[:, [0, 4, 5]].any()
    assert not find_sparse_codes(ROWS, np.zeros((3, 6)), 2).any()


def test_an_atom_is_taken_once_where_another_is_equal() -> None:
    twice = np.concatenate((ATOMS, ATOMS))
    found = find_sparse_codes(ROWS, twice, 3)
    assert not ((found[:, :9] != 0.0) & (found[:, 9:] != 0.0)).any()
    np.testing.assert_allclose(found[:, :9] + found[:, 9:], find_sparse_codes(ROWS, ATOMS, 3), atol=1e-12)


@pytest.mark.parametrize("exponent", [-900, -300, 1, 450])
def test_rows_of_any_size_have_codes_of_that_size(exponent: int) -> None:
    rows = np.concatenate((ROWS, -np.eye(6)))  # the last ones have no positive value
    codes = find_sparse_codes(rows, ATOMS, 3)
    assert find_sparse_codes(np.ldexp(rows, exponent), ATOMS, 3).tolist() == np.ldexp(codes, exponent).tolist()


def test_rows_without_features_have_no_weights() -> None:
    assert find_sparse_codes(np.zeros((2, 0)), np.zeros((3, 0)), 4).tolist() == [[0.0] * 3] * 2


def test_an_atom_stays_where_no_other_is_left_that_says_more() -> None:
    """A step without a use may choose it again, as the first of atoms that are all orthogonal to what is left."""
    assert find_sparse_codes(np.array([[2.0, 0.0, 5.0]]), np.eye(3)[:2], 2).tolist() == [[2.0, 0.0]]


def test_a_row_may_have_the_length_1_along_an_atom() -> None:
    assert find_sparse_codes(np.full((1, 4), 0.5), np.full((1, 4), 0.5), 1).tolist() == [[1.0]]


@pytest.mark.parametrize(("left", "taken"), [((1.0, 1e-20), 0.0), ((4.0, 3e-20), 0.0), ((0.25, 5e-21), 1.0)])
def test_a_step_must_find_more_than_rounding_errors_of_its_row(left: tuple[float, float], taken: float) -> None:
    steps = np.array([[0, 1]], np.intp)
    found = Pursuit(np.zeros((1, 2)), np.zeros((1, 2, 2)), steps, np.eye(2)[None], np.ones((1, 2)), np.array([left]))
    assert found.codes(2).tolist() == [[1.0, taken]]


def test_an_atom_is_used_that_is_longer_than_the_shortest_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pursuit, "SMALLEST_SQUARE", 1.0)
    assert find_sparse_codes(np.ones((1, 2)), np.diag([1.0, 2.0]), 2).tolist() == [[0.0, 0.5]]


def test_no_row_depends_on_those_beside_it() -> None:
    learner = make()
    whole = learner.sparse_codes(ROWS, 4)
    assert [learner.sparse_codes([x], 4)[0].tolist() for x in ROWS] == whole.tolist()
    assert learner.sparse_codes(ROWS[:0], 4).shape == (0, 9)
    sums = learner.inverse_transform(whole)
    assert [learner.inverse_transform([code])[0].tolist() for code in whole] == sums.tolist()


def test_rows_may_have_any_form() -> None:
    learner, codes = make(), find_sparse_codes(ROWS[:9], ATOMS, 2).tolist()
    for rows in (ROWS[:9].tolist(), np.asfortranarray(ROWS[:9]), sparse.csr_matrix(ROWS[:9])):
        assert learner.sparse_codes(rows, 2).tolist() == codes
    named: Any = nr.make("dictionary", k=9, native=False).learn([by_name(one) for one in np.eye(6)])
    named.flush().state.atoms = ATOMS.copy()
    before = pack(named)
    assert named.sparse_codes([{**by_name(x), "new": 5.0} for x in ROWS[:9]], 2).tolist() == codes
    assert named.sparse_codes([dict(reversed(by_name(x).items())) for x in ROWS[:9]], 2).tolist() == codes
    assert pack(named) == before


def test_codes_count_rows_that_wait() -> None:
    waiting: Any = nr.make("dictionary", k=3, batch=7, penalty=0.1, native=False).learn(ROWS[:12])
    flushed = waiting.copy()
    assert waiting.sparse_codes(ROWS[:3], 2).tolist() == flushed.flush().sparse_codes(ROWS[:3], 2).tolist()


@pytest.mark.parametrize("atoms", [0, -1, 2.0, True, "3", None])
def test_the_number_of_atoms_is_a_whole_number(atoms: Any) -> None:
    with pytest.raises(nr.BadValue, match=r"^atoms must be a whole number of at least 1, not "):
        make().sparse_codes(ROWS, atoms)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0]], "^the rows have 2 columns, and dictionary has learned rows with 6"),
        ([[1.0, np.nan, 0.0, 0.0, 0.0, 0.0]], "^row 0, feature 1: the value is nan"),
        ([[0.0] * 6, [0.0] * 5 + [1e151]], r"^row 1: a value is too large: 1e\+151; scale the rows first$"),
        ("abc", "^X must be a matrix"),
    ],
)
def test_bad_rows_are_refused_and_nothing_changes(rows: Any, message: str) -> None:
    learner = make()
    before = pack(learner)
    with pytest.raises(nr.BadValue, match=message):
        learner.sparse_codes(rows, 2)
    assert pack(learner) == before


@pytest.mark.parametrize("codes", ["abc", 1.0, [1.0] * 9, np.zeros((2, 3)), np.zeros((2, 9, 1)), None])
def test_codes_that_are_no_matrix_of_a_column_for_each_atom_are_refused(codes: Any) -> None:
    with pytest.raises(nr.BadValue, match=r"^codes are a matrix of 9 columns, as transform gives them, not "):
        make().inverse_transform(codes)
    with pytest.raises(nr.BadValue, match=r"^row 1, column 8: the value is inf; "):
        make().inverse_transform([[0.0] * 9, [0.0] * 8 + [np.inf]])


def test_before_the_first_row_there_are_no_codes() -> None:
    fresh: Any = nr.make("dictionary", k=2)
    with pytest.raises(nr.NotLearned, match="dictionary has not learned a row yet"):
        fresh.sparse_codes([[1.0]], 1)
    with pytest.raises(nr.NotLearned, match="dictionary has not learned a row yet"):
        fresh.inverse_transform([[1.0, 2.0]])


def test_codes_are_those_of_scikit_learn() -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    unit = ATOMS / np.linalg.norm(ATOMS, axis=1, keepdims=True)
    expected = decomposition.sparse_encode(ROWS, unit, algorithm="omp", n_nonzero_coefs=3)
    np.testing.assert_allclose(make(unit).sparse_codes(ROWS, 3), expected, atol=1e-12)
    codes = make(unit).transform(ROWS)
    np.testing.assert_allclose(make(unit).inverse_transform(codes), codes @ unit, atol=1e-12)
