"""Exponentiated gradients: a step multiplies each weight by a factor, and all weights together stay one whole.

What is kept is the sum of the steps, the logarithm of a weight but for a constant. So no weight is ever lost to
rounding, however small it becomes.
"""

import math

from noregret.algebra import add, breadth, extent, share_dot
from noregret.rules.card import G, Guarantee, Merge, P, Param, S, X, gradient_rule
from noregret.state.fields import log_weights

KIVINEN_WARMUTH_1997 = (
    "Kivinen and Warmuth, Exponentiated gradient versus gradient descent for linear predictors, "
    "Information and Computation 132, 1997"
)
ADDING = Merge("exact", "the sums of the steps add; no bound is claimed", "add")
FEATURES = Param(0.0, at_least=0.0, about="among how many features the whole is shared; 0 stands for those seen so far")


def eg_regret(divergence: float, eta: float, squared_gradients: float) -> float:
    """KL(u, uniform) / eta + (eta / 2) times the sum of the squares of the largest slopes."""
    return divergence / eta + 0.5 * eta * squared_gradients


def eg_squared_bound(divergence: float, spread: float, comparator_squares: float) -> float:
    """3/2 (the squared errors of u + R^2 KL(u, uniform)), where eta = 2 / (3 R^2)."""
    return 1.5 * (comparator_squares + spread**2 * divergence)


def widen(s: S, g: G) -> None:
    """Count the features and classes that steps have reached."""
    reached = extent(g)
    if reached > 0.0:
        s.n.features = max(s.n.features, reached)
        s.n.classes = max(s.n.classes, breadth(g))


def cells(p: P, s: S, x: X) -> float:
    """Among how many weights the whole is shared: one for every feature and class so far."""
    return float(max(p.features, s.n.features, extent(x), 1.0) * s.n.classes)


def eg_score(p: P, s: S, x: X) -> float:
    """The mean of x under the weights, which are positive and sum to one."""
    return float(share_dot(s.theta, x, 1.0, cells(p, s, x)))


@gradient_rule(
    paper=KIVINEN_WARMUTH_1997,
    params={"eta": Param(0.1, above=0.0, about="the rate of learning"), "features": FEATURES},
    state={"theta": log_weights},
    counters={"features": 0.0, "classes": 1.0},
    score=eg_score,
    guarantee=Guarantee(
        "regret against u <= KL(u, uniform) / eta + (eta / 2) sum of max |g_tj|^2; of the squared loss with "
        "eta = 2 / (3 R^2), the sum <= 3/2 (that of u + R^2 KL(u, uniform))",
        "a convex loss, u >= 0 and |u|_1 = 1, features the number of all of them; all weights 1; "
        "R is at least the largest minus the smallest value of every row",
        eg_regret,
    ),
    merge=ADDING,
    one_sided=True,
    title="EG",
)
def eg(p: P, s: S, g: G) -> None:
    """Multiply each weight by exp(-eta g_j), and keep their sum at one."""
    widen(s, g)
    add(s.theta, -p.eta, g)


def eg_signed_regret(features: float, U: float, eta: float, squared_gradients: float) -> float:
    """ln(2 n) / eta + (eta U^2 / 2) times the sum of the squares of the largest slopes."""
    return eg_regret(math.log(2.0 * features), eta, U**2 * squared_gradients)


def eg_signed_score(p: P, s: S, x: X) -> float:
    """U (w+ - w-).x, where w+ and w- together sum to one."""
    return float(p.U * share_dot(s.theta, x, 2.0, cells(p, s, x)))


@gradient_rule(
    paper=KIVINEN_WARMUTH_1997,
    params={
        "eta": Param(0.1, above=0.0, about="the rate of learning"),
        "U": Param(1.0, above=0.0, about="the sum of the sizes of all weights never exceeds it"),
        "features": FEATURES,
    },
    state={"theta": log_weights},
    counters={"features": 0.0, "classes": 1.0},
    score=eg_signed_score,
    guarantee=Guarantee(
        "regret against u <= ln(2 n) / eta + (eta U^2 / 2) sum of max |g_tj|^2",
        "a convex loss, |u|_1 <= U, features = n, the number of all of them; all weights 1",
        eg_signed_regret,
    ),
    merge=ADDING,
    title="SignedEG",
)
def eg_signed(p: P, s: S, g: G) -> None:
    """As EG, with a second weight for every feature, which counts as negative."""
    widen(s, g)
    add(s.theta, -p.eta * p.U, g)
