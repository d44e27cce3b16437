"""Online dictionary learning: equal to the paper's equations, exact codes, and objectives beside scikit-learn's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.decomposition import lasso_loops
from noregret.decomposition.lasso_loops import place_values, solve_lasso
from noregret.jit.layout import count_words
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.naive import dictionary as naive
from tests.support import by_name

Floats = NDArray[np.float64]
RNG = np.random.default_rng(5)


def unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


ATOMS = unit(RNG.normal(size=(3, 5)))
X = unit(RNG.laplace(size=(32, 3)) @ ATOMS + 0.05 * RNG.normal(size=(32, 5)))
ROWS = [{name: value for at, (name, value) in enumerate(by_name(row).items()) if (number + at) % 4} for number, row
        in enumerate(X)]  # fmt: skip
NONE, LABELS = [None] * 32, [number % 3 for number in range(32)]
BAD_ROW, BAD_DICT = np.full(5, np.nan), {"f1": float("inf")}


def make(**options: Any) -> Any:
    return nr.make("dictionary", **{"k": 3, "batch": 4, "penalty": 0.1, "native": False, **options})


CASES = {
    "one row at a time": Case(lambda: make(batch=1), X, NONE, BAD_ROW),
    "mini-batches of dicts": Case(lambda: make(batch=5, penalty=0), ROWS, LABELS, BAD_DICT),
    "more atoms than rows": Case(lambda: make(k=33, sweeps=2, seed=3), X, NONE, BAD_ROW),
    "hashed names": Case(lambda: make(bits=3, scale=True), ROWS, NONE, BAD_DICT),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_follows_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_saved_and_loaded_goes_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


# ---- codes ---------------------------------------------------------------------------------------------------------


def code(rows: Floats, atoms: Floats, penalty: float, tolerance: float = 1e-14) -> Floats:
    return solve_lasso(atoms @ atoms.T, rows @ atoms.T, np.array([penalty, tolerance, 10_000]), native=False)


@pytest.mark.parametrize("penalty", [0.01, 0.1, 0.5])
def test_codes_are_those_of_the_best_choice_of_signs(penalty: float) -> None:
    atoms = unit(np.random.default_rng(6).normal(size=(4, 5)))
    expected = [naive.solve_lasso(x, atoms.T, penalty) for x in X[:10]]
    np.testing.assert_allclose(code(X[:10], atoms, penalty), expected, atol=1e-9)


def test_codes_meet_the_conditions_of_the_smallest_objective() -> None:
    """The product of every atom with what is left is the penalty, with the sign of its code; at most it where 0."""
    atoms = unit(np.random.default_rng(6).normal(size=(12, 5)))
    codes = code(X, atoms, 0.05, 1e-11)
    slopes = (X - codes @ atoms) @ atoms.T
    used = codes != 0.0
    np.testing.assert_allclose(slopes[used], 0.05 * np.sign(codes[used]), atol=1e-9)
    assert np.abs(slopes[~used]).max() <= 0.05 + 1e-9
    assert used.any(axis=1).all()
    assert not used.all(axis=1).any()


@pytest.mark.parametrize("size", [1.0, 0.01])
@pytest.mark.parametrize("tolerance", [1e-6, 0.01, 0.2])
def test_sweeps_over_all_atoms_and_over_those_in_use_are_counted(tolerance: float, size: float) -> None:
    """Whatever the number of sweeps, the code is that of a descent which computes each error anew."""
    atoms = 0.7 * np.random.default_rng(8).normal(size=(8, 5))  # of different lengths
    atoms[3] = 0.0
    rows, penalty = size * X[:6], size * 0.05
    for sweeps in (1, 2, 3, 4, 7, 12, 40):
        found = solve_lasso(atoms @ atoms.T, rows @ atoms.T, np.array([penalty, tolerance, sweeps]), native=False)
        expected = [naive.descend(x, atoms.T, penalty, tolerance, sweeps) for x in rows]
        np.testing.assert_allclose(found, expected, atol=size * 1e-12)


def test_a_code_is_found_once_a_sweep_changes_no_product_by_more_than_the_tolerance() -> None:
    """The first sweep changes the product with the first atom by 1/2: exactly half of the largest product."""
    gram, products = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 1.0]])
    for tolerance, expected in ((0.5, [0.5, 0.25]), (0.49, [0.375, 0.3125])):
        assert solve_lasso(gram, products, np.array([0.5, tolerance, 2.0]), False).tolist() == [expected]


def test_an_entry_may_become_1() -> None:
    assert solve_lasso(np.eye(2), np.array([[1.5, -1.5]]), np.array([0.5, 0.1, 9.0]), False).tolist() == [[1.0, -1.0]]


def test_the_compiled_loop_has_the_problem_and_room_for_the_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its stand-in here is the same loop, interpreted."""
    sizes = list[int]()

    def compile_nothing(entry: Any, places: dict[str, Any]) -> Callable[..., None]:
        def run(table: Any, *values: Any) -> None:
            sizes.append(table.size)
            lasso_loops.find_codes(*values)

        return run

    monkeypatch.setattr(lasso_loops, "compile_function", compile_nothing)
    problem = np.eye(2), np.array([[1.5, -0.7]]), np.array([0.5, 0.1, 9.0])
    assert solve_lasso(*problem, native=True).tolist() == solve_lasso(*problem, native=False).tolist()
    assert sizes == [place_values()[1]]


