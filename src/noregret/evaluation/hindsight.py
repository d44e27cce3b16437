"""A run that is over, as theorems see it: its rounds, what the learner did on them, and fixed weights to compare with.

With many classes the rival of a round is taken to be the one that the comparator beats by least. So a comparator looks
no better than it is, and a bound computed from these margins is never too small.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from noregret.cached_property import cached_property
from noregret.metrics.comparator_problem import Matrix, is_sparse
from noregret.metrics.round_losses import KINKS

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Played:
    """What a learner did, round by round: the losses of its predictions, its mistakes and its updates."""

    losses: Floats
    mistakes: NDArray[np.bool_]
    updated: NDArray[np.bool_]

    def cut(self, rounds: int) -> "Played":
        return Played(self.losses[:rounds], self.mistakes[:rounds], self.updated[:rounds])

    def slopes(self, loss: str) -> Floats:
        """The size of the slope of every loss, which its value tells."""
        value = self.losses
        if loss in KINKS or loss in ("eps_insensitive", "absolute"):
            return np.where((value > 0.0) | self.updated, 1.0, 0.0)
        if loss in ("logistic", "softmax"):  # 1 - p; of many classes, |g_t| is at most that times |z_t|
            return -np.expm1(-value)
        if loss == "exponential":
            return np.asarray(value)
        if loss == "huber":
            return np.minimum(np.sqrt(2.0 * value), 1.0)
        return 2.0 * np.sqrt(value)


@dataclass(frozen=True, eq=False)
class Fixed:
    """Fixed weights, features in rows and scores in columns, with u . z_t of every round; with targets, the errors.

    `least` is the smallest of these margins, or a lower bound on it that rounding cannot break.
    """

    weights: Floats
    margins: Floats
    least: float
    name: str = "best fixed weights"

    @property
    def separates(self) -> bool:
        return 0.0 < self.least < np.inf


@dataclass(frozen=True)
class Rounds:
    """The rounds so far: rows, their truths, and how many classes there are.

    The truths are signs of two classes, codes of many, or targets; sets of codes, lists (the number of the list, and
    the relevance), or the sides of a ball (1 inside, -1 outside).
    """

    X: Matrix
    truths: NDArray[Any]
    kind: str  # "signs", "codes", "targets", "sets", "lists" or "sides"
    classes: int = 2
    all_rivals: bool = False  # a margin is that over all other classes together: the logarithm of the odds
    of_kernel: bool = False  # rows are vectors with the inner products of a kernel: only Euclidean lengths count

    def cut(self, rows: int) -> "Rounds":
        """The first rows."""
        truths, classes = self.truths[:rows], self.classes
        if self.kind == "codes":
            classes = int(truths.max(initial=0)) + 1
        elif self.kind == "sets":
            classes = 1 + max((int(labels.max()) for labels in truths), default=0)
        return replace(self, X=self.X[:rows], truths=truths, classes=classes)

    @cached_property
    def lengths(self) -> Floats:
        """|x_t| of every row."""
        return row_norms(self.X)

    @property
    def stretch(self) -> float:
        """|z_t| / |x_t|."""
        return self.stretch_of(2.0)

    def stretch_of(self, p: float) -> float:
        """|z_t|_p / |x_t|_p: with many classes, z_t has x_t in two blocks."""
        return float(2.0 ** (1.0 / p)) if self.kind == "codes" else 1.0

    def margins(self, u: Floats) -> Floats:
        """u . z_t of every round; with targets, the errors y_t - u . x_t."""
        scores = np.asarray(self.X @ u)
        if self.kind == "codes":
            rounds = np.arange(len(self.truths))
            own = scores[rounds, self.truths].copy()
            scores[rounds, self.truths] = -np.inf
            if self.all_rivals and self.classes > 1:
                return np.asarray(own - logsumexp(scores, axis=1))
            return np.asarray(own - scores.max(axis=1))
        return np.asarray(self.truths * scores[:, 0] if self.kind == "signs" else self.truths - scores[:, 0])

    def fix(self, u: Floats) -> Fixed:
        """Weights as a comparator on these rounds."""
        margins = self.margins(u)
        return Fixed(u, margins, float(margins.min(initial=np.inf)))

    def scale(self, fixed: Fixed, length: float) -> Fixed:
        """A comparator multiplied by a number."""
        if length == 1.0:
            return fixed
        u = length * fixed.weights
        margins = self.margins(u) if self.kind == "targets" or self.all_rivals else length * fixed.margins
        return Fixed(u, margins, length * fixed.least, fixed.name)


def row_norms(X: Matrix, p: float = 2.0) -> Floats:
    """|x_t|_p of every row."""
    if np.isinf(p):
        found = abs(X).max(axis=1)
        return np.asarray(found.toarray() if is_sparse(found) else found).reshape(-1)
    if p == 2.0:
        squared = np.asarray(X.multiply(X).sum(axis=1)) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
        return np.asarray(np.sqrt(squared.reshape(-1)))
    powers = abs(X).power(p) if is_sparse(X) else np.abs(X) ** p
    return np.asarray(np.asarray(powers.sum(axis=1)).reshape(-1) ** (1.0 / p))


def extents(X: Matrix) -> Floats:
    """One more than the largest index of every row; of dense rows, their width."""
    if not is_sparse(X):
        return np.full(X.shape[0], float(X.shape[1]))
    found = np.zeros(X.shape[0])
    np.maximum.at(found, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices + 1.0)
    return found
