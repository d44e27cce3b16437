"""Truncated gradient: gradient steps, and every few rounds small weights shrink toward zero."""

import math

from noregret.algebra import add, shrink
from noregret.algebra.verbs import unbound
from noregret.learners.fobos import AVERAGED
from noregret.learners.gradient import (
    ETA0,
    FALLING,
    FIRST_RATE,
    FOLLOWING,
    LARGEST_RATE,
    SLOPE_ONE,
    constant_rate_regret,
    falling_rate_regret,
    fitting_rate,
    following_regret,
    has_first_rate,
    has_no_first_rate,
)
from noregret.rules.decorators import gradient_rule, schedule
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.own_functions import Own
from noregret.rules.parameters import Choice, Param
from noregret.rules.row_size import ROW_COUNTERS, unit_of_weights
from noregret.rules.rule_card import G, P, S
from noregret.state.fields import lazy

LANGFORD_2009 = "Langford, Li and Zhang, Sparse online learning via truncated gradient, JMLR 10, 2009"
ahead = pull = unbound


def due(t: float, K: float) -> bool:
    """Whether round t completes another K rounds."""
    return math.floor(t / K) > math.floor((t - 1.0) / K)


def constant_gravity(p: P, t: float) -> float:
    """The same gravity on every round."""
    return float(p.gravity)


TRUNCATED = (
    "a convex loss; the penalty of round t is K times its gravity every K rounds, else 0, times the sum of |w_t+1,j| "
    "(for u, of |u_j|) over the j with |w_t+1,j| <= theta; any u; all importance weights 1"
)


def gravity_penalty(p: P, norm: float, norm_1: float) -> float:
    """gravity |u|_1, or less where theta leaves weights out"""
    return float(p.gravity * norm_1)


@gradient_rule(
    paper=LANGFORD_2009,
    params={
        "eta0": ETA0,
        "gravity": Param(
            1e-4,
            at_least=0.0,
            about="the strength of the shrinking, per round; 0 is plain gradient descent",
            search=(1e-5, 1.0, "log"),
        ),
        "theta": Param(
            0.0,
            at_least=0.0,
            about="weights larger than this do not shrink; 0 stands for no limit",
            grid=(0.0, 0.01, 0.1, 1.0),
        ),
        "K": Param(1.0, at_least=1.0, about="the weights shrink every K rounds", grid=(1.0, 10.0, 100.0)),
        "gravity_schedule": Choice(
            "constant",
            {"constant": constant_gravity},
            "the gravity of round t: always `gravity`, or any sequence",
            binds="pull",
            own=Own(("p", "t")),
        ),
        "order": Choice(
            "post",
            {"post": 0.0, "pre": 1.0},
            "whether the weights shrink after or before the round",
            binds="ahead",
            search=("post",),
        ),
        "schedule": schedule("inv_sqrt"),
    },
    state={"w": lazy},
    counters=ROW_COUNTERS,
    penalty=gravity_penalty,
    guarantees=(
        Guarantee(
            "regularised regret",
            "regret of the loss plus penalty against u <= |u|^2 / (2 eta0) + (eta0 / 2) sum of |g_t|^2",
            f"eta0 > 0; {TRUNCATED}",
            constant_rate_regret,
            options={"schedule": ("constant",), "order": ("post",)},
            requires=has_first_rate,
        ),
        Guarantee(
            "regularised regret",
            "regret of the loss plus penalty against u <= D^2 sqrt(T) / (2 eta0) + eta0 G^2 (sqrt(T) - 1/2)",
            f"eta0 > 0; {TRUNCATED}; every |g_t| <= G, D = max |w_t - u|",
            falling_rate_regret,
            options={"schedule": ("inv_sqrt",), "order": ("post",)},
            requires=has_first_rate,
        ),
        Guarantee(
            "regularised regret",
            f"regret of the loss plus penalty against u <= {FOLLOWING}",
            f"eta0 = 0; {TRUNCATED}; every r <= |z_t| <= R, where z_t is the signed example; D = max |w_t - u|",
            following_regret,
            options={"schedule": ("inv_sqrt",), "order": ("post",), "loss": SLOPE_ONE},
            requires=has_no_first_rate,
        ),
    ),
    merge=AVERAGED,
)
def truncated_gradient(p: P, s: S, g: G) -> None:
    """Gradient descent that shrinks small weights toward zero every K rounds."""
    eta = fitting_rate(p, s, g)
    add(s.w, -eta, g)
    if due(s.n.t + ahead, p.K):
        gravity = max(pull(p, s.n.t + ahead), 0.0)
        shrink(s.w, eta * (p.K * gravity), p.theta if p.theta > 0.0 else math.inf)


