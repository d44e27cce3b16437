"""The best fixed comparator: its loss is that of an exact solver, and its gap is a proof."""

import copy
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_array, eye_array, hstack, vstack

from noregret.errors import BadValue
from noregret.metrics.comparator import Comparator, find_comparator
from noregret.metrics.comparator_problem import TOLERANCE, Penalty, Problem
from noregret.metrics.comparator_sets import Ball, Box, Simplex, WeightSet
from noregret.metrics.round_losses import ClassRounds, RoundLosses, SignedRounds, SoftmaxRounds, TargetRounds

rng = np.random.default_rng(5)
ROWS, FEATURES = 120, 4
X = rng.normal(size=(ROWS, FEATURES)) * [1.0, 10.0, 0.1, 3.0]
TRUE = rng.normal(size=FEATURES) / [1.0, 10.0, 0.1, 3.0]
SIGNS = np.where(X @ TRUE + rng.normal(size=ROWS) > 0.0, 1.0, -1.0)
TARGETS = X @ TRUE + rng.standard_t(2, size=ROWS)
CODES = np.argmax(X @ rng.normal(size=(FEATURES, 3)) + 4.0 * rng.normal(size=(ROWS, 3)), axis=1)
ONES = np.ones(ROWS)
LOSSES: dict[str, RoundLosses] = {
    **{name: SignedRounds(name, SIGNS) for name in ("hinge", "logistic", "squared", "squared_hinge", "exponential")},
    "multiclass hinge": ClassRounds("hinge", CODES, 3),
    "multiclass logistic": ClassRounds("logistic", CODES, 3),
    "softmax": SoftmaxRounds(CODES, 3),
    "rest": SignedRounds("hinge", np.where(np.arange(3) == CODES[:, None], 1.0, -1.0)),
    "eps_insensitive": TargetRounds("eps_insensitive", TARGETS, 0.3 * ONES, ONES),
    "absolute": TargetRounds("absolute", TARGETS, 0.3 * ONES, ONES),
    "target squares": TargetRounds("squared", TARGETS, 0.0 * ONES, ONES),
    "huber": TargetRounds("huber", TARGETS, 0.0 * ONES, 1.5 * ONES),
}


def naive_loss(name: str, u: np.ndarray) -> float:
    """The total loss, round by round, from the definitions."""
    total = 0.0
    for t in range(ROWS):
        f = X[t] @ u
        if name in ("eps_insensitive", "absolute", "target squares", "huber"):
            e = abs(TARGETS[t] - f[0])
            total += {"eps_insensitive": max(0.0, e - 0.3), "absolute": e, "target squares": e * e,
                      "huber": e * e / 2 if e <= 1.5 else 1.5 * (e - 0.75)}[name]  # fmt: skip
        elif name == "softmax":
            total += np.log(np.exp(f).sum()) - f[CODES[t]]
        elif name == "rest":
            total += sum(max(0.0, 1.0 - (f[c] if c == CODES[t] else -f[c])) for c in range(3))
        else:
            if name.startswith("multiclass"):
                m = min(f[CODES[t]] - f[c] for c in range(3) if c != CODES[t])
            else:
                m = SIGNS[t] * f[0]
            total += {"hinge": max(0.0, 1.0 - m), "logistic": np.log1p(np.exp(-m)), "squared": (1.0 - m) ** 2,
                      "squared_hinge": max(0.0, 1.0 - m) ** 2, "exponential": np.exp(-m)}[name.split()[-1]]  # fmt: skip
    return float(total)


@pytest.mark.parametrize("name", LOSSES)
def test_no_weights_are_better_than_the_comparator_by_more_than_its_gap(name: str) -> None:
    best = find_comparator(Problem(X, LOSSES[name]))
    assert best.converged
    assert best.loss == pytest.approx(naive_loss(name, best.weights), rel=1e-9)
    tries = np.random.default_rng(1)
    for scale in (1e-4, 1e-2, 0.3):
        for _ in range(20):
            near = best.weights * (1.0 + scale * tries.normal(size=best.weights.shape))
            assert naive_loss(name, near) >= best.loss - best.gap - 1e-9


@pytest.mark.parametrize("name", LOSSES)
def test_a_tangent_lies_below_the_loss_everywhere(name: str) -> None:
    losses, tries = LOSSES[name], np.random.default_rng(2)
    shape = (ROWS, losses.outputs) if losses.per_class else (ROWS,)
    for temperature in (2.0, 0.1):
        at = losses.tangent(tries.normal(size=shape), temperature)
        for scale in (0.1, 1.0, 30.0):
            scores = scale * tries.normal(size=shape)
            assert losses.each(scores).sum() >= at.constant + (at.slopes * scores).sum() - 1e-9


