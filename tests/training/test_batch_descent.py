"""Exact steps are minima, Armijo's condition holds, and batch descent ends where solvers end."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar

import noregret as nr
from noregret.data.blocks import Rows, as_block, to_sparse
from noregret.training.batch_descent import SUPPORTED, Objective
from noregret.training.line_search import armijo_step, exact_step, perceptron_criterion
from tests.naive import streams
from tests.support import refusal

# ---- the exact step -----------------------------------------------------------------------------------------------


def line(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Margins, and how they change along a line that goes down at first; a few of both are zero."""
    rng = np.random.default_rng(seed)
    margins, change = rng.normal(size=30), rng.normal(size=30)
    margins[rng.random(30) < 0.1] = 0.0
    change[rng.random(30) < 0.1] = 0.0
    change[margins < 0.0] += 0.5
    return margins, change


@pytest.mark.thinned(2)
@pytest.mark.parametrize("seed", range(30))
def test_the_exact_step_is_a_minimum_of_the_criterion(seed: int) -> None:
    margins, change = line(seed)
    step = exact_step(margins, change)
    reached = perceptron_criterion(margins + step * change)
    grid = [perceptron_criterion(margins + eta * change) for eta in np.linspace(0.0, 2.0 * step + 10.0, 4001)]
    solved = minimize_scalar(
        lambda eta: perceptron_criterion(margins + eta * change), bounds=(0.0, 2.0 * step + 10.0), method="bounded"
    )
    assert step >= 0.0
    assert reached <= min(grid) + 1e-12
    assert reached <= solved.fun + 1e-12


def test_some_of_these_lines_go_down() -> None:
    steps = [exact_step(*line(seed)) for seed in range(30)]
    assert sum(step > 0.0 for step in steps) > 20


def test_worked_steps() -> None:
    assert exact_step(np.array([-1.0, -2.0]), np.array([1.0, 1.0])) == 4.0  # flat from 2 on: twice its beginning
    assert exact_step(np.array([-1.0, 4.0]), np.array([1.0, -1.0])) == 2.5  # flat from 1 to 4: its middle
    assert exact_step(np.array([-1.0, 1.0]), np.array([1.0, -2.0])) == 0.5  # a corner: the second turns wrong there
    assert exact_step(np.array([-1.0, 0.0]), np.array([1.0, -2.0])) == 0.0  # wrong at once, and by more
    assert exact_step(np.array([-1.0, 0.0]), np.array([1.0, -1.0])) == 0.0  # wrong at once, and by as much
    assert exact_step(np.array([1.0, 2.0]), np.array([1.0, -1.0])) == 0.0  # nothing to gain
    assert exact_step(np.array([-1.0]), np.array([-1.0])) == 0.0
    assert exact_step(np.zeros(0), np.zeros(0)) == 0.0


# ---- the perceptron criterion -------------------------------------------------------------------------------------


def skewed(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Separable rows whose features differ in size by a hundred: the mean of y x does not separate them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 20)) * np.logspace(0.0, 2.0, 20)
    return X, np.where(X @ rng.normal(size=20) > 0.0, 1, -1)


@pytest.mark.parametrize("seed", range(10))
def test_with_exact_steps_the_criterion_never_rises_and_reaches_zero_on_separable_rows(seed: int) -> None:
    X, y = skewed(seed)
    found = nr.batch_descent(X, y, "perceptron", "exact", reduction="sum")
    assert len(found.rates) > 5
    assert (np.diff(found.objective) < 0.0).all()
    assert found.objective[-1] <= 1e-12 * found.objective[0]
    assert np.linalg.norm(found.weights) > 1.0
    assert (y * (X @ found.weights) >= -1e-12 * np.linalg.norm(X, axis=1) * np.linalg.norm(found.weights)).all()


@pytest.mark.parametrize("seed", range(5))
def test_on_rows_that_no_plane_separates_it_never_rises_either(seed: int) -> None:
    X, y = streams.dense(80, 4, seed)
    found = nr.batch_descent(X, y, "perceptron", "exact", passes=50)
    assert (np.diff(found.objective) <= 0.0).all()
    assert found.objective[-1] < 0.5 * found.objective[0]


@pytest.mark.parametrize("seed", range(10))
def test_the_steepest_subgradient_is_the_shortest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(12, 4)).astype(float), rng.choice([-1, 1], size=12)
    w = rng.integers(-2, 3, size=4).astype(float)
    objective = Objective(X, np.append(y[:-2], [1, -1]), SUPPORTED["perceptron"], 0.0, "sum")
    margins, pulls = objective.margins(w), objective.y[:, None] * X
    fixed, tied = -pulls[margins < 0.0].sum(axis=0), pulls[margins == 0.0]
    found = objective.shortest_subgradient(w)
    for _ in range(200):  # no other choice of shares for the rows at zero is shorter
        other = fixed - rng.random(len(tied)) @ tied
        assert np.linalg.norm(found) <= np.linalg.norm(other) + 1e-9
    if found.any():
        down = [objective(w - eta * found) - objective(w) for eta in (1e-6, 1e-4)]
        np.testing.assert_allclose(down, [-1e-6 * found @ found, -1e-4 * found @ found], rtol=1e-4)


