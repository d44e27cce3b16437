"""Second-order learners: a confidence for every direction, so that rare features may still move far."""

import math

from noregret.algebra import add, dot, foresee, image, inner, sharpen
from noregret.card import Guarantee, Merge, P, Param, S, X, Z, margin_rule
from noregret.state import covariance, plain

CESA_BIANCHI_2005 = "Cesa-Bianchi, Conconi and Gentile, A second-order perceptron algorithm, SIAM J. Computing 34, 2005"
CRAMMER_2009 = "Crammer, Kulesza and Dredze, Adaptive regularization of weight vectors, NIPS 2009"


def arow_bound(spread: float, log_det: float, near_misses: float, comparator_loss: float) -> float:
    """sqrt(r |u|^2 + u'X u) sqrt(ln det(I + X/r) + U) + the hinge losses of u - U; spread is the first radicand.

    U counts the near misses: rounds with an update but no mistake.
    """
    return math.sqrt(spread) * math.sqrt(log_det + near_misses) + comparator_loss - near_misses


@margin_rule(
    paper=CRAMMER_2009,
    params={"r": Param(1.0, above=0.0, about="the larger, the slower confidence grows and the shorter the steps")},
    state={"w": plain, "sigma": covariance},
    weigh="1/r",
    guarantee=Guarantee(
        "mistakes <= sqrt(r |u|^2 + u'X u) sqrt(ln det(I + X/r) + U) + sum of the hinge losses of u - U, "
        "X = sum of x x' and all sums over the rounds with an update, U of which are no mistakes",
        "full covariance; any u; all weights 1",
        arow_bound,
    ),
    merge=Merge("exact", "precisions add, and so do precision times weights: the updates of both are pooled", "pool"),
    title="AROW",
    shown=True,
)
def arow(p: P, s: S, z: Z, margin: float) -> bool:
    """Shift the mean and shrink the variance along the directions seen."""
    if margin < 1.0:
        Sz = image(s.sigma, z)
        add(s.w, (1.0 - margin) / (inner(z, Sz) + p.r), Sz)
        sharpen(s.sigma, 1.0 / p.r, Sz)
        return True
    return False


def sop_bound(gamma: float, comparator_loss: float, spread: float, log_det: float) -> float:
    """D / gamma + sqrt((1 + u'S u) ln det(I + S)) / gamma; spread is 1 + u'S u, D the losses of u at margin gamma."""
    return (comparator_loss + math.sqrt(spread * log_det)) / gamma


def sop_score(p: P, s: S, x: X) -> float:
    """v' (A + x x')^-1 x: the confidence counts the current row as seen."""
    return float(dot(s.v, foresee(s.sigma, 1.0, x)))


@margin_rule(
    paper=CESA_BIANCHI_2005,
    params={},
    state={"v": plain, "sigma": covariance},
    score=sop_score,
    guarantee=Guarantee(
        "updates <= (1/gamma) (sum of max(0, gamma - y u.x) + sqrt((1 + u'S u) ln det(I + S))), "
        "S = sum of x x' and all sums over the rounds with an update",
        "full covariance; any unit u and gamma > 0",
        sop_bound,
    ),
    merge=Merge("exact", "the sums v and A - I add", "add"),
    title="SOP",
    shown=True,
)
def sop(p: P, s: S, z: Z, margin: float) -> bool:
    """The perceptron, seen through the directions already met."""
    if margin <= 0.0:
        add(s.v, 1.0, z)
        sharpen(s.sigma, 1.0, image(s.sigma, z))
        return True
    return False
