"""Confidence-weighted learners: the closest Gaussian over weights that is right on the example with probability eta."""

import math

from noregret.algebra import add, image, inner, move_and_sharpen, sqnorm
from noregret.learners.passive_aggressive import has_C
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param
from noregret.rules.row_size import ROW_COUNTERS, count_row
from noregret.rules.rule_card import P, S, Z
from noregret.state.fields import covariance, plain

DREDZE_2008 = "Dredze, Crammer and Pereira, Confidence-weighted linear classification, ICML 2008"
CRAMMER_2008 = "Crammer, Dredze and Pereira, Exact convex confidence-weighted learning, NIPS 2008"
HOI_2012 = "Hoi, Wang and Zhao, Exact soft confidence-weighted learning, ICML 2012"

POOLING = Merge("heuristic", "precisions add, and so do precision times weights; no bound is known", "pool")
FULL = {"covariance": ("full",)}
LONGEST_STEP = 1e150
LEAST_VARIANCE = 1e-300
# On contradictory labels the variance is squared again and again, and soon no update could change anything.
ROUNDING = 1e-12
FLOOR = Param(
    5e-3,
    at_least=ROUNDING,
    below=1.0,
    about="the least part of |x|^2 that an update may leave as variance along x: one that would leave less moves the "
    "weights alone, so that they can still follow a drift; 1e-12 stands for the paper's rule, up to rounding",
    search=(1e-4, 1e-1, "log"),
)

# Wichura, Algorithm AS 241, 1988: a numerator and a denominator, the highest power first, for eta up to 0.925, for
# the tail, and for the far tail.
# fmt: off
NEAR = (
    (
        2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987,
        13731.69376550946, 1971.5909503065513, 133.14166789178438, 3.3871328727963665,
    ),
    (
        5226.495278852546, 28729.085735721943, 39307.89580009271, 21213.794301586597,
        5394.196021424751, 687.1870074920579, 42.31333070160091, 1.0,
    ),
)
TAIL = (
    (
        0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684,
        3.6478483247632045, 5.769497221460691, 4.630337846156546, 1.4234371107496835,
    ),
    (
        1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008,
        0.6897673349851, 1.6763848301838038, 2.053191626637759, 1.0,
    ),
)
FAR_TAIL = (
    (
        2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784, 0.026532189526576124,
        0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103,
    ),
    (
        2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05, 0.0007868691311456133,
        0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1.0,
    ),
)
# fmt: on


def ratio(table: tuple[tuple[float, ...], tuple[float, ...]], r: float) -> float:
    above, below = table
    top = bottom = 0.0
    for a in above:
        top = top * r + a
    for b in below:
        bottom = bottom * r + b
    return top / bottom


def quantile(eta: float) -> float:
    """Phi^-1(eta), the standard normal quantile, for 0.5 <= eta < 1."""
    q = eta - 0.5
    if q <= 0.425:
        return q * ratio(NEAR, 0.180625 - q * q)
    r = math.sqrt(-math.log(1.0 - eta))
    return ratio(TAIL, r - 1.6) if r <= 5.0 else ratio(FAR_TAIL, r - 5.0)


def step(margin: float, v: float, n: float, phi: float) -> float:
    """The alpha that minimises KL + C max(0, phi sqrt(v) - margin)^2, where n = v + 1/(2C); zero if there is no loss.

    With n = v the loss is forbidden, which is CW.
    """
    if v < LEAST_VARIANCE or margin >= phi * math.sqrt(v):
        return 0.0
    square = phi * phi
    q = square if n == v else square * v / n
    root = math.sqrt(q * q * margin * margin + 4.0 * v * square * (1.0 + q))
    return (root - (2.0 + q) * margin) / (2.0 * (n + v * square))


def shift(s: S, Sz: Z, alpha: float, kappa: float, enough: bool) -> bool:
    """w += alpha Sigma z and, if enough variance is left along z, Sigma^-1 += kappa z z'."""
    if enough:
        move_and_sharpen(s.w, alpha, s.sigma, kappa, Sz)
    else:
        add(s.w, alpha, Sz)
    return True


def move(s: S, Sz: Z, v: float, alpha: float, phi: float, least: float) -> bool:
    """w += alpha Sigma z, and shrink Sigma until sqrt(u), the deviation along z that is left, agrees with alpha."""
    if 0.0 < alpha < LONGEST_STEP:
        a = alpha * v * phi
        root_u = 2.0 * v / (a + math.sqrt(a * a + 4.0 * v))
        return shift(s, Sz, alpha, alpha * phi / root_u, root_u * root_u > least)
    return False


def eta(default: float, earlier: float | None = None) -> Param:
    about = "the probability with which the example must be classified correctly after the update"
    return Param(default, above=0.5, below=1.0, about=about, search=(0.55, 0.99, "linear"), earlier=earlier)


def cw_margin(p: P, variance_after: float) -> float:
    """phi sqrt(x'Sigma x), the margin reached."""
    return quantile(p.eta) * math.sqrt(variance_after)


