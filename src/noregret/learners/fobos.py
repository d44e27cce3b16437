"""Forward-backward splitting: a step against the slope, then the best compromise between staying and a penalty."""

import math

from noregret.algebra import add, clip_peaks, norm, scale, shorten, shrink
from noregret.learners.gradient import constant_rate_regret
from noregret.rules.card import G, Guarantee, Merge, P, Param, S, gradient_rule, schedule
from noregret.rules.schedules import rate
from noregret.state.fields import lazy, lazy_groups, plain, scaled

DUCHI_SINGER_2009 = (
    "Duchi and Singer, Efficient online and batch learning using forward backward splitting, JMLR 10, 2009"
)
ETA0 = Param(0.1, above=0.0, about="the rate of the first round")
LAM = Param(1e-3, at_least=0.0, about="how much the penalty weighs beside the loss")
REGRET = Guarantee(
    "regret of the loss with its penalty against u <= |u|^2 / (2 eta) + (eta / 2) sum of |g_t|^2",
    "a convex loss, schedule constant; any u; all weights 1",
    constant_rate_regret,
)
AVERAGED = Merge("heuristic", "weights are averaged in proportion to the rounds; zeros of only one are lost", "mix")


@gradient_rule(
    paper=DUCHI_SINGER_2009,
    params={
        "eta0": ETA0,
        "lam": LAM,
        "lam2": Param(0.0, at_least=0.0, about="how much |w|^2 / 2 weighs; with lam, an elastic net"),
        "schedule": schedule("inv_sqrt"),
    },
    state={"w": lazy},
    guarantee=REGRET,
    merge=AVERAGED,
    title="FOBOS",
    leads=True,
)
def fobos(p: P, s: S, g: G) -> None:
    """Step against the gradient, then pull every weight toward zero, so that many are exactly zero."""
    eta = rate(p.eta0, s.n.t)
    add(s.w, -eta, g)
    shrink(s.w, eta * p.lam, math.inf)
    scale(s.w, 1.0 / (1.0 + eta * p.lam2))


@gradient_rule(
    paper=DUCHI_SINGER_2009,
    params={"eta0": ETA0, "lam": LAM, "schedule": schedule("inv_sqrt")},
    state={"w": scaled},
    guarantee=REGRET,
    merge=AVERAGED,
    title="FOBOS",
)
def fobos_l2(p: P, s: S, g: G) -> None:
    """Step against the gradient, then shorten the weights: all of them are zero, or none."""
    eta = rate(p.eta0, s.n.t)
    add(s.w, -eta, g)
    length = norm(s.w, 2.0)
    if length > 0.0:
        scale(s.w, max(0.0, 1.0 - eta * p.lam / length))


@gradient_rule(
    paper=DUCHI_SINGER_2009,
    params={"eta0": ETA0, "lam": LAM, "schedule": schedule("inv_sqrt")},
    state={"w": scaled},
    guarantee=REGRET,
    merge=AVERAGED,
    title="FOBOS",
)
def fobos_l2_squared(p: P, s: S, g: G) -> None:
    """Step against the gradient, then scale the weights down."""
    eta = rate(p.eta0, s.n.t)
    add(s.w, -eta, g)
    scale(s.w, 1.0 / (1.0 + eta * p.lam))


@gradient_rule(
    paper=DUCHI_SINGER_2009,
    params={"eta0": ETA0, "lam": LAM, "schedule": schedule("inv_sqrt")},
    state={"w": lazy_groups},
    guarantee=REGRET,
    merge=AVERAGED,
    title="FOBOS",
)
def fobos_group(p: P, s: S, g: G) -> None:
    """Step against the gradient, then shorten every group of weights: a group is zero, or none of it."""
    eta = rate(p.eta0, s.n.t)
    add(s.w, -eta, g)
    shorten(s.w, eta * p.lam)


@gradient_rule(
    paper=DUCHI_SINGER_2009,
    params={"eta0": ETA0, "lam": LAM, "schedule": schedule("inv_sqrt")},
    state={"w": plain},
    guarantee=REGRET,
    merge=AVERAGED,
    title="FOBOS",
)
def fobos_infinity(p: P, s: S, g: G) -> None:
    """Step against the gradient, then cut the largest weights down to one height; a round looks at every weight."""
    eta = rate(p.eta0, s.n.t)
    add(s.w, -eta, g)
    clip_peaks(s.w, eta * p.lam)
