"""Pegasos: stochastic subgradient descent on the objective of a support vector machine."""

import math

from noregret.algebra import add, norm, scale, snapshot_at, sqnorm, sqsource, take_snapshot
from noregret.algebra.verbs import unbound
from noregret.learners.batch import is_full
from noregret.learners.gradient import SLOPE_ONE
from noregret.rules.decorators import gradient_rule
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Choice, Param
from noregret.rules.penalties import squared_penalty
from noregret.rules.row_size import LEAST, ROW_COUNTERS, count_row, row_size
from noregret.rules.rule_card import G, P, S
from noregret.state.fields import scaled, snapshot

SHALEV_2011 = (
    "Shalev-Shwartz, Singer, Srebro and Cotter, Pegasos: primal estimated sub-gradient solver for SVM, "
    "Mathematical Programming 127, 2011"
)

rein = unbound


def to_the_ball(lam: float, s: S, g: G) -> None:
    """Project onto the ball of radius 1 / sqrt(lam), which contains the optimum."""
    size = norm(s.w, 2.0) * math.sqrt(lam)
    if sqnorm(g) > 0.0 and size > 1.0:
        scale(s.w, 1.0 / size)


def as_they_are(lam: float, s: S, g: G) -> None:
    """No projection."""


def projected_regret(p: P, radius: float, rounds: float) -> float:
    """(sqrt(lam) + R)^2 (1 + ln T) / (2 lam)"""
    return over((math.sqrt(p.lam) + radius) ** 2 * (1.0 + math.log(rounds)), 2.0 * p.lam)


def unprojected_regret(p: P, radius: float, rounds: float) -> float:
    """2 R^2 (1 + ln T) / lam: no weights are longer than R / lam, so that no gradient is longer than 2 R."""
    return over(2.0 * radius**2 * (1.0 + math.log(rounds)), p.lam)


def batch_regret(p: P, radius: float, rounds: float) -> float:
    """2 k R^2 (1 + ln(T / k)) / lam: the mean loss of a batch is one round of Pegasos without projection."""
    k = math.floor(p.k)
    return float(k * unprojected_regret(p, radius, rounds / k))


def has_lam(p: P) -> str | None:
    return None if p.lam > 0.0 else "it is proved for a lam above 0"


@gradient_rule(
    paper=SHALEV_2011,
    params={
        "lam": Param(
            0.0,
            at_least=0.0,
            about="the strength of the l2 penalty; 0 stands for S / 1000, where S is the geometric mean of |x|^2 so "
            "far",
            search=(1e-7, 1e-1, "log"),
            measured=0.1,
        ),
        "projection": Choice(
            "yes",
            {"yes": to_the_ball, "no": as_they_are},
            "whether the weights are projected onto the ball of radius 1 / sqrt(lam)",
            binds="rein",
        ),
    },
    state={"w": scaled},
    counters=ROW_COUNTERS,
    penalty=squared_penalty,
    forgets_start=True,
    guarantees=(
        Guarantee(
            "regularised regret",
            "regret of lam |w|^2 / 2 plus the loss against u <= (sqrt(lam) + R)^2 (1 + ln T) / (2 lam)",
            "lam > 0; every |x| <= R; two classes or targets; |u| <= 1 / sqrt(lam); all importance weights 1",
            projected_regret,
            options={"projection": ("yes",), "loss": SLOPE_ONE},
            requires=has_lam,
            comparator="in set",
        ),
        Guarantee(
            "regularised regret",
            "regret of lam |w|^2 / 2 plus the loss against u <= 2 R^2 (1 + ln T) / lam",
            "lam > 0; every |x| <= R; two classes or targets; any u; all importance weights 1",
            unprojected_regret,
            options={"projection": ("no",), "loss": SLOPE_ONE},
            requires=has_lam,
        ),
    ),
    merge=Merge(
        "bounded",
        "weights are averaged in proportion to the rounds; a convex objective is no larger at their mean",
        "mix",
    ),
)
def pegasos(p: P, s: S, g: G) -> None:
    """Stochastic subgradient descent on the SVM objective, with learning rate 1 / (lam t)."""
    lam = p.lam
    if lam == 0.0:
        before, size = row_size(s), count_row(s, sqsource(g))
        lam = 1e-3 * size
        if size <= LEAST:  # no row had a value yet: there is nothing to step along
            return
        if before > LEAST:
            scale(s.w, before / size)  # as if lam had been the same all along
    scale(s.w, 1.0 - 1.0 / s.n.t)
    add(s.w, -1.0 / (lam * s.n.t), g)
    rein(lam, s, g)


def pegasos_batch_weight(p: P, s: S, j: int) -> float:
    """The weight at the start of the batch: the steps telescope to -1 / (lam n k) times the sum of all g, n batches."""
    return float(-snapshot_at(s.G, j) / (p.lam * math.floor(p.k) * max(s.n.batches, 1.0)))


@gradient_rule(
    paper=SHALEV_2011,
    params={
        "lam": Param(3e-3, above=0.0, about="the strength of the l2 penalty", search=(1e-7, 1e-1, "log"), measured=0.1),
        "k": Param(
            4.0,
            at_least=1.0,
            about="the number of rounds in a batch, rounded down",
            grid=(1.0, 4.0, 12.0, 32.0, 128.0),
        ),
    },
    state={"G": snapshot},
    counters={"gathered": 0.0, "batches": 0.0},
    weight=pegasos_batch_weight,
    penalty=squared_penalty,
    guarantees=(
        Guarantee(
            "regularised regret",
            "regret of lam |w|^2 / 2 plus the loss against u <= 2 k R^2 (1 + ln(T / k)) / lam",
            "every |x| <= R; two classes or targets; whole batches; any u; all importance weights 1",
            batch_regret,
            options={"loss": SLOPE_ONE},
        ),
    ),
    merge=Merge("none", "a batch belongs to one learner"),
)
def pegasos_batch(p: P, s: S, g: G) -> None:
    """Pegasos with mini-batches: one step per k rounds, against the mean of their gradients, without projection.

    The weights are a multiple of the sum of all gradients, so that a step costs nothing; after a projection they would
    not be. The theorem does without it, and `pegasos` has it for single rounds.
    """
    add(s.G, 1.0, g)
    if is_full(s, p.k):
        take_snapshot(s.G)
        s.n.batches += 1.0
