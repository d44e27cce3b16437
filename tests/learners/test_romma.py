"""ROMMA and aggressive ROMMA (Li and Long 2002)."""

import numpy as np
import pytest
from scipy.optimize import nnls

import noregret as nr
from noregret.evaluation.report import find_warnings
from noregret.streams.sources import ArraySource
from tests.learners.reading import bound_of, same, steps, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import only_in_test_all, seeds

BOTH = pytest.mark.parametrize("name", ["romma", "romma_aggressive"])


def shortest(A: Array, b: Array) -> Array:
    """The shortest v with A v >= b, by non-negative least squares (Lawson and Hanson 1974, least distance)."""
    E = np.vstack([A.T, b])
    goal = np.zeros(len(E))
    goal[-1] = 1.0
    rest = E @ nnls(E, goal, maxiter=10_000)[0] - goal
    return np.asarray(-rest[:-1] / rest[-1])


def test_three_rounds_worked_by_hand() -> None:
    X, y = np.array([[2.0, 0.0], [-1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 1.0, 1.0])
    learner = nr.make("romma", native=False)
    written(weights(learner.learn(X[:1], y[:1]), 2), [0.5, 0.0])  # z / |z|^2
    written(weights(learner.learn(X[1:2], y[1:2]), 2), [0.5, 1.5])  # w_1 stays at 1/2, and -w_1 + w_2 = 1
    assert not learner.play(X[2:], y[2:]).updated[0]
    written(weights(learner, 2), [0.5, 1.5])


@BOTH
def test_a_step_solves_its_problem(name: str) -> None:
    X, y, _ = streams.separable(120, 8, margin=0.02, seed=1)
    X = 3.0 * X
    moved = 0
    for t, before, after, said in steps(nr.make(name, native=False), X, y, rounds=115):
        z = y[t] * X[t]
        if not said.updated[0]:
            assert np.array_equal(before, after)
            assert z @ before > (0.0 if name == "romma" else 1.0 - 1e-9)
            continue
        moved += 1
        best = shortest(np.array([z, before]), np.array([1.0, before @ before]))
        np.testing.assert_allclose(after, best, rtol=1e-8, atol=1e-9)
        assert z @ after == pytest.approx(1.0, abs=1e-9)
        assert after @ before >= before @ before * (1.0 - 1e-9)
    assert moved > 3


@BOTH
@seeds(4)
@pytest.mark.parametrize("margin", [0.02, 0.1, 0.4])
def test_separable_rounds_cost_few_mistakes_and_the_weights_only_grow(name: str, margin: float, seed: int) -> None:
    X, y, u = streams.separable(150, 4, margin, seed=seed)
    radius = float(np.linalg.norm(X, axis=1).max())
    limit = 1.0 / float((y * (X @ u)).min())  # the length of the u that has margin 1
    learner = nr.make(name, native=False)
    missed, longest = 0, 0.0
    for t in range(len(X)):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        missed += int(said.updated[0] and y[t] * said.scores[0] <= 0.0)
        length = float(np.linalg.norm(weights(learner, 4)))
        assert longest * (1.0 - 1e-9) <= length <= limit * (1.0 + 1e-9)
        longest = length
    assert 0 < missed <= bound_of(learner, radius=radius, norm=limit)


def test_rows_at_right_angles_take_every_mistake_that_the_bound_allows() -> None:
    X, y = np.eye(4), np.array([1.0, -1.0, 1.0, -1.0])
    learner = nr.make("romma", native=False).learn(X, y)
    assert learner.updates == bound_of(learner, radius=1.0, norm=2.0) == 4.0
    same(weights(learner, 4), y)


@only_in_test_all
@pytest.mark.many_rounds
def test_many_passes_lead_aggressive_romma_to_the_largest_margin() -> None:
    X, y, _ = streams.separable(40, 3, margin=0.2, seed=2)
    best = shortest(y[:, None] * X, np.ones(40))
    learner, far = nr.make("romma_aggressive"), []
    for passes in (100, 900, 9000):
        learner.learn(np.tile(X, (passes, 1)), np.tile(y, passes))
        far.append(float(np.linalg.norm(weights(learner, 3) - best)))
    assert far[2] < 0.2 * far[1] < 0.04 * far[0]  # what is missing falls as fast as the passes rise
    assert far[2] < 1e-3 * np.linalg.norm(best)


@BOTH
def test_a_row_against_the_weights_themselves_contradicts_them_and_teaches_nothing(name: str) -> None:
    x = np.array([[3.0, -1.0, 2.0]])
    learner = nr.make(name, native=False).learn(x, [1])
    before = weights(learner, 3)
    for row, label in ((x, -1), (-0.1 * x, 1), (7.0 * x, -1)):
        said = learner.play(row, [label])
        assert (said.mistakes[0], said.updated[0]) == (True, False)
    assert np.array_equal(weights(learner, 3), before)


def test_a_shorter_row_along_the_weights_asks_for_longer_ones() -> None:
    x = np.array([[3.0, -1.0, 2.0]])
    learner = nr.make("romma_aggressive", native=False).learn(x, [1])
    said = learner.play(0.25 * x, [1])
    assert (said.scores[0], said.updated[0]) == (pytest.approx(0.25), True)
    same(weights(learner, 3), 4.0 * x[0] / 14.0)


@BOTH
def test_rows_so_short_that_no_step_reaches_margin_one_teach_nothing(name: str) -> None:
    learner = nr.make(name, native=False)
    assert learner.play(np.array([[1e-74]]), [1]).updated.tolist() == [True]
    assert learner.play(np.array([[1e-74]]), [-1]).updated.tolist() == [False]
    learner = nr.make(name, native=False)
    assert learner.play(np.array([[1e-76]]), [1]).updated.tolist() == [False]
    assert weights(learner, 1).tolist() == [0.0]


@BOTH
@pytest.mark.parametrize("first", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("second", [1e-9, 1.0, 1e9])
def test_what_is_parallel_does_not_depend_on_lengths(name: str, first: float, second: float) -> None:
    learner = nr.make(name, native=False).learn(np.array([[first, 0.0], [0.0, second]]), [1, 1])
    np.testing.assert_allclose(weights(learner, 2), [1.0 / first, 1.0 / second], rtol=1e-12)
    learner = nr.make(name, native=False).learn(first * np.array([[3.0, -1.0, 0.7]]), [1])
    assert learner.play(second * np.array([[3.0, -1.0, 0.7]]), [-1]).updated.tolist() == [False]


def test_only_the_newest_round_counts_where_it_implies_the_others() -> None:
    learner = nr.make("romma_aggressive", native=False).learn(np.array([[4.0, 0.0]]), [1])  # w = (1/4, 0)
    learner.learn(np.array([[0.2, 0.1]]), [1])  # w.z = 0.05 >= |w|^2 |z|^2
    same(weights(learner, 2), np.array([4.0, 2.0]))


@BOTH
def test_in_feature_space_nothing_changes(name: str) -> None:
    X, y, _ = streams.separable(120, 4, margin=0.05, seed=5)
    plain, kernel = nr.make(name, native=False), nr.make(name, algebra="kernel", kernel="linear", native=False)
    np.testing.assert_allclose(kernel.play(X, y).scores, plain.play(X, y).scores, rtol=1e-7, atol=1e-9)
    assert plain.updates == kernel.updates > 3


@BOTH
def test_targets_on_a_line_are_refused(name: str) -> None:
    with pytest.raises(nr.BadValue, match=f"{name} cannot play regression"):
        nr.make(name, task="regression")


@BOTH
def test_noisy_labels_make_it_start_again_before_its_weights_explode(name: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)), rng.choice([-1.0, 1.0], size=3000)
    sparse_learner, reference = (nr.make(name, algebra=one, native=False) for one in ("sparse", "reference"))
    a, b = sparse_learner.play(X, y), reference.play(X, y)
    assert sparse_learner.model.arrays.n.restarts > 0
    assert np.abs(weights(sparse_learner, 3)).max() < 1e7
    assert a.predictions.tolist() == b.predictions.tolist()
    assert any("started again" in text for text in find_warnings(ArraySource(X, y), sparse_learner, 1))


def test_separable_rounds_never_make_it_start_again() -> None:
    X, y, _ = streams.separable(300, 5, margin=0.02, seed=1)
    learner = nr.make("romma", native=False).learn(X, y)
    assert learner.model.arrays.n.restarts == 0


@pytest.mark.parametrize("name", ["romma", "romma_aggressive"])
@pytest.mark.parametrize("unit", [1.0, 10.0])
def test_it_starts_again_once_the_weights_are_a_million_times_as_long_as_they_need_be(name: str, unit: float) -> None:
    """w = (1, 2 / d) after two rows that nearly contradict each other; the third row then begins anew, or does not."""

    def after_three(d: float, *before: list[float]) -> nr.RuleLearner:
        rows = unit * np.array([*before, [1.0, 0.0], [-1.0, d], [1.0, -1.0]])
        learner = nr.make(name, algebra="sparse", native=False)
        assert learner.learn(rows[:1], [1]).model.arrays.n.restarts == 0.0
        return learner.learn(rows[1:], np.ones(len(rows) - 1))

    short_of_it, beyond = after_three(2.1e-6), after_three(1.9e-6)
    assert short_of_it.model.arrays.n.restarts == 0.0
    assert np.linalg.norm(weights(short_of_it, 2)) > 1e5 / unit
    assert beyond.model.arrays.n.restarts == 1.0
    np.testing.assert_allclose(weights(beyond, 2), np.array([0.5, -0.5]) / unit, rtol=1e-12)
    assert after_three(1.9e-6, [0.5, 0.0]).model.arrays.n.restarts == 0.0, "a shorter row needs longer weights"
