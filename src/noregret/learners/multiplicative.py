"""Multiplicative learners: weights move by a factor, so that irrelevant features cost only a logarithm."""

import math

from noregret.algebra import dot, extent, multiply
from noregret.card import Guarantee, Merge, P, Param, S, X, Z, margin_rule
from noregret.state import positive

LITTLESTONE_1988 = "Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988"
TIE = 5e-324  # a sum of exactly theta counts as positive


def winnow_bound(features: float, relevant: float) -> float:
    """Promotions are at most k ceil(log2 n) = u, demotions under 2 (u + 1)."""
    return 3.0 * relevant * math.ceil(math.log2(features)) + 2.0


def winnow_score(p: P, s: S, x: X) -> float:
    """w.x against the threshold."""
    theta = p.theta if p.theta > 0.0 else max(s.n.features, extent(x))
    return float(dot(s.w, x) - theta + TIE)


@margin_rule(
    paper=LITTLESTONE_1988,
    params={
        "alpha": Param(2.0, above=1.0, about="the factor of a promotion or demotion"),
        "theta": Param(0.0, at_least=0.0, about="the threshold; 0 stands for the number of features seen so far"),
    },
    state={"w": positive},
    counters={"features": 0.0},
    score=winnow_score,
    guarantee=Guarantee(
        "mistakes < 3 k ceil(log2 n) + 2",
        "x in {0,1}^n, y an or of k of the n features, alpha = 2, theta = n",
        winnow_bound,
    ),
    merge=Merge(
        "exact",
        "the exponents of the weights add: promotions and demotions are pooled; no bound is claimed",
        "add",
    ),
    shown=True,
)
def winnow(p: P, s: S, z: Z, margin: float) -> bool:
    """Promote the active features of a missed positive, demote those of a false alarm."""
    s.n.features = max(s.n.features, extent(z))
    if margin <= 0.0:
        multiply(s.w, p.alpha, z)
        return True
    return False
