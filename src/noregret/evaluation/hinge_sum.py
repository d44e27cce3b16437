"""The smallest sum of hinge losses in hindsight, and comparators for bounds that hold for any u."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from noregret.evaluation.separability import PATIENCE, Examples, balance

Floats = NDArray[np.float64]
STRENGTHS = tuple(10.0**power for power in range(-2, 5))  # of the losses against |u|^2 / 2, rows of length 1 at most
WIDTHS = (0.1, np.inf)  # of the part of the loss that is squared: nearly the hinge loss, and its square
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


def trace_comparators(examples: Examples) -> Iterator[Floats]:
    """Weights that trade their norm for losses: minimisers of |u|^2 / 2 + C sum of losses, for C from small to large.

    A bound for any u holds for each of them, however far the minimiser got; the smallest is the best known.
    """
    from scipy.optimize import minimize

    radius = max(examples.radius, 1e-300)
    scaled = Examples(csr_matrix(examples.Z / radius), examples.round_of, examples.rounds)
    for width in WIDTHS:
        u = np.zeros(scaled.Z.shape[1])
        for strength in STRENGTHS:
            found = minimize(
                penalised, u, (scaled, strength, width), jac=True, method="L-BFGS-B", options={"maxiter": 200}
            )
            if np.isfinite(found.x).all():
                u = np.asarray(found.x)
                yield u / radius


def penalised(u: Floats, examples: Examples, strength: float, width: float) -> tuple[float, Floats]:
    """|u|^2 / 2 plus the losses, which are squared up to a width and straight from there on; and the gradient."""
    scores = examples.Z @ u
    if len(scores) > examples.rounds:
        first = first_of_each(examples)
        least = np.repeat(np.minimum.reduceat(scores, first), np.diff([*first, len(scores)]))
        active = scores <= least
        active &= np.concatenate(([True], examples.round_of[1:] != examples.round_of[:-1])) | ~shifted(active, examples)
    else:
        active = np.ones(len(scores), bool)
    h = np.where(active, np.maximum(0.0, 1.0 - scores), 0.0)
    if np.isinf(width):
        value, slope = h * h, 2.0 * h
    else:
        value, slope = np.where(h < width, h * h / (2.0 * width), h - width / 2.0), np.minimum(h / width, 1.0)
    gradient = u - strength * (examples.Z.T @ slope)
    return float(u @ u / 2.0 + strength * value.sum()), np.asarray(gradient)


def shifted(active: NDArray[np.bool_], examples: Examples) -> NDArray[np.bool_]:
    """Whether an example of the same round before this one is active, so that a tie counts once."""
    counted: NDArray[np.int64] = np.cumsum(active) - active
    first = first_of_each(examples)
    return np.asarray(counted > counted[first][examples.round_of])
