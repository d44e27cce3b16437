"""Mirror descent: steps against the gradient in one space, predictions in its mirror image."""

from noregret.algebra import add, dot
from noregret.algebra.verbs import unbound
from noregret.learners.exponentiated import ADDING, FEATURES, eg_score, widen
from noregret.learners.p_norm import p_norm_score
from noregret.rules.card import Choice, G, Guarantee, P, Param, S, X, gradient_rule
from noregret.state.fields import log_weights

NEMIROVSKI_YUDIN_1983 = (
    "Nemirovski and Yudin, Problem complexity and method efficiency in optimization, Wiley, 1983; Beck and "
    "Teboulle, Mirror descent and nonlinear projected subgradient methods, Operations Research Letters 31, 2003"
)
link = unbound


def euclidean(p: P, s: S, x: X) -> float:
    """The sum of the steps itself."""
    return float(dot(s.theta, x))


def mirror_score(p: P, s: S, x: X) -> float:
    """w.x, where w is the sum of the steps seen through the link."""
    return float(link(p, s, x))


def mirror_regret(divergence: float, eta: float, squared_gradients: float, convexity: float) -> float:
    """B(u, w_1) / eta + eta / (2 sigma) times the sum of the squared gradients in the dual norm."""
    return divergence / eta + 0.5 * eta / convexity * squared_gradients


@gradient_rule(
    paper=NEMIROVSKI_YUDIN_1983,
    params={
        "eta": Param(0.05, above=0.0, about="the length of a step"),
        "link": Choice(
            "euclidean",
            {"euclidean": euclidean, "entropic": eg_score, "p_norm": p_norm_score},
            "the mirror: none, the simplex of eg, or the p-norm",
        ),
        "p": Param(4.0, at_least=2.0, about="the norm that measures gradients where link is p_norm"),
        "features": FEATURES,
    },
    state={"theta": log_weights},
    counters={"features": 0.0, "classes": 1.0},
    score=mirror_score,
    guarantee=Guarantee(
        "regret against u <= B(u, w_1) / eta + eta / (2 sigma) sum of |g_t|_*^2, where B(u, w_1) is |u|^2 / 2, "
        "KL(u, uniform) or |u|_q^2 / 2, the norm of g the Euclidean, the largest or the p-norm, and sigma is 1, 1 or "
        "1 / (p - 1)",
        "a convex loss; for the link entropic, u >= 0 and |u|_1 = 1, features the number of all of them; all weights 1",
        mirror_regret,
    ),
    merge=ADDING,
    title="MirrorDescent",
)
def mirror_descent(p: P, s: S, g: G) -> None:
    """Sum the steps against the gradients; a link makes weights of the sum."""
    widen(s, g)
    add(s.theta, -p.eta, g)
