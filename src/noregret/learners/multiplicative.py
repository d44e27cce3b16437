"""Multiplicative updates: mistakes multiply weights, so that irrelevant features cost only a logarithm."""

import math

from noregret.algebra import add, dot, exp_dot, exp_total, extent, multiply, peak, prune, side
from noregret.algebra.internal_verbs import scaled_by
from noregret.algebra.verbs import unbound
from noregret.learners.falling_factor import (
    FALLING,
    FIRST_FACTOR,
    LASTING,
    factor,
    falling_halving_bound,
    falling_updates,
    has_factor,
    has_falling_factor,
    promoted,
    promotion,
)
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Choice, Param
from noregret.rules.rule_card import P, S, X, Z
from noregret.state.fields import log_weights, positive

LITTLESTONE_1988 = "Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988"
LITTLESTONE_1989 = (
    "Littlestone, Mistake bounds and logarithmic linear-threshold learning algorithms, PhD thesis, UC Santa Cruz, 1989"
)
TIE = 5e-324  # a sum of exactly theta counts as positive
ROUNDING = 1e-9  # a sum that falls short of theta by this part of it counts as theta


POOLED = Merge("exact", "the exponents of the weights add: updates are pooled; no bound is known", "add")
LITERALS = (
    "x in {0,1}^n and no row of zeros (with a bias there is none); y is the disjunction of k features or negated "
    "features; features = n"
)
DISJUNCTION = (
    "x in {0,1}^n; y is the disjunction of k of the n features; with theta = 0, the first row contains the last feature"
)
move = outgrows = unbound


def scored_in(s: S) -> float:
    """The unit, which is one as long as there is no other."""
    return float(s.n.unit if s.n.unit > 0.0 else 1.0)


def outgrown(s: S, z: Z) -> bool:
    """Take the largest |x_j| of all mistakes as the unit; whether it is another than this round was scored in.

    Such a round is only measured.
    """
    before = scored_in(s)
    s.n.unit = max(s.n.unit, peak(z))
    return bool(scored_in(s) != before)


def never_outgrown(s: S, z: Z) -> bool:
    """Rows as they are."""
    return False


UNIT = Choice(
    "largest",
    {"largest": outgrown, "one": never_outgrown},
    "what rows are divided by: the largest |x_j| of all mistakes so far (one that changes it is only measured), or "
    "one; for values of 0 and 1 that is the same",
    binds="outgrows",
    search=("largest",),
)


def most_promotions(alpha: float, theta: float) -> float:
    """How often one weight, from 1, can be multiplied by alpha while it is below theta: ceil(log theta / log alpha)."""
    if alpha <= 1.0:
        return math.inf
    promotions = 0.0
    while alpha**promotions < theta:
        promotions += 1.0
    return promotions


def halving_bound(alpha: float, theta: float, features: float, relevant: float) -> float:
    """(1 + alpha) u + alpha n / ((alpha - 1) theta), where u = k ceil(log theta / log alpha).

    A promotion multiplies one of the k relevant weights, which are never demoted, and adds less than (alpha - 1) theta
    to the sum of all weights, n at first; a demotion takes at least (1 - 1 / alpha) theta away.
    """
    if alpha <= 1.0:
        return math.inf
    promotions = relevant * most_promotions(alpha, theta)
    return (1.0 + alpha) * promotions + alpha / (alpha - 1.0) * features / theta


def winnow_bound(p: P, features: float, relevant: float) -> float:
    """(1 + alpha) u + alpha n / ((alpha - 1) theta), u = k ceil(log theta / log alpha); 3 u + 2 if alpha = 2."""
    return halving_bound(p.alpha, p.theta if p.theta > 0.0 else features, features, relevant)


def elimination_bound(p: P, features: float, relevant: float) -> float:
    """alpha u + n / theta, u = k ceil(log theta / log alpha), as a demotion takes at least theta away."""
    theta = p.theta if p.theta > 0.0 else features
    return float(p.alpha * relevant * most_promotions(p.alpha, theta) + features / theta)