@pytest.mark.parametrize("name", LOSSES)
def test_slopes_are_those_of_the_smooth_loss(name: str) -> None:
    losses, tries = LOSSES[name], np.random.default_rng(3)
    shape = (ROWS, losses.outputs) if losses.per_class else (ROWS,)
    scores, direction, step = tries.normal(size=shape), tries.normal(size=shape), 1e-6
    ahead = losses.tangent(scores + step * direction, 0.5).smooth
    behind = losses.tangent(scores - step * direction, 0.5).smooth
    slope = (losses.tangent(scores, 0.5).slopes * direction).sum()
    assert slope == pytest.approx((ahead - behind) / (2.0 * step), rel=1e-5)


def test_the_hinge_comparator_is_that_of_a_linear_program() -> None:
    cost = np.concatenate((np.zeros(FEATURES), ONES))
    rows = hstack([csr_array(-SIGNS[:, None] * X), -eye_array(ROWS)])
    bounds = [(None, None)] * FEATURES + [(0.0, None)] * ROWS
    solver: Any = linprog
    exact = solver(cost, A_ub=rows, b_ub=-ONES, bounds=bounds, method="highs").fun
    best = find_comparator(Problem(X, LOSSES["hinge"]))
    assert exact - 1e-7 <= best.loss <= exact + best.gap + 1e-7
    assert best.gap <= TOLERANCE * best.loss


@pytest.mark.parametrize("radius", [0.0, 0.05, 0.4, 50.0])
@pytest.mark.parametrize("name", ["hinge", "logistic"])
def test_in_a_ball_the_comparator_is_the_best_of_the_ball(name: str, radius: float) -> None:
    problem = Problem(X, LOSSES[name])
    best = find_comparator(problem, Ball(radius))
    assert best.norm <= radius * (1.0 + 1e-9)
    solver: Any = minimize
    found = solver(
        lambda u: problem.loss(u.reshape(-1, 1)),
        np.zeros(FEATURES),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda u: radius**2 - u @ u},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    inside: np.ndarray = found.x * min(1.0, radius / max(float(np.linalg.norm(found.x)), 1e-300))
    assert problem.loss(inside.reshape(-1, 1)) >= best.loss - best.gap - 1e-9
    assert best.gap <= TOLERANCE * max(best.loss, 1.0)


SETS: dict[str, WeightSet] = {
    "box": Box(-0.3, 0.3),
    "wide box": Box(-100.0, 100.0),
    "orthant": Box(0.0, np.inf),
    "simplex": Simplex(1.0),
    "large simplex": Simplex(20.0),
    "at most": Simplex(0.4, at_most=True),
    "l1": Simplex(0.5, signed=True),
    "wide l1": Simplex(1000.0, signed=True),
}


def draw_from(name: str, shape: tuple[int, int], tries: np.random.Generator) -> np.ndarray:
    """Weights of a set."""
    if "box" in name:
        limit = 0.3 if name == "box" else 100.0
        return np.asarray(np.clip(tries.normal(0.0, limit, size=shape), -limit, limit))
    if name == "orthant":
        return np.asarray(np.maximum(tries.normal(size=shape), 0.0))
    shares = tries.dirichlet(np.full(shape[0] * shape[1], 0.3)).reshape(shape)
    total = {"simplex": 1.0, "large simplex": 20.0, "at most": 0.4 * tries.random(), "l1": 0.5, "wide l1": 5.0}[name]
    signs = tries.choice([-1.0, 1.0], size=shape) if "l1" in name else 1.0
    return np.asarray(total * shares * signs)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared", "multiclass hinge", "absolute"])
@pytest.mark.parametrize("name", SETS)
@pytest.mark.thinned(8)
def test_in_a_set_no_weights_are_better_by_more_than_the_gap(name: str, loss: str) -> None:
    problem = Problem(X, LOSSES[loss])
    best = find_comparator(problem, copy.copy(SETS[name]))
    u, tries = best.weights, np.random.default_rng(6)
    assert best.converged
    assert best.loss == pytest.approx(naive_loss(loss, u), rel=1e-9)
    assert "box" not in name or np.abs(u).max() <= (0.3 if name == "box" else 100.0)
    assert name not in ("orthant", "simplex", "large simplex", "at most") or u.min() >= 0.0
    assert "simplex" not in name or u.sum() == pytest.approx(1.0 if name == "simplex" else 20.0, rel=1e-9)
    assert name not in ("at most", "l1") or np.abs(u).sum() <= (0.4 if name == "at most" else 0.5) * (1.0 + 1e-9)
    for share in (1.0, 0.1, 0.01):
        for _ in range(20):
            near = (1.0 - share) * u + share * draw_from(name, u.shape, tries)
            assert problem.loss(near) >= best.loss - best.gap - 1e-9


