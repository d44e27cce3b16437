"""The best fixed comparator in hindsight: the weights with the smallest total loss on rounds that are over.

A convex problem. Kinks of the loss are smoothed, L-BFGS minimises the smooth loss, and the temperature falls until the
duality gap is small. The gap is a proof: no weights of the comparator's set have a loss smaller by more than the gap.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize
from scipy.sparse import csr_array, issparse

from noregret.metrics.round_losses import RoundLosses, Tangent

Floats = NDArray[np.float64]
Matrix: TypeAlias = Any  # a dense array or a CSR matrix, rounds in rows
TOLERANCE = 1e-4  # of the loss
COLDEST = 1e-7
COOLING = 0.2
ITERATIONS = 400  # of L-BFGS at one temperature
STEPS = 12  # towards the penalty that stands for a ball
WIDER = 2.0  # without a set, the gap is proved in a ball so many times as large as the comparator


def as_rows(X: Matrix) -> Matrix:
    """A matrix whose rows are together in memory."""
    return csr_array(X) if is_sparse(X) else np.ascontiguousarray(X, np.float64)


def is_sparse(X: Matrix) -> bool:
    """Whether a matrix is sparse."""
    return bool(issparse(X))


@dataclass(frozen=True)
class Penalty:
    """l1 |u|_1 + l2 |u|^2 / 2, for all rounds together."""

    l1: float = 0.0
    l2: float = 0.0

    def value(self, u: Floats) -> float:
        return float(self.l1 * np.abs(u).sum() + 0.5 * self.l2 * (u * u).sum())


@dataclass(frozen=True)
class Comparator:
    """Weights, features in rows and scores in columns, with their loss (penalty included) and its duality gap.

    `radius` is the ball |u| <= radius in which the gap is proved.
    """

    weights: Floats
    loss: float
    gap: float
    radius: float

    @property
    def converged(self) -> bool:
        """Whether the gap is small beside the loss."""
        return self.gap <= TOLERANCE * max(self.loss, 1.0)

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.weights))


class Problem:
    """Rounds to be compared on: their rows, their losses, and a penalty of the weights."""

    def __init__(self, X: Matrix, losses: RoundLosses, penalty: Penalty | None = None) -> None:
        self.X = as_rows(X)
        self.losses, self.penalty = losses, penalty or Penalty()
        self.transposed = self.X.T.tocsr() if is_sparse(self.X) else self.X.T
        squares = np.asarray(self.X.multiply(self.X).sum(axis=0)) if is_sparse(self.X) else (self.X**2).sum(axis=0)
        size = np.sqrt(squares.reshape(-1) / max(self.X.shape[0], 1))
        self.size = np.where(size > 0.0, size, 1.0)[:, None]  # rescales the features, so that L-BFGS needs few steps
        self.shape = (self.X.shape[1], losses.outputs)
        self.per_class = losses.per_class  # scores have a column for each class, also if there is one

    def scores(self, u: Floats) -> Floats:
        """The scores of weights."""
        scores = self.X @ u
        return np.asarray(scores.reshape(-1) if scores.shape[1] == 1 and not self.per_class else scores)

    def tangent(self, u: Floats, temperature: float) -> Tangent:
        return self.losses.tangent(self.scores(u), temperature)

    def pull_back(self, slopes: Floats) -> Floats:
        """Slopes of the scores as slopes of the weights."""
        return np.asarray(self.transposed @ slopes.reshape(slopes.shape[0], -1))

    def loss(self, u: Floats) -> float:
        """The total loss of weights, penalty included."""
        return float(self.losses.each(self.scores(u)).sum()) + self.penalty.value(u)

    def minimise(self, start: Floats, temperature: float, l2: float = 0.0) -> Floats:
        """The weights with the smallest smooth loss, plus l2 |u|^2 / 2."""
        l1, l2 = self.penalty.l1, self.penalty.l2 + l2
        size = np.sqrt(self.size**2 + l2 / max(self.X.shape[0], 1))
        count, losses = start.size, [np.inf]

        def stop_at_zero(intermediate_result: Any) -> None:
            if losses[0] <= 0.5 * TOLERANCE:  # no comparator is better by more than this
                raise StopIteration

        def value(flat: Floats) -> tuple[float, Floats]:
            parts = flat.reshape(-1, *self.shape) / size
            u = parts[0] if l1 == 0.0 else parts[0] - parts[1]
            tangent = self.tangent(u, temperature)
            losses[0] = tangent.loss + self.penalty.value(u)
            slope = (self.pull_back(tangent.slopes) + l2 * u) / size
            total = tangent.smooth + 0.5 * l2 * float((u * u).sum())
            if l1 == 0.0:
                return total, slope.reshape(-1)
            push = np.broadcast_to(l1 / size, self.shape)
            return total + l1 * float(parts.sum()), np.concatenate((slope + push, push - slope)).reshape(-1)

        scaled = start * size
        flat = scaled if l1 == 0.0 else np.concatenate((np.maximum(scaled, 0.0), np.maximum(-scaled, 0.0)))
        bounds = None if l1 == 0.0 else Bounds(np.zeros(2 * count), np.full(2 * count, np.inf))
        options = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS, "maxcor": 20, "ftol": 1e-13, "gtol": 1e-9}
        solve: Any = minimize
        found = solve(
            value, flat.reshape(-1), jac=True, method="L-BFGS-B", bounds=bounds, options=options, callback=stop_at_zero
        ).x
        parts = found.reshape(-1, *self.shape) / size
        return np.asarray(parts[0] if l1 == 0.0 else parts[0] - parts[1])

    def lower_bound(self, u: Floats, temperature: float, radius: float) -> float:
        """No weights with |u| <= radius have a smaller loss than this."""
        tangent = self.tangent(u, temperature)
        slopes, constant = self.pull_back(tangent.slopes), tangent.constant
        l1, l2 = self.penalty.l1, self.penalty.l2
        beyond = np.maximum(np.abs(slopes) - l1, 0.0)  # what the l1 penalty does not outweigh
        shares = [1.0]
        if l1 > 0.0 and beyond.any():  # a part of the bound is a bound too, since losses are not negative
            shares.append(l1 / float(np.abs(slopes).max()))
        found = [0.0]
        for share in shares:
            length = float(np.linalg.norm(np.maximum(share * np.abs(slopes) - l1, 0.0)))
            at = radius if l2 == 0.0 else min(radius, length / l2)
            found.append(share * constant - at * length + 0.5 * l2 * at * at)
        return max(found)


def find_comparator(
    problem: Problem, radius: float | None = None, start: Floats | None = None, tolerance: float = TOLERANCE
) -> Comparator:
    """The best comparator; with a radius, of those with |u| <= radius."""
    u = np.zeros(problem.shape) if start is None else start
    best, best_loss, bound, temperature, l2 = u, np.inf, 0.0, 1.0, 0.0
    while True:
        if radius is None:
            u = problem.minimise(u, temperature)
        else:
            u, l2 = minimise_in_ball(problem, u, temperature, radius, l2)
        loss = problem.loss(u)
        if loss < best_loss:
            best, best_loss = u, loss
        ball = WIDER * float(np.linalg.norm(best)) if radius is None else radius
        bound = max(bound, problem.lower_bound(u, temperature, ball))
        if best_loss - bound <= tolerance * max(best_loss, 1.0) or temperature < COLDEST:
            return Comparator(best, best_loss, max(best_loss - bound, 0.0), ball)
        temperature *= COOLING


def minimise_in_ball(
    problem: Problem, start: Floats, temperature: float, radius: float, l2: float
) -> tuple[Floats, float]:
    """The weights with the smallest smooth loss in a ball, and the l2 penalty that keeps them there.

    The penalty is found as for a trust region: 1 / |u| is nearly a straight line in it.
    """
    if radius == 0.0:
        return np.zeros_like(start), 0.0
    if l2 == 0.0:
        u = problem.minimise(start, temperature)
        if np.linalg.norm(u) <= radius:
            return u, 0.0
        start = u * (radius / float(np.linalg.norm(u)))
        slope = problem.pull_back(problem.tangent(start, temperature).slopes)
        l2 = max(-float((slope * start).sum()) / radius**2, 1e-12)
    u, low, high = start, 0.0, np.inf  # below `low` the weights are too long, above `high` too short
    points: list[tuple[float, float]] = []  # penalties, with 1 / |u| - 1 / radius
    for _ in range(STEPS):
        u = problem.minimise(u, temperature, l2)
        norm = max(float(np.linalg.norm(u)), 1e-300)
        if abs(norm - radius) <= 1e-6 * radius:
            break
        low, high = (l2, high) if norm > radius else (low, l2)
        points = [*points[-1:], (l2, 1.0 / norm - 1.0 / radius)]
        l2 = next_penalty(points, low, high)
        if high < 1e-14 or (low > 0.0 and high / low < 1.0 + 1e-9):
            break
    norm = float(np.linalg.norm(u))
    return u * min(1.0, radius / norm) if norm > 0.0 else u, l2


def next_penalty(points: list[tuple[float, float]], low: float, high: float) -> float:
    """The penalty at which the straight line through the last points is zero, or one between the limits."""
    if len(points) == 2 and points[0][1] != points[1][1]:
        (a, value_a), (b, value_b) = points
        found = b - value_b * (b - a) / (value_b - value_a)
        if low < found < high:
            return found
    if high == np.inf:
        return 2.0 * low
    return float(np.sqrt(low * high)) if low > 0.0 else 0.5 * high