def winnow_falling_bound(p: P, features: float, relevant: float) -> float:
    """20 ((1 + B / (40 L))^2 - 1), B = 3.5 k (ln theta + L) + 5 L n / (3 theta), where L = ln 2.5."""
    return falling_halving_bound(p.theta if p.theta > 0.0 else features, features, relevant)


def elimination_falling_bound(p: P, features: float, relevant: float) -> float:
    """The same with B = 2.5 k (ln theta + L) + L n / theta, as a demotion takes at least theta away."""
    theta = p.theta if p.theta > 0.0 else features
    begun = math.log(FIRST_FACTOR) * features / theta
    return falling_updates(FIRST_FACTOR * promoted(theta, relevant) + begun)


def halve(p: P, s: S, z: Z) -> None:
    multiply(s.w, promotion(p, s), z)


def eliminate(p: P, s: S, z: Z) -> None:
    prune(s.w, promotion(p, s), z)


def winnow_score(p: P, s: S, x: X) -> float:
    """w.x against the threshold."""
    theta = p.theta if p.theta > 0.0 else max(s.n.features, extent(x))
    return float(dot(s.w, x) / scored_in(s) - theta + TIE)


@margin_rule(
    paper=LITTLESTONE_1988,
    params={
        "alpha": factor(earlier=1.35),
        "theta": Param(
            0.0,
            at_least=0.0,
            about="the threshold; 0 stands for the number of features seen so far",
            untuned="it should be the number of features",
        ),
        "demotion": Choice(
            "halve",
            {"halve": halve, "eliminate": eliminate},
            "what a false positive does to the weights of its features: divide them by alpha, or set them to zero",
            binds="move",
        ),
        "unit": UNIT,
    },
    state={"w": positive},
    counters={"features": 0.0, "unit": 0.0, "steps": 0.0},
    score=winnow_score,
    guarantees=(
        Guarantee(
            "mistakes",
            "mistakes < (1 + alpha) u + alpha n / ((alpha - 1) theta), u = k ceil(log theta / log alpha); "
            "for alpha = 2 and theta = n, < 3 k ceil(log2 n) + 2",
            f"alpha > 1; {DISJUNCTION}",
            winnow_bound,
            options={"demotion": ("halve",)},
            requires=has_factor,
            comparator="disjunction",
            relation="below",
        ),
        Guarantee(
            "mistakes",
            "mistakes < alpha u + n / theta, u = k ceil(log theta / log alpha); "
            "for alpha = 2 and theta = n, at most 2 k ceil(log2 n)",
            f"alpha > 1; {DISJUNCTION}",
            elimination_bound,
            options={"demotion": ("eliminate",)},
            requires=has_factor,
            comparator="disjunction",
            relation="below",
        ),
        Guarantee(
            "mistakes",
            f"{FALLING}, B = 3.5 k (ln theta + L) + 5 L n / (3 theta), L = ln 2.5",
            f"alpha = 1; {DISJUNCTION}",
            winnow_falling_bound,
            options={"demotion": ("halve",)},
            requires=has_falling_factor,
            comparator="disjunction",
            relation="below",
        ),
        Guarantee(
            "mistakes",
            f"{FALLING}, B = 2.5 k (ln theta + L) + L n / theta, L = ln 2.5",
            f"alpha = 1; {DISJUNCTION}",
            elimination_falling_bound,
            options={"demotion": ("eliminate",)},
            requires=has_falling_factor,
            comparator="disjunction",
            relation="below",
        ),
    ),
    merge=POOLED,
    runs_by_default=True,
    nonnegative=True,
    tasks=("binary", "multiclass", "regression", "multilabel"),  # a difference of rows has no threshold
)
def winnow(p: P, s: S, z: Z, margin: float) -> bool:
    """Multiply the weights of the active features after a missed positive, divide them after a false positive."""
    s.n.features = max(s.n.features, extent(z))
    if margin <= 0.0 and not outgrows(s, z):
        move(p, s, scaled_by(z, 1.0 / scored_in(s)))
        s.n.steps += 1.0
        return True
    return False


