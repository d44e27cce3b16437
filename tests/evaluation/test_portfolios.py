"""Races of portfolio strategies: what is measured, and that hindsight is always marked."""

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.evaluation.portfolios import PortfolioRace
from tests.experts.portfolio.streams import draw_relatives, make

RELATIVES = draw_relatives(50, 3, seed=4)
ONLINE = ["crp", "eg_portfolio(eta=0.1)"]


def race(*names: str, **options: Any) -> PortfolioRace:
    return nr.race_portfolios(RELATIVES, list(names), native=False, **options)


def test_measures_are_those_of_the_daily_factors() -> None:
    found = race("crp", cost=0.01, per_year=250)
    learner = make("crp", cost=0.01)
    factors = np.exp(-learner.play(RELATIVES).losses)
    one = found.report()["strategies"][0]
    assert found.wealth["crp"] == pytest.approx(factors.prod(), rel=1e-12)
    assert found.curve["crp"] == pytest.approx(np.cumprod(factors), rel=1e-12)
    assert one["growth"] == pytest.approx(factors.prod() ** (250 / 50) - 1.0)
    assert one["sharpe"] == pytest.approx((factors - 1.0).mean() / (factors - 1.0).std(ddof=1) * math.sqrt(250))
    curve = np.concatenate([[1.0], np.cumprod(factors)])
    assert one["drawdown"] == pytest.approx(max(1.0 - curve[t] / curve[: t + 1].max() for t in range(51)))
    best = nr.best_constant_portfolio(RELATIVES)
    rebalanced = make("crp", cost=0.01, portfolio=best.portfolio).learn(RELATIVES)
    assert one["regret"] == pytest.approx(rebalanced.log_wealth - math.log(factors.prod()))


def test_without_costs_regret_is_to_the_wealth_of_the_best_portfolio() -> None:
    found = race("crp", "bcrp")
    best = nr.best_constant_portfolio(RELATIVES)
    assert found.wealth["bcrp"] == pytest.approx(best.wealth, rel=1e-12)
    assert found.regret("bcrp") == 0.0
    assert found.regret("crp") == pytest.approx(best.log_wealth - math.log(found.wealth["crp"]))
    assert found.report()["best_constant_portfolio"]["gap"] <= 1e-12


def test_hindsight_never_looks_like_a_strategy() -> None:
    found = race(*ONLINE, "bcrp", "best_stock")
    assert [one["name"] for one in found.report()["strategies"] if one["hindsight"]] == ["bcrp", "best_stock"]
    before, marked, after = str(found).partition("chosen in hindsight")
    assert marked
    assert "bcrp" not in before
    assert "best_stock" not in before
    assert all(f"\n{name}" in before and f"\n{name}" not in after for name in ONLINE)
    alone = str(race("bcrp"))
    assert alone.startswith("hindsight")
    for name in ("bcrp", "best_stock"):
        with pytest.raises(nr.BadValue):
            nr.make(name)
    legend = [text.get_text() for text in nr.plots.portfolios(found).axes[0].get_legend().get_texts()]
    assert sorted(legend) == ["bcrp (hindsight)", "best_stock (hindsight)", *ONLINE]


def test_prices_are_turned_into_relatives() -> None:
    prices = 7.0 * np.vstack([np.ones(3), np.cumprod(RELATIVES, axis=0)])
    days = [f"d{t}" for t in range(51)]
    found = nr.race_portfolios(prices, ["crp"], prices=True, days=days, native=False)
    assert found.wealth["crp"] == pytest.approx(race("crp").wealth["crp"], rel=1e-10)
    assert found.days == days[1:]
    with pytest.raises(nr.BadValue, match="there are 50 days and 3 labels"):
        race("crp", days=["a", "b", "c"])
    with pytest.raises(nr.BadValue, match="name at least one strategy"):
        race()
    with pytest.raises(nr.BadValue, match="there are no days"):
        nr.race_portfolios(np.zeros((0, 3)), ["crp"])


def test_a_constant_market_has_no_sharpe_ratio_and_no_drawdown() -> None:
    found = nr.race_portfolios(np.ones((5, 2)), ["crp"], native=False)
    (one,) = found.report()["strategies"]
    assert (one["wealth"], one["sharpe"], one["drawdown"], one["regret"]) == (1.0, None, 0.0, 0.0)
    assert " - " in str(found)
