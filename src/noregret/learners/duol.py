"""DUOL, double updating online learning: a step on the new example and on the support that contradicts it most."""

import math
from typing import NamedTuple, TypeAlias

from noregret.algebra import (
    append,
    coefficient,
    fill_kernel_row,
    kernel_row,
    near,
    set_coefficient,
    side,
    sqnorm,
    supports,
)
from noregret.learners.passive_aggressive import C_SEARCH, pa1_bound
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param
from noregret.rules.rule_card import P, S, Z
from noregret.state.fields import counts, plain

ZHAO_2011 = "Zhao, Hoi and Jin, Double updating online learning, JMLR 12, 2011"
Steps: TypeAlias = tuple[float, float]
AT_MARGIN = 1.0 + 1e-9  # a step leaves margins of 1, up to rounding


class Pair(NamedTuple):
    """The dual objective of two examples: a loss_a + e loss_e - (size_a a^2 + 2 product a e + size_e e^2) / 2."""

    loss_a: float
    loss_e: float
    size_a: float
    size_e: float
    product: float


def dual_gain(q: Pair, a: float, e: float) -> float:
    """What steps a and e add to the dual objective."""
    return a * q.loss_a + e * q.loss_e - 0.5 * (q.size_a * a * a + q.size_e * e * e) - q.product * a * e


def clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def better(q: Pair, found: Steps, other: Steps) -> Steps:
    """The steps of the larger gain."""
    return other if dual_gain(q, other[0], other[1]) > dual_gain(q, found[0], found[1]) else found


def solve_pair(q: Pair, C: float, room: float) -> Steps:
    """The steps 0 <= a <= C and room - C <= e <= room of the largest gain.

    The best of the inner maximum, brought into the box where it is outside, and of the maxima on the four edges.
    """
    low = room - C
    rest = q.size_a * q.size_e - q.product * q.product
    inner = clip((q.size_e * q.loss_a - q.product * q.loss_e) / rest, 0.0, C) if rest > 0.0 else 0.0
    found = (0.0, 0.0)
    for a in (inner, 0.0, C):
        found = better(q, found, (a, clip((q.loss_e - q.product * a) / q.size_e, low, room)))
    for e in (low, room):
        found = better(q, found, (clip((q.loss_a - q.product * e) / q.size_a, 0.0, C), e))
    return found


def sign_of(w: float) -> float:
    """The label of a support, by its coefficient, which is never zero."""
    return math.copysign(1.0, w)


def most_opposed(s: S, z: Z) -> tuple[int, float]:
    """The support, of those with margin 1 or less, whose signed kernel with the example is the smallest, and that."""
    b, lowest = 0, math.inf
    for i in range(supports(s.w)):
        signed = side(z) * sign_of(coefficient(s.w, i)) * near(z, i)
        if signed < lowest and coefficient(s.F, i) <= AT_MARGIN:
            b, lowest = i, signed
    return b, lowest


def move_margin(s: S, i: int, change: float) -> None:
    """Support i, whose score has changed, has another margin."""
    set_coefficient(s.F, i, coefficient(s.F, i) + sign_of(coefficient(s.w, i)) * change)


@margin_rule(
    paper=ZHAO_2011,
    params={
        "C": Param(1.0, above=0.0, about="the largest coefficient of a support", search=C_SEARCH),
        "rho": Param(
            0.0,
            at_least=0.0,
            about="how far below 0 the signed kernel of a support and the example must be for a double update; above "
            "every k(x, x), there is none",
            grid=(0.0, 0.1, 0.3, 1.1),
        ),
    },
    state={"w": plain, "F": counts},
    weight_param="",  # a later round may raise the coefficient of this one, up to C
    guarantees=(
        Guarantee(
            "mistakes",
            "mistakes <= max(R^2, 1/C) (|u|^2 + 2 C sum of the hinge losses of u)",
            "every k(x, x) <= R^2; any u. Each update gains in the dual of the SVM objective at least what PA-I would",
            pa1_bound,
        ),
    ),
    merge=Merge("none", "the cached margins of the supports are those of one run"),
    title="DUOL",
    tasks=("binary",),
)
def duol(p: P, s: S, z: Z, margin: float) -> bool:
    """Double updating (DUOL): PA-I that also raises the coefficient of the support that contradicts it most.

    F has the margins of the supports. The coefficients are the dual variables of a support vector machine, which stay
    between 0 and C; a double update is its exact optimum over two of them.
    """
    if margin >= 1.0:
        return False
    size = sqnorm(z)
    a = min(p.C, (1.0 - margin) / size)
    b, product = most_opposed(s, z)
    if product <= -p.rho:
        fill_kernel_row(s.w, b)
        short = max(1.0 - coefficient(s.F, b), 0.0)
        own = coefficient(s.w, b)
        a, e = solve_pair(Pair(1.0 - margin, short, size, kernel_row(s.w, b), product), p.C, p.C - abs(own))
        for i in range(supports(s.w)):
            move_margin(s, i, sign_of(own) * e * kernel_row(s.w, i))
        set_coefficient(s.w, b, own + sign_of(own) * e)
        margin += e * product
    for i in range(supports(s.w)):
        move_margin(s, i, side(z) * a * near(z, i))
    append(s.w, a, z)
    set_coefficient(s.F, supports(s.w) - 1, margin + a * size)
    return True
