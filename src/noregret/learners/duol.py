"""DUOL, double updating online learning: a step on the new example and on the support that contradicts it most."""

import math
from typing import NamedTuple

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


def solve_pair(q: Pair, C: float, room: float) -> tuple[float, float]:
    """The steps 0 <= a <= C and room - C <= e <= room of the largest gain.

    The inner maximum, where the box has it; otherwise the best of the maxima on its four edges.
    """
    low = room - C
    rest = q.size_a * q.size_e - q.product * q.product
    if rest > 0.0:
        a = (q.size_e * q.loss_a - q.product * q.loss_e) / rest
        e = (q.size_a * q.loss_e - q.product * q.loss_a) / rest
        if 0.0 <= a <= C and low <= e <= room:
            return a, e
    best_a, best_e = 0.0, 0.0
    for a in (0.0, C):
        e = clip((q.loss_e - q.product * a) / q.size_e, low, room)
        if dual_gain(q, a, e) > dual_gain(q, best_a, best_e):
            best_a, best_e = a, e
    for e in (low, room):
        a = clip((q.loss_a - q.product * e) / q.size_a, 0.0, C)
        if dual_gain(q, a, e) > dual_gain(q, best_a, best_e):
            best_a, best_e = a, e
    return best_a, best_e


def sign_of(w: float) -> float:
    """The label of a support, by its coefficient, which is never zero."""
    return math.copysign(1.0, w)


def most_opposed(s: S, z: Z) -> int:
    """The support, of those with margin 1 or less, whose signed kernel with the example is the smallest; or -1."""
    b, lowest = -1, math.inf
    for i in range(supports(s.w)):
        signed = side(z) * sign_of(coefficient(s.w, i)) * near(z, i)
        if coefficient(s.F, i) <= AT_MARGIN and signed < lowest:
            b, lowest = i, signed
    return b


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
    """Double updating: PA-I that also raises the coefficient of the support that contradicts the example most (DUOL).

    F has the margins of the supports. The coefficients are the dual variables of a support vector machine, which stay
    between 0 and C; a double update is its exact optimum over two of them.
    """
    if margin >= 1.0:
        return False
    y, size, b = side(z), sqnorm(z), most_opposed(s, z)
    a, e, label, product = min(p.C, (1.0 - margin) / size), 0.0, 0.0, 0.0
    if b >= 0:
        label = sign_of(coefficient(s.w, b))
        product = y * label * near(z, b)
    if b >= 0 and product <= -p.rho:
        fill_kernel_row(s.w, b)
        pair = Pair(1.0 - margin, max(1.0 - coefficient(s.F, b), 0.0), size, kernel_row(s.w, b), product)
        a, e = solve_pair(pair, p.C, p.C - abs(coefficient(s.w, b)))
        set_coefficient(s.w, b, coefficient(s.w, b) + label * e)
    for i in range(supports(s.w)):
        moved = y * a * near(z, i) + (label * e * kernel_row(s.w, i) if e != 0.0 else 0.0)
        set_coefficient(s.F, i, coefficient(s.F, i) + sign_of(coefficient(s.w, i)) * moved)
    append(s.w, a, z)
    set_coefficient(s.F, supports(s.w) - 1, margin + a * size + e * product)
    return True
