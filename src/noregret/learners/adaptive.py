"""Adaptive gradient methods: every weight has a learning rate of its own, set by its past gradients."""

import math

from noregret.algebra import at, put
from noregret.algebra.verbs import unbound
from noregret.rules.decorators import coordinate_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.own_functions import Own
from noregret.rules.parameters import Choice, Param
from noregret.rules.penalties import l1_penalty
from noregret.rules.rule_card import P, S
from noregret.state.fields import counts, plain

DUCHI_2011 = (
    "Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic optimization, "
    "JMLR 12, 2011"
)
ZEILER_2012 = "Zeiler, ADADELTA: an adaptive learning rate method, arXiv 1212.5701, 2012"
MCMAHAN_2013 = "McMahan et al., Ad click prediction: a view from the trenches, KDD 2013"


AVERAGE_ALL = Merge(
    "heuristic", "weights and squares are averaged in proportion to the rounds; no bound is known", "mix"
)
onto = unbound


def everywhere(p: P, a: float) -> float:
    """No constraint."""
    return a


def box(p: P, a: float) -> float:
    """Clip the weight to [-radius, radius]."""
    if a > p.radius:
        return float(p.radius)
    return float(-p.radius if a < -p.radius else a)


def adagrad_regret(p: P, distance_inf: float, coordinate_gradients: float, active_features: float) -> float:
    """(D^2 / (2 eta)) (B + m delta) + eta B, where B is the sum over coordinates of sqrt(sum of g^2)."""
    B = coordinate_gradients
    return float(distance_inf**2 / (2.0 * p.eta) * (B + active_features * p.delta) + p.eta * B)


def adagrad_box_regret(p: P, norm_inf: float, coordinate_gradients: float, active_features: float) -> float:
    """The same in the box, where D is at most the radius plus |u|_inf."""
    return adagrad_regret(p, p.radius + norm_inf, coordinate_gradients, active_features)


ADAGRAD_SAYS = (
    "regret against u <= (D^2 / (2 eta)) sum over coordinates of (sqrt(sum of g^2) + delta) "
    "+ eta sum over coordinates of sqrt(sum of g^2)"
)


@coordinate_rule(
    paper=DUCHI_2011,
    params={
        "eta": Param(
            0.5, above=0.0, about="the length of the first step of a weight", search=(1e-3, 1e1, "log"), measured=0.1
        ),
        "delta": Param(
            1e-8,
            above=0.0,
            about="added to the root of the sum of squared gradients",
            untuned="it only prevents a division by zero",
        ),
        "onto": Choice(
            "everywhere",
            {"everywhere": everywhere, "box": box},
            "the set the weights are projected onto",
            own=Own(("p", "a")),
        ),
        "radius": Param(1.0, above=0.0, about="the largest |weight| in the box", search=(1e-2, 1e3, "log")),
    },
    state={"w": plain, "squares": counts},
    guarantees=(
        Guarantee(
            "regret",
            ADAGRAD_SAYS,
            "a convex loss; u in the box; D = radius + max |u_j|; all importance weights 1",
            adagrad_box_regret,
            options={"onto": ("box",)},
            comparator="in set",
        ),
        Guarantee(
            "regret", ADAGRAD_SAYS, "a convex loss; D = max |w_tj - u_j|; all importance weights 1", adagrad_regret
        ),
    ),
    merge=AVERAGE_ALL,
    title="AdaGrad",
)
def adagrad(p: P, s: S, j: int, g: float) -> None:
    """Gradient descent with a step size for each weight: eta over the root of the sum of its squared gradients."""
    put(s.squares, j, at(s.squares, j) + g * g)
    put(s.w, j, onto(p, at(s.w, j) - p.eta * g / (math.sqrt(at(s.squares, j)) + p.delta)))


@coordinate_rule(
    paper=ZEILER_2012,
    params={
        "rho": Param(
            0.95,
            at_least=0.0,
            below=1.0,
            about="the decay of the running means of squares",
            search=(0.5, 0.999, "linear"),
        ),
        "delta": Param(
            2e-4,
            above=0.0,
            about="added to the mean squares; it sets the first steps",
            search=(1e-8, 1e-2, "log"),
            measured=1e-6,
        ),
        "eta": Param(1.5, above=0.0, about="a factor on every step", search=(1e-2, 1e1, "log"), measured=1.0),
    },
    state={"w": plain, "squares": counts, "moves": counts},
    merge=AVERAGE_ALL,
)
def adadelta(p: P, s: S, j: int, g: float) -> None:
    """Gradient descent with a step size for each weight: the size of its recent steps over that of its gradients.

    No theorem is known. A weight whose gradient is zero does not change, and neither do its running means.
    """
    squares = p.rho * at(s.squares, j) + (1.0 - p.rho) * g * g
    move = -math.sqrt(at(s.moves, j) + p.delta) / math.sqrt(squares + p.delta) * g
    put(s.squares, j, squares)
    put(s.moves, j, p.rho * at(s.moves, j) + (1.0 - p.rho) * move * move)
    put(s.w, j, at(s.w, j) + p.eta * move)