@pytest.mark.parametrize("size", [0.0, 0.1 - 1e-12, 0.1])
def test_rows_with_products_up_to_the_penalty_have_no_code(size: float) -> None:
    assert solve_lasso(np.eye(2), np.array([[size, -size]]), np.array([0.1, 1e-4, 5.0]), False).tolist() == [[0.0, 0.0]]


def test_an_atom_whose_square_is_0_has_no_code() -> None:
    """Its length is not 0, but the square of its length is, by underflow."""
    gram, products = np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[1e-200, 0.5]])
    assert solve_lasso(gram, products, np.array([1e-300, 1e-4, 5.0]), False).tolist() == [[0.0, 0.5]]


def test_the_problem_is_left_as_it_was() -> None:
    gram, products = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.2], [0.3, 2.0]])
    before = gram.copy(), products.copy()
    solve_lasso(gram, products, np.array([0.1, 1e-4, 5.0]), False)
    assert gram.tolist() == before[0].tolist()
    assert products.tolist() == before[1].tolist()


def test_orthogonal_atoms_have_codes_by_soft_thresholding() -> None:
    products = X @ (atoms := np.linalg.qr(np.random.default_rng(6).normal(size=(5, 5)))[0]).T
    np.testing.assert_allclose(code(X, atoms, 0.2), np.sign(products) * np.maximum(np.abs(products) - 0.2, 0.0),
                               atol=1e-12)  # fmt: skip


def test_a_row_is_found_to_be_the_sum_of_its_three_atoms() -> None:
    """x = 0.8 d36 + 0.3 d42 + 0.5 d63 among 64 atoms: these three and no other, by their weights."""
    atoms = unit(np.random.default_rng(1).normal(size=(64, 200)))
    learner = make(k=64, penalty=0.01)
    learner.learn(atoms)
    learner.state.atoms = atoms.copy()
    found = learner.transform([0.8 * atoms[35] + 0.3 * atoms[41] + 0.5 * atoms[62]])[0]
    assert np.flatnonzero(np.abs(found) > 0.02).tolist() == [35, 41, 62]
    np.testing.assert_allclose(found[[35, 41, 62]], [0.8, 0.3, 0.5], atol=0.03)


@pytest.mark.compiles
def test_atoms_that_made_the_rows_are_learned() -> None:
    rng = np.random.default_rng(3)
    atoms, weights = np.linalg.qr(rng.normal(size=(10, 6)))[0].T, np.zeros((600, 6))
    for row in weights:
        used = rng.choice(6, rng.integers(1, 3), replace=False)
        row[used] = rng.choice([-1.0, 1.0], used.size) * rng.uniform(0.5, 1.0, used.size)
    learner = make(k=6, batch=16, penalty=0.2, native=True)
    for _ in range(4):
        learner.learn(weights @ atoms)
    likeness = np.abs(unit(learner.components) @ atoms.T)
    assert likeness.max(axis=0).min() > 0.99
    found = learner.transform([0.8 * atoms[1] + 0.3 * atoms[3] + 0.5 * atoms[4]])[0]
    expected = [likeness[:, j].argmax() for j in (1, 4, 3)]
    assert np.argsort(-np.abs(found))[:3].tolist() == expected
    np.testing.assert_allclose(np.abs(found[expected]), [0.6, 0.3, 0.1], atol=0.05)  # each 0.2, the penalty, smaller


def test_the_values_of_the_compiled_loop_are_placed_one_after_the_other() -> None:
    places, slots = place_values()
    assert list(places) == ["problem", "found", "numbers"]
    end = 0
    for slot, example in places.values():
        assert slot == end
        end += count_words(example)
    assert slots == end > 3


