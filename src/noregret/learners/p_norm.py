"""p-norm learners: they add examples as the perceptron does, and use the sum through the link of the p-norm.

p = 2 is the perceptron's geometry; with p near 2 ln(d) irrelevant features cost only a logarithm, as in Winnow.
"""

import math

from noregret.algebra import add, link_dot, norm, scale
from noregret.rules.card import NO_MERGE, Guarantee, Merge, P, Param, S, X, Z, margin_rule
from noregret.state.fields import scaled

GROVE_2001 = (
    "Grove, Littlestone and Schuurmans, General convergence results for linear discriminant updates, "
    "Machine Learning 43, 2001; Gentile, The robustness of the p-norm algorithms, Machine Learning 53, 2003"
)
GENTILE_2001 = "Gentile, A new approximate maximal margin classification algorithm, JMLR 2, 2001"


def p_norm_bound(radius: float, margin: float, p: float) -> float:
    """(p - 1) (R / gamma)^2; with p = 2 it is the bound of the perceptron."""
    return (p - 1.0) * (radius / margin) ** 2


def p_norm_score(p: P, s: S, x: X) -> float:
    """w.x, where w is the sum of the examples that were added, seen through the link."""
    return float(link_dot(s.theta, x, p.p))


@margin_rule(
    paper=GROVE_2001,
    params={
        "p": Param(4.0, at_least=2.0, about="the norm that measures examples; whole numbers are faster"),
        "eta": Param(1.0, above=0.0, about="the length of a step"),
    },
    state={"theta": scaled},
    score=p_norm_score,
    weigh="eta",
    guarantee=Guarantee(
        "updates <= (p - 1) (R / gamma)^2",
        "every |x|_p <= R, and some u with |u|_q = 1, where 1/p + 1/q = 1, has y u.x >= gamma > 0 on all rounds; "
        "all weights 1",
        p_norm_bound,
    ),
    merge=Merge("exact", "the sums of the examples that were added add; no bound is claimed", "add"),
    title="PNormPerceptron",
)
def p_norm(p: P, s: S, z: Z, margin: float) -> bool:
    """Add the example when it is not on the right side, and predict with the sum seen through a link."""
    if margin <= 0.0:
        add(s.theta, p.eta, z)
        return True
    return False


def alma_bound(margin: float, p: float, alpha: float) -> float:
    """2 (p - 1) / gamma^2 (2 / alpha - 1)^2 + 8 / alpha - 4 updates."""
    return 2.0 * (p - 1.0) / margin**2 * (2.0 / alpha - 1.0) ** 2 + 8.0 / alpha - 4.0


@margin_rule(
    paper=GENTILE_2001,
    params={
        "p": Param(2.0, at_least=2.0, about="the norm that measures examples; whole numbers are faster"),
        "alpha": Param(0.9, above=0.0, at_most=1.0, about="which part of the largest margin may be missed"),
        "B": Param(0.0, at_least=0.0, about="how wide the margin asked for is at first; 0 stands for sqrt(8) / alpha"),
        "C": Param(math.sqrt(2.0), above=0.0, about="the length of the first step"),
    },
    state={"theta": scaled},
    counters={"k": 1.0},
    score=p_norm_score,
    guarantee=Guarantee(
        "updates <= 2 (p - 1) / gamma^2 (2 / alpha - 1)^2 + 8 / alpha - 4, and then every margin >= (1 - alpha) gamma",
        "some u with |u|_q = 1, where 1/p + 1/q = 1, has y u.x >= gamma |x|_p > 0 on all rounds; "
        "B = sqrt(8) / alpha, C = sqrt(2)",
        alma_bound,
    ),
    merge=NO_MERGE,
    title="ALMA",
    plays=("binary", "multiclass", "multilabel", "ranking"),
)
def alma(p: P, s: S, z: Z, margin: float) -> bool:
    """Approach the largest margin: ask for less and step less from update to update, within a ball."""
    size = norm(z, p.p)
    B = p.B if p.B > 0.0 else math.sqrt(8.0) / p.alpha
    if margin > (1.0 - p.alpha) * B * math.sqrt((p.p - 1.0) / s.n.k) * size:
        return False
    add(s.theta, p.C / math.sqrt((p.p - 1.0) * s.n.k) / size, z)
    s.n.k += 1.0
    length = norm(s.theta, p.p)
    if length > 1.0:
        scale(s.theta, 1.0 / length)
    return True
