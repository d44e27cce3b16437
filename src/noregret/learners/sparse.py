"""Regularised dual averaging: weights are a closed form of the mean gradient, and many are exactly zero."""

import math

from noregret.algebra import add, at, sqsource
from noregret.algebra.verbs import unbound
from noregret.rules.decorators import gradient_rule
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.merge_law import Merge
from noregret.rules.own_functions import Own
from noregret.rules.parameters import Choice, Param
from noregret.rules.penalties import l1_penalty
from noregret.rules.row_size import ROW_COUNTERS, count_row, row_size, unit_of_weights
from noregret.rules.rule_card import G, P, S
from noregret.state.fields import plain

XIAO_2010 = "Xiao, Dual averaging methods for regularized stochastic learning and online optimization, JMLR 11, 2010"
LAM = Param(1e-4, at_least=0.0, about="the strength of the l1 penalty", search=(1e-6, 1e-1, "log"))
GAMMA = Param(
    0.0,
    at_least=0.0,
    about="the weight of the proximal term: larger values keep the weights smaller; 0 stands for S / 32, where "
    "S is the geometric mean of |x|^2 so far",
    search=(1e-1, 5e3, "log"),
    measured=5.0,
)
SUMMED = Merge("exact", "the sums of gradients add, and so do the rounds", "add")


def rda_regret(p: P, norm: float, largest_gradient: float, rounds: float) -> float:
    """(gamma |u|^2 / 2 + G^2 / gamma) sqrt(T)"""
    return float((0.5 * p.gamma * norm**2 + over(largest_gradient**2, p.gamma)) * math.sqrt(rounds))


def has_gamma(p: P) -> str | None:
    return None if p.gamma > 0.0 else "it is proved for a gamma above 0"


def strength(p: P, s: S) -> float:
    """gamma or, where it is 0, one that follows the rows, which are counted only then."""
    return float(p.gamma + row_size(s) / 32.0)


def beyond(s: S, j: int, lam: float, factor: float) -> float:
    """Soft thresholding of the mean gradient by lam, times a factor."""
    mean = at(s.G, j) / max(s.n.t, 1.0)
    if abs(mean) <= lam:
        return 0.0
    return float(factor * (mean - math.copysign(lam, mean)))


pace = own_beta = unbound


def root_pace(p: P, s: S) -> float:
    """t / beta_t for beta_t = gamma sqrt(t)."""
    return float(math.sqrt(s.n.t) / strength(p, s))


def own_pace(p: P, s: S) -> float:
    """t / beta_t for a sequence beta_t of the caller."""
    return float(s.n.t / own_beta(p, s.n.t)) if s.n.t > 0.0 else 0.0


BETA = Choice(
    "sqrt",
    {"sqrt": root_pace},
    "the sequence beta_t of the proximal term (beta_t / t) |w|^2 / 2: gamma sqrt(t), or any that is positive",
    binds="pace",
    own=Own(("p", "t"), through=own_pace, binds="own_beta"),
)


def rda_weight(p: P, s: S, j: int) -> float:
    """Zero unless the mean gradient exceeds lam."""
    return beyond(s, j, p.lam, -pace(p, s))


@gradient_rule(
    paper=XIAO_2010,
    params={
        "lam": LAM,
        "gamma": GAMMA,
        "beta": BETA,
    },
    state={"G": plain},
    counters=ROW_COUNTERS,
    weight=rda_weight,
    penalty=l1_penalty,
    guarantees=(
        Guarantee(
            "regularised regret",
            "regret of the loss plus penalty against u <= (gamma |u|^2 / 2 + G^2 / gamma) sqrt(T)",
            "gamma > 0; a convex loss with every |g_t| <= G; any u; all importance weights 1",
            rda_regret,
            options={"beta": ("sqrt",)},
            requires=has_gamma,
        ),
    ),
    merge=SUMMED,
    title="RDA",
    default_variant=True,
    runs_by_default=True,
)
def rda(p: P, s: S, g: G) -> None:
    """Regularised dual averaging: the weights minimise the mean gradient plus an l1 penalty."""
    if p.gamma == 0.0:
        count_row(s, sqsource(g))
    add(s.G, 1.0, g)