# ---- steps ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"batch": 1}, {}, {"batch": 2, "penalty": 0.02}, {"k": 1}], ids=str)
def test_learns_as_its_twin(options: dict[str, Any]) -> None:
    learner = make(tolerance=0.0, **options)
    first = learner.first_batch
    start = learner.start_state(5)
    random = np.random.Generator(np.random.Philox(key=np.array([0, 1], np.uint64)))
    start.fill(X[:first], random, np.ones(learner.k, bool))
    twin = naive.NaiveDictionary(start.atoms.T, learner.penalty, learner.batch)
    rows = X[: first + 4 * learner.batch]
    losses = learner.play(rows).losses
    np.testing.assert_allclose(losses[:first], 0.5)  # rows of length 1, and no atom is known yet
    twin.learn(rows[:first])
    for begin in range(first, len(rows), learner.batch):
        batch = rows[begin : begin + learner.batch]
        expected = [twin.loss(x) for x in batch]
        np.testing.assert_allclose(losses[begin : begin + len(batch)], expected, rtol=1e-8)
        twin.learn(batch)
    np.testing.assert_allclose(learner.components, twin.D.T, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(learner.state.among_codes, twin.A, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(learner.state.with_rows, twin.B.T, rtol=1e-7, atol=1e-9)


def test_a_step_never_raises_the_surrogate_and_each_atom_minimises_it() -> None:
    learner = make(k=6, batch=8).learn(X)
    state = learner.state
    state.add(code(X[:8], state.atoms, 0.1), X[:8], 0.5)
    before = state.surrogate()
    for _ in range(60):
        state.step()
        assert state.surrogate() <= before + 1e-12
        before = state.surrogate()
        assert np.linalg.norm(state.atoms, axis=1).max() <= 1.0 + 1e-12
    for j in range(6):  # no other atom of length at most 1 would be better in the place of one
        for other in unit(np.random.default_rng(j).normal(size=(20, 5))):
            changed = state.copy()
            changed.atoms[j] = 0.9 * changed.atoms[j] + 0.1 * other
            assert changed.surrogate() >= before - 1e-6


def test_old_mini_batches_count_less() -> None:
    learner = make(batch=4)
    assert [learner.decay(step) for step in (1, 2, 3, 4, 5)] == pytest.approx([1 / 5, 5 / 9, 9 / 13, 13 / 17, 14 / 18])
    assert make(batch=1).decay(7) == 1.0


def test_rows_that_wait_count_for_their_share_of_a_mini_batch() -> None:
    learner = make(batch=4, tolerance=1e-14).learn(X[:8])
    before, found = learner.state, code(X[8:9], learner.state.atoms, 0.1)
    latest = learner.learn(X[8:9]).latest
    np.testing.assert_allclose(latest.among_codes, learner.decay(3) ** 0.25 * before.among_codes + found.T @ found)


def test_the_default_penalty_follows_the_features() -> None:
    learner = make(penalty=0.0)
    assert learner.find_penalty(learner.start_state(16)) == pytest.approx(0.3)
    assert learner.find_penalty(learner.start_state(1)) == learner.find_penalty(learner.start_state(0)) == 1.2
    assert make(penalty=0.7).find_penalty(learner.start_state(16)) == 0.7


def test_memory_is_needed_for_the_atoms_and_their_sums_with_rows() -> None:
    learner = make(k=3)
    state = learner.start_state(7)
    assert learner.count_numbers(7) == state.atoms.size + state.with_rows.size


def test_atoms_that_are_not_used_become_rows() -> None:
    learner = make(k=4, batch=4).learn(np.tile([1.0, 0.0], (8, 1)))
    assert np.count_nonzero(np.linalg.norm(learner.components, axis=1)) == 1 + 1  # the second is a copy that waits
    learner.learn([[0.0, 1.0]] * 4).learn([[0.0, 1.0]] * 4)
    assert learner.evaluate([[0.0, 1.0]]).losses[0] == pytest.approx(0.1 - 0.005)
    assert make(k=2).learn(np.zeros((5, 2))).components.tolist() == [[0.0, 0.0], [0.0, 0.0]]


# ---- beside scikit-learn -------------------------------------------------------------------------------------------


@pytest.mark.compiles
def test_objective_is_that_of_scikit_learn() -> None:
    """Rows held out, one pass over digits: at most 1 % above MiniBatchDictionaryLearning, mean of 5 seeds."""
    decomposition, datasets = pytest.importorskip("sklearn.decomposition"), pytest.importorskip("sklearn.datasets")
    with pytest.importorskip("threadpoolctl").threadpool_limits(1):  # threads that wait for each other are slow
        digits = datasets.load_digits().data
        rows, own, theirs = unit(digits - digits.mean(axis=0)), list[float](), list[float]()
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(len(rows))
            learned, held = rows[order[:1400]], rows[order[1400:]]
            learner: Any = nr.make("dictionary", k=30, seed=seed).learn(learned)
            own.append(learner.evaluate(held).losses.mean())
            other = decomposition.MiniBatchDictionaryLearning(
                30,
                alpha=0.15,
                batch_size=64,
                max_iter=1,
                fit_algorithm="cd",
                random_state=seed,
                max_no_improvement=None,
            ).fit(learned)
            learner.state.atoms = other.components_
            learner._latest = None
            theirs.append(learner.evaluate(held).losses.mean())
        assert np.mean(own) <= 1.01 * np.mean(theirs)


@pytest.mark.compiles
def test_compiled_is_interpreted_bit_for_bit() -> None:
    one, other = make(k=7, native=True), make(k=7)
    assert one.play(X).losses.tolist() == other.play(X).losses.tolist()
    assert one.components.tolist() == other.components.tolist()


def test_atoms_are_described_by_their_use() -> None:
    """The root of the sum of squared codes, the most used first, then the largest entries of each atom."""
    learner = make(k=2, penalty=0.5, batch=2, tolerance=1e-14).learn([{"a": 3.0}, {"b": -4.0}])
    assert learner.describe_results() == [
        "                 use  largest entries", "   1             3.5  b -1.000", "   2             2.5  a +1.000",
    ]  # fmt: skip