def test_a_row_at_zero_counts_at_most_once() -> None:
    X, y = np.array([[-4.0, -1.0], [1.0, 0.0], [0.0, -5.0]]), np.array([1, 1, -1])
    objective = Objective(X, y, SUPPORTED["perceptron"], 0.0, "sum")
    np.testing.assert_allclose(objective.shortest_subgradient(np.array([0.0, 1.0])), [3.0, 1.0])


def test_a_given_rate_is_the_batch_perceptron() -> None:
    X, y, _ = streams.separable(100, 4, 0.1, 1)
    w, q = np.zeros(4), []
    for _ in range(20):
        q.append(np.maximum(0.0, -y * (X @ w)).sum())
        w = w + 0.3 * sum((y[i] * X[i] for i in range(100) if y[i] * (X[i] @ w) <= 0.0), start=np.zeros(4))
    found = nr.batch_descent(X, y, "perceptron", 0.3, reduction="sum", passes=20)
    np.testing.assert_allclose(found.weights, w, rtol=1e-10)
    np.testing.assert_allclose(found.objective[: len(q)], q[: len(found.objective)], atol=1e-12)
    assert nr.batch_descent(X, y, "perceptron", 0.3, reduction="sum").stopped == "gradient"


# ---- Armijo -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [name for name, loss in SUPPORTED.items() if "binary" in loss.tasks])
@pytest.mark.parametrize("seed", range(3))
def test_armijo_steps_are_the_first_halving_that_falls_enough(loss: str, seed: int) -> None:
    X, y = streams.dense(60, 5, seed)
    objective = Objective(X, y, SUPPORTED[loss], 0.0, "sum")
    w = np.random.default_rng(seed).normal(size=5)
    g = objective.gradient(w)
    for first in (1.0, 3.0):
        enough = [
            eta
            for eta in (first * 0.5**halvings for halvings in range(31))
            if objective(w - eta * g) <= objective(w) - 1e-4 * eta * (g @ g)
        ]
        assert armijo_step(objective, w, g, first) == enough[0]


def test_where_nothing_goes_down_armijo_stays() -> None:
    def bowl(w: np.ndarray) -> float:
        return float(w @ w)

    assert armijo_step(bowl, np.ones(2), -np.ones(2)) == 0.0  # uphill
    assert armijo_step(bowl, np.ones(2), 2.0 * np.ones(2)) == 0.5


@pytest.mark.parametrize("loss", SUPPORTED)
def test_with_armijo_every_loss_falls_at_every_step(loss: str) -> None:
    X, y = streams.dense(60, 5, seed=4)
    found = nr.batch_descent(X, y, loss, "armijo", passes=60, tolerance=1e-7)  # while a fall can be measured
    assert (np.diff(found.objective) < 0.0).all()
    assert found.objective[-1] < 0.99 * found.objective[0]
    assert found.rates.size == found.objective.size - 1


# ---- where it ends ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("rate", ["armijo", 0.2])
def test_the_squared_loss_ends_at_least_squares(rate: float | str, reduction: Any) -> None:
    rng = np.random.default_rng(5)
    X, target = rng.normal(size=(80, 6)), rng.normal(size=80)
    step = rate if isinstance(rate, str) or reduction == "mean" else rate / 80
    found = nr.batch_descent(X, target, "squared", step, reduction=reduction)
    assert found.stopped in ("gradient", "no step")  # of a sum, the last falls are lost in rounding
    np.testing.assert_allclose(found.weights, np.linalg.lstsq(X, target)[0], atol=1e-8)
    expected = ((X @ found.weights - target) ** 2).sum() * (1 / 80 if reduction == "mean" else 1)
    assert found.objective[-1] == pytest.approx(expected)


def test_the_logistic_loss_ends_where_a_solver_ends() -> None:
    X, y = streams.dense(80, 4, seed=6)

    def mean_loss(w: Any) -> float:
        return float(np.logaddexp(0.0, -y * (X @ w)).mean())

    solved = minimize(mean_loss, np.zeros(4), method="BFGS", tol=1e-10)
    found = nr.batch_descent(X, np.where(y > 0, "yes", "no"), "logistic")
    sign = 1.0 if y[0] < 0 else -1.0  # of two words the first seen is negative
    np.testing.assert_allclose(sign * found.weights, solved.x, atol=1e-6)


