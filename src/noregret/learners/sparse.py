"""Sparse learners: weights that are exactly zero unless the data insist."""

import math

from noregret.algebra import add, at
from noregret.card import G, Guarantee, Merge, P, Param, S, gradient_rule
from noregret.state import plain

XIAO_2010 = "Xiao, Dual averaging methods for regularized stochastic learning and online optimization, JMLR 11, 2010"


def rda_regret(size: float, largest_gradient: float, rounds: float, gamma: float) -> float:
    """(gamma |u|^2 / 2 + G^2 / gamma) sqrt(T)"""
    return (0.5 * gamma * size**2 + largest_gradient**2 / gamma) * math.sqrt(rounds)


def rda_weight(p: P, s: S, j: int) -> float:
    """The weight that the mean gradient alone decides: zero unless it exceeds lam."""
    mean = at(s.G, j) / max(s.n.t, 1.0)
    if abs(mean) <= p.lam:
        return 0.0
    return float(-math.sqrt(s.n.t) / p.gamma * (mean - math.copysign(p.lam, mean)))


@gradient_rule(
    paper=XIAO_2010,
    params={
        "lam": Param(1e-3, at_least=0.0, about="mean gradients up to this size leave a weight at zero"),
        "gamma": Param(1.0, above=0.0, about="the larger, the closer to zero all weights stay"),
    },
    state={"G": plain},
    weight=rda_weight,
    guarantee=Guarantee(
        "regret of the regularised loss against u <= (gamma |u|^2 / 2 + G^2 / gamma) sqrt(T)",
        "a convex loss with every |g| <= G; any u; all weights 1",
        rda_regret,
    ),
    merge=Merge("exact", "the sums of gradients add, and so do the rounds", "add"),
    title="RDA",
    shown=True,
)
def rda(p: P, s: S, g: G) -> None:
    """Sum the gradients; the weights are what minimises their mean plus an l1 penalty."""
    add(s.G, 1.0, g)
