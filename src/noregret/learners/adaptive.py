"""Adaptive learners: every weight has a rate of its own, by the gradients it has met."""

import math

from noregret.algebra import at, put
from noregret.algebra.verbs import unbound
from noregret.rules.card import Choice, Guarantee, Merge, P, Param, S, coordinate_rule
from noregret.state.fields import counts, plain

DUCHI_2011 = (
    "Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic optimization, "
    "JMLR 12, 2011"
)
ZEILER_2012 = "Zeiler, ADADELTA: an adaptive learning rate method, arXiv 1212.5701, 2012"
MCMAHAN_2013 = "McMahan et al., Ad click prediction: a view from the trenches, KDD 2013"


onto = unbound


def everywhere(p: P, a: float) -> float:
    """A weight may be any."""
    return a


def box(p: P, a: float) -> float:
    """A weight beyond the radius stays there."""
    if a > p.radius:
        return float(p.radius)
    return float(-p.radius if a < -p.radius else a)


def adagrad_regret(reach: float, roots: float, eta: float) -> float:
    """(D^2 / (2 eta) + eta) times the sum over coordinates of sqrt(sum of g^2) + delta."""
    return (reach**2 / (2.0 * eta) + eta) * roots


@coordinate_rule(
    paper=DUCHI_2011,
    params={
        "eta": Param(0.1, above=0.0, about="how far a weight goes at its first step"),
        "delta": Param(1e-8, above=0.0, about="what is added to the root of the summed squares"),
        "onto": Choice("everywhere", {"everywhere": everywhere, "box": box}, "where the weights may be"),
        "radius": Param(1.0, above=0.0, about="the largest size of a weight in the box"),
    },
    state={"w": plain, "squares": counts},
    guarantee=Guarantee(
        "regret against u <= (D^2 / (2 eta) + eta) sum over coordinates of sqrt(sum of g^2) + delta; "
        "with eta = D / sqrt(2) that is sqrt(2) D times the sum",
        "a convex loss; no |w_i - u_i| above D, as in the box of radius D / 2; all weights 1",
        adagrad_regret,
    ),
    merge=Merge(
        "heuristic", "weights and squares are averaged in proportion to the rounds; no bound is claimed", "mix"
    ),
    title="AdaGrad",
)
def adagrad(p: P, s: S, j: int, g: float) -> None:
    """Step against the gradient, each weight by eta over the root of its summed squares."""
    put(s.squares, j, at(s.squares, j) + g * g)
    put(s.w, j, onto(p, at(s.w, j) - p.eta * g / (math.sqrt(at(s.squares, j)) + p.delta)))


@coordinate_rule(
    paper=ZEILER_2012,
    params={
        "rho": Param(0.95, at_least=0.0, below=1.0, about="how much of the mean squares a step keeps"),
        "delta": Param(1e-6, above=0.0, about="what is added to the mean squares; the first steps depend on it"),
        "eta": Param(1.0, above=0.0, about="a factor on every step"),
    },
    state={"w": plain, "squares": counts, "moves": counts},
    merge=Merge(
        "heuristic", "weights and squares are averaged in proportion to the rounds; no bound is claimed", "mix"
    ),
)
def adadelta(p: P, s: S, j: int, g: float) -> None:
    """Step against the gradient, each weight by the size of its late steps over the size of its late gradients.

    No theorem is known. A weight whose gradient is zero stands still, and so do its means.
    """
    squares = p.rho * at(s.squares, j) + (1.0 - p.rho) * g * g
    move = -math.sqrt(at(s.moves, j) + p.delta) / math.sqrt(squares + p.delta) * g
    put(s.squares, j, squares)
    put(s.moves, j, p.rho * at(s.moves, j) + (1.0 - p.rho) * move * move)
    put(s.w, j, at(s.w, j) + p.eta * move)


def ftrl_regret(
    size: float, absolute: float, reach: float, roots: float, alpha: float, beta: float, l1: float, l2: float
) -> float:
    """l1 |u|_1 + (l2 + beta / alpha) |u|^2 / 2 + (D^2 / (2 alpha) + alpha) sum over coordinates of sqrt(sum of g^2)."""
    return l1 * absolute + 0.5 * (l2 + beta / alpha) * size**2 + (reach**2 / (2.0 * alpha) + alpha) * roots


def ftrl_weight(p: P, s: S, j: int) -> float:
    """Zero unless what pulls at the weight exceeds l1."""
    pull = at(s.z, j)
    beyond = math.copysign(max(abs(pull) - p.l1, 0.0), pull)
    take_snapshot = p.beta + math.sqrt(at(s.squares, j)) + p.alpha * p.l2
    return float(-p.alpha * beyond / take_snapshot) if take_snapshot > 0.0 else 0.0  # the square of a tiny pull is zero


@coordinate_rule(
    paper=MCMAHAN_2013,
    params={
        "alpha": Param(0.1, above=0.0, about="how far a weight goes at its first steps"),
        "beta": Param(1.0, at_least=0.0, about="the larger, the shorter the first steps"),
        "l1": Param(1.0, at_least=0.0, about="a pull up to this leaves a weight at zero"),
        "l2": Param(0.0, at_least=0.0, about="the larger, the closer to zero all weights stay"),
    },
    state={"z": plain, "squares": counts},
    weight=ftrl_weight,
    loss="logistic",
    guarantee=Guarantee(
        "regret against u <= l1 |u|_1 + (l2 + beta / alpha) |u|^2 / 2 "
        "+ (D^2 / (2 alpha) + alpha) sum over coordinates of sqrt(sum of g^2)",
        "a convex loss; no |w_i - u_i| above D; all weights 1",
        ftrl_regret,
    ),
    merge=Merge(
        "heuristic", "the pulls and the squares add; each side's pull stays centred at the weights it had", "add"
    ),
    title="FTRL",
)
def ftrl(p: P, s: S, j: int, g: float) -> None:
    """Follow the leader of all gradients so far, held near the weights that met them, with weights of exactly zero."""
    squares = at(s.squares, j) + g * g
    take_snapshot = (math.sqrt(squares) - math.sqrt(at(s.squares, j))) / p.alpha
    put(s.z, j, at(s.z, j) + g - take_snapshot * ftrl_weight(p, s, j))
    put(s.squares, j, squares)
