"""Losses of pairs of scores, and the best fixed centre: their bounds are proofs, and their values the definitions."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from noregret.metrics.centre_comparator import CentreProblem, find_centre
from noregret.metrics.comparator import find_comparator
from noregret.metrics.comparator_problem import Problem
from noregret.metrics.pair_losses import PairLosses, Pairs, pair_up

rng = np.random.default_rng(2)
SIZES = (3, 0, 1, 5)
GROUPS = [(rng.integers(0, 20, size), rng.integers(0, 20, size)) for size in SIZES]
PAIRS = pair_up([one for one, _ in GROUPS], [two for _, two in GROUPS], [0, 0, 1, 1], 3)
VALUES: dict[str, Any] = {
    "hinge": lambda m: np.maximum(0.0, 1.0 - m),
    "perceptron": lambda m: np.maximum(0.0, -m),
    "logistic": lambda m: np.log1p(np.exp(-m)),
    "squared_hinge": lambda m: np.maximum(0.0, 1.0 - m) ** 2,
}


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("loss", VALUES)
def test_the_loss_of_a_round_is_that_of_its_groups(loss: str, mean: bool) -> None:
    losses = PairLosses(loss, PAIRS, 2, mean)
    scores = rng.normal(size=(10, 2))
    each = [VALUES[loss](scores.reshape(-1)[one] - scores.reshape(-1)[two]) for one, two in GROUPS]
    found = [float(one.mean() if mean else one.max()) if one.size else 0.0 for one in each]
    assert losses.each(scores) == pytest.approx([found[0] + found[1], found[2] + found[3], 0.0])
    assert losses.tangent(scores, 0.1).loss == pytest.approx(sum(found))


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("loss", VALUES)
def test_tangents_lie_below_and_slopes_are_those_of_the_smooth_loss(loss: str, mean: bool) -> None:
    losses = PairLosses(loss, PAIRS, 2, mean)
    for temperature in (2.0, 0.1):
        at = rng.normal(size=(10, 2))
        tangent = losses.tangent(at, temperature)
        for scale in (0.1, 1.0, 30.0):
            scores = scale * rng.normal(size=(10, 2))
            assert losses.each(scores).sum() >= tangent.constant + (tangent.slopes * scores).sum() - 1e-9
    direction, step = rng.normal(size=(10, 2)), 1e-6
    ahead, behind = (losses.tangent(at + sign * step * direction, 0.5).smooth for sign in (1.0, -1.0))
    slope = (losses.tangent(at, 0.5).slopes * direction).sum()
    assert slope == pytest.approx((ahead - behind) / (2.0 * step), rel=1e-4)


def test_rounds_without_pairs_cost_nothing() -> None:
    nothing = np.zeros(0, np.int64)
    losses = PairLosses("hinge", Pairs(nothing, nothing, nothing, nothing, 4), 1)
    best = find_comparator(Problem(np.ones((4, 2)), losses))
    assert best.loss == best.gap == 0.0
    assert losses.each(np.zeros(4)).tolist() == [0.0] * 4


@pytest.mark.parametrize("radius", [0.0, 1.5, 100.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_no_centre_is_better_than_the_best_by_more_than_its_gap(radius: float, sparse: bool) -> None:
    X = rng.normal(size=(60, 3)) * [1.0, 2.0, 0.5] + [3.0, 0.0, -1.0]
    problem = CentreProblem(csr_array(X) if sparse else X, radius)
    best = find_centre(problem)
    assert best.converged

    def loss(centre: Any) -> float:
        return float(np.maximum(0.0, np.linalg.norm(X - centre, axis=1) - radius).sum())

    assert best.loss == pytest.approx(loss(best.weights[:, 0]), abs=1e-9)
    solver: Any = minimize
    other = solver(loss, X.mean(axis=0), method="Nelder-Mead", options={"maxiter": 2000, "xatol": 1e-7}).fun
    assert best.loss - best.gap - 1e-9 <= other
    assert best.loss <= other + best.gap + 1e-9


def test_without_rows_any_centre_will_do() -> None:
    assert find_centre(CentreProblem(np.zeros((0, 2)), 1.0)).loss == 0.0