def enhanced_regret(p: P, norm: float, norm_1: float, largest_gradient: float, rounds: float) -> float:
    """(gamma (|u|^2 / 2 + rho |u|_1) + G^2 / gamma) sqrt(T)"""
    return rda_regret(p, norm, largest_gradient, rounds) + float(p.gamma * p.rho * norm_1 * math.sqrt(rounds))


def enhanced_weight(p: P, s: S, j: int) -> float:
    """As in RDA, with a threshold that is larger by rho beta_t / t."""
    factor, rho = pace(p, s), p.rho * unit_of_weights(s)  # rows are counted where gamma is 0
    return beyond(s, j, p.lam + rho / factor, -factor) if factor > 0.0 else 0.0


@gradient_rule(
    paper=XIAO_2010,
    params={
        "lam": LAM,
        "gamma": GAMMA,
        "rho": Param(
            0.005,
            at_least=0.0,
            about="the l1 part of the proximal term, which matters in early rounds; 0 is plain RDA; where gamma is 0, "
            "it is over the root of S",
            search=(1e-4, 1e-1, "log"),
        ),
        "beta": BETA,
    },
    state={"G": plain},
    counters=ROW_COUNTERS,
    weight=enhanced_weight,
    penalty=l1_penalty,
    guarantees=(
        Guarantee(
            "regularised regret",
            "regret of the loss plus penalty against u <= (gamma (|u|^2 / 2 + rho |u|_1) + G^2 / gamma) sqrt(T)",
            "gamma > 0; a convex loss with every |g_t| <= G; any u; all importance weights 1",
            enhanced_regret,
            options={"beta": ("sqrt",)},
            requires=has_gamma,
        ),
    ),
    merge=SUMMED,
    title="RDA",
)
def rda_enhanced(p: P, s: S, g: G) -> None:
    """RDA with an l1 part in its proximal term, for sparser weights in early rounds."""
    if p.gamma == 0.0:
        count_row(s, sqsource(g))
    add(s.G, 1.0, g)


def strongly_convex_regret(p: P, largest_gradient: float, rounds: float) -> float:
    """(G^2 / (2 s)) (6 + ln T)"""
    return over(largest_gradient**2, 2.0 * p.s) * (6.0 + math.log(rounds))


def strongly_convex_weight(p: P, s: S, j: int) -> float:
    """The minimiser of the mean gradient plus the penalty, without a proximal term."""
    return beyond(s, j, p.lam, -1.0 / (p.s + 1e-3 * row_size(s)))


def has_strength(p: P) -> str | None:
    return None if p.s > 0.0 else "it is proved for an s above 0"


def strongly_convex_penalty(p: P, norm: float, norm_1: float) -> float:
    """lam |u|_1 + s |u|^2 / 2"""
    return float(p.lam * norm_1 + 0.5 * p.s * norm**2)


@gradient_rule(
    paper=XIAO_2010,
    params={
        "lam": LAM,
        "s": Param(
            0.0,
            at_least=0.0,
            about="the strength of the l2 penalty |w|^2 / 2; 0 stands for S / 1000, where S is the geometric "
            "mean of |x|^2 so far",
            search=(1e-4, 1e2, "log"),
            measured=0.3,
        ),
    },
    state={"G": plain},
    counters=ROW_COUNTERS,
    weight=strongly_convex_weight,
    penalty=strongly_convex_penalty,
    guarantees=(
        Guarantee(
            "regularised regret",
            "regret of the loss plus penalty against u <= (G^2 / (2 s)) (6 + ln T)",
            "s > 0; a convex loss with every |g_t| <= G, and the penalty lam |w|_1 + (s / 2) |w|^2; any u; all "
            "importance weights 1",
            strongly_convex_regret,
            requires=has_strength,
        ),
    ),
    merge=SUMMED,
    title="RDA",
)
def rda_strongly_convex(p: P, s: S, g: G) -> None:
    """RDA with an elastic net penalty, whose regret grows only with the logarithm of the rounds."""
    if p.s == 0.0:
        count_row(s, sqsource(g))
    add(s.G, 1.0, g)
