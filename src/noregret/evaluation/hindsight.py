"""The quantities that bounds are functions of, computed when a run is over: from its rows, a comparator and the play.

With many classes the rival of a round is taken to be the one that the comparator beats by least. So a comparator looks
no better than it is, and a bound computed from these quantities is never too small.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.metrics.comparator import Matrix, is_sparse
from noregret.metrics.round_losses import KINKS, TargetRounds, margin_loss

Floats = NDArray[np.float64]
LARGEST_DETERMINANT = 3000  # features, or rounds with an update


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
        if loss == "logistic":
            return -np.expm1(-value)
        if loss == "exponential":
            return np.asarray(value)
        if loss == "huber":
            return np.minimum(np.sqrt(2.0 * value), 1.0)
        return 2.0 * np.sqrt(value)


@dataclass(frozen=True)
class Rounds:
    """The rounds so far: rows, signs of two classes or codes of many or targets, and how many classes there are."""

    X: Matrix
    truths: NDArray[Any]
    kind: str  # "signs", "codes" or "targets"
    classes: int = 2

    def cut(self, rounds: int) -> "Rounds":
        truths = self.truths[:rounds]
        classes = int(truths.max(initial=0)) + 1 if self.kind == "codes" else self.classes
        return Rounds(self.X[:rounds], truths, self.kind, classes)

    @cached_property
    def lengths(self) -> Floats:
        """|x_t| of every row."""
        return row_norms(self.X)

    @property
    def stretch(self) -> float:
        """|z_t| / |x_t|."""
        return float(np.sqrt(2.0)) if self.kind == "codes" else 1.0

    def margins(self, u: Floats) -> Floats:
        """u . z_t of every round; with targets, the errors y_t - u . x_t."""
        scores = np.asarray(self.X @ u)
        if self.kind == "codes":
            rounds = np.arange(len(self.truths))
            own = scores[rounds, self.truths].copy()
            scores[rounds, self.truths] = -np.inf
            return np.asarray(own - scores.max(axis=1))
        return np.asarray(self.truths * scores[:, 0] if self.kind == "signs" else self.truths - scores[:, 0])


class InForce(Protocol):
    """The parameters of a learner, its loss, and the errors that cost nothing."""

    p: Any
    loss: str
    eps: float


class Quantities:
    """Quantities of `noregret.QUANTITIES` by name, each computed when it is asked for; KeyError where it cannot be."""

    def __init__(
        self, rounds: Rounds, played: Played, theorem: InForce, longest: tuple[float, float] | None = None
    ) -> None:
        """`longest` are the largest |w_t| and |w_tj| of the play, where they are known."""
        self.rounds, self.played, self.longest = rounds, played, longest
        self.p, self.loss, self.eps = theorem.p, theorem.loss, theorem.eps
        self.kept: dict[str, float] = {}

    def of_rows(self, name: str) -> float:
        """A quantity that no comparator is needed for."""
        if name not in self.kept:
            self.kept[name] = float(OF_ROWS[name](self))
        return self.kept[name]

    def of_comparator(self, name: str, u: Floats, margins: Floats) -> float:
        """A quantity of a comparator."""
        return float(OF_COMPARATOR[name](self, u, margins))

    def find(self, names: tuple[str, ...], u: Floats, margins: Floats) -> dict[str, float]:
        """The quantities of these names."""
        return {name: self.of_rows(name) if name in OF_ROWS else self.of_comparator(name, u, margins) for name in names}

    def missing(self, names: tuple[str, ...]) -> list[str]:
        """Those of these names that cannot be computed here."""
        found = [name for name in names if name not in OF_ROWS and name not in OF_COMPARATOR]
        if self.longest is None:
            found += [name for name in names if name in ("distance", "distance_inf")]
        if self.rounds.kind == "codes":
            found += [name for name in names if name in ONE_VECTOR]
        return found

    def loss_of(self, margins: Floats) -> float:
        """The loss of a comparator with these margins; with targets, of these errors."""
        if self.rounds.kind != "targets":
            return float(margin_loss(self.loss, margins).sum())
        nothing, ones = np.zeros_like(margins), np.ones_like(margins)
        return float(TargetRounds(self.loss, nothing, self.eps * ones, ones).each(margins).sum())

    @cached_property
    def gradients(self) -> Floats:
        """|g_t| of every round."""
        return self.played.slopes(self.loss) * self.rounds.lengths * self.rounds.stretch

    @cached_property
    def squares(self) -> Floats:
        """The sum of g_tj^2 over the rounds, for every feature."""
        X, slopes = self.rounds.X, self.played.slopes(self.loss)
        squared = X.multiply(X) if is_sparse(X) else X * X
        return np.asarray(squared.T @ (slopes * slopes))

    @cached_property
    def updates(self) -> Matrix:
        """The rows with an update."""
        return self.rounds.X[self.played.updated]


def row_norms(X: Matrix) -> Floats:
    squared = np.asarray(X.multiply(X).sum(axis=1)) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
    return np.asarray(np.sqrt(squared.reshape(-1)))


def largest_values(X: Matrix) -> Floats:
    """max over j of |x_tj| of every row."""
    found = abs(X).max(axis=1)
    return np.asarray(found.toarray() if is_sparse(found) else found).reshape(-1)


def row_ranges(X: Matrix) -> Floats:
    """(max over j of x_tj) - (min over j of x_tj) of every row."""
    high, low = X.max(axis=1), X.min(axis=1)
    return np.asarray(high.toarray() - low.toarray() if is_sparse(high) else high - low).reshape(-1)


def log_det(q: Quantities) -> float:
    """ln det(I + S / r), S the sum of z_t z_t' over the updates."""
    X, r = q.updates, float(getattr(q.p, "r", 1.0))
    gram = X.T @ X if X.shape[1] <= X.shape[0] else X @ X.T
    if gram.shape[0] > LARGEST_DETERMINANT:
        raise KeyError("log_det")
    dense = np.asarray(gram.todense() if is_sparse(gram) else gram)
    return float(np.linalg.slogdet(np.eye(dense.shape[0]) + dense / r)[1])