def rounding_regret(p: P, norm: float, norm_1: float, squared_gradients: float, rounds: float) -> float:
    """|u|^2 / (2 eta0) + (eta0 / 2) sum of |g_t|^2 + |u|_1 theta floor(T / K) / eta0"""
    dropped = p.theta * math.floor(rounds / p.K)
    return constant_rate_regret(p, norm, squared_gradients) + over(norm_1 * dropped, p.eta0)


def falling_rounding_regret(p: P, norm_1: float, distance: float, largest_gradient: float, rounds: float) -> float:
    """D^2 sqrt(T) / (2 eta0) + eta0 G^2 (sqrt(T) - 1/2) + |u|_1 theta floor(T / K) sqrt(T) / eta0"""
    dropped = p.theta * math.floor(rounds / p.K) * math.sqrt(rounds)
    return falling_rate_regret(p, distance, largest_gradient, rounds) + over(norm_1 * dropped, p.eta0)


def following_rounding_regret(
    p: P, norm_1: float, distance: float, radius: float, least_radius: float, rounds: float
) -> float:
    """That of gradient descent at a rate that follows the rows + |u|_1 theta floor(T / K) R max(1/2, sqrt(T) / 32)

    Weights up to theta / sqrt(S) are dropped at a rate of at least 1 / (S max(1/2, sqrt(T) / 32)), where S <= R^2.
    """
    slowest = radius * max(1.0 / LARGEST_RATE, math.sqrt(rounds) / FIRST_RATE)
    dropped = p.theta * math.floor(rounds / p.K) * slowest
    return float(following_regret(p, distance, radius, least_radius, rounds) + norm_1 * dropped)


@gradient_rule(
    paper=LANGFORD_2009,
    params={
        "eta0": ETA0,
        "theta": Param(
            1e-3,
            at_least=0.0,
            about="weights up to this size are set to zero; where eta0 is 0, over the root of S",
            search=(1e-4, 1.0, "log"),
        ),
        "K": Param(10.0, at_least=1.0, about="the weights are rounded every K rounds", grid=(1.0, 10.0, 100.0)),
        "schedule": schedule("inv_sqrt"),
    },
    state={"w": lazy},
    counters=ROW_COUNTERS,
    guarantees=(
        Guarantee(
            "regret",
            "regret against u <= |u|^2 / (2 eta0) + (eta0 / 2) sum of |g_t|^2 + |u|_1 theta floor(T / K) / eta0",
            "eta0 > 0; a convex loss; any u; all importance weights 1",
            rounding_regret,
            options={"schedule": ("constant",)},
            requires=has_first_rate,
        ),
        Guarantee(
            "regret",
            f"{FALLING} + |u|_1 theta floor(T / K) sqrt(T) / eta0",
            "eta0 > 0; a convex loss with every |g_t| <= G; any u; D = max |w_t - u|; all importance weights 1",
            falling_rounding_regret,
            options={"schedule": ("inv_sqrt",)},
            requires=has_first_rate,
        ),
        Guarantee(
            "regret",
            f"regret against u <= {FOLLOWING} + |u|_1 theta floor(T / K) R max(1/2, sqrt(T) / 32)",
            "eta0 = 0; every r <= |z_t| <= R, where z_t is the signed example; any u; D = max |w_t - u|; all "
            "importance weights 1",
            following_rounding_regret,
            options={"schedule": ("inv_sqrt",), "loss": SLOPE_ONE},
            requires=has_no_first_rate,
        ),
    ),
    merge=AVERAGED,
    title="CoefficientRounding",
)
def rounding(p: P, s: S, g: G) -> None:
    """Gradient descent that sets small weights to zero every K rounds."""
    add(s.w, -fitting_rate(p, s, g), g)
    if due(s.n.t, p.K):
        theta = p.theta * unit_of_weights(s)  # rows are counted where eta0 is 0
        shrink(s.w, 2.0 * theta, theta)
