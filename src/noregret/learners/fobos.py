"""Forward-backward splitting: a gradient step, then the proximal step of a penalty."""

import math

from noregret.algebra import add, clip_peaks, norm, scale, shorten, shrink
from noregret.learners.gradient import (
    ETA0,
    FOLLOWING,
    SLOPE_ONE,
    constant_rate_regret,
    falling_rate_regret,
    fitting_rate,
    following_regret,
    has_first_rate,
    has_no_first_rate,
)
from noregret.rules.decorators import gradient_rule, schedule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param
from noregret.rules.penalties import squared_penalty
from noregret.rules.row_size import ROW_COUNTERS
from noregret.rules.rule_card import G, P, S
from noregret.state.fields import lazy, lazy_groups, plain, scaled

DUCHI_SINGER_2009 = (
    "Duchi and Singer, Efficient online and batch learning using forward backward splitting, JMLR 10, 2009"
)
LAM = Param(1e-4, at_least=0.0, about="the strength of the penalty", search=(1e-6, 1e-1, "log"))
REGRETS = (
    Guarantee(
        "regularised regret",
        "regret of the loss plus penalty against u <= |u|^2 / (2 eta0) + (eta0 / 2) sum of |g_t|^2",
        "eta0 > 0; a convex loss; any u; all importance weights 1",
        constant_rate_regret,
        options={"schedule": ("constant",)},
        requires=has_first_rate,
    ),
    Guarantee(
        "regularised regret",
        "regret of the loss plus penalty against u <= D^2 sqrt(T) / (2 eta0) + eta0 G^2 (sqrt(T) - 1/2)",
        "eta0 > 0; a convex loss with every |g_t| <= G; any u; D = max |w_t - u|; all importance weights 1",
        falling_rate_regret,
        options={"schedule": ("inv_sqrt",)},
        requires=has_first_rate,
    ),
    Guarantee(
        "regularised regret",
        f"regret of the loss plus penalty against u <= {FOLLOWING}",
        "eta0 = 0; every r <= |z_t| <= R, where z_t is the signed example; any u; D = max |w_t - u|; all importance "
        "weights 1",
        following_regret,
        options={"schedule": ("inv_sqrt",), "loss": SLOPE_ONE},
        requires=has_no_first_rate,
    ),
)


def elastic_net(p: P, norm: float, norm_1: float) -> float:
    """lam |u|_1 + lam2 |u|^2 / 2"""
    return float(p.lam * norm_1 + 0.5 * p.lam2 * norm**2)


def length_penalty(p: P, norm: float, norm_1: float) -> float:
    """lam |u|"""
    return float(p.lam * norm)


AVERAGED = Merge("heuristic", "weights are averaged in proportion to the rounds; zeros of only one are lost", "mix")


@gradient_rule(
    paper=DUCHI_SINGER_2009,
    params={
        "eta0": ETA0,
        "lam": LAM,
        "lam2": Param(
            0.0,
            at_least=0.0,
            about="the strength of an l2 penalty |w|^2 / 2 in addition (elastic net)",
            grid=(0.0, 1e-4, 1e-3, 1e-2, 1e-1),
        ),
        "schedule": schedule("inv_sqrt"),
    },
    state={"w": lazy},
    counters={"kept": 1.0, **ROW_COUNTERS},
    guarantees=REGRETS,
    penalty=elastic_net,
    merge=AVERAGED,
    title="FOBOS",
    default_variant=True,
)
def fobos(p: P, s: S, g: G) -> None:
    """Gradient step, then the proximal step of an l1 penalty, which sets many weights to exactly zero."""
    eta = fitting_rate(p, s, g)
    add(s.w, -eta, g)
    shrink(s.w, eta * p.lam, math.inf)
    scale(s.w, 1.0 / (1.0 + eta * p.lam2))
    s.n.kept /= 1.0 + eta * p.lam2


@gradient_rule(
    needs_mercer_kernel=True,
    paper=DUCHI_SINGER_2009,
    params={"eta0": ETA0, "lam": LAM, "schedule": schedule("inv_sqrt")},
    state={"w": scaled},
    counters=ROW_COUNTERS,
    guarantees=REGRETS,
    penalty=length_penalty,
    merge=AVERAGED,
    title="FOBOS",
)
def fobos_l2(p: P, s: S, g: G) -> None:
    """Gradient step, then the proximal step of a penalty on the norm |w|: all weights become zero together."""
    eta = fitting_rate(p, s, g)
    add(s.w, -eta, g)
    length = norm(s.w, 2.0)
    if length > 0.0:
        scale(s.w, max(0.0, 1.0 - eta * p.lam / length))


@gradient_rule(
    paper=DUCHI_SINGER_2009,
    params={"eta0": ETA0, "lam": LAM, "schedule": schedule("inv_sqrt")},
    state={"w": scaled},
    counters={"kept": 1.0, **ROW_COUNTERS},
    guarantees=REGRETS,
    penalty=squared_penalty,
    merge=AVERAGED,
    title="FOBOS",
)
def fobos_l2_squared(p: P, s: S, g: G) -> None:
    """Gradient step, then the proximal step of an l2 penalty |w|^2 / 2: all weights shrink by one factor."""
    eta = fitting_rate(p, s, g)
    add(s.w, -eta, g)
    scale(s.w, 1.0 / (1.0 + eta * p.lam))
    s.n.kept /= 1.0 + eta * p.lam


@gradient_rule(
    paper=DUCHI_SINGER_2009,
    params={"eta0": ETA0, "lam": LAM, "schedule": schedule("inv_sqrt")},
    state={"w": lazy_groups},
    counters=ROW_COUNTERS,
    guarantees=REGRETS,
    merge=AVERAGED,
    title="FOBOS",
)
def fobos_group(p: P, s: S, g: G) -> None:
    """Gradient step, then the proximal step of a group lasso penalty: a group of weights becomes zero together."""
    eta = fitting_rate(p, s, g)
    add(s.w, -eta, g)
    shorten(s.w, eta * p.lam)


@gradient_rule(
    paper=DUCHI_SINGER_2009,
    params={"eta0": ETA0, "lam": LAM, "schedule": schedule("inv_sqrt")},
    state={"w": plain},
    counters=ROW_COUNTERS,
    guarantees=REGRETS,
    merge=AVERAGED,
    title="FOBOS",
)
def fobos_infinity(p: P, s: S, g: G) -> None:
    """Gradient step, then the proximal step of a penalty on the largest |weight|; every round visits all weights."""
    eta = fitting_rate(p, s, g)
    add(s.w, -eta, g)
    clip_peaks(s.w, eta * p.lam)