@pytest.mark.parametrize("name", ["box", "simplex", "at most", "l1", "orthant"])
def test_in_a_set_the_hinge_comparator_is_that_of_a_linear_program(name: str) -> None:
    split = name == "l1"
    parts = np.hstack((X, -X)) if split else X
    width = parts.shape[1]
    rows = hstack([csr_array(-SIGNS[:, None] * parts), -eye_array(ROWS)])
    low, high = (-0.3, 0.3) if name == "box" else (0.0, None)
    ones: Any = np.concatenate((np.ones(width), np.zeros(ROWS)))[None, :]
    more: dict[str, Any] = {"A_eq": ones, "b_eq": [1.0]} if name == "simplex" else {}
    total = {"at most": 0.4, "l1": 0.5}.get(name, np.inf)
    solver: Any = linprog
    exact = solver(np.concatenate((np.zeros(width), ONES)), A_ub=vstack([rows, csr_array(ones)]),
                   b_ub=np.concatenate((-ONES, [min(total, 1e9)])), bounds=[(low, high)] * width + [(0.0, None)] * ROWS,
                   method="highs", **more).fun  # fmt: skip
    best = find_comparator(Problem(X, LOSSES["hinge"]), copy.copy(SETS[name]))
    assert exact - 1e-6 <= best.loss <= exact + best.gap + 1e-6
    assert best.gap <= TOLERANCE * best.loss


@pytest.mark.parametrize("name", ["hinge", "logistic", "absolute"])
def test_a_penalty_is_part_of_the_problem(name: str) -> None:
    for penalty in (Penalty(l1=5.0), Penalty(l2=2.0), Penalty(l1=1.0, l2=3.0), Penalty(l1=1e6)):
        problem = Problem(X, LOSSES[name], penalty)
        best = find_comparator(problem)
        assert best.converged
        assert best.loss == pytest.approx(naive_loss(name, best.weights) + penalty.value(best.weights), rel=1e-9)
        for other in (0.0 * best.weights, 0.9 * best.weights, 1.1 * best.weights, find_without(name)):
            assert problem.loss(other) >= best.loss - best.gap - 1e-9


def find_without(name: str) -> np.ndarray:
    return find_comparator(Problem(X, LOSSES[name])).weights


def test_where_weights_separate_the_rows_the_loss_is_zero() -> None:
    best = find_comparator(Problem(X, SignedRounds("hinge", np.sign(X @ TRUE))))
    assert best.loss <= 1e-4
    assert best.gap <= 1e-4


def test_sparse_rows_are_the_same_rows() -> None:
    sparse = X * (np.random.default_rng(4).random(X.shape) < 0.5)
    pair = [find_comparator(Problem(rows, LOSSES["hinge"])) for rows in (sparse, csr_array(sparse))]
    assert pair[0].loss == pytest.approx(pair[1].loss, rel=2 * TOLERANCE)


def test_a_loss_that_is_not_convex_is_refused() -> None:
    with pytest.raises(BadValue, match="not convex"):
        ClassRounds("squared", CODES, 3)
    with pytest.raises(BadValue, match="no best comparator"):
        SignedRounds("linear", SIGNS)
    with pytest.raises(BadValue, match="no best comparator"):
        TargetRounds("hinge", TARGETS, ONES, ONES)


def test_a_comparator_that_is_not_exact_says_so() -> None:
    assert Comparator(np.zeros((1, 1)), 100.0, 0.009, 1.0).converged
    assert not Comparator(np.zeros((1, 1)), 100.0, 0.011, 1.0).converged


def test_where_equal_weights_have_no_loss_nothing_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> None:
        raise AssertionError("there is nothing to minimise")

    monkeypatch.setattr(Problem, "minimise", refuse)
    best = find_comparator(Problem(X, ClassRounds("perceptron", CODES, 3)), Simplex(1.0))
    assert best.loss == best.gap == 0.0
    assert best.weights.sum() == pytest.approx(1.0)
