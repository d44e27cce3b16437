"""The exponentiated gradient portfolio."""

import math
from typing import Any

from noregret.experts.portfolio.card import per_stock, portfolio_strategy
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.parameters import Param


def eg_regret(p: Any, experts: float, rounds: float, least_relative: float) -> float:
    """ln m / eta + eta T / (8 r^2)"""
    return float(math.log(experts) / p.eta) + over(p.eta * rounds, 8.0 * least_relative**2)


@portfolio_strategy(
    paper="Helmbold, Schapire, Singer and Warmuth, On-line portfolio selection using multiplicative updates, "
    "Mathematical Finance 8, 1998",
    title="EGPortfolio",
    params={
        "eta": Param(
            0.05,
            above=0.0,
            about="the learning rate; best for T days of m stocks: 2 r sqrt(2 ln m / T), r as in the theorem",
            search=(0.001, 10.0, "log"),
        )
    },
    arrays={"sums": per_stock(0.0)},
    guarantees=(
        Guarantee(
            "regret",
            "ln wealth >= ln wealth of the best constant rebalanced portfolio - ln m / eta - eta T / (8 r^2); with "
            "eta = 2 r sqrt(2 ln m / T): - sqrt(T ln m / 2) / r",
            "no price relative is below r times the largest of its day; no costs",
            eg_regret,
            comparator="simplex",
        ),
    ),
)
def eg_portfolio(p: Any, s: Any, x: Any, growth: float) -> None:
    """Multiply the share of every stock by exp(eta x / growth), the gradient of the growth of wealth."""
    largest, total = -math.inf, 0.0
    for i in range(x.size):
        s.sums[i] += p.eta * x[i] / growth
        largest = max(largest, s.sums[i])
    for i in range(x.size):
        s.b[i] = math.exp(s.sums[i] - largest)
        total += s.b[i]
    for i in range(x.size):
        s.b[i] /= total
