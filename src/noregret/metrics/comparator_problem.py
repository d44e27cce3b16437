"""The convex problem of a comparator: the total loss of fixed weights on rounds that are over, and its minimisation."""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from noregret.metrics.round_losses import RoundLosses, Tangent

Floats = NDArray[np.float64]
Matrix: TypeAlias = Any  # a dense array or a CSR matrix, rounds in rows
TOLERANCE = 1e-4  # of the loss
ITERATIONS = 400  # of L-BFGS at one temperature


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


class Limits(NamedTuple):
    """Where weights are looked for: each between two numbers, or as a difference of two that are not negative.

    The sum of the weights, of a difference that of its parts, is pulled to `total` by a multiplier and a spring.
    """

    low: float = -np.inf
    high: float = np.inf
    split: bool = False
    total: float = 0.0
    multiplier: float = 0.0
    stiffness: float = 0.0


FREE = Limits()


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

    def minimise(self, start: Floats, temperature: float, l2: float = 0.0, limits: Limits = FREE) -> Floats:
        """The weights with the smallest smooth loss within limits, plus l2 |u|^2 / 2."""
        from scipy.optimize import Bounds, minimize  # which takes as long to import as all of noregret

        l1, l2 = self.penalty.l1, self.penalty.l2 + l2
        split, pulled = limits.split or l1 > 0.0, limits.multiplier != 0.0 or limits.stiffness > 0.0
        size = np.sqrt(self.size**2 + l2 / max(self.X.shape[0], 1))
        losses = [np.inf]

        def stop_at_zero(intermediate_result: Any) -> None:
            if losses[0] <= 0.5 * TOLERANCE and not pulled:  # no comparator is better by more than this
                raise StopIteration

        def value(flat: Floats) -> tuple[float, Floats]:
            parts = flat.reshape(-1, *self.shape) / size
            u = parts[0] - parts[1] if split else parts[0]
            tangent = self.tangent(u, temperature)
            losses[0] = tangent.loss + self.penalty.value(u)
            slope = (self.pull_back(tangent.slopes) + l2 * u) / size
            total = tangent.smooth + 0.5 * l2 * float((u * u).sum())
            if not split and not pulled:
                return total, slope.reshape(-1)
            weight = float(parts.sum())
            beyond = weight - limits.total if pulled else 0.0
            total += l1 * weight + beyond * (limits.multiplier + 0.5 * limits.stiffness * beyond)
            push = np.broadcast_to((l1 + limits.multiplier + limits.stiffness * beyond) / size, self.shape)
            return total, np.concatenate((slope + push, push - slope) if split else (slope + push,)).reshape(-1)

        scaled = start * size
        flat = np.concatenate((np.maximum(scaled, 0.0), np.maximum(-scaled, 0.0))) if split else scaled
        bounds = None
        if split:
            bounds = Bounds(np.zeros(flat.size), np.full(flat.size, np.inf))
        elif limits.low > -np.inf or limits.high < np.inf:
            ones = np.broadcast_to(size, self.shape).reshape(-1)
            bounds = Bounds(limits.low * ones, limits.high * ones)
        options = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS, "maxcor": 20, "ftol": 1e-13, "gtol": 1e-9}
        solve: Any = minimize
        found = solve(
            value, flat.reshape(-1), jac=True, method="L-BFGS-B", bounds=bounds, options=options, callback=stop_at_zero
        ).x
        parts = found.reshape(-1, *self.shape) / size
        u = np.asarray(parts[0] - parts[1] if split else parts[0])
        return u if bounds is None or split else np.clip(u, limits.low, limits.high)

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
