"""Exponentiated gradient: a step multiplies each weight by a factor, and the weights keep a constant sum.

The state is the sum of the steps: the logarithms of the weights, up to a constant. So a weight never underflows to
zero, however small it becomes.
"""

import math

from noregret.algebra import add, breadth, extent, share_dot, sqsource
from noregret.rules.decorators import gradient_rule
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param
from noregret.rules.row_size import ROW_COUNTERS, count_row, row_size
from noregret.rules.rule_card import G, P, S, X
from noregret.state.fields import log_weights

KIVINEN_WARMUTH_1997 = (
    "Kivinen and Warmuth, Exponentiated gradient versus gradient descent for linear predictors, "
    "Information and Computation 132, 1997"
)
ADDING = Merge("exact", "the sums of the steps add; no bound is known", "add")
FEATURES = Param(
    0.0,
    at_least=0.0,
    about="the number of features; 0 stands for those seen so far",
    untuned="it is a property of the data",
)


def eg_regret(p: P, divergence: float, squared_gradients_inf: float) -> float:
    """KL(u, uniform) / eta + (eta / 2) times the sum of max |g_tj|^2."""
    return float(over(divergence, p.eta) + 0.5 * p.eta * squared_gradients_inf)


def eg_squared_bound(p: P, divergence: float, row_range: float, comparator_squared_errors: float) -> float:
    """(1 + c/2) E(u) + (1/2 + 1/c) R^2 KL(u, uniform), where c = 2 eta R^2 / (2 - eta R^2)."""
    part = p.eta * row_range**2
    if not 0.0 < part < 2.0:
        return math.inf
    c = 2.0 * part / (2.0 - part)
    return float((1.0 + 0.5 * c) * comparator_squared_errors + (0.5 + 1.0 / c) * row_range**2 * divergence)


def has_eta(p: P) -> str | None:
    return None if p.eta > 0.0 else "it is proved for an eta above 0"


def widen(s: S, g: G) -> None:
    """Count the features and classes that have had a gradient."""
    reached = extent(g)
    if reached > 0.0:
        s.n.features = max(s.n.features, reached)
        s.n.classes = max(s.n.classes, breadth(g))


def cells(p: P, s: S, x: X) -> float:
    """The number of weights that share the constant sum: one for every feature and class so far."""
    return float(max(p.features, s.n.features, extent(x), 1.0) * s.n.classes)


def eg_score(p: P, s: S, x: X) -> float:
    """w.x, where the weights are positive and sum to one."""
    return float(share_dot(s.theta, x, 1.0, cells(p, s, x)))


@gradient_rule(
    paper=KIVINEN_WARMUTH_1997,
    params={
        "eta": Param(
            0.0,
            at_least=0.0,
            about="the learning rate; 0 stands for 1 / S, where S is the geometric mean of |x|^2 so far",
            search=(1e-3, 1e1, "log"),
            measured=0.1,
        ),
        "features": FEATURES,
    },
    state={"theta": log_weights},
    counters={"features": 0.0, "classes": 1.0, **ROW_COUNTERS},
    score=eg_score,
    loss="perceptron",
    guarantees=(
        Guarantee(
            "regret",
            "regret against u <= KL(u, uniform) / eta + (eta / 2) sum of max |g_tj|^2",
            "eta > 0; a convex loss; u >= 0 and |u|_1 = 1; features is the number of all features; all importance "
            "weights 1",
            eg_regret,
            requires=has_eta,
            comparator="simplex",
        ),
        Guarantee(
            "squared errors",
            "sum of squared errors <= (1 + c/2) that of u + (1/2 + 1/c) R^2 KL(u, uniform), "
            "c = 2 eta R^2 / (2 - eta R^2)",
            "eta > 0; two classes or targets; eta R^2 < 2, where R is at least the largest minus the smallest value "
            "of every "
            "row; u >= 0 and |u|_1 = 1; features is the number of all features; all importance weights 1",
            eg_squared_bound,
            options={"loss": ("squared",)},
            requires=has_eta,
            comparator="simplex",
        ),
    ),
    merge=ADDING,
    nonnegative=True,
    title="EG",
)
def eg(p: P, s: S, g: G) -> None:
    """Exponentiated gradient: multiply each weight by exp(-eta g_j), then normalise the weights to sum to one.

    All weights are positive. So two classes are played as multiclass, with weights for each of them, unless binary is
    asked for: there no feature can speak for the negative class, which suits mixtures, such as those of experts, whose
    values have both signs. As no score exceeds the largest value, only mistakes count as losses by default. eg_signed
    has weights of either sign.
    """
    widen(s, g)
    add(s.theta, -(p.eta if p.eta > 0.0 else 1.0 / count_row(s, sqsource(g))), g)


def eg_signed_regret(p: P, features: float, squared_gradients_inf: float) -> float:
    """ln(2 n) / eta + (eta U^2 / 2) times the sum of max |g_tj|^2."""
    return eg_regret(p, math.log(2.0 * features), p.U**2 * squared_gradients_inf)


def has_both(p: P) -> str | None:
    return None if p.eta > 0.0 and p.U > 0.0 else "it is proved for an eta and a U above 0"


def total(p: P, s: S, n: float) -> float:
    """U or, where it is 0, one that follows the rows; n is the number of weights.

    Weights whose sizes sum to sqrt(n) r can be any of Euclidean norm r.
    """
    return float(p.U if p.U > 0.0 else 100.0 * math.sqrt(n / row_size(s)))


def eg_signed_score(p: P, s: S, x: X) -> float:
    """U (w+ - w-).x, where w+ and w- together sum to one."""
    n = cells(p, s, x)
    return float(total(p, s, n) * share_dot(s.theta, x, 2.0, n))


@gradient_rule(
    paper=KIVINEN_WARMUTH_1997,
    params={
        "eta": Param(
            0.0,
            at_least=0.0,
            about="the learning rate; 0 stands for n / (U^2 S), where n is the number of weights so far, and S the "
            "geometric mean of |x|^2",
            search=(1e-4, 1e1, "log"),
            measured=3e-3,
        ),
        "U": Param(
            0.0,
            at_least=0.0,
            about="the largest sum of |weights|; 0 stands for 100 sqrt(n / S)",
            search=(1e-1, 1e3, "log"),
            measured=10.0,
        ),
        "features": FEATURES,
    },
    state={"theta": log_weights},
    counters={"features": 0.0, "classes": 1.0, **ROW_COUNTERS},
    score=eg_signed_score,
    guarantees=(
        Guarantee(
            "regret",
            "regret against u <= ln(2 n) / eta + (eta U^2 / 2) sum of max |g_tj|^2",
            "eta > 0 and U > 0; a convex loss; |u|_1 <= U; features = n, the number of all features; all importance "
            "weights 1",
            eg_signed_regret,
            requires=has_both,
            comparator="l1 ball",
        ),
    ),
    merge=ADDING,
    title="SignedEG",
)
def eg_signed(p: P, s: S, g: G) -> None:
    """Exponentiated gradient with weights of either sign (EG+-): two positive weights for every feature, of total U."""
    widen(s, g)
    size, n = count_row(s, sqsource(g)), cells(p, s, g)
    U = total(p, s, n)
    add(s.theta, -(p.eta * U if p.eta > 0.0 else n / (U * size)), g)