def duplicated_bound(p: P, features: float, relevant: float) -> float:
    """That of Winnow with twice the features."""
    return halving_bound(p.alpha, p.theta if p.theta > 0.0 else 2.0 * features, 2.0 * features, relevant)


def duplicated_falling_bound(p: P, features: float, relevant: float) -> float:
    """That of Winnow with twice the features."""
    return falling_halving_bound(p.theta if p.theta > 0.0 else 2.0 * features, 2.0 * features, relevant)


def duplicated_score(p: P, s: S, x: X) -> float:
    """w.x + v.(1 - x) against the threshold, where v_j = e^net / w_j belongs to the negation of feature j.

    Of a constant factor, whole updates are counted.
    """
    n = max(p.features, s.n.features, extent(x), 1.0)
    theta = p.theta if p.theta > 0.0 else 2.0 * n
    net = s.n.net * math.log(p.alpha) if p.alpha > 1.0 else s.n.net
    negated = exp_total(s.e, -1.0, n, net) - exp_dot(s.e, x, -1.0, net)
    return float(exp_dot(s.e, x, 1.0, 0.0) + negated - theta * (1.0 - ROUNDING))


@margin_rule(
    paper=LITTLESTONE_1988,
    params={
        "alpha": factor(earlier=2.0),
        "theta": Param(
            0.0,
            at_least=0.0,
            about="the threshold; 0 stands for twice the number of features",
            untuned="it should be twice the number of features",
        ),
        "features": Param(
            0.0,
            at_least=0.0,
            about="the number of features; 0 stands for those seen so far",
            untuned="it is a property of the data",
        ),
    },
    state={"e": log_weights},
    counters={"features": 0.0, "net": 0.0, "steps": 0.0},
    score=duplicated_score,
    guarantees=(
        Guarantee(
            "mistakes",
            "mistakes < (1 + alpha) u + 2 alpha n / ((alpha - 1) theta), u = k ceil(log theta / log alpha); "
            "for alpha = 2 and theta = 2n, < 3 k ceil(log2 2n) + 2",
            f"alpha > 1; {LITERALS}",
            duplicated_bound,
            requires=has_factor,
            comparator="disjunction",
            relation="below",
        ),
        Guarantee(
            "mistakes",
            f"{FALLING}, B = 3.5 k (ln theta + L) + 10 L n / (3 theta), L = ln 2.5",
            f"alpha = 1; {LITERALS}",
            duplicated_falling_bound,
            requires=has_falling_factor,
            comparator="disjunction",
            relation="below",
        ),
    ),
    merge=Merge("none", "the exponent that all negated features share counts the updates of one learner"),
    title="DuplicatedWinnow",
    tasks=("binary",),
)
def winnow_duplicated(p: P, s: S, z: Z, margin: float) -> bool:
    """Winnow over every feature and its negation, at the cost of the active features only."""
    s.n.features = max(s.n.features, extent(z))
    if margin <= 0.0:
        step = math.log(promotion(p, s))
        add(s.e, step, z)
        s.n.net += side(z) * (1.0 if p.alpha > 1.0 else step)
        s.n.steps += 1.0
        return True
    return False


LARGEST_ROOT = 1e100  # of the updates that are promised


def balanced_bound(p: P, features: float, margin_1: float, largest_value: float) -> float:
    """ln((1 + start) n + theta (alpha + 1) / (alpha - 1)) / (gamma ln alpha - ln cosh ln alpha), if every |x_j| <= 1.

    An update multiplies the sum of all weights and of theta (alpha + 1) / (alpha - 1) by at most cosh ln alpha; after M
    updates some exponent has reached gamma M.
    """
    gain = margin_1 * math.log(p.alpha) - math.log(0.5 * (p.alpha + 1.0 / p.alpha))
    if gain <= 0.0 or largest_value > 1.0:
        return math.inf
    return math.log((1.0 + p.start) * features + p.theta * (p.alpha + 1.0) / (p.alpha - 1.0)) / gain


