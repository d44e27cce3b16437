"""p-norm learners: perceptron updates on a dual vector, which the link of the p-norm maps to the weights.

p = 2 is the perceptron; with p near 2 ln(d) irrelevant features cost only a logarithm, as in Winnow.
"""

import math

from noregret.algebra import add, link_dot, norm, scale
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import NO_MERGE, Merge
from noregret.rules.parameters import Param
from noregret.rules.rule_card import P, S, X, Z
from noregret.state.fields import scaled

GROVE_2001 = (
    "Grove, Littlestone and Schuurmans, General convergence results for linear discriminant updates, "
    "Machine Learning 43, 2001; Gentile, The robustness of the p-norm algorithms, Machine Learning 53, 2003"
)
GENTILE_2001 = "Gentile, A new approximate maximal margin classification algorithm, JMLR 2, 2001"


def p_norm_bound(p: P, radius_p: float, margin_q: float) -> float:
    """(p - 1) (R / gamma)^2; with p = 2 it is the bound of the perceptron."""
    return float((p.p - 1.0) * (radius_p / margin_q) ** 2)


def p_norm_score(p: P, s: S, x: X) -> float:
    """w.x, where the link maps the sum of the added examples to w."""
    return float(link_dot(s.theta, x, p.p))


@margin_rule(
    paper=GROVE_2001,
    params={
        "p": Param(
            4.0,
            at_least=2.0,
            about="the p of the norm of examples; whole numbers are faster",
            search=(2.0, 20.0, "log"),
        ),
        "eta": Param(1.0, above=0.0, about="the step size", untuned="it only rescales the weights"),
    },
    state={"theta": scaled},
    score=p_norm_score,
    weight_param="eta",
    guarantees=(
        Guarantee(
            "updates",
            "updates <= (p - 1) (R / gamma)^2",
            "every |x|_p <= R; some u with |u|_q = 1, where 1/p + 1/q = 1, has y u.x >= gamma > 0 on all rounds; all "
            "importance weights 1",
            p_norm_bound,
            comparator="separating",
        ),
    ),
    merge=Merge("exact", "the sums of the added examples add; no bound is known", "add"),
    title="PNormPerceptron",
)
def p_norm(p: P, s: S, z: Z, margin: float) -> bool:
    """Perceptron updates on a dual vector, which the link of the p-norm maps to the weights."""
    if margin <= 0.0:
        add(s.theta, p.eta, z)
        return True
    return False


def alma_bound(p: P, relative_margin: float) -> float:
    """2 (p - 1) / gamma^2 (2 / alpha - 1)^2 + 8 / alpha - 4 updates."""
    return float(2.0 * (p.p - 1.0) / relative_margin**2 * (2.0 / p.alpha - 1.0) ** 2 + 8.0 / p.alpha - 4.0)


def alma_constants(p: P) -> str | None:
    """The theorem holds for one B and one C."""
    if p.B not in (0.0, math.sqrt(8.0) / p.alpha) or math.sqrt(2.0) != p.C:
        return "it is proved for B = sqrt(8) / alpha and C = sqrt(2)"
    return None


@margin_rule(
    paper=GENTILE_2001,
    params={
        "p": Param(
            2.0,
            at_least=2.0,
            about="the p of the norm of examples; whole numbers are faster",
            search=(2.0, 20.0, "log"),
        ),
        "alpha": Param(
            0.75,
            above=0.0,
            at_most=1.0,
            about="the fraction of the maximal margin that may be missed",
            search=(0.1, 1.0, "linear"),
        ),
        "B": Param(
            0.0,
            at_least=0.0,
            about="the scale of the required margin; 0 stands for sqrt(8) / alpha",
            untuned="the theorem needs its default",
        ),
        "C": Param(
            math.sqrt(2.0), above=0.0, about="the length of the first step", untuned="the theorem needs its default"
        ),
    },
    state={"theta": scaled},
    counters={"k": 1.0},
    score=p_norm_score,
    guarantees=(
        Guarantee(
            "updates",
            "updates <= 2 (p - 1) / gamma^2 (2 / alpha - 1)^2 + 8 / alpha - 4, and then every margin >= (1 - alpha) "
            "gamma",
            "some u with |u|_q = 1, where 1/p + 1/q = 1, has y u.x >= gamma |x|_p > 0 on all rounds; "
            "B = sqrt(8) / alpha, C = sqrt(2)",
            alma_bound,
            requires=alma_constants,
            comparator="separating",
        ),
    ),
    merge=NO_MERGE,
    title="ALMA",
    tasks=("binary", "multiclass", "multilabel", "ranking"),
)
def alma(p: P, s: S, z: Z, margin: float) -> bool:
    """Approximate the maximal margin: the required margin and the step size fall with every update, within a ball."""
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
