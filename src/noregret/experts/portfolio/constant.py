"""Portfolios that do not learn: buy and hold, and the constant rebalanced portfolio."""

import math
from typing import Any

from noregret.experts.portfolio.card import portfolio_strategy
from noregret.rules.guarantee import Guarantee

COVER_1991 = "Cover, Universal portfolios, Mathematical Finance 1, 1991"


def hold_regret(p: Any, experts: float) -> float:
    """ln m"""
    return math.log(experts)


@portfolio_strategy(
    paper=COVER_1991,
    takes_portfolio=True,
    guarantees=(
        Guarantee(
            "regret",
            "ln wealth >= ln wealth of the best of m stocks - ln m",
            "the same amount is put into every stock on the first day; no costs",
            hold_regret,
        ),
    ),
    exact=lambda stocks, state: state.n.given == 0.0,
    counters={"given": 0.0},
)
def buy_and_hold(p: Any, s: Any, x: Any, growth: float) -> None:
    """Buy a portfolio on the first day, uniform unless one is given, and never trade again."""
    for i in range(x.size):
        s.b[i] = s.held[i]


@portfolio_strategy(paper=COVER_1991, takes_portfolio=True, counters={"given": 0.0}, title="ConstantRebalanced")
def crp(p: Any, s: Any, x: Any, growth: float) -> None:
    """Rebalance every day to the same portfolio, uniform unless one is given.

    No theorem is known: which portfolio is good is known only in hindsight.
    """