def ftrl_regret(p: P, norm: float, norm_1: float, distance_inf: float, coordinate_gradients: float) -> float:
    """l1 |u|_1 + (l2 + beta / alpha) |u|^2 / 2 + (D^2 / (2 alpha) + alpha) sum over coordinates of sqrt(sum of g^2)."""
    penalty = p.l1 * norm_1 + 0.5 * (p.l2 + p.beta / p.alpha) * norm**2
    return float(penalty + (distance_inf**2 / (2.0 * p.alpha) + p.alpha) * coordinate_gradients)


def ftrl_quotient(p: P, s: S, j: int) -> float:
    """The weight over -alpha. Soft thresholding: zero unless |z_j| exceeds l1."""
    z = at(s.z, j)
    beyond = math.copysign(max(abs(z) - p.l1, 0.0), z)
    curvature = p.beta + math.sqrt(at(s.squares, j)) + p.alpha * p.l2
    return float(beyond / curvature) if curvature > 0.0 else 0.0  # the square of a tiny gradient is zero


def ftrl_weight(p: P, s: S, j: int) -> float:
    return float(-p.alpha * ftrl_quotient(p, s, j))


@coordinate_rule(
    paper=MCMAHAN_2013,
    params={
        "alpha": Param(1.0, above=0.0, about="the learning rate", search=(1e-3, 1e1, "log"), measured=0.1),
        "beta": Param(
            0.1,
            at_least=0.0,
            about="larger values shorten the first steps",
            search=(1e-2, 1e1, "log"),
            measured=1.0,
            earlier=1.0,
        ),
        "l1": Param(0.01, at_least=0.0, about="the strength of the l1 penalty", search=(1e-3, 1e2, "log")),
        "l2": Param(0.0, at_least=0.0, about="the strength of the l2 penalty", grid=(0.0, 0.01, 0.1, 1.0, 10.0)),
    },
    state={"z": plain, "squares": counts},
    weight=ftrl_weight,
    loss="logistic",
    guarantees=(
        Guarantee(
            "regret",
            "regret against u <= l1 |u|_1 + (l2 + beta / alpha) |u|^2 / 2 "
            "+ (D^2 / (2 alpha) + alpha) sum over coordinates of sqrt(sum of g^2)",
            "a convex loss; D = max |w_tj - u_j|; all importance weights 1",
            ftrl_regret,
        ),
    ),
    merge=Merge(
        "heuristic", "sums of gradients and of squares add; each proximal term stays at the weights it had", "add"
    ),
    title="FTRL",
)
def ftrl(p: P, s: S, j: int, g: float) -> None:
    """Follow the regularised leader (FTRL-Proximal): a learning rate for each weight, and an l1 penalty."""
    squares = at(s.squares, j) + g * g
    growth = math.sqrt(squares) - math.sqrt(at(s.squares, j))  # alpha times the strength of the round's proximal term
    put(s.z, j, at(s.z, j) + g + growth * ftrl_quotient(p, s, j))
    put(s.squares, j, squares)


def ada_rda_regret(p: P, norm: float, norm_inf: float, coordinate_gradients: float) -> float:
    """(delta |u|^2 + |u|_inf^2 B) / (2 eta) + eta B, where B is the sum over coordinates of sqrt(sum of g^2)."""
    B = coordinate_gradients
    return float((p.delta * norm**2 + norm_inf**2 * B) / (2.0 * p.eta) + p.eta * B)


def ada_rda_weight(p: P, s: S, j: int) -> float:
    """-eta t / H_j times the mean gradient after soft thresholding by lam, H_j = delta + sqrt(sum of squares)."""
    G = at(s.G, j)
    beyond = math.copysign(max(abs(G) - p.lam * s.n.t, 0.0), G)
    return float(-p.eta * beyond / (p.delta + math.sqrt(at(s.squares, j))))


@coordinate_rule(
    paper=DUCHI_2011,
    params={
        "eta": Param(1.0, above=0.0, about="the learning rate", search=(1e-3, 1e1, "log"), measured=0.1),
        "delta": Param(
            0.1, above=0.0, about="added to the root of the sum of squared gradients", search=(1e-3, 1e1, "log")
        ),
        "lam": Param(1e-5, at_least=0.0, about="the strength of the l1 penalty", search=(1e-7, 1e-1, "log")),
    },
    state={"G": plain, "squares": counts},
    weight=ada_rda_weight,
    penalty=l1_penalty,
    guarantees=(
        Guarantee(
            "regularised regret",
            "regret of the loss plus lam |w|_1 against u <= delta |u|^2 / (2 eta) "
            "+ (|u|_inf^2 / (2 eta) + eta) sum over coordinates of sqrt(sum of g^2)",
            "a convex loss; every |g_tj| <= delta; any u; all importance weights 1",
            ada_rda_regret,
        ),
    ),
    merge=Merge("exact", "the sums of gradients and of their squares add, and so do the rounds", "add"),
    title="AdaRDA",
)
def ada_rda(p: P, s: S, j: int, g: float) -> None:
    """Regularised dual averaging with a learning rate for each weight: the mean gradient, scaled as in AdaGrad."""
    put(s.G, j, at(s.G, j) + g)
    put(s.squares, j, at(s.squares, j) + g * g)