@margin_rule(
    paper=CRAMMER_2008,
    params={"eta": eta(0.9)},
    state={"w": plain, "sigma": covariance},
    guarantees=(
        Guarantee(
            "margin after the update",
            "y w.x = phi sqrt(x'Sigma x): weights drawn from N(w, Sigma) classify the example correctly with "
            "probability eta",
            "after an update, on its own example; phi = Phi^-1(eta); variances above 1e-12 |x|^2",
            cw_margin,
            options=FULL,
            comparator="none",
            relation="equal",
        ),
    ),
    merge=POOLING,
    title="CW",
    default_variant=True,
)
def cw(p: P, s: S, z: Z, margin: float) -> bool:
    """Confidence-weighted, exact convex (ECCW): the closest Gaussian that is right on the example with probability eta.

    Its constraint is on the standard deviation of the margin; that of `cw_variance`, the earlier form, on its variance.
    """
    phi = quantile(p.eta)
    Sz = image(s.sigma, z)
    v = inner(z, Sz)
    return move(s, Sz, v, step(margin, v, v, phi), phi, ROUNDING * sqnorm(z))


def cw_variance_margin(p: P, variance_after: float) -> float:
    """phi x'Sigma x, the margin reached."""
    return quantile(p.eta) * variance_after


@margin_rule(
    paper=DREDZE_2008,
    params={"eta": eta(0.65, earlier=0.9)},
    state={"w": plain, "sigma": covariance},
    guarantees=(
        Guarantee(
            "margin after the update",
            "y w.x = phi x'Sigma x",
            "after an update, on its own example; phi = Phi^-1(eta); variances above 1e-12 |x|^2",
            cw_variance_margin,
            options=FULL,
            comparator="none",
            relation="equal",
        ),
    ),
    merge=POOLING,
    title="CW",
)
def cw_variance(p: P, s: S, z: Z, margin: float) -> bool:
    """Confidence-weighted with the variance in place of the standard deviation in its constraint."""
    phi = quantile(p.eta)
    Sz = image(s.sigma, z)
    v = inner(z, Sz)
    short = phi * v - margin
    if v < LEAST_VARIANCE or short <= 0.0:
        return False
    b = 1.0 + 2.0 * phi * margin
    root = math.sqrt(b * b + 8.0 * phi * short)
    alpha = (root - b) / (4.0 * phi * v) if b < 0.0 else 2.0 * short / (v * (root + b))
    if alpha >= LONGEST_STEP:
        return False
    kappa = 2.0 * alpha * phi
    return shift(s, Sz, alpha, kappa, v / (1.0 + kappa * v) > ROUNDING * sqnorm(z))


def scw1_bound(p: P, loss_before: float) -> float:
    """C l, where l is the loss of the example before the update."""
    return float(p.C * loss_before)


@margin_rule(
    paper=HOI_2012,
    params={
        "eta": eta(0.9),
        "C": Param(
            0.0,
            at_least=0.0,
            about="the largest step size; 0 stands for 8 / sqrt(S), where S is the geometric mean of |x|^2 so far",
            search=(2.0**-8, 2.0**8, "log"),
        ),
        "floor": FLOOR,
    },
    state={"w": plain, "sigma": covariance},
    counters=ROW_COUNTERS,
    guarantees=(
        Guarantee(
            "divergence plus loss of the update",
            "KL(new, old) + C l(new) <= C l(old), where l = max(0, phi sqrt(x'Sigma x) - y w.x)",
            "C > 0; every update that leaves a variance above floor |x|^2, on its own example; phi = Phi^-1(eta)",
            scw1_bound,
            options=FULL,
            requires=has_C,
            comparator="none",
        ),
    ),
    merge=POOLING,
    title="SCW1",
)
def scw1(p: P, s: S, z: Z, margin: float) -> bool:
    """Soft confidence-weighted (SCW-I): confidence-weighted with the step size capped at C."""
    phi = quantile(p.eta)
    Sz = image(s.sigma, z)
    v = inner(z, Sz)
    longest = p.C if p.C > 0.0 else 8.0 / math.sqrt(count_row(s, sqnorm(z)))
    return move(s, Sz, v, min(longest, step(margin, v, v, phi)), phi, p.floor * sqnorm(z))


def scw2_bound(p: P, loss_before: float) -> float:
    """C l^2, where l is the loss of the example before the update."""
    return float(p.C * loss_before**2)


@margin_rule(
    paper=HOI_2012,
    params={
        "eta": eta(0.9),
        "C": Param(
            0.0,
            at_least=0.0,
            about="the weight of the squared loss against the change of the Gaussian; 0 stands for 30 / S, where S is "
            "the geometric mean of |x|^2 so far",
            search=(2.0**-8, 2.0**8, "log"),
        ),
        "floor": FLOOR,
    },
    state={"w": plain, "sigma": covariance},
    counters=ROW_COUNTERS,
    guarantees=(
        Guarantee(
            "divergence plus loss of the update",
            "KL(new, old) + C l(new)^2 <= C l(old)^2, where l = max(0, phi sqrt(x'Sigma x) - y w.x)",
            "C > 0; every update that leaves a variance above floor |x|^2, on its own example; phi = Phi^-1(eta)",
            scw2_bound,
            options=FULL,
            requires=has_C,
            comparator="none",
        ),
    ),
    merge=POOLING,
    title="SCW2",
)
def scw2(p: P, s: S, z: Z, margin: float) -> bool:
    """Soft confidence-weighted (SCW-II): confidence-weighted with a squared loss of weight C for what is missing."""
    phi = quantile(p.eta)
    Sz = image(s.sigma, z)
    v = inner(z, Sz)
    softness = 0.5 / p.C if p.C > 0.0 else count_row(s, sqnorm(z)) / 60.0
    return move(s, Sz, v, step(margin, v, v + softness, phi), phi, p.floor * sqnorm(z))
