"""The Forgetron: a kernel perceptron that keeps at most `budget` mistakes and forgets the oldest gently."""

import math

from noregret.algebra import append, coefficient, fill_kernel_row, kernel_row, oldest, remove_support, scale, supports
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param
from noregret.rules.rule_card import P, S, Z
from noregret.state.fields import plain

DEKEL_2008 = (
    "Dekel, Shalev-Shwartz and Singer, The Forgetron: a kernel-based perceptron on a budget, "
    "SIAM Journal on Computing 37, 2008"
)
DAMAGE = 15.0 / 32.0  # how much damage is allowed for each mistake
ENOUGH = 83.0  # the smallest budget of the theorem


def longest(budget: float) -> float:
    """The largest norm of a comparator that the theorem allows: sqrt((B + 1) / log(B + 1)) / 4."""
    return 0.25 * math.sqrt((math.floor(budget) + 1.0) / math.log(math.floor(budget) + 1.0))


def forgetron_bound(p: P, radius: float, norm: float, comparator_loss: float) -> float:
    """2 |u|^2 + 4 times the hinge loss of u; infinity where k(x, x) is above 1 or u longer than the budget allows."""
    if radius > 1.0 or norm > longest(p.budget):
        return math.inf
    return 2.0 * norm * norm + 4.0 * comparator_loss


def why_too_small(p: P) -> str | None:
    return None if p.budget >= ENOUGH else "it is proved for a budget of at least 83"


def damage(sigma: float, margin: float) -> float:
    """What is lost by forgetting a support with weight sigma, on which the margin is the one given."""
    return sigma * sigma + 2.0 * sigma - 2.0 * sigma * margin


def shrinkage(sigma: float, margin: float, allowed: float) -> float:
    """The largest factor phi <= 1 for which damage(phi sigma, phi margin) is at most what is allowed, which is above 0.

    It is a root of square phi^2 + 2 sigma phi - allowed, in a form that stays exact where square is small.
    """
    if damage(sigma, margin) <= allowed:
        return 1.0
    square = sigma * sigma - 2.0 * sigma * margin
    return allowed / (sigma + math.sqrt(max(sigma * sigma + square * allowed, 0.0)))


@margin_rule(
    paper=DEKEL_2008,
    params={
        "budget": Param(
            500.0,
            at_least=1.0,
            at_most=1e6,
            about="the largest number of supports",
            untuned="more supports make fewer mistakes and take more time and memory",
        )
    },
    state={"w": plain},
    counters={"missed": 0.0, "damage": 0.0},
    tasks=("binary",),
    guarantees=(
        Guarantee(
            "updates",
            "updates <= 2 |u|^2 + 4 sum of the hinge losses of u",
            "every k(x, x) <= 1; any u with |u| <= sqrt((B + 1) / log(B + 1)) / 4, where B is the budget; B >= 83",
            forgetron_bound,
            requires=why_too_small,
        ),
    ),
    merge=Merge("none", "the supports of two learners are twice the budget, and their damage does not add"),
)
def forgetron(p: P, s: S, z: Z, margin: float) -> bool:
    """Add a mistake to the supports; once there are too many, shrink all of them and forget the oldest (Forgetron).

    The factor is the largest that keeps the damage of forgetting, summed over the rounds, within 15/32 of the mistakes.
    """
    if margin > 0.0:
        return False
    s.n.missed += 1.0
    append(s.w, 1.0, z)
    if supports(s.w) > p.budget:
        r = oldest(s.w)
        fill_kernel_row(s.w, r)
        score = 0.0
        for i in range(supports(s.w)):
            score += coefficient(s.w, i) * kernel_row(s.w, i)
        sigma = abs(coefficient(s.w, r))
        if coefficient(s.w, r) < 0.0:
            score = -score
        phi = shrinkage(sigma, score, DAMAGE * s.n.missed - s.n.damage)
        s.n.damage += damage(phi * sigma, phi * score)
        scale(s.w, phi)
        remove_support(s.w, r, z)
    return True
