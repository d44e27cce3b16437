"""Rules as two toolboxes run them where that differs from the papers, to show that this is what makes the difference.

They are written as a user writes rules. LIBOL: the first step of ROMMA adds y x, not y x / |x|^2; ALMA divides no
example by its length; SOP sharpens its matrix on every round; NAROW moves as AROW does, and not at all along known
directions; SCW-II has two squares typed as doublings; CW goes on to sharpen when nothing is left. SOL: ECCW asks for
the margin phi v, not phi sqrt(v), and multiplies by sqrt(u) where it is to divide.
"""

import math

import noregret as nr
from noregret.algebra import add, dot, image, inner, norm, posterior_image, scale, sharpen, sqnorm
from noregret.rules.rule_card import P, S, X, Z

LIBOL = "Hoi, Wang and Zhao, LIBOL: a library for online learning algorithms, JMLR 15, 2014"
SOL = "Wu et al., SOL: a library for scalable online learning algorithms, Neurocomputing 260, 2017"
LEAST = 1e-150
PHI = nr.Param(0.5, above=0.0, about="how many deviations of margin are asked for")


def relax(s: S, z: Z, margin: float) -> bool:
    """The step of ROMMA, but from zero the whole example is added."""
    size, length = norm(s.w, 2.0) ** 2, sqnorm(z)
    apart = size * length - margin * margin
    if size == 0.0:
        add(s.w, 1.0, z)
    elif apart > 0.0:
        scale(s.w, (size * length - margin) / apart)
        add(s.w, size * (1.0 - margin) / apart, z)
    return True


@nr.margin_rule(paper=LIBOL, state={"w": nr.scaled}, tasks=("binary",))
def toolbox_romma(p: P, s: S, z: Z, margin: float) -> bool:
    """ROMMA with a first step of any length."""
    return relax(s, z, margin) if margin <= 0.0 else False


@nr.margin_rule(paper=LIBOL, state={"w": nr.scaled}, tasks=("binary",))
def toolbox_romma_aggressive(p: P, s: S, z: Z, margin: float) -> bool:
    """Aggressive ROMMA with a first step of any length."""
    return relax(s, z, margin) if margin < 1.0 else False


@nr.margin_rule(
    paper=LIBOL,
    params={
        "p": nr.Param(2.0, at_least=2.0, about="a factor only"),
        "alpha": nr.Param(0.9, above=0.0, at_most=1.0, about="which part of the margin may be missed"),
        "C": nr.Param(math.sqrt(2.0), above=0.0, about="the length of the first step"),
    },
    state={"w": nr.scaled},
    counters={"k": 1.0},
    tasks=("binary",),
)
def toolbox_alma(p: P, s: S, z: Z, margin: float) -> bool:
    """ALMA over examples of any length, in the Euclidean norm whatever p is."""
    if margin >= (1.0 - p.alpha) / p.alpha * math.sqrt((p.p - 1.0) / s.n.k):
        return False
    add(s.w, p.C / math.sqrt((p.p - 1.0) * s.n.k), z)
    s.n.k += 1.0
    length = norm(s.w, 2.0)
    if length > 1.0:
        scale(s.w, 1.0 / length)
    return True


def foreseen(p: P, s: S, x: X) -> float:
    return float(dot(s.v, posterior_image(s.sigma, 1.0, x)))


@nr.margin_rule(paper=LIBOL, state={"v": nr.plain, "sigma": nr.covariance}, score=foreseen, tasks=("binary",))
def toolbox_sop(p: P, s: S, z: Z, margin: float) -> bool:
    """The second-order perceptron, sharpened by every round."""
    if margin <= 0.0:
        add(s.v, 1.0, z)
    sharpen(s.sigma, 1.0, image(s.sigma, z))
    return True


@nr.margin_rule(
    paper=LIBOL,
    params={"b": nr.Param(1.0, above=0.0, about="directions whose variance is at most 1/b count as known")},
    state={"w": nr.plain, "sigma": nr.covariance},
    tasks=("binary",),
)
def toolbox_narow(p: P, s: S, z: Z, margin: float) -> bool:
    """AROW with r chosen by round; a known direction counts as an update, and nothing moves."""
    if margin >= 1.0:
        return False
    Sz = image(s.sigma, z)
    v = inner(z, Sz)
    if p.b * v > 1.0:
        r = v / (p.b * v - 1.0)
        add(s.w, (1.0 - margin) / (v + r), Sz)
        sharpen(s.sigma, 1.0 / r, Sz)
    return True


def aim(margin: float, v: float, phi: float) -> float:
    """The step of CW toward the margin phi sqrt(v)."""
    square = phi * phi
    root = math.sqrt(0.25 * square * square * margin * margin + v * square * (1.0 + square))
    return (root - (1.0 + 0.5 * square) * margin) / (v * (1.0 + square))


def left(alpha: float, v: float, phi: float) -> float:
    """sqrt(u), the deviation that a step leaves to its own round."""
    a = alpha * v * phi
    return 2.0 * v / (a + math.sqrt(a * a + 4.0 * v))


@nr.margin_rule(paper=LIBOL, params={"phi": PHI}, state={"w": nr.plain, "sigma": nr.covariance}, tasks=("binary",))
def toolbox_cw(p: P, s: S, z: Z, margin: float) -> bool:
    """CW that sharpens however little variance is left."""
    Sz = image(s.sigma, z)
    v = inner(z, Sz)
    if v <= LEAST or margin >= p.phi * math.sqrt(v):
        return False
    alpha = aim(margin, v, p.phi)
    if 0.0 < alpha < 1.0 / LEAST:
        add(s.w, alpha, Sz)
        sharpen(s.sigma, alpha * p.phi / left(alpha, v, p.phi), Sz)
    return True


@nr.margin_rule(
    paper=LIBOL,
    params={"phi": PHI, "C": nr.Param(1.0, above=0.0, about="how much a squared loss costs")},
    state={"w": nr.plain, "sigma": nr.covariance},
    tasks=("binary",),
)
def toolbox_scw2(p: P, s: S, z: Z, margin: float) -> bool:
    """SCW-II with v * 2 for v^2 and phi * 2 for phi^2 under the root."""
    Sz = image(s.sigma, z)
    v = inner(z, Sz)
    if v <= LEAST or margin >= p.phi * math.sqrt(v):
        return False
    n, square = v + 0.5 / p.C, p.phi * p.phi
    root = math.sqrt(square * square * margin * margin * v * 2.0 + 4.0 * n * v * square * (n + v * p.phi * 2.0))
    alpha = (root - (2.0 * n + square * v) * margin) / (2.0 * (n * n + n * v * square))
    if alpha > 0.0:
        add(s.w, alpha, Sz)
        sharpen(s.sigma, alpha * p.phi / left(alpha, v, p.phi), Sz)
    return True


@nr.margin_rule(paper=SOL, params={"phi": PHI}, state={"w": nr.plain, "sigma": nr.covariance}, tasks=("binary",))
def toolbox_eccw(p: P, s: S, z: Z, margin: float) -> bool:
    """CW that asks for phi v, steps as for phi sqrt(v), and sharpens by alpha phi sqrt(u)."""
    Sz = image(s.sigma, z)
    v = inner(z, Sz)
    if v <= LEAST or margin >= p.phi * v:
        return False
    alpha = aim(margin, v, p.phi)
    add(s.w, alpha, Sz)
    sharpen(s.sigma, alpha * p.phi * left(alpha, v, p.phi), Sz)
    return True
