"""Sparse learners: weights that are exactly zero unless the data insist."""

import math

from noregret.algebra import add, at
from noregret.rules.card import G, Guarantee, Merge, P, Param, S, gradient_rule
from noregret.state.fields import plain

XIAO_2010 = "Xiao, Dual averaging methods for regularized stochastic learning and online optimization, JMLR 11, 2010"
LAM = Param(1e-3, at_least=0.0, about="mean gradients up to this size leave a weight at zero")
GAMMA = Param(1.0, above=0.0, about="the larger, the closer to zero all weights stay")
SUMMED = Merge("exact", "the sums of gradients add, and so do the rounds", "add")


def rda_regret(size: float, largest_gradient: float, rounds: float, gamma: float) -> float:
    """(gamma |u|^2 / 2 + G^2 / gamma) sqrt(T)"""
    return (0.5 * gamma * size**2 + largest_gradient**2 / gamma) * math.sqrt(rounds)


def beyond(s: S, j: int, lam: float, factor: float) -> float:
    """The mean gradient as far as it exceeds lam, times a factor."""
    mean = at(s.G, j) / max(s.n.t, 1.0)
    if abs(mean) <= lam:
        return 0.0
    return float(factor * (mean - math.copysign(lam, mean)))


def rda_weight(p: P, s: S, j: int) -> float:
    """The weight that the mean gradient alone decides: zero unless it exceeds lam."""
    return beyond(s, j, p.lam, -math.sqrt(s.n.t) / p.gamma)


@gradient_rule(
    paper=XIAO_2010,
    params={"lam": LAM, "gamma": GAMMA},
    state={"G": plain},
    weight=rda_weight,
    guarantee=Guarantee(
        "regret of the regularised loss against u <= (gamma |u|^2 / 2 + G^2 / gamma) sqrt(T)",
        "a convex loss with every |g| <= G; any u; all weights 1",
        rda_regret,
    ),
    merge=SUMMED,
    title="RDA",
    leads=True,
    shown=True,
)
def rda(p: P, s: S, g: G) -> None:
    """Sum the gradients; the weights are what minimises their mean plus an l1 penalty."""
    add(s.G, 1.0, g)


def enhanced_regret(
    size: float, sum_of_sizes: float, largest_gradient: float, rounds: float, gamma: float, rho: float
) -> float:
    """(gamma (|u|^2 / 2 + rho |u|_1) + G^2 / gamma) sqrt(T)"""
    return rda_regret(size, largest_gradient, rounds, gamma) + gamma * rho * sum_of_sizes * math.sqrt(rounds)


def enhanced_weight(p: P, s: S, j: int) -> float:
    """As without rho, with more to exceed in early rounds."""
    root = math.sqrt(max(s.n.t, 1.0))
    return beyond(s, j, p.lam + p.gamma * p.rho / root, -root / p.gamma)


@gradient_rule(
    paper=XIAO_2010,
    params={
        "lam": LAM,
        "gamma": GAMMA,
        "rho": Param(0.005, at_least=0.0, about="how much more the early mean gradients must exceed; 0 is plain RDA"),
    },
    state={"G": plain},
    weight=enhanced_weight,
    guarantee=Guarantee(
        "regret of the regularised loss against u <= (gamma (|u|^2 / 2 + rho |u|_1) + G^2 / gamma) sqrt(T)",
        "a convex loss with every |g| <= G; any u; all weights 1",
        enhanced_regret,
    ),
    merge=SUMMED,
    title="RDA",
)
def rda_enhanced(p: P, s: S, g: G) -> None:
    """Sum the gradients as RDA does; an l1 part of the proximal term makes the weights sparser still."""
    add(s.G, 1.0, g)


def strongly_convex_regret(largest_gradient: float, rounds: float, s: float) -> float:
    """(G^2 / (2 s)) (6 + ln T)"""
    return largest_gradient**2 / (2.0 * s) * (6.0 + math.log(rounds))


def strongly_convex_weight(p: P, s: S, j: int) -> float:
    """The minimiser of the mean gradient and the penalty: no proximal term is needed."""
    return beyond(s, j, p.lam, -1.0 / p.s)


@gradient_rule(
    paper=XIAO_2010,
    params={"lam": LAM, "s": Param(1.0, above=0.0, about="how much |w|^2 / 2 weighs beside the loss")},
    state={"G": plain},
    weight=strongly_convex_weight,
    guarantee=Guarantee(
        "regret of the regularised loss against u <= (G^2 / (2 s)) (6 + ln T)",
        "a convex loss with every |g| <= G, and the penalty lam |w|_1 + (s / 2) |w|^2; any u; all weights 1",
        strongly_convex_regret,
    ),
    merge=SUMMED,
    title="RDA",
)
def rda_strongly_convex(p: P, s: S, g: G) -> None:
    """Sum the gradients; the weights minimise their mean plus an elastic net, with regret of the order ln T."""
    add(s.G, 1.0, g)
