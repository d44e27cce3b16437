"""Budgeted passive-aggressive learners: PA-I with kernels, and a problem that also says which support goes.

Once the budget is used up, w is the least of 1/2 |w - w_t|^2 + C hinge loss, where support r has no coefficient any
more and only the new support x and some others may change: none (simple), the nearest neighbour of r (nearest) or all
(full). What r was is replaced by its projection onto these; the error of the projection is orthogonal to them, x among
them, so that the step along x is that of PA-I. So the best r is the one with the least error, times its coefficient.
"""

from noregret.algebra import (
    add,
    add_projection,
    append,
    coefficient,
    distance,
    drop,
    extend,
    fill_distances,
    fill_kernel_row,
    independent,
    kernel_row,
    near,
    project,
    remove_coefficients,
    remove_support,
    set_coefficient,
    sqnorm,
    sqsource,
    substitute,
    supports,
)
from noregret.algebra.basis import DEPENDENT
from noregret.algebra.verbs import unbound
from noregret.learners.passive_aggressive import C_SEARCH
from noregret.rules.decorators import margin_rule
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Choice, Param
from noregret.rules.rule_card import P, S, Z
from noregret.state.fields import basis, counts, plain

WANG_2010 = "Wang and Vucetic, Online passive-aggressive algorithms on a budget, AISTATS, 2010"
INF = float("inf")
step = unbound


def step_simple(p: P, s: S, z: Z, tau: float) -> None:
    """A support that goes is projected onto the new one: O(budget)."""
    known = supports(s.w)
    add(s.w, tau, z)
    if supports(s.w) > known:
        set_coefficient(s.squares, known, sqsource(z))
        if known + 1.0 > p.budget:
            remove_simple(s, z, known)


def remove_simple(s: S, z: Z, new: int) -> None:
    """Replace the support by a multiple of the new one for which the least is lost."""
    size = sqsource(z)
    best, least = 0, INF
    for r in range(new):
        a, k = coefficient(s.w, r), near(z, r)
        lost = a * a * (coefficient(s.squares, r) - k * k / size)
        if lost < least:
            best, least = r, lost
    share = coefficient(s.w, best) * near(z, best) / size
    set_coefficient(s.w, new, coefficient(s.w, new) + share)
    remove_coefficients(s.squares, best, z)
    remove_support(s.w, best, z)


def step_nearest(p: P, s: S, z: Z, tau: float) -> None:
    """A support that goes is projected onto the new one and its nearest neighbour: O(budget), these being known."""
    new = supports(s.w)
    add(s.w, tau, z)
    if supports(s.w) > new:
        set_coefficient(s.squares, new, sqsource(z))
        if new + 1.0 > p.budget:
            new = remove_nearest(s, z, new)
        meet(s, z, new)


def neighbour_of(s: S, r: int) -> int:
    """The number of the nearest neighbour of a support, kept with one added; -1 where there is none."""
    n = int(coefficient(s.neighbours, r)) - 1
    return n if 0 <= n < supports(s.w) else -1


def shares_of(s: S, z: Z, r: int, n: int) -> tuple[float, float, float]:
    """The projection of support r onto the row at hand and support n: both coefficients, and the squared error."""
    size, k = sqsource(z), near(z, r)
    along, share, lost = k / size, 0.0, coefficient(s.squares, r) - k * k / size
    if n >= 0:
        kn, own = near(z, n), coefficient(s.squares, n)
        rest = own - kn * kn / size  # of n, what is orthogonal to the row at hand
        if rest > DEPENDENT * own:
            both = coefficient(s.kernels, r) - k * kn / size
            share = both / rest
            along -= share * kn / size
            lost -= share * both
    return along, share, lost


