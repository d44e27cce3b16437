"""The theorems of portfolio strategies hold, on streams that come near to them too."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.experts.portfolio.streams import draw_relatives, make
from tests.support.cover import ALL


def regret(learner: Any, relatives: np.ndarray) -> float:
    best = nr.best_constant_portfolio(relatives, native=False).log_wealth
    return best - float(learner.log_wealth)


STREAMS: dict[str, Callable[[int], np.ndarray]] = {
    "random": lambda seed: draw_relatives(100, 2, seed, 0.05 * (1 + seed)),
    "one stock doubles": lambda seed: np.tile([2.0, 1.0], (60 + seed, 1)),
    "taking turns": lambda seed: np.array([[2.0, 0.5], [0.5, 2.0]] * (30 + seed)),
    "first one, then the other": lambda seed: np.array([[2.0, 1.0]] * (600 + seed) + [[1.0, 2.0]] * (600 + seed)),
}


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("seed", range(10 if ALL else 2))
def test_the_universal_portfolio_is_within_its_bound(kind: str, seed: int) -> None:
    relatives = STREAMS[kind](seed)
    learner = make("universal", native=True).learn(relatives)
    bound = learner.bound()
    assert bound.value == pytest.approx(math.log(len(relatives) + 1.0))
    assert -1e-9 <= regret(learner, relatives) <= bound.value + 1e-9


def test_the_bound_of_the_universal_portfolio_is_reached() -> None:
    """Where one stock is worthless in comparison, the regret is exactly ln(T + 1)."""
    relatives = np.tile([1.0, 1e-300], (50, 1))
    learner = make("universal").learn(relatives)
    assert regret(learner, relatives) == pytest.approx(math.log(51.0), rel=1e-12)


def test_numbers_that_differ_by_more_than_a_float_can_hold_are_not_lost() -> None:
    """After 1200 days each stock is ahead of the other by 2^1200 in its half; the integral is symmetric."""
    relatives = np.array([[2.0, 1.0]] * 1200 + [[1.0, 2.0]] * 1200)
    assert make("universal", native=True).learn(relatives).portfolio[0] == pytest.approx(0.5, abs=1e-9)


def test_the_sampled_universal_portfolio_has_the_mean_wealth_of_its_points() -> None:
    points = np.random.default_rng(1).dirichlet(np.ones(4), 50)
    relatives = draw_relatives(80, 4, seed=2, spread=0.2)
    wealth = np.exp(np.log(relatives @ points.T).sum(axis=0))
    assert make("universal", points=points).learn(relatives).wealth == pytest.approx(wealth.mean())
    learner = make("universal", native=True).learn(relatives)
    assert learner.bound() is None
    assert regret(learner, relatives) <= 3.0 * math.log(81.0)


def test_sampling_comes_near_to_the_exact_integral() -> None:
    relatives = draw_relatives(100, 2, seed=3, spread=0.1)
    points = np.random.default_rng(0).dirichlet([1.0, 1.0], 20_000)
    exact, sampled = (
        make("universal", native=True).learn(relatives),
        make("universal", points=points, native=True).learn(relatives),
    )
    assert sampled.wealth == pytest.approx(exact.wealth, rel=0.01)


@pytest.mark.parametrize("stocks", [2, 5])
@pytest.mark.parametrize("kind", ["random", "tuned", "adversarial"])
def test_eg_is_within_its_bound(stocks: int, kind: str) -> None:
    relatives = draw_relatives(150, stocks, seed=stocks, spread=0.2)
    if kind == "adversarial":  # the stock with the least share grows, all others fall
        teacher = make("eg_portfolio", eta=0.5, names=[str(i) for i in range(stocks)])
        rows = []
        for _ in range(150):
            shares = list(teacher.predict_one().values())
            rows.append([1.0 if i == shares.index(min(shares)) else 0.5 for i in range(stocks)])
            teacher.learn([rows[-1]])
        relatives = np.array(rows)
    r = (relatives.min(axis=1) / relatives.max(axis=1)).min()
    eta = 2.0 * r * math.sqrt(2.0 * math.log(stocks) / 150) if kind == "tuned" else 0.5
    learner = make("eg_portfolio", eta=eta).learn(relatives)
    bound = learner.bound()
    assert bound.comparator == "the best constant rebalanced portfolio"
    assert bound.value == pytest.approx(math.log(stocks) / eta + eta * 150 / (8.0 * r**2))
    if kind == "tuned":
        assert bound.value == pytest.approx(math.sqrt(150 * math.log(stocks) / 2.0) / r)
    assert regret(learner, relatives) <= bound.value


def test_the_least_relative_is_that_of_its_day() -> None:
    learner = make("eg_portfolio").learn([[0.5, 0.25], [2.0, 1.5], [0.1, 0.1]])
    assert learner.state.values.n.least == 0.5


def test_the_bound_of_eg_is_infinite_where_a_relative_is_too_small_for_a_ratio() -> None:
    assert make("eg_portfolio").learn([[1e-300, 1e300]]).bound().value == math.inf


def test_buy_and_hold_is_within_ln_m_of_the_best_stock() -> None:
    for seed in range(4):
        relatives = draw_relatives(50, 3, seed, spread=0.3)
        learner = make("buy_and_hold").learn(relatives)
        bound = learner.bound()
        assert (bound.comparator, bound.value) == ("the best stock", math.log(3.0))
        assert nr.best_stock(relatives).log_wealth - learner.log_wealth <= bound.value
    learner = make("buy_and_hold").learn(np.tile([2.0, 1e-300, 1e-300], (50, 1)))
    assert 50 * math.log(2.0) - learner.log_wealth == pytest.approx(math.log(3.0))


def test_theorems_are_about_trading_without_costs() -> None:
    relatives = draw_relatives(10, 2)
    assert make("universal", cost=0.01).learn(relatives).bound() is None


def test_without_clipping_the_step_solves_its_problem_exactly() -> None:
    """The nearest portfolio with b.x = eps, where no share becomes negative."""
    x = np.array([1.02, 1.0, 0.98])
    b = make("pamr", eps=0.999).learn([x]).state.values.b
    assert b @ x == pytest.approx(0.999, abs=1e-12)
    assert b - 1.0 / 3.0 == pytest.approx(-(1.0 - 0.999) / ((x - 1.0) @ (x - 1.0)) * (x - 1.0))
    expected = (1.0 + 1.0 / x) / 2.0
    b = make("olmar", eps=1.001).learn([x]).state.values.b
    assert b @ expected == pytest.approx(1.001, abs=1e-12)
