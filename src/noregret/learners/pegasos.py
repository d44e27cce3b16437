"""Pegasos: stochastic steps on the objective of a support vector machine."""

import math

from noregret.algebra import add, norm, scale, sqnorm
from noregret.algebra.verbs import unbound
from noregret.rules.card import Choice, G, Guarantee, Merge, P, Param, S, gradient_rule
from noregret.state.fields import scaled

SHALEV_2011 = (
    "Shalev-Shwartz, Singer, Srebro and Cotter, Pegasos: primal estimated sub-gradient solver for SVM, "
    "Mathematical Programming 127, 2011"
)

rein = unbound


def to_the_ball(p: P, s: S, g: G) -> None:
    """The best weights are no longer than 1 / sqrt(lam): longer ones become so long."""
    size = norm(s.w, 2.0) * math.sqrt(p.lam)
    if sqnorm(g) > 0.0 and size > 1.0:
        scale(s.w, 1.0 / size)


def as_they_are(p: P, s: S, g: G) -> None:
    """The weights may be of any length."""


def pegasos_regret(radius: float, lam: float, rounds: float) -> float:
    """(sqrt(lam) + R)^2 (1 + ln T) / (2 lam)"""
    return (math.sqrt(lam) + radius) ** 2 * (1.0 + math.log(rounds)) / (2.0 * lam)


@gradient_rule(
    paper=SHALEV_2011,
    params={
        "lam": Param(
            3e-3, above=0.0, about="what long weights cost beside the loss; the larger, the shorter they stay"
        ),
        "projection": Choice(
            "yes", {"yes": to_the_ball, "no": as_they_are}, "whether weights longer than 1 / sqrt(lam) are cut", "rein"
        ),
    },
    state={"w": scaled},
    guarantee=Guarantee(
        "the sum of lam |w|^2 / 2 + the loss is at most that of any u, plus (sqrt(lam) + R)^2 (1 + ln T) / (2 lam)",
        "the hinge, the logistic or the eps-insensitive loss, every |x| <= R, two classes or targets, projection, "
        "|u| <= 1 / sqrt(lam); all weights 1",
        pegasos_regret,
    ),
    merge=Merge(
        "bounded",
        "weights are averaged in proportion to the rounds; a convex objective is no larger at their mean",
        "mix",
    ),
)
def pegasos(p: P, s: S, g: G) -> None:
    """Shorten the weights on every round, and step by 1 / (lam t) where there is a loss."""
    scale(s.w, 1.0 - 1.0 / s.n.t)
    add(s.w, -1.0 / (p.lam * s.n.t), g)
    rein(p, s, g)
