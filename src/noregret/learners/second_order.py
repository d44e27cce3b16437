"""Second-order learners: a variance for every feature or direction, so that rare features still take long steps."""

import math

from noregret.algebra import add, dot, image, inner, move_and_sharpen, posterior_image, sharpen, sqnorm
from noregret.algebra.verbs import unbound
from noregret.learners.passive_aggressive import has_C
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Choice, Param
from noregret.rules.row_size import ROW_COUNTERS, count_row
from noregret.rules.rule_card import P, S, X, Z
from noregret.state.fields import covariance, plain

CESA_BIANCHI_2005 = "Cesa-Bianchi, Conconi and Gentile, A second-order perceptron algorithm, SIAM J. Computing 34, 2005"
CRAMMER_2009 = "Crammer, Kulesza and Dredze, Adaptive regularization of weight vectors, NIPS 2009"
CRAMMER_LEE_2010 = "Crammer and Lee, Learning via Gaussian herding, NIPS 2010"
ORABONA_2010 = "Orabona and Crammer, New adaptive algorithms for online classification, NIPS 2010"
YANG_2009 = "Yang, Jin and Ye, Online learning by ellipsoid method, ICML 2009"

FULL = {"covariance": ("full",)}
LARGEST_PRECISION = 1e150
LEAST_VARIANCE = 1e-300
age = unbound


def arow_bound(
    p: P,
    norm: float,
    squared_scores_on_updates: float,
    log_det: float,
    updates_without_mistake: float,
    comparator_loss_on_updates: float,
) -> float:
    """sqrt(r |u|^2 + u'S u) sqrt(ln det(I + S/r) + U) + the hinge losses of u - U, U the updates without a mistake."""
    spread = p.r * norm**2 + squared_scores_on_updates
    potential = math.sqrt(spread) * math.sqrt(log_det + updates_without_mistake)
    return float(potential + comparator_loss_on_updates - updates_without_mistake)


@margin_rule(
    paper=CRAMMER_2009,
    params={
        "r": Param(
            1.0,
            above=0.0,
            about="regularization: larger values shorten the steps and shrink the variance more slowly",
            search=(1e-3, 1e3, "log"),
        )
    },
    state={"w": plain, "sigma": covariance},
    weight_param="1/r",
    guarantees=(
        Guarantee(
            "mistakes",
            "mistakes <= sqrt(r |u|^2 + u'S u) sqrt(ln det(I + S/r) + U) + sum of the hinge losses of u - U, "
            "where S = sum of x x', all sums are over the rounds with an update, and U of these are no mistakes",
            "any u; all importance weights 1",
            arow_bound,
            options=FULL,
        ),
    ),
    merge=Merge("exact", "precisions add, and so do precision times weights: the updates of both are pooled", "pool"),
    title="AROW",
    runs_by_default=True,
)
def arow(p: P, s: S, z: Z, margin: float) -> bool:
    """Adaptive regularization of weights: a Gaussian over weights, whose variance shrinks along every update."""
    if margin < 1.0:
        Sz = image(s.sigma, z)
        move_and_sharpen(s.w, (1.0 - margin) / (inner(z, Sz) + p.r), s.sigma, 1.0 / p.r, Sz)
        return True
    return False


def sop_bound(
    p: P, norm: float, comparator_loss_on_updates: float, squared_scores_on_updates: float, log_det: float
) -> float:
    """The hinge losses of u + sqrt((|u|^2 + u'S u) ln det(I + S))."""
    return comparator_loss_on_updates + math.sqrt((norm**2 + squared_scores_on_updates) * log_det)


def sop_score(p: P, s: S, x: X) -> float:
    """v' (A + x x')^-1 x, where A already counts the current row."""
    return float(dot(s.v, posterior_image(s.sigma, 1.0, x)))


@margin_rule(
    paper=CESA_BIANCHI_2005,
    params={},
    state={"v": plain, "sigma": covariance},
    score=sop_score,
    guarantees=(
        Guarantee(
            "updates",
            "updates <= sum of the hinge losses of u + sqrt((|u|^2 + u'S u) ln det(I + S)), "
            "where S = sum of x x' and all sums are over the rounds with an update",
            "any u",
            sop_bound,
            options=FULL,
        ),
    ),
    merge=Merge("exact", "the sums v and A - I add", "add"),
    title="SOP",
    runs_by_default=True,
    tasks=("binary", "multiclass", "regression", "multilabel"),  # its score is not linear
)
def sop(p: P, s: S, z: Z, margin: float) -> bool:
    """Second-order perceptron: the perceptron on examples whitened by those of the earlier updates."""
    if margin <= 0.0:
        add(s.v, 1.0, z)
        sharpen(s.sigma, 1.0, image(s.sigma, z))
        return True
    return False


def nherd_loss(p: P, loss_before: float, variance_before: float) -> float:
    """l / (1 + C x'Sigma x), where l and Sigma are those before the update."""
    return float(loss_before / (1.0 + p.C * variance_before))