@pytest.mark.parametrize("loss", SUPPORTED)
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_gradients_are_those_of_finite_differences(loss: str, reduction: Any) -> None:
    X, y = streams.dense(40, 5, seed=7)
    objective = Objective(X, y, SUPPORTED[loss], 0.1 if SUPPORTED[loss].insensitive else 0.0, reduction)
    w = np.random.default_rng(0).normal(size=5)
    numeric = [(objective(w + 1e-6 * e) - objective(w - 1e-6 * e)) / 2e-6 for e in np.eye(5)]
    np.testing.assert_allclose(objective.gradient(w), numeric, rtol=1e-5, atol=1e-6)


def test_errors_up_to_eps_cost_nothing() -> None:
    X, target = np.eye(3), np.array([0.05, -1.0, 2.0])
    found = nr.batch_descent(X, target, "eps_insensitive", 0.01, passes=1, eps=0.1)
    assert found.objective[0] == pytest.approx((0.0 + 0.9 + 1.9) / 3)
    np.testing.assert_allclose(found.weights, [0.0, -0.01 / 3, 0.01 / 3])


@pytest.mark.parametrize(("loss", "rate"), [("perceptron", "exact"), ("logistic", "armijo"), ("squared", 0.1)])
def test_sparse_rows_are_rows(loss: str, rate: Any) -> None:
    X, y = streams.sparse(80, 10, density=0.3, seed=1)
    dense = nr.batch_descent(X, y, loss, rate, passes=30)
    for rows in (sp.csc_array(X), Rows(to_sparse(as_block(X)))):
        sparse = nr.batch_descent(rows, y, loss, rate, passes=30)
        np.testing.assert_allclose(sparse.weights, dense.weights, atol=1e-9)
        np.testing.assert_allclose(sparse.objective, dense.objective, atol=1e-9)


# ---- refusals -----------------------------------------------------------------------------------------------------

X, Y = streams.dense(10, 3, seed=0)
UNKNOWN: Any = {"reduction": "max"}


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: nr.batch_descent(X, Y, "hing"), "did you mean 'hinge'?"),
        (lambda: nr.batch_descent(X, Y, "hinge", "exact"), 'rate="exact" is for loss="perceptron"'),
        (lambda: nr.batch_descent(X, Y, "hinge", "newton"), "rate must be a number or one of exact, armijo"),
        (lambda: nr.batch_descent(X, Y, "hinge", 0.0), "batch_descent: rate must be above 0"),
        (lambda: nr.batch_descent(X, Y, "hinge", **UNKNOWN), "reduction must be one of mean, sum"),
        (lambda: nr.batch_descent(X, Y, "hinge", passes=0), "passes must be"),
        (lambda: nr.batch_descent(X, Y, "hinge", tolerance=-1.0), "batch_descent: tolerance must be at least 0"),
        (lambda: nr.batch_descent(X, Y[:3], "hinge"), "X has 10 rows and y has 3"),
        (lambda: nr.batch_descent(X, np.ones(10), "hinge"), "two classes; y has 1"),
        (lambda: nr.batch_descent(X, np.arange(10), "hinge"), "two classes; y has 10"),
        (lambda: nr.batch_descent(X, None, "hinge"), "y must be"),
        (lambda: nr.batch_descent(X, ["a"] * 10, "squared"), "targets must be numbers"),
        (lambda: nr.batch_descent([{"a": 1.0}], [1], "squared"), "X must be a matrix"),
        (lambda: nr.batch_descent(X[:0], Y[:0], "squared"), "X has no rows"),
        (lambda: nr.batch_descent(X, Y, "squared", 1e6, tolerance=0.0), "take a smaller rate"),
        (lambda: nr.batch_descent(1e200 * X, 1e200 * Y, "squared"), "make the numbers in X and y smaller"),
        (lambda: nr.batch_descent(1e200 * X, Y, "perceptron", "exact"), "make the numbers in X and y smaller"),
        (lambda: nr.batch_descent(np.full((2, 1), np.nan), [1, -1]), "must be finite"),
        (lambda: nr.batch_descent(X, Y, "squared", eps=0.1), "eps belongs to the eps_insensitive loss"),
    ],
)
def test_what_makes_no_sense_is_refused(action: Callable[[], Any], words: str) -> None:
    assert words in refusal(action)


@pytest.mark.parametrize("rate", ["exact", "armijo"])
def test_on_rows_that_no_weights_separate_it_says_so_and_gives_the_best_direction(rate: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=60) > 0, 1, -1)
    found = nr.batch_descent(X, y, loss="perceptron", rate=rate)
    assert found.stopped == "inseparable"
    assert np.linalg.norm(found.weights) > 1e-6
    margins = y * (X @ found.weights)
    least = np.maximum(-margins, 0.0).mean() / np.linalg.norm(found.weights)
    assert least <= found.objective[0] / np.linalg.norm((y[:, None] * X).mean(axis=0)) + 1e-12
    assert np.mean(margins <= 0.0) < 0.3
