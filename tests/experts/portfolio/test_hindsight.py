"""The best portfolios in hindsight are optimal, and so is each projection onto the simplex."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import noregret as nr
from noregret.experts.portfolio.hindsight import minimise_on_simplex
from noregret.experts.portfolio.simplex import project
from tests.experts.portfolio.streams import draw_relatives, make
from tests.naive import portfolio as naive
from tests.support.cover import ALL

minimize: Any = optimize.minimize
SIMPLEX: Any = {"type": "eq", "fun": lambda q: q.sum() - 1.0}


def minimise_by_scipy(A: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The minimum of q'A q / 2 - c.q on the simplex, by another solver."""
    m, scale = len(c), float(np.abs(A).max() + np.abs(c).max())
    found = minimize(
        lambda q: (q @ A @ q / 2.0 - c @ q) / scale,
        np.full(m, 1.0 / m),
        jac=lambda q: (A @ q - c) / scale,
        bounds=[(0.0, 1.0)] * m,
        constraints=[SIMPLEX],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return np.asarray(found.x)


def maximise_by_scipy(relatives: np.ndarray) -> float:
    """The wealth of the best constant rebalanced portfolio, by another solver."""
    m = relatives.shape[1]
    found = minimize(
        lambda b: -np.log(relatives @ b).mean(),
        np.full(m, 1.0 / m),
        jac=lambda b: -(relatives / (relatives @ b)[:, None]).mean(axis=0),
        bounds=[(0.0, 1.0)] * m,
        constraints=[SIMPLEX],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return float(-found.fun * len(relatives))


@pytest.mark.parametrize("seed", range(20 if ALL else 5))
def test_no_constant_portfolio_is_better_than_the_best_one(seed: int) -> None:
    relatives = draw_relatives(50 + 40 * seed, 2 + seed % 7, seed, spread=0.01 * (1 + seed) ** 2)
    found = nr.best_constant_portfolio(relatives, native=False)
    assert found.gap <= 1e-12
    assert found.portfolio.min() >= 0.0
    assert found.portfolio.sum() == pytest.approx(1.0, abs=1e-12)
    assert found.log_wealth == pytest.approx(np.log(relatives @ found.portfolio).sum(), abs=1e-10)
    assert found.log_wealth == pytest.approx(maximise_by_scipy(relatives), abs=1e-7)


def test_the_gap_bounds_what_any_portfolio_could_gain() -> None:
    relatives = draw_relatives(30, 4, seed=3)
    gap = nr.best_stock(relatives).gap
    best, stock = nr.best_constant_portfolio(relatives), nr.best_stock(relatives)
    assert best.log_wealth <= stock.log_wealth + gap * 30 + 1e-12
    assert gap == pytest.approx(max((relatives[:, i] / (relatives @ stock.portfolio)).mean() for i in range(4)) - 1.0)


def test_the_best_portfolio_of_edge_cases() -> None:
    flat = nr.best_constant_portfolio([[1.0, 1.0], [1.0, 1.0]])
    assert flat.wealth == 1.0
    twins = nr.best_constant_portfolio(np.repeat(draw_relatives(20, 2), 2, axis=1))  # two pairs of equal stocks
    assert twins.gap <= 1e-12
    assert twins.wealth == pytest.approx(nr.best_constant_portfolio(draw_relatives(20, 2)).wealth, rel=1e-12)
    one_day = nr.best_constant_portfolio([{"a": 0.5, "b": 2.0, "c": 1.0}])
    assert one_day.shares == {"b": 1.0}
    few = nr.best_constant_portfolio(draw_relatives(3, 8))  # more stocks than days
    assert few.gap <= 1e-12
    halved = nr.best_constant_portfolio([[1.0, 2.0], [1.0, 0.5]] * 50)
    assert halved.wealth == pytest.approx(1.125**50)
    wild = nr.best_constant_portfolio(draw_relatives(200, 5, spread=5.0))
    assert wild.gap <= 1e-9
    with pytest.raises(nr.BadValue, match="there are no days"):
        nr.best_constant_portfolio(np.zeros((0, 2)))


def test_plain_python_and_compiled_code_find_the_same_portfolio() -> None:
    relatives = draw_relatives(40, 4, seed=9)
    one, other = (nr.best_constant_portfolio(relatives, native=native) for native in (True, False))
    assert one.portfolio.tolist() == other.portfolio.tolist()


def test_the_best_stock_is_the_one_that_grew_most() -> None:
    found = nr.best_stock([{"a": 1.5, "b": 1.1}, {"a": 0.5, "b": 1.1}])
    assert found.shares == {"b": 1.0}
    assert found.wealth == pytest.approx(1.21)


@pytest.mark.parametrize("seed", range(60 if ALL else 12))
def test_quadratics_are_minimised_on_the_simplex(seed: int) -> None:
    draws = np.random.default_rng(seed)
    m = 1 + seed % 6
    root = draws.standard_normal((m, m))
    A, c = root @ root.T + np.eye(m) * 10.0 ** -(seed % 4), 10.0 ** (seed % 3) * draws.standard_normal(m)
    q = naive.project(draws.standard_normal(m))  # any start leads to the same point
    minimise_on_simplex(A, c, q, native=False)
    assert np.abs(q - naive.minimise(A, c)).max() < 1e-8
    assert q.sum() == pytest.approx(1.0, abs=1e-14)
    slopes = A @ q - c  # equal where a share is above 0, and nowhere less
    assert (slopes - slopes[q > 0.0].max()).min() > -1e-10 * (1.0 + np.abs(c).max())
    assert np.abs(q - minimise_by_scipy(A, c)).max() < 1e-5


def test_what_has_no_minimum_is_refused() -> None:
    with pytest.raises(nr.Error, match="was not found"):
        minimise_on_simplex(np.full((2, 2), np.nan), np.ones(2), np.full(2, 0.5), native=False)


def test_the_step_of_ons_is_the_projection_in_its_norm() -> None:
    """b is the portfolio nearest to delta A^-1 z by the norm of A, as the paper states it."""
    relatives = draw_relatives(15, 4, seed=5, spread=0.3)
    learner = make("ons").learn(relatives)
    s = learner.state.values
    assert np.allclose(s.A, np.eye(4) + sum(np.outer(g, g) for g in relatives / portfolios_dot(relatives)))
    centre = np.linalg.solve(s.A, 0.125 * 2.0 * s.sums)
    assert np.abs(s.b - minimise_by_scipy(2.0 * s.A, 2.0 * s.A @ centre)).max() < 1e-6


def portfolios_dot(relatives: np.ndarray) -> np.ndarray:
    """What the portfolios of ONS grew by on every day, as a column."""
    played = make("ons").play(relatives).predictions
    return np.asarray((played * relatives).sum(axis=1)[:, None])


@pytest.mark.parametrize("seed", range(8))
def test_projections_are_those_found_by_sorting(seed: int) -> None:
    v = np.random.default_rng(seed).standard_normal(1 + seed) * 10.0 ** (seed - 2)
    expected = naive.project(v)
    project(v)
    assert np.abs(v - expected).max() < 1e-12 * 10.0 ** max(seed - 2, 0)
