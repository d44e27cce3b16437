"""Truncated gradient: steps against the slope, and every few rounds a pull of small weights toward zero."""

import math

from noregret.algebra import add, shrink
from noregret.algebra.verbs import unbound
from noregret.learners.fobos import AVERAGED, ETA0
from noregret.rules.card import Choice, G, Guarantee, P, Param, S, gradient_rule, schedule
from noregret.rules.schedules import rate
from noregret.state.fields import lazy

LANGFORD_2009 = "Langford, Li and Zhang, Sparse online learning via truncated gradient, JMLR 10, 2009"
ahead = unbound


def due(t: float, K: float) -> bool:
    """Whether round t completes another K rounds."""
    return math.floor(t / K) > math.floor((t - 1.0) / K)


def truncated_bound(size: float, eta: float, rounds: float, free_slope: float, comparator: float) -> float:
    """eta B T / 2 + |u|^2 / (2 eta) + the losses of u and the pull on those of its weights that w has near zero."""
    return 0.5 * eta * free_slope * rounds + size**2 / (2.0 * eta) + comparator


@gradient_rule(
    paper=LANGFORD_2009,
    params={
        "eta0": ETA0,
        "gravity": Param(0.01, at_least=0.0, about="how hard a round pulls weights toward zero; 0 is plain descent"),
        "theta": Param(0.0, at_least=0.0, about="larger weights than this are not pulled; 0 stands for no limit"),
        "K": Param(1.0, at_least=1.0, about="every so many rounds the weights are pulled, for all of them at once"),
        "order": Choice(
            "post", {"post": 0.0, "pre": 1.0}, "whether the pull of a round follows or precedes it", binds="ahead"
        ),
        "schedule": schedule("inv_sqrt"),
    },
    state={"w": lazy},
    guarantee=Guarantee(
        "(1 - A eta / 2) sum of L_t(w_t) + sum of g_t |w_t+1 near zero|_1 "
        "<= eta B T / 2 + |u|^2 / (2 eta) + sum of (L_t(u) + g_t |u where w_t+1 is near zero|_1)",
        "a convex loss with |gradient|^2 <= A L + B and A eta < 2 (hinge, logistic: A = 0, B = max |x|^2; squared: "
        "A = 4 max |x|^2, B = 0); order post, schedule constant; g_t is the pull of round t, near zero within theta; "
        "all weights 1",
        truncated_bound,
    ),
    merge=AVERAGED,
)
def truncated_gradient(p: P, s: S, g: G) -> None:
    """Step against the gradient, then pull every small weight toward zero, and no further."""
    eta = rate(p.eta0, s.n.t)
    add(s.w, -eta, g)
    if due(s.n.t + ahead, p.K):
        shrink(s.w, eta * (p.K * p.gravity), p.theta if p.theta > 0.0 else math.inf)


def rounding_regret(size: float, sum_of_sizes: float, eta: float, squared_gradients: float, dropped: float) -> float:
    """|u|^2 / (2 eta) + (eta / 2) sum of |g_t|^2 + |u|_1 theta / eta for every time that weights were dropped."""
    return size**2 / (2.0 * eta) + 0.5 * eta * squared_gradients + sum_of_sizes * dropped / eta


@gradient_rule(
    paper=LANGFORD_2009,
    params={
        "eta0": ETA0,
        "theta": Param(0.01, at_least=0.0, about="weights up to this size are dropped"),
        "K": Param(10.0, at_least=1.0, about="every so many rounds they are"),
        "schedule": schedule("inv_sqrt"),
    },
    state={"w": lazy},
    guarantee=Guarantee(
        "regret against u <= |u|^2 / (2 eta) + (eta / 2) sum of |g_t|^2 + |u|_1 theta floor(T / K) / eta",
        "a convex loss, schedule constant; any u; all weights 1; dropped is theta floor(T / K)",
        rounding_regret,
    ),
    merge=AVERAGED,
    title="CoefficientRounding",
)
def rounding(p: P, s: S, g: G) -> None:
    """Step against the gradient, and every few rounds set small weights to zero."""
    add(s.w, -rate(p.eta0, s.n.t), g)
    if due(s.n.t, p.K):
        shrink(s.w, 2.0 * p.theta, p.theta)
