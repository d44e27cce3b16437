"""Budgeted PA (Wang and Vucetic 2010): the support goes whose removal, with the step of the round, costs least."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.learners.kernel_reading import (
    KERNELS,
    check_refused_call_is_undone,
    gram,
    make,
    restore,
    supports_of,
    twin_of,
)
from tests.learners.reading import weights
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import ALL, seeds

optimize = import_module("scipy.optimize")
METHODS = ("simple", "nearest", "full")


def test_two_rows_by_hand() -> None:
    """Budget 1: x1 = (1, 0) goes, and x2 = (0.6, 0.8) takes its projection 0.6 x2 beside its own step of -1 (C = 1)."""
    for method in METHODS:
        learner = make("budgeted_pa", "linear", budget=1, method=method)
        learner.learn(np.array([[1.0, 0.0], [0.6, 0.8]]), [1, -1])
        assert weights(learner, 2).tolist() == pytest.approx([-0.4 * 0.6, -0.4 * 0.8])


def test_the_nearest_neighbour_takes_what_the_new_row_cannot() -> None:
    """x1 = (1, 0, 0) goes: of it x3 = (0, 0, 1) can take nothing, and its neighbour x2 = (0.6, 0.8, 0) takes 0.6."""
    X, y = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]), [1, 1, -1]
    learner = make("budgeted_pa", "linear", budget=2, method="nearest", C=0.1).learn(X[:2], y[:2])
    assert weights(learner, 3).tolist() == pytest.approx([0.16, 0.08, 0.0])
    learner.learn(X[2:], y[2:])  # x1 and x2 would lose the same: the first one goes
    assert weights(learner, 3).tolist() == pytest.approx([0.16 * 0.6, 0.16 * 0.8, -0.1])


@pytest.mark.parametrize("method", METHODS)
def test_of_supports_that_lose_the_same_the_first_goes(method: str) -> None:
    learner = make("budgeted_pa", "linear", budget=2, method=method).learn(np.eye(3), [1, 1, 1])
    assert supports_of(learner, 3)[0].tolist() == np.eye(3)[1:].tolist()


def test_of_neighbours_that_are_as_near_the_first_is_kept() -> None:
    """x1, x2 and x3 are equally near to each other. x2 goes, and x1, its first neighbour, takes half of it."""
    X = np.array([[2.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    learner = make("budgeted_pa", "linear", budget=3, method="nearest", C=1e-3).learn(X, [1, 1, 1, 1])
    assert weights(learner, 4).tolist() == pytest.approx([4e-3, 0.0, 1e-3, 1e-3])


def test_a_neighbour_along_the_new_row_takes_nothing() -> None:
    """All rows are parallel: of x1, which goes, the new row x3 takes a third, and x2 keeps its coefficient."""
    X, y = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]), [1, 1, -1]
    learner = make("budgeted_pa", "linear", budget=2, method="nearest", C=0.01).learn(X, y)
    assert supports_of(learner, 2)[0].tolist() == X[1:].tolist()
    assert supports_of(learner, 2)[1].tolist() == pytest.approx([0.01, 0.01 / 3.0 - 0.01])


def test_a_neighbour_at_the_limit_of_dependence_takes_nothing() -> None:
    """Of x2 = 3 x3 + e, of the squared length 1e8, exactly 1 = 1e-8 of it is orthogonal to x3; x1 goes."""
    x3, e = np.array([3333.0, 47.0, 3.0, 2.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    assert x3 @ x3 == 11111111.0
    X = np.array([[0.0, 0.0, 0.0, 0.0, 0.3, 0.3], 3.0 * x3 + e, x3])
    learner = make("budgeted_pa", "linear", budget=2, method="nearest", C=1e-10).learn(X, [1, 1, 1])
    assert supports_of(learner, 6)[0].tolist() == X[1:].tolist()
    assert supports_of(learner, 6)[1].tolist() == [1e-10, 1e-10]


def test_a_margin_of_one_is_enough() -> None:
    learner = make("budgeted_pa", "linear")
    assert learner.play(np.array([[1.0, 0.0]] * 3), [1, 1, 1]).updated.tolist() == [True, False, False]


def test_rows_of_any_size_have_neighbours() -> None:
    X, y = streams.dense(30, 4, seed=3)
    told = {"C": 1e12, "budget": 4, "method": "nearest"}
    small, twin = make("budgeted_pa", "linear", **told), twin_of("budgeted_pa", "linear", **told)
    scores, _ = twin.run(1e-5 * X, y)
    np.testing.assert_allclose(small.play(1e-5 * X, y).scores, scores, rtol=1e-7, atol=1e-8 * np.abs(scores).max())


@pytest.mark.thinned(10)
@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("budget", "C"), [(1, 0.3), (2, 2.0), (6, 0.3), (12, 2.0)])
def test_plays_as_its_twin_with_small_budgets(kernel: str, method: str, budget: int, C: float) -> None:
    X, y = streams.dense(60 if ALL else 35, 5, seed=budget)
    told = {"C": C, "budget": budget, "method": method}
    found, twin = make("budgeted_pa", kernel, **told), twin_of("budgeted_pa", kernel, **told)
    transcript, (scores, updated) = found.play(X, y), twin.run(X, y)
    np.testing.assert_allclose(transcript.scores, scores, rtol=1e-8, atol=1e-9 * np.abs(scores).max())
    assert transcript.updated.tolist() == updated.tolist()
    assert len(supports_of(found, 5)[1]) == len(twin.rule.supports) <= budget


def free(kernel: str, rows: Array, gone: int, method: str) -> list[int]:
    """The supports that may change when one goes, the new one, which is the last, among them."""
    last = len(rows) - 1
    others = [i for i in range(last) if i != gone]
    if method == "full":
        return [*others, last]
    if method == "simple" or not others:
        return [last]
    K = gram(kernel, rows, rows)
    return [min(others, key=lambda i: K[i, i] - 2.0 * K[i, gone]), last]


def least(kernel: str, problem: tuple[Array, Array, Array, float, float], gone: int, method: str) -> float:
    """The least of 1/2 |w - w_t|^2 + C hinge over the coefficients that are free, by a solver of quadratic programs."""
    rows, alpha, x, y, C = problem
    rows = np.vstack([rows, x])
    K, V = gram(kernel, rows, rows), free(kernel, rows, gone, method)
    margin = y * float(K[-1, :-1] @ alpha)
    fixed = np.zeros(len(rows))
    fixed[gone] = -alpha[gone]

    def change(beta: Any) -> Array:
        c = fixed.copy()
        c[V] += beta[:-1]
        return c

    def cost(beta: Any) -> float:
        c = change(beta)
        return float(0.5 * c @ K @ c + C * beta[-1])

    def slope(beta: Any) -> Array:
        return np.append((K @ change(beta))[V], C)

    short = {"type": "ineq", "fun": lambda beta: margin + y * float(K[-1] @ change(beta)) - 1.0 + beta[-1]}
    bounds = [*[(None, None)] * len(V), (0.0, None)]
    start = np.append(np.zeros(len(V)), 10.0)
    found = optimize.minimize(
        cost, start, jac=slope, bounds=bounds, constraints=[short], options={"ftol": 1e-14, "maxiter": 500}
    )
    return float(found.fun)


@seeds(3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_step_solves_its_problem_for_the_best_support_to_go(kernel: str, method: str, seed: int) -> None:
    X, y = streams.dense(22, 6, seed=seed + 7)
    learner = make("budgeted_pa", kernel, C=0.7, budget=4, method=method)
    solved = 0
    for t in range(len(y)):
        rows, alpha = supports_of(learner, 6)
        if not learner.play(X[t : t + 1], y[t : t + 1]).updated[0] or len(alpha) < 4:
            continue
        after, coefficients = supports_of(learner, 6)
        every = np.vstack([rows, X[t]])
        inside = [next(i for i, one in enumerate(every) if np.array_equal(one, row)) for row in after]
        c = np.append(-alpha, 0.0)
        c[inside] += coefficients
        K = gram(kernel, every, every)
        hinge = max(0.0, 1.0 - y[t] * float(K[-1, :-1] @ alpha) - y[t] * float(K[-1] @ c))
        paid = float(0.5 * c @ K @ c + 0.7 * hinge)
        best = min(least(kernel, (rows, alpha, X[t], y[t], 0.7), gone, method) for gone in range(4))
        assert paid == pytest.approx(best, rel=1e-5, abs=1e-9)
        assert len(inside) == 4
        assert 4 in inside
        solved += 1
    assert solved >= 8


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_as_long_as_the_budget_lasts_it_is_kernel_pa1(kernel: str, method: str) -> None:
    X, y = streams.dense(60, 5, seed=2)
    X[30:45] = X[5:20]
    found, plain = make("budgeted_pa", kernel, budget=60, method=method), make("pa1", kernel, C=1.0)
    first, second = found.play(X, y), plain.play(X, y)
    np.testing.assert_allclose(first.scores, second.scores, rtol=1e-9, atol=1e-9 * np.abs(second.scores).max())
    assert first.updated.tolist() == second.updated.tolist()


def test_more_that_may_change_costs_less() -> None:
    """Over a stream, what is lost with the supports falls from simple to nearest to full."""
    X, y = streams.dense(150, 2, seed=1)
    y = np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)
    wrong = {one: make("budgeted_pa", budget=10, method=one).play(X, y).mistakes.sum() for one in METHODS}
    assert wrong["full"] <= wrong["nearest"] <= wrong["simple"] + 5


def stored(learner: nr.RuleLearner) -> int:
    """The bytes of all supports and of what is kept of each."""
    return sum(array.nbytes for name, array in learner.dump()[1].items() if name.startswith(("state.", "bank.")))


@pytest.mark.parametrize("method", METHODS)
def test_memory_is_flat_once_the_budget_is_used_up(method: str) -> None:
    X, y = streams.dense(120, 4, seed=6)
    learner = make("budgeted_pa", budget=5, method=method).learn(X[:40], y[:40])
    size, room = stored(learner), learner.model.known_space.supports
    learner.learn(X[40:], y[40:])
    assert stored(learner) == size
    assert learner.model.known_space.supports == room <= 7


@pytest.mark.parametrize("method", METHODS)
def test_a_call_that_is_refused_leaves_no_trace(method: str) -> None:
    X, y = streams.dense(60, 6, seed=4)
    check_refused_call_is_undone(make("budgeted_pa", "linear", budget=4, method=method), X, y)


@pytest.mark.parametrize("method", METHODS)
def test_a_saved_learner_goes_on_as_if_it_had_not_been_saved(method: str, tmp_path: Any) -> None:
    X, y = streams.dense(60, 4, seed=8)
    learner = make("budgeted_pa", budget=6, method=method).learn(X[:30], y[:30])
    learner.save(tmp_path / "model.nr")
    loaded = nr.load(tmp_path / "model.nr")
    assert loaded.play(X[30:], y[30:]).scores.tolist() == learner.play(X[30:], y[30:]).scores.tolist()


def test_neighbours_of_a_file_that_are_none_are_found_again() -> None:
    X, y = streams.dense(40, 4, seed=9)
    saved = make("budgeted_pa", budget=6, method="nearest").learn(X, y)
    for number in (-3.0, 1e300, 7.0, 2.5):
        learner = restore(saved, **{"state.neighbours": np.full((1, 6), number)})
        assert np.isfinite(learner.play(X, y).scores).all()


def test_each_variant_keeps_only_what_it_needs() -> None:
    X, y = streams.dense(20, 3, seed=0)
    kept = {one: set(make("budgeted_pa", method=one).learn(X, y).model.arrays._fields) for one in METHODS}
    assert kept["simple"] == {"w", "squares", "n"}
    assert kept["nearest"] == {"w", "squares", "neighbours", "kernels", "n"}
    assert kept["full"] == {"w", "basis", "n"}
