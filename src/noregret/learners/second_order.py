"""Second-order learners: a confidence for every direction, so that rare features may still move far."""

import math

from noregret.algebra import add, dot, image, inner, posterior_image, sharpen
from noregret.algebra.verbs import unbound
from noregret.rules.card import Choice, Guarantee, Merge, P, Param, S, X, Z, margin_rule
from noregret.state.fields import covariance, plain

CESA_BIANCHI_2005 = "Cesa-Bianchi, Conconi and Gentile, A second-order perceptron algorithm, SIAM J. Computing 34, 2005"
CRAMMER_2009 = "Crammer, Kulesza and Dredze, Adaptive regularization of weight vectors, NIPS 2009"
CRAMMER_LEE_2010 = "Crammer and Lee, Learning via Gaussian herding, NIPS 2010"
ORABONA_2010 = "Orabona and Crammer, New adaptive algorithms for online classification, NIPS 2010"
YANG_2009 = "Yang, Jin and Ye, Online learning by ellipsoid method, ICML 2009"

LARGEST_PRECISION = 1e150
LEAST_VARIANCE = 1e-300
age = unbound


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
    return float(dot(s.v, posterior_image(s.sigma, 1.0, x)))


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
    plays=("binary", "multiclass", "regression", "multilabel"),  # its score is not linear
)
def sop(p: P, s: S, z: Z, margin: float) -> bool:
    """The perceptron, seen through the directions already met."""
    if margin <= 0.0:
        add(s.v, 1.0, z)
        sharpen(s.sigma, 1.0, image(s.sigma, z))
        return True
    return False


def nherd_loss(loss: float, C: float, variance: float) -> float:
    """l / (1 + C x'Sigma x), where l and Sigma are those before the update."""
    return loss / (1.0 + C * variance)


@margin_rule(
    paper=CRAMMER_LEE_2010,
    params={"C": Param(1.0, above=0.0, about="how much a squared loss costs beside a change of the Gaussian")},
    state={"w": plain, "sigma": covariance},
    guarantee=Guarantee(
        "an update takes the hinge loss l of its round to l / (1 + C v), v = x'Sigma x before it",
        "any covariance; on the round of the update",
        nherd_loss,
    ),
    merge=Merge("heuristic", "precisions add, and so do precision times weights; no bound is claimed", "pool"),
    title="NHERD",
)
def nherd(p: P, s: S, z: Z, margin: float) -> bool:
    """Herd all weight vectors of a Gaussian toward margin 1: the mean as AROW, the variance faster."""
    if margin < 1.0:
        Sz = image(s.sigma, z)
        v = inner(z, Sz)
        add(s.w, (1.0 - margin) / (v + 1.0 / p.C), Sz)
        sharpen(s.sigma, min(p.C * (2.0 + p.C * v), LARGEST_PRECISION), Sz)
        return True
    return False


def narow_bound(spread: float, variances: float) -> float:
    """(u'A u + the sum of x'Sigma x after each update) / 2; spread is u'A u, and no variance is above 1/b."""
    return 0.5 * (spread + variances)


def narow_kappa(b: float, v: float) -> float:
    """How much to sharpen along an example of variance v, so that none above 1/b is left."""
    return b - 1.0 / v if b * v > 1.0 else 0.0


def narow_score(p: P, s: S, x: X) -> float:
    """theta' A'^-1 x: the confidence counts the current row as seen, as far as it is new."""
    v = inner(x, image(s.sigma, x))
    return float(dot(s.theta, posterior_image(s.sigma, narow_kappa(p.b, v), x)))


@margin_rule(
    paper=ORABONA_2010,
    params={"b": Param(1.0, above=0.0, about="directions whose variance is at most 1/b count as known")},
    state={"theta": plain, "sigma": covariance},
    score=narow_score,
    guarantee=Guarantee(
        "the sum of y u.x - y w.x <= (u'A u + sum of x'Sigma x) / 2, sums over the rounds with an update, "
        "A after the last of them, each Sigma after its own, where x'Sigma x <= 1/b",
        "full covariance; any u",
        narow_bound,
    ),
    title="NAROW",
    plays=("binary", "multiclass", "regression", "multilabel"),  # its score is not linear
)
def narow(p: P, s: S, z: Z, margin: float) -> bool:
    """Add the example under margin 1, and gain confidence only along directions that are new."""
    if margin < 1.0:
        add(s.theta, 1.0, z)
        Sz = image(s.sigma, z)
        sharpen(s.sigma, narow_kappa(p.b, inner(z, Sz)), Sz)
        return True
    return False


def by_round(t: float, updates: float) -> float:
    return t - 1.0


def by_update(t: float, updates: float) -> float:
    return updates


def iellip_margin() -> float:
    """1, the margin of a round once it has led to an update."""
    return 1.0


@margin_rule(
    paper=YANG_2009,
    params={
        "c": Param(0.1, at_least=0.0, below=1.0, about="the share of the variance along a mistake that is cut off"),
        "b": Param(0.3, above=0.0, below=1.0, about="by which that share falls"),
        "decay": Choice("round", {"round": by_round, "update": by_update}, "what makes the share fall", binds="age"),
    },
    state={"w": plain, "sigma": covariance},
    counters={"updates": 0.0, "sigma_scale": 1.0},
    guarantee=Guarantee(
        "an update takes the margin of its round to 1",
        "any covariance; variances above 1e-300",
        iellip_margin,
    ),
    title="IELLIP",
)
def iellip(p: P, s: S, z: Z, margin: float) -> bool:
    """Cut the ellipsoid of possible weights by every mistake, ever more gently.

    The ellipsoid is sigma_scale times the sigma that is kept: that it grows by 1 / (1 - c_t) moves no weight.
    """
    if margin <= 0.0:
        Sz = image(s.sigma, z)
        v = inner(z, Sz)
        if v > LEAST_VARIANCE:
            share = p.c * p.b ** age(s.n.t, s.n.updates)
            add(s.w, (1.0 - margin) / v, Sz)
            sharpen(s.sigma, share / (v * (1.0 - share)), Sz)
            s.n.sigma_scale /= 1.0 - share
            s.n.updates += 1.0
            return True
    return False