def falling_bound(p: P, features: float, margin_1: float, largest_value: float) -> float:
    """The largest M with 40 gamma L (r - 1) <= ln((1 + start) n + theta coth(L / 2r)) + L^2 (1 + 40 ln r) / 2,

    if every |x_j| <= 1, where L = ln 2.5 and r = sqrt(1 + M / 20). An update by a factor of e^h multiplies the sum of
    all weights and of theta coth(L / 2r) by at most cosh h <= exp(h^2 / 2); after M updates some exponent has reached
    gamma times the sum of all h. Both sides cross once: the left one is less at r = 1, and gains on the right one from
    a larger r on.
    """
    if largest_value > 1.0:
        return math.inf
    L = math.log(FIRST_FACTOR)

    def is_possible(root: float) -> bool:
        sums = (1.0 + p.start) * features + p.theta / math.tanh(0.5 * L / root)
        right = math.log(sums) + 0.5 * L * L * (1.0 + 2.0 * LASTING * math.log(root))
        return 2.0 * LASTING * margin_1 * L * (root - 1.0) <= right

    low, high = 1.0, 2.0
    while is_possible(high):
        low, high = high, 2.0 * high
        if high > LARGEST_ROOT:
            return math.inf
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_possible(middle) else (low, middle)
    return LASTING * (high * high - 1.0)


def balanced_score(p: P, s: S, x: X) -> float:
    """(w+ - w-).x against the threshold; w+ is stored as a multiple of its first value."""
    return float((p.start * dot(s.plus, x) - dot(s.minus, x)) / scored_in(s) - p.theta + TIE)


@margin_rule(
    paper=LITTLESTONE_1989,
    params={
        "alpha": factor(earlier=None),
        "theta": Param(1.0, at_least=0.0, about="the threshold", search=(1e-1, 1e2, "log")),
        "start": Param(
            1.0,
            at_least=1.0,
            about="the first value of w+; that of w- is 1",
            search=(1.0, 4.0, "linear"),
            earlier=2.0,
        ),
        "unit": UNIT,
    },
    state={"plus": positive, "minus": positive},
    counters={"unit": 0.0, "steps": 0.0},
    score=balanced_score,
    guarantees=(
        Guarantee(
            "updates",
            "updates <= ln((1 + start) n + theta (alpha + 1) / (alpha - 1)) / (gamma ln alpha - ln cosh ln alpha)",
            "alpha > 1; n features, every |x_j| <= 1; some u with |u|_1 = 1 has y u.x >= gamma on all rounds, "
            "where gamma ln alpha > ln cosh ln alpha",
            balanced_bound,
            requires=has_factor,
            comparator="separating",
        ),
        Guarantee(
            "updates",
            "updates <= the largest M with 40 gamma L (r - 1) <= ln((1 + start) n + theta coth(L / 2r)) + "
            "L^2 (1 + 40 ln r) / 2, where L = ln 2.5 and r = sqrt(1 + M / 20)",
            "alpha = 1; n features, every |x_j| <= 1; some u with |u|_1 = 1 has y u.x >= gamma > 0 on all rounds",
            falling_bound,
            requires=has_falling_factor,
            comparator="separating",
        ),
    ),
    merge=POOLED,
    title="BalancedWinnow",
    tasks=("binary", "multiclass", "regression", "multilabel"),  # a difference of rows has no threshold
)
def winnow_balanced(p: P, s: S, z: Z, margin: float) -> bool:
    """Winnow with two weights for every feature, whose difference can have either sign."""
    if margin <= 0.0 and not outgrows(s, z):
        divided, alpha = scaled_by(z, 1.0 / scored_in(s)), promotion(p, s)
        multiply(s.plus, alpha, divided)
        multiply(s.minus, 1.0 / alpha, divided)
        s.n.steps += 1.0
        return True
    return False
