"""Projectron: a kernel perceptron that projects a mistake onto the span of its supports where little is lost by it."""

import math

from noregret.algebra import add_projection, append, extend, independent, project, sqnorm, supports
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param
from noregret.rules.rule_card import P, S, Z
from noregret.state.fields import basis, plain

ORABONA_2009 = "Orabona, Keshet and Caputo, Bounded kernel-based online learning, JMLR 10, 2009"
PARAMS = {
    "eta": Param(
        0.1,
        at_least=0.0,
        about="the largest error of a projection, as a norm; 0 is the kernel perceptron",
        search=(0.01, 1.0, "log"),
    ),
    "budget": Param(
        500.0,
        at_least=1.0,
        at_most=1e5,
        about="the largest number of supports; beyond it every mistake is projected",
        untuned="more supports make fewer mistakes and take more time and memory",
    ),
}
ROOM = (
    "no row farther than eta from the span of the supports was projected, because the budget was used up or by rounding"
)
NO_MERGE = Merge("none", "the supports of two learners are twice the budget, and each was projected onto its own")


def projectron_bound(p: P, radius: float, norm: float, comparator_loss: float) -> float:
    """(R^2 |u|^2 + 2 times the hinge loss of u) / (1 - 2 eta |u|); infinity where eta |u| is not below 1/2."""
    rest = 1.0 - 2.0 * p.eta * norm
    return (radius * radius * norm * norm + 2.0 * comparator_loss) / rest if rest > 0.0 else math.inf


def margin_bound(p: P, radius: float, norm: float, comparator_loss: float) -> float:
    """The bound of the Projectron where k(x, x) is at most 1; infinity elsewhere."""
    return projectron_bound(p, 1.0, norm, comparator_loss) if radius <= 1.0 else math.inf


def project_or_append(p: P, s: S, z: Z) -> None:
    """Take a perceptron step; project it where the error is at most eta, all supports are used, or z depends on them.

    A row outside the span depends on it only by rounding: see `noregret.algebra.basis.DEPENDENT`.
    """
    squared = project(s.basis, z)
    if squared > p.eta * p.eta and supports(s.w) + 1.0 <= p.budget and independent(s.basis, z):
        append(s.w, 1.0, z)
        extend(s.basis, z)
    else:
        add_projection(s.w, 1.0, s.basis, z)


@margin_rule(
    paper=ORABONA_2009,
    params=PARAMS,
    state={"w": plain, "basis": basis},
    tasks=("binary", "multiclass"),
    guarantees=(
        Guarantee(
            "updates",
            "updates <= (R^2 |u|^2 + 2 sum of the hinge losses of u) / (1 - 2 eta |u|)",
            "every k(x, x) <= R^2; any u with eta |u| < 1/2; " + ROOM,
            projectron_bound,
            assumes=ROOM,
        ),
    ),
    merge=NO_MERGE,
    needs_mercer_kernel=True,
    title="Projectron",
    default_variant=True,
)
def projectron(p: P, s: S, z: Z, margin: float) -> bool:
    """Add a mistake to the supports, or only its projection onto them where that is within eta of it (Projectron)."""
    if margin <= 0.0:
        project_or_append(p, s, z)
        return True
    return False


@margin_rule(
    paper=ORABONA_2009,
    params=PARAMS,
    state={"w": plain, "basis": basis},
    tasks=("binary", "multiclass"),
    guarantees=(
        Guarantee(
            "mistakes",
            "mistakes <= (|u|^2 + 2 sum of the hinge losses of u) / (1 - 2 eta |u|)",
            "every k(x, x) <= 1; any u with eta |u| < 1/2; " + ROOM,
            margin_bound,
            assumes=ROOM,
        ),
    ),
    merge=NO_MERGE,
    needs_mercer_kernel=True,
    title="Projectron",
)
def projectron_plus_plus(p: P, s: S, z: Z, margin: float) -> bool:
    """Projectron that also steps within the span of its supports where a margin is below 1 (Projectron++)."""
    if margin <= 0.0:
        project_or_append(p, s, z)
        return True
    if margin < 1.0:
        loss = 1.0 - margin
        squared = project(s.basis, z)
        error = math.sqrt(squared)
        if error < p.eta * loss:
            gain = 2.0 * (loss - error / p.eta)
            add_projection(s.w, min(1.0, min(loss, gain) / (sqnorm(z) - squared)), s.basis, z)
            return True
    return False
