"""Mirror descent: gradient steps on a dual vector, which a link function maps to the weights."""

from noregret.algebra import add, dot, sqsource
from noregret.algebra.internal_verbs import blocks, count, part, place, value
from noregret.algebra.verbs import unbound
from noregret.learners.exponentiated import ADDING, FEATURES, eg_regret, eg_score, has_eta, widen
from noregret.learners.p_norm import p_norm_score
from noregret.rules.decorators import gradient_rule
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.own_functions import Own
from noregret.rules.parameters import Choice, Param
from noregret.rules.row_size import ROW_COUNTERS, count_row
from noregret.rules.rule_card import G, P, S, X
from noregret.state.fields import log_weights

NEMIROVSKI_YUDIN_1983 = (
    "Nemirovski and Yudin, Problem complexity and method efficiency in optimization, Wiley, 1983; Beck and "
    "Teboulle, Mirror descent and nonlinear projected subgradient methods, Operations Research Letters 31, 2003"
)
link = own_link = unbound


def euclidean(p: P, s: S, x: X) -> float:
    """The identity link."""
    return float(dot(s.theta, x))


def by_coordinate(p: P, s: S, x: X) -> float:
    """w.x, where a function of the caller gives the weight of each coordinate, from s.theta."""
    total = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        for k in range(count(q)):
            total += own_link(p, s, place(q, k)) * value(q, k)
    return total


def mirror_score(p: P, s: S, x: X) -> float:
    """w.x, where the link maps the sum of the steps to w."""
    return float(link(p, s, x))


def euclidean_regret(p: P, norm: float, squared_gradients: float) -> float:
    """|u|^2 / (2 eta) + (eta / 2) times the sum of |g_t|^2."""
    return float(over(norm**2, 2.0 * p.eta) + 0.5 * p.eta * squared_gradients)


def p_norm_regret(p: P, norm_q: float, squared_gradients_p: float) -> float:
    """|u|_q^2 / (2 eta) + (eta / 2) (p - 1) times the sum of |g_t|_p^2."""
    return float(over(norm_q**2, 2.0 * p.eta) + 0.5 * p.eta * (p.p - 1.0) * squared_gradients_p)


@gradient_rule(
    paper=NEMIROVSKI_YUDIN_1983,
    params={
        "eta": Param(
            0.0,
            at_least=0.0,
            about="the learning rate; 0 stands for 1 / S, where S is the geometric mean of |x|^2 so far",
            search=(1e-4, 1e1, "log"),
            measured=0.02,
        ),
        "link": Choice(
            "euclidean",
            {"euclidean": euclidean, "entropic": eg_score, "p_norm": p_norm_score},
            "the link function: the identity, the softmax of eg, that of the p-norm, or w_j as a function of s.theta",
            own=Own(("p", "s", "j"), through=by_coordinate, binds="own_link"),
        ),
        "p": Param(4.0, at_least=2.0, about="the p of the p-norm link", search=(2.0, 20.0, "log")),
        "features": FEATURES,
    },
    state={"theta": log_weights},
    counters={"features": 0.0, "classes": 1.0, **ROW_COUNTERS},
    score=mirror_score,
    guarantees=(
        Guarantee(
            "regret",
            "regret against u <= |u|^2 / (2 eta) + (eta / 2) sum of |g_t|^2",
            "eta > 0; a convex loss; any u; all importance weights 1",
            euclidean_regret,
            options={"link": ("euclidean",)},
            requires=has_eta,
        ),
        Guarantee(
            "regret",
            "regret against u <= KL(u, uniform) / eta + (eta / 2) sum of max |g_tj|^2",
            "eta > 0; a convex loss; u >= 0 and |u|_1 = 1; features is the number of all features; all importance "
            "weights 1",
            eg_regret,
            options={"link": ("entropic",)},
            requires=has_eta,
            comparator="simplex",
        ),
        Guarantee(
            "regret",
            "regret against u <= |u|_q^2 / (2 eta) + (eta / 2) (p - 1) sum of |g_t|_p^2, where 1/p + 1/q = 1",
            "eta > 0; a convex loss; any u; all importance weights 1",
            p_norm_regret,
            options={"link": ("p_norm",)},
            requires=has_eta,
        ),
    ),
    merge=ADDING,
    title="MirrorDescent",
)
def mirror_descent(p: P, s: S, g: G) -> None:
    """Mirror descent: gradient steps on a dual vector, which a link function maps to the weights."""
    widen(s, g)
    add(s.theta, -(p.eta if p.eta > 0.0 else 1.0 / count_row(s, sqsource(g))), g)
