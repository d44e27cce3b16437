"""Multiplicative learners: weights move by a factor, so that irrelevant features cost only a logarithm."""

import math

from noregret.algebra import add, dot, exp_dot, exp_total, extent, multiply, prune, side
from noregret.algebra.verbs import unbound
from noregret.rules.card import Choice, Guarantee, Merge, P, Param, S, X, Z, margin_rule
from noregret.state.fields import log_weights, positive

LITTLESTONE_1988 = "Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988"
LITTLESTONE_1989 = (
    "Littlestone, Mistake bounds and logarithmic linear-threshold learning algorithms, PhD thesis, UC Santa Cruz, 1989"
)
TIE = 5e-324  # a sum of exactly theta counts as positive
ROUNDING = 1e-9  # a sum that falls short of theta by this part of it counts as theta
move = unbound


def winnow_bound(features: float, relevant: float) -> float:
    """Promotions are at most k ceil(log2 n) = u, demotions under 2 (u + 1)."""
    return 3.0 * relevant * math.ceil(math.log2(features)) + 2.0


def elimination_bound(features: float, relevant: float) -> float:
    """Promotions are at most k ceil(log2 n); with demotion eliminate, demotions are no more than promotions."""
    return 2.0 * relevant * math.ceil(math.log2(features))


def halve(p: P, s: S, z: Z) -> None:
    multiply(s.w, p.alpha, z)


def eliminate(p: P, s: S, z: Z) -> None:
    prune(s.w, p.alpha, z)


def winnow_score(p: P, s: S, x: X) -> float:
    """w.x against the threshold."""
    theta = p.theta if p.theta > 0.0 else max(s.n.features, extent(x))
    return float(dot(s.w, x) - theta + TIE)


@margin_rule(
    paper=LITTLESTONE_1988,
    params={
        "alpha": Param(2.0, above=1.0, about="the factor of a promotion or demotion"),
        "theta": Param(0.0, at_least=0.0, about="the threshold; 0 stands for the number of features seen so far"),
        "demotion": Choice(
            "halve",
            {"halve": halve, "eliminate": eliminate},
            "what a false alarm does to the weights in it: divide them by alpha, or make them zero for ever",
            binds="move",
        ),
    },
    state={"w": positive},
    counters={"features": 0.0},
    score=winnow_score,
    guarantee=Guarantee(
        "mistakes < 3 k ceil(log2 n) + 2; with demotion eliminate, at most 2 k ceil(log2 n)",
        "x in {0,1}^n, y an or of k of the n features, alpha = 2, theta = n",
        winnow_bound,
    ),
    merge=Merge(
        "exact",
        "the exponents of the weights add: promotions and demotions are pooled; no bound is claimed",
        "add",
    ),
    shown=True,
    one_sided=True,
    plays=("binary", "multiclass", "regression", "multilabel"),  # a difference of rows has no threshold
)
def winnow(p: P, s: S, z: Z, margin: float) -> bool:
    """Promote the active features of a missed positive, demote those of a false alarm."""
    s.n.features = max(s.n.features, extent(z))
    if margin <= 0.0:
        move(p, s, z)
        return True
    return False


def duplicated_bound(features: float, relevant: float) -> float:
    """That of Winnow with twice the features."""
    return winnow_bound(2.0 * features, relevant)


def duplicated_score(p: P, s: S, x: X) -> float:
    """w.x + v.(1 - x) against the threshold, where v_j = alpha^net / w_j belongs to the negation of feature j."""
    n = max(p.features, s.n.features, extent(x), 1.0)
    theta = p.theta if p.theta > 0.0 else 2.0 * n
    net = s.n.net * math.log(p.alpha)
    negated = exp_total(s.e, -1.0, n, net) - exp_dot(s.e, x, -1.0, net)
    return float(exp_dot(s.e, x, 1.0, 0.0) + negated - theta * (1.0 - ROUNDING))


@margin_rule(
    paper=LITTLESTONE_1988,
    params={
        "alpha": Param(2.0, above=1.0, about="the factor of a promotion or demotion"),
        "theta": Param(0.0, at_least=0.0, about="the threshold; 0 stands for twice the number of features"),
        "features": Param(0.0, at_least=0.0, about="how many features there are; 0 stands for those seen so far"),
    },
    state={"e": log_weights},
    counters={"features": 0.0, "net": 0.0},
    score=duplicated_score,
    guarantee=Guarantee(
        "mistakes < 3 k ceil(log2 2n) + 2",
        "x in {0,1}^n and no row of zeros (a bias sees to that), y an or of k features or negations of features, "
        "alpha = 2, features = n",
        duplicated_bound,
    ),
    merge=Merge("none", "the exponent that all negated features share counts the rounds of one learner"),
    title="DuplicatedWinnow",
    plays=("binary",),
)
def winnow_duplicated(p: P, s: S, z: Z, margin: float) -> bool:
    """Winnow over every feature and its negation, at the cost of the features that are on."""
    s.n.features = max(s.n.features, extent(z))
    if margin <= 0.0:
        add(s.e, math.log(p.alpha), z)
        s.n.net += side(z)
        return True
    return False


def balanced_bound(features: float, margin: float, alpha: float, theta: float, start: float) -> float:
    """ln((1 + start) n + theta (alpha + 1) / (alpha - 1)) / (gamma ln alpha - ln cosh ln alpha)

    An update multiplies the sum of all weights, the fraction included, by at most cosh ln alpha; after M of them some
    exponent has reached gamma M.
    """
    gain = margin * math.log(alpha) - math.log(0.5 * (alpha + 1.0 / alpha))
    if gain <= 0.0:
        return math.inf
    return math.log((1.0 + start) * features + theta * (alpha + 1.0) / (alpha - 1.0)) / gain


def balanced_score(p: P, s: S, x: X) -> float:
    """(w+ - w-).x against the threshold; w+ is kept as a multiple of its first value."""
    return float(p.start * dot(s.plus, x) - dot(s.minus, x) - p.theta + TIE)


@margin_rule(
    paper=LITTLESTONE_1989,
    params={
        "alpha": Param(2.0, above=1.0, about="the factor of a promotion or demotion"),
        "theta": Param(1.0, at_least=0.0, about="the threshold"),
        "start": Param(2.0, at_least=1.0, about="the first value of w+; that of w- is 1"),
    },
    state={"plus": positive, "minus": positive},
    score=balanced_score,
    guarantee=Guarantee(
        "updates <= ln((1 + start) n + theta (alpha + 1) / (alpha - 1)) / (gamma ln alpha - ln cosh ln alpha)",
        "n features, every |x_j| <= 1, and some u with |u|_1 = 1 has y u.x >= gamma on all rounds, "
        "where gamma ln alpha > ln cosh ln alpha",
        balanced_bound,
    ),
    merge=Merge(
        "exact",
        "the exponents of the weights add: promotions and demotions are pooled; no bound is claimed",
        "add",
    ),
    title="BalancedWinnow",
    plays=("binary", "multiclass", "regression", "multilabel"),  # a difference of rows has no threshold
)
def winnow_balanced(p: P, s: S, z: Z, margin: float) -> bool:
    """Promote what speaks for the label and demote what speaks against it: weights of either sign."""
    if margin <= 0.0:
        multiply(s.plus, p.alpha, z)
        multiply(s.minus, 1.0 / p.alpha, z)
        return True
    return False
