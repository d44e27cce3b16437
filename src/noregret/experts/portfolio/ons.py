"""The online Newton step."""

from typing import Any

from noregret.experts.portfolio.card import Array, per_stock, portfolio_strategy, square
from noregret.experts.portfolio.simplex import minimise
from noregret.rules.parameters import Param


@portfolio_strategy(
    paper="Agarwal, Hazan, Kale and Schapire, Algorithms for portfolio management based on the Newton method, "
    "ICML 2006",
    title="OnlineNewtonStep",
    params={
        "beta": Param(1.0, above=0.0, about="how far the gradients are trusted", search=(0.01, 10.0, "log")),
        "delta": Param(0.125, above=0.0, about="the factor of the Newton step", search=(0.001, 10.0, "log")),
        "eta": Param(
            0.0, at_least=0.0, at_most=1.0, about="the share of wealth in the uniform portfolio", grid=(0.0, 0.01, 0.1)
        ),
    },
    arrays={
        "A": square(identity=True),
        "sums": per_stock(0.0),
        "q": per_stock(0.0),
        "target": per_stock(0.0),
        "factor": square(scratch=True),
        "work": Array(lambda stocks, days, params: (4, stocks), scratch=True),
    },
)
def ons(p: Any, s: Any, x: Any, growth: float) -> None:
    """Go to the maximum of a quadratic model of the logarithm of wealth, made of the gradients of all days.

    No theorem is known for its usual constants; with others, regret grows with the logarithm of the number of days.
    """
    m = x.size
    for i in range(m):
        s.sums[i] += x[i] / growth
        for j in range(m):
            s.A[i, j] += (x[i] / growth) * (x[j] / growth)
        s.target[i] = p.delta * (1.0 + 1.0 / p.beta) * s.sums[i]
        if s.n.t == 0.0:
            s.q[i] = 1.0 / m
    minimise(s.A, s.target, s.q, s.factor, s.work)
    for i in range(m):
        s.b[i] = (1.0 - p.eta) * s.q[i] + p.eta / m