@margin_rule(
    paper=CRAMMER_LEE_2010,
    params={
        "C": Param(
            0.0,
            at_least=0.0,
            about="the weight of the squared loss against the change of the Gaussian; 0 stands for 4 / S, where S is "
            "the geometric mean of |x|^2 so far",
            search=(1e-3, 1e3, "log"),
        )
    },
    state={"w": plain, "sigma": covariance},
    counters=ROW_COUNTERS,
    guarantees=(
        Guarantee(
            "loss after the update",
            "an update reduces the hinge loss l of its example to l / (1 + C v), where v = x'Sigma x before it",
            "C > 0; after an update, on its own example",
            nherd_loss,
            requires=has_C,
            comparator="none",
            relation="equal",
        ),
    ),
    merge=Merge("heuristic", "precisions add, and so do precision times weights; no bound is known", "pool"),
    title="NHERD",
)
def nherd(p: P, s: S, z: Z, margin: float) -> bool:
    """Gaussian herding: the mean moves as in AROW, the variance shrinks faster."""
    C = p.C if p.C > 0.0 else 4.0 / count_row(s, sqnorm(z))
    if margin < 1.0:
        Sz = image(s.sigma, z)
        v = inner(z, Sz)
        kappa = min(C * (2.0 + C * v), LARGEST_PRECISION)
        move_and_sharpen(s.w, (1.0 - margin) / (v + 1.0 / C), s.sigma, kappa, Sz)
        return True
    return False


def narow_bound(p: P, comparator_precision: float, variances_on_updates: float) -> float:
    """(u'A u + the sum of x'Sigma x after each update) / 2; no variance is above 1/b."""
    return 0.5 * (comparator_precision + variances_on_updates)


def narow_kappa(b: float, v: float) -> float:
    """The precision to add along an example of variance v, so that its variance is at most 1/b."""
    return b - 1.0 / v if b * v > 1.0 else 0.0


def narow_score(p: P, s: S, x: X) -> float:
    """theta' A^-1 x, where A already counts the current row, as far as its variance is above 1/b."""
    v = inner(x, image(s.sigma, x))
    return float(dot(s.theta, posterior_image(s.sigma, narow_kappa(p.b, v), x)))


@margin_rule(
    paper=ORABONA_2010,
    params={
        "b": Param(
            1.0, above=0.0, about="variances shrink only as long as they are above 1/b", search=(1e-3, 1e3, "log")
        )
    },
    state={"theta": plain, "sigma": covariance},
    score=narow_score,
    guarantees=(
        Guarantee(
            "linear regret on updates",
            "sum of y u.x - y w.x <= (u'A u + sum of x'Sigma x) / 2, where sums are over the rounds with an update, "
            "A is taken after the last of them, each Sigma after its own, and x'Sigma x <= 1/b",
            "any u",
            narow_bound,
            options=FULL,
        ),
    ),
    title="NAROW",
    tasks=("binary", "multiclass", "regression", "multilabel"),  # its score is not linear
)
def narow(p: P, s: S, z: Z, margin: float) -> bool:
    """AROW variant (NAROW): the variance shrinks only where it is above 1/b."""
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


def iellip_margin(p: P) -> float:
    """1"""
    return 1.0


@margin_rule(
    paper=YANG_2009,
    params={
        "c": Param(
            0.1,
            at_least=0.0,
            below=1.0,
            about="the fraction by which the first update shrinks the variance along its example",
            search=(0.0, 0.9, "linear"),
        ),
        "b": Param(
            0.3, above=0.0, below=1.0, about="the factor by which that fraction decays", search=(0.05, 0.95, "linear")
        ),
        "decay": Choice(
            "round", {"round": by_round, "update": by_update}, "whether it decays with rounds or updates", binds="age"
        ),
    },
    state={"w": plain, "sigma": covariance},
    counters={"updates": 0.0, "sigma_scale": 1.0},
    guarantees=(
        Guarantee(
            "margin after the update",
            "after an update the margin of its example is 1",
            "variances above 1e-300",
            iellip_margin,
            comparator="none",
            relation="equal",
        ),
    ),
    title="IELLIP",
)
def iellip(p: P, s: S, z: Z, margin: float) -> bool:
    """Ellipsoid method: a mistake moves the weights to margin 1 and cuts the ellipsoid of possible weights.

    The ellipsoid is sigma_scale times the stored sigma; its growth by 1 / (1 - c_t) does not change the weights.
    """
    if margin <= 0.0:
        Sz = image(s.sigma, z)
        v = inner(z, Sz)
        if v > LEAST_VARIANCE:
            share = p.c * p.b ** age(s.n.t, s.n.updates)
            move_and_sharpen(s.w, (1.0 - margin) / v, s.sigma, share / (v * (1.0 - share)), Sz)
            s.n.sigma_scale /= 1.0 - share
            s.n.updates += 1.0
            return True
    return False