def remove_nearest(s: S, z: Z, new: int) -> int:
    """Replace the support for which the least is lost; return the place of the new one, which takes its place."""
    best, least = 0, INF
    for r in range(new):
        along, share, lost = shares_of(s, z, r, neighbour_of(s, r))
        lost *= coefficient(s.w, r) * coefficient(s.w, r)
        if lost < least:
            best, least = r, lost
    n = neighbour_of(s, best)
    along, share, lost = shares_of(s, z, best, n)
    a = coefficient(s.w, best)
    set_coefficient(s.w, new, coefficient(s.w, new) + a * along)
    if n >= 0:
        set_coefficient(s.w, n, coefficient(s.w, n) + a * share)
    remove_coefficients(s.squares, best, z)
    remove_coefficients(s.neighbours, best, z)
    remove_coefficients(s.kernels, best, z)
    remove_support(s.w, best, z)
    return best


def meet(s: S, z: Z, new: int) -> None:
    """Find the neighbour of the new support, and of those to which it is nearer or whose neighbour it has replaced."""
    for i in range(supports(s.w)):
        if i != new:
            offer(s, new, i, near(z, i))
            if neighbour_of(s, i) == new:
                set_coefficient(s.neighbours, i, 0.0)
                fill_kernel_row(s.w, i)
                for j in range(supports(s.w)):
                    if j != i:
                        offer(s, i, j, kernel_row(s.w, j))
            else:
                offer(s, i, new, near(z, i))


def offer(s: S, i: int, j: int, k: float) -> None:
    """Let support j be the neighbour of i if it is nearer than the one so far: |x_i|^2 + |x_j|^2 - 2 k is less."""
    n = neighbour_of(s, i)
    if n < 0 or coefficient(s.squares, j) - 2.0 * k < coefficient(s.squares, n) - 2.0 * coefficient(s.kernels, i):
        set_coefficient(s.neighbours, i, j + 1.0)
        set_coefficient(s.kernels, i, k)


def step_full(p: P, s: S, z: Z, tau: float) -> None:
    """A support that goes is projected onto all others: O(budget^2). A row in their span is no support of its own."""
    project(s.basis, z)
    if not independent(s.basis, z):
        add_projection(s.w, tau, s.basis, z)
        return
    new = supports(s.w)
    append(s.w, tau, z)
    extend(s.basis, z)
    if new + 1.0 > p.budget:
        fill_distances(s.basis)
        best, least = 0, INF
        for r in range(new):
            lost = coefficient(s.w, r) * coefficient(s.w, r) * distance(s.basis, r)
            if lost < least:
                best, least = r, lost
        substitute(s.w, best, s.basis)
        drop(s.basis, best)
        remove_support(s.w, best, z)


@margin_rule(
    paper=WANG_2010,
    params={
        "C": Param(1.0, above=0.0, about="the largest step size", search=C_SEARCH),
        "budget": Param(
            500.0,
            at_least=1.0,
            at_most=1e6,
            about="the largest number of supports",
            untuned="more supports make fewer mistakes and take more time and memory",
        ),
        "method": Choice(
            "simple",
            {"simple": step_simple, "nearest": step_nearest, "full": step_full},
            "what stands in for a support that goes: the new one, also its nearest neighbour, or all others",
            binds="step",
            fields={
                "simple": {"squares": counts},
                "nearest": {"squares": counts, "neighbours": counts, "kernels": counts},
                "full": {"basis": basis},
            },
        ),
    },
    state={"w": plain},
    tasks=("binary", "regression"),  # those in which a support has one coefficient
    weight_param="C",
    needs_mercer_kernel=True,
    merge=Merge("none", "the supports of two learners are twice the budget, and each was projected onto its own"),
)
def budgeted_pa(p: P, s: S, z: Z, margin: float) -> bool:
    """PA-I with kernels and at most so many supports; the one goes whose removal costs least (BPA).

    No theorem is known: what is lost with a support is not bounded by the losses of a comparator.
    """
    if margin < 1.0:
        step(p, s, z, min(p.C, (1.0 - margin) / sqnorm(z)))
        return True
    return False
