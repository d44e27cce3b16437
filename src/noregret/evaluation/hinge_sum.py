"""The smallest sum of hinge losses in hindsight, and comparators for bounds that hold for any u.

A linear program finds the sum with all digits. Where it is too large, and for comparators that are only to be good
ones, the solver of regrets is used (`metrics/comparator.py`), which takes any loss and any penalty.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from noregret.evaluation.hindsight import Rounds
from noregret.evaluation.separability import PATIENCE, Examples, balance
from noregret.metrics.comparator import find_comparator
from noregret.metrics.comparator_problem import Problem
from noregret.metrics.round_losses import ClassRounds, RoundLosses, SignedRounds

Floats = NDArray[np.float64]
STRENGTHS = tuple(10.0**power for power in range(-2, 5))  # of the losses against |u|^2 / 2, rows of length 1 at most
SMOOTHING = 0.03  # of the kinks of the hinge loss
FURTHER = 10.0  # the lower bound on hinge sums holds for weights up to this many times as long as those found


@dataclass(frozen=True, eq=False)
class HingeSum:
    """Weights u with the sum of max(0, 1 - u.z) over all rounds, and how far it is from the smallest one.

    No weights of a norm up to `norm_limit` have a sum below `limit`. `wrong` counts the rounds that u predicts wrongly
    or does not decide, `short` those with a loss.
    """

    weights: Floats
    total: float
    limit: float
    norm_limit: float
    wrong: int
    short: int

    @property
    def gap(self) -> float:
        """The total less its lower bound, as a share of the total."""
        return 0.0 if self.total <= 0.0 else max(0.0, 1.0 - self.limit / self.total)


def hinge_losses(examples: Examples, u: Floats) -> Floats:
    """The hinge loss of u on every round: with many classes, against the best wrong one."""
    losses = np.maximum(0.0, 1.0 - examples.Z @ u)
    if len(losses) == examples.rounds:
        return np.asarray(losses)
    return np.asarray(np.maximum.reduceat(losses, first_of_each(examples)))


def least_scores(examples: Examples, u: Floats) -> Floats:
    """The smallest u.z of every round."""
    scores = examples.Z @ u
    if len(scores) == examples.rounds:
        return np.asarray(scores)
    return np.asarray(np.minimum.reduceat(scores, first_of_each(examples)))


def first_of_each(examples: Examples) -> NDArray[np.int64]:
    """Where the examples of each round begin."""
    return np.searchsorted(examples.round_of, np.arange(examples.rounds))


def find_hinge_sum(examples: Examples) -> HingeSum | None:
    """The smallest sum of hinge losses by linear programming; None where the program is not solved.

    Its dual is: the largest sum of a, with 0 <= a, at most 1 on every round, and the sum of a z = 0.
    """
    from scipy.optimize import linprog

    if examples.radius == 0.0:
        return measure(examples, np.zeros(examples.Z.shape[1]), np.ones(examples.Z.shape[0]))
    Z, factors = balance(examples.Z)
    count, width = Z.shape
    more: dict[str, Any] = {}
    if count > examples.rounds:
        places = (examples.round_of, np.arange(count))
        more = {"A_ub": csr_matrix((np.ones(count), places)), "b_ub": np.ones(examples.rounds)}
    found = linprog(-np.ones(count), A_eq=Z.T, b_eq=np.zeros(width), bounds=(0.0, 1.0), method="highs",
                    options={"time_limit": PATIENCE}, **more)  # fmt: skip
    if found.x is None or found.status != 0:
        return None
    w = np.asarray(found.eqlin.marginals) * factors
    u = min((w, -w), key=lambda one: float(hinge_losses(examples, one).sum()))
    return measure(examples, u, np.asarray(found.x))


def measure(examples: Examples, u: Floats, a: Floats) -> HingeSum:
    """The hinge sum of u, and the lower bound that the dual weights a give, whatever the solver said of them.

    For a >= 0 with sums of at most 1 on every round, and any w: sum of losses >= sum of a (1 - w.z) >= sum of a -
    |w| |r|, where r is the sum of a z.
    """
    a = np.clip(a, 0.0, 1.0)
    each = np.bincount(examples.round_of, a, minlength=examples.rounds)
    a = a / np.maximum(each, 1.0)[examples.round_of]
    norm_limit = FURTHER * max(float(np.linalg.norm(u)), 1.0 / max(examples.radius, 1e-300))
    rest = float(np.linalg.norm(examples.Z.T @ a))
    losses, scores = hinge_losses(examples, u), least_scores(examples, u)
    limit = max(0.0, float(a.sum()) - norm_limit * rest)
    wrong, short = int(np.count_nonzero(scores <= 0.0)), int(np.count_nonzero(losses > 1e-9))
    return HingeSum(u, float(losses.sum()), limit, norm_limit, wrong, short)


def approach_hinge_sum(rounds: Rounds) -> HingeSum:
    """The hinge sum of the best comparator that descent finds, with its gap: for programs too large to be solved."""
    best = find_comparator(Problem(rounds.X, losses_of(rounds, "hinge")))
    margins = rounds.margins(best.weights)
    wrong, short = int(np.count_nonzero(margins <= 0.0)), int(np.count_nonzero(margins < 1.0 - 1e-9))
    u = best.weights.T.reshape(-1)
    return HingeSum(u, best.loss, max(0.0, best.loss - best.gap), best.radius, wrong, short)


def losses_of(rounds: Rounds, loss: str) -> RoundLosses:
    """The losses of rounds that have labels, as a function of scores."""
    signed = rounds.kind == "signs"
    return SignedRounds(loss, rounds.truths) if signed else ClassRounds(loss, rounds.truths, rounds.classes)


def trace_comparators(rounds: Rounds) -> Iterator[Floats]:
    """Weights that trade their norm for losses: minimisers of |u|^2 / 2 + C sum of losses, for C from small to large.

    A bound for any u holds for each of them, however far the minimiser got; the smallest is the best known.
    """
    radius = max(rounds.stretch * float(rounds.lengths.max(initial=0.0)), 1e-300)
    for loss in ("hinge", "squared_hinge"):
        problem = Problem(rounds.X / radius, losses_of(rounds, loss))
        u = np.zeros(problem.shape)
        for strength in STRENGTHS:
            found = problem.minimise(u, SMOOTHING, 1.0 / strength)
            if np.isfinite(found).all():
                u = found
                yield u / radius