def used_features(X: Matrix) -> int:
    """One more than the largest index of a value that is not 0."""
    columns = X.indices[X.data != 0.0] if is_sparse(X) else np.flatnonzero(X.any(axis=0))
    return 1 + int(columns.max()) if columns.size else 0


OF_ROWS: Mapping[str, Callable[[Quantities], Any]] = {
    "rounds": lambda q: len(q.rounds.truths),
    "features": lambda q: used_features(q.rounds.X),
    "classes": lambda q: q.rounds.classes,
    "radius": lambda q: q.rounds.stretch * q.rounds.lengths.max(initial=0.0),
    "least_radius": lambda q: q.rounds.stretch * q.rounds.lengths.min(initial=np.inf),
    "row_radius": lambda q: q.rounds.lengths.max(initial=0.0),
    "row_range": lambda q: row_ranges(q.rounds.X).max(initial=0.0),
    "largest_value": lambda q: largest_values(q.rounds.X).max(initial=0.0),
    "initial_norm": lambda q: 0.0,
    "largest_gradient": lambda q: q.gradients.max(initial=0.0),
    "squared_gradients": lambda q: (q.gradients**2).sum(),
    "squared_gradients_inf": lambda q: ((q.played.slopes(q.loss) * largest_values(q.rounds.X)) ** 2).sum(),
    "coordinate_gradients": lambda q: np.sqrt(q.squares).sum(),
    "active_features": lambda q: np.count_nonzero(q.squares),
    "updates_without_mistake": lambda q: np.count_nonzero(q.played.updated & ~q.played.mistakes),
    "log_det": log_det,
}
"""Quantities of the rows and of the play."""

ONE_VECTOR = ("coordinate_gradients", "active_features", "log_det", "radius_p", "divergence")
"""Quantities that are computed only where there is one vector of weights."""


def separation(q: Quantities, length: float, margins: Floats) -> float:
    """min over t of u . z_t / |u|, where it is positive."""
    least = float(margins.min(initial=np.inf))
    if not 0.0 < least < np.inf or length == 0.0:
        raise KeyError("margin")
    return least / length


def distance(q: Quantities, which: int, length: float) -> float:
    """At most the longest weights and the comparator together."""
    if q.longest is None:
        raise KeyError("distance")
    return q.longest[which] + length


def hinge(q: Quantities, margins: Floats) -> Floats:
    """The hinge loss of the comparator; with targets, eps-insensitive."""
    if q.rounds.kind == "targets":
        return np.maximum(0.0, np.abs(margins) - q.eps)
    return np.maximum(0.0, 1.0 - margins)


def divergence(u: Floats) -> float:
    """The sum of u_j ln(n u_j)."""
    if abs(float(u.sum()) - 1.0) > 1e-9 or (u < 0.0).any():
        raise KeyError("divergence")
    used = u[u > 0.0]
    return float((used * np.log(u.size * used)).sum())


def squared_errors(q: Quantities, margins: Floats) -> Floats:
    """(y_t - u . x_t)^2."""
    return np.asarray(margins**2 if q.rounds.kind == "targets" else (1.0 - margins) ** 2)


OF_COMPARATOR: Mapping[str, Callable[[Quantities, Floats, Floats], Any]] = {
    "norm": lambda q, u, m: np.linalg.norm(u),
    "norm_1": lambda q, u, m: np.abs(u).sum(),
    "norm_inf": lambda q, u, m: np.abs(u).max(initial=0.0),
    "norm_q": lambda q, u, m: np.linalg.norm(u.reshape(-1), q.p.p / (q.p.p - 1.0)),
    "margin": lambda q, u, m: separation(q, float(np.linalg.norm(u)), m),
    "margin_1": lambda q, u, m: separation(q, float(np.abs(u).sum()), m),
    "divergence": lambda q, u, m: divergence(u),
    "distance": lambda q, u, m: distance(q, 0, float(np.linalg.norm(u))),
    "distance_inf": lambda q, u, m: distance(q, 1, float(np.abs(u).max(initial=0.0))),
    "comparator_loss": lambda q, u, m: hinge(q, m).sum(),
    "comparator_squares": lambda q, u, m: (hinge(q, m) ** 2).sum(),
    "comparator_squared_errors": lambda q, u, m: squared_errors(q, m).sum(),
    "comparator_normalised_errors": lambda q, u, m: (
        squared_errors(q, m) / (float(getattr(q.p, "delta", 0.0)) + q.rounds.lengths**2)
    ).sum(),
    "comparator_loss_on_updates": lambda q, u, m: hinge(q, m)[q.played.updated].sum(),
    "squared_scores_on_updates": lambda q, u, m: (m[q.played.updated] ** 2).sum(),
}
"""Quantities of a comparator u, given u . z_t of every round."""
