"""Batch learners: a batch of rounds is predicted with the weights it began with, and makes one step."""

import math

from noregret.algebra import add, snapshot_at, take_snapshot
from noregret.algebra.verbs import unbound
from noregret.learners.gradient import WIDROW_HOFF_1960, constant_rate_regret
from noregret.rules.card import Choice, G, Guarantee, Merge, P, Param, S, gradient_rule
from noregret.state.fields import snapshot

DEKEL_2012 = (
    "Dekel, Gilad-Bachrach, Shamir and Xiao, Optimal distributed online prediction using mini-batches, JMLR 13, 2012"
)
GATHERED = Merge("heuristic", "weights and what is gathered are averaged in proportion to the rounds", "mix")
BATCH = Param(12.0, at_least=1.0, about="after how many rounds a step is taken; of 2.5, after 2")

reduction = unbound


def mean(p: P) -> float:
    return float(1.0 / math.floor(p.batch))


def total(p: P) -> float:
    return 1.0


def batch_weight(p: P, s: S, j: int) -> float:
    """The weight the batch began with."""
    return float(snapshot_at(s.w, j))


def begin_anew_when_full(p: P, s: S) -> None:
    """Once the batch is full, the weights its gradients have led to are those the next one begins with."""
    s.n.gathered += 1.0
    if s.n.gathered >= math.floor(p.batch):
        take_snapshot(s.w)
        s.n.gathered = 0.0


@gradient_rule(
    paper=DEKEL_2012,
    params={
        "eta": Param(0.1, above=0.0, about="the length of a step for each unit of gradient"),
        "batch": BATCH,
        "reduction": Choice(
            "mean", {"mean": mean, "sum": total}, "what of the gradients of a batch is stepped against"
        ),
    },
    state={"w": snapshot},
    counters={"gathered": 0.0},
    weight=batch_weight,
    guarantee=Guarantee(
        "regret against u over whole batches <= |u|^2 / (2 eta) + (eta / 2) sum of |the summed gradient of a batch|^2",
        "a convex loss; reduction sum, or eta / batch in place of eta with reduction mean; any u; all weights 1",
        constant_rate_regret,
    ),
    merge=GATHERED,
)
def gradient_batch(p: P, s: S, g: G) -> None:
    """Gather the gradients of a batch of rounds, then take one step against their mean or their sum."""
    add(s.w, -p.eta * reduction(p), g)
    begin_anew_when_full(p, s)


def contraction(smallest: float, largest: float, rho: float, steps: float) -> float:
    """max(|1 - rho a|, |1 - rho b|)^(2 steps), for eigenvalues from a to b."""
    return float(max(abs(1.0 - rho * smallest), abs(1.0 - rho * largest)) ** (2.0 * steps))


@gradient_rule(
    paper=WIDROW_HOFF_1960,
    params={
        "rho": Param(1e-3, above=0.0, about="the share of the error that a row of length 1 takes away"),
        "batch": BATCH,
    },
    state={"w": snapshot},
    counters={"gathered": 0.0},
    weight=batch_weight,
    loss="squared",
    guarantee=Guarantee(
        "after k steps the squared errors exceed the least by at most max |1 - rho e|^(2 k) times what "
        "they did at first",
        "the squared loss, two classes or targets, the same rows in every batch; e any eigenvalue of X'X that is not "
        "zero; all weights 1",
        contraction,
    ),
    merge=GATHERED,
)
def adaline_batch(p: P, s: S, g: G) -> None:
    """Sum the errors times rows of a batch of rounds, then take one step by rho."""
    add(s.w, -0.5 * p.rho, g)  # the slope of the squared loss is twice the error
    begin_anew_when_full(p, s)
