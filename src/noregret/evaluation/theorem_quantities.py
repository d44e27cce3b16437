"""The quantities that bounds are functions of, computed when a run is over: from rows, a comparator and the play."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.cached_property import cached_property
from noregret.evaluation.hindsight import Fixed, Played, Rounds, extents, row_norms
from noregret.metrics.comparator_problem import Matrix, is_sparse
from noregret.metrics.round_losses import TargetRounds, margin_loss

Floats = NDArray[np.float64]
LARGEST_DETERMINANT = 3000  # features, or rounds with an update
ROUNDING = 2.0**-53


class InForce(Protocol):
    """The parameters of a learner, its loss, and the errors that cost nothing."""

    p: Any
    loss: str
    eps: float


class Quantities:
    """Quantities of `noregret.QUANTITIES` by name, each computed when it is asked for."""

    def __init__(
        self, rounds: Rounds, played: Played, theorem: InForce, longest: tuple[float, float] | None = None
    ) -> None:
        """`longest` are the largest |w_t| and |w_tj| of the play, where they are known."""
        self.rounds, self.played, self.longest = rounds, played, longest
        self.p, self.loss, self.eps = theorem.p, theorem.loss, theorem.eps
        self.kept: dict[str, float] = {}

    def find(self, names: Iterable[str], u: Fixed) -> dict[str, float] | None:
        """The quantities of these names, for a comparator; None where one is not defined for it."""
        found = {}
        for name in names:
            if name in OF_ROWS:
                if name not in self.kept:
                    self.kept[name] = float(OF_ROWS[name](self))
                found[name] = self.kept[name]
            else:
                found[name] = float(OF_COMPARATOR[name](self, u))
        return None if any(np.isnan(value) for value in found.values()) else found

    def missing(self, names: Iterable[str]) -> list[str]:
        """Those of these names that cannot be computed here, whatever the comparator."""
        return [name for name in names if not self.has(name)]

    def has(self, name: str) -> bool:
        if name in ("distance", "distance_inf") and self.longest is None:
            return False
        if name in OF_COORDINATES and self.rounds.of_kernel:
            return False
        if name in ONE_VECTOR and self.rounds.kind == "codes":
            return name == "divergence" and self.rounds.classes == 2  # both classes have weights from the start
        if name == "initial_norm" and getattr(self.p, "random_start", 0.0) > 0.0:
            return False
        if name == "log_det" and min(self.updates.shape) > LARGEST_DETERMINANT:
            return False
        return name in OF_ROWS or name in OF_COMPARATOR

    def knows_features(self) -> bool:
        """Whether the number of features was the same from the first round on."""
        known = extents(self.rounds.X)
        return bool(max(float(getattr(self.p, "features", 0.0)), known.min(initial=np.inf)) >= known.max(initial=0.0))

    def loss_of(self, margins: Floats) -> float:
        """The loss of a comparator with these margins; with targets, of these errors."""
        if self.rounds.kind != "targets":
            return float(margin_loss(self.loss, margins).sum())
        nothing, ones = np.zeros_like(margins), np.ones_like(margins)
        return float(TargetRounds(self.loss, nothing, self.eps * ones, ones).each(margins).sum())

    @property
    def power(self) -> float:
        """The p of the learner."""
        return float(getattr(self.p, "p", 2.0))

    @property
    def dual_power(self) -> float:
        """q, where 1/p + 1/q = 1."""
        return self.power / (self.power - 1.0) if self.power > 1.0 else np.inf

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

    @cached_property
    def lengths_p(self) -> Floats:
        """|z_t|_p of every round."""
        return self.rounds.stretch_of(self.power) * row_norms(self.rounds.X, self.power)


# ---- of the rows and of the play -------------------------------------------------------------------------------------


def row_ranges(X: Matrix) -> Floats:
    """(max over j of x_tj) - (min over j of x_tj) of every row."""
    high, low = X.max(axis=1), X.min(axis=1)
    return np.asarray(high.toarray() - low.toarray() if is_sparse(high) else high - low).reshape(-1)


def log_det(q: Quantities) -> float:
    """ln det(I + S / r), S the sum of z_t z_t' over the updates; by the smaller of the two matrices with this value."""
    X, r = q.updates, float(getattr(q.p, "r", 1.0))
    gram = X.T @ X if X.shape[1] <= X.shape[0] else X @ X.T
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
    "radius_p": lambda q: q.lengths_p.max(initial=0.0),
    "row_radius": lambda q: q.rounds.lengths.max(initial=0.0),
    "row_range": lambda q: row_ranges(q.rounds.X).max(initial=0.0),
    "largest_value": lambda q: row_norms(q.rounds.X, np.inf).max(initial=0.0),
    "initial_norm": lambda q: 0.0,
    "largest_gradient": lambda q: q.gradients.max(initial=0.0),
    "squared_gradients": lambda q: (q.gradients**2).sum(),
    "squared_gradients_inf": lambda q: ((q.played.slopes(q.loss) * row_norms(q.rounds.X, np.inf)) ** 2).sum(),
    "squared_gradients_p": lambda q: ((q.played.slopes(q.loss) * q.lengths_p) ** 2).sum(),
    "coordinate_gradients": lambda q: np.sqrt(q.squares).sum(),
    "active_features": lambda q: np.count_nonzero(q.squares),
    "updates_without_mistake": lambda q: np.count_nonzero(q.played.updated & ~q.played.mistakes),
    "log_det": log_det,
}
"""Quantities of the rows and of the play."""

OF_COORDINATES = (
    "features", "row_range", "largest_value", "radius_p", "norm_1", "norm_inf", "norm_q", "margin_1", "margin_q",
    "relative_margin", "divergence", "squared_gradients_inf", "squared_gradients_p", "coordinate_gradients",
    "active_features", "distance", "distance_inf",
)  # fmt: skip
"""Quantities that depend on single features, or on the weights themselves: the rows of a kernel have neither."""

ONE_VECTOR = ("coordinate_gradients", "active_features", "log_det", "divergence", "squared_scores_on_updates")
"""Quantities that are computed only where there is one vector of weights."""


# ---- of a comparator -------------------------------------------------------------------------------------------------


def norm_of(u: Fixed, power: float = 2.0) -> float:
    return float(np.linalg.norm(u.weights.reshape(-1), power))


def separation(u: Fixed, power: float) -> float:
    """min over t of u . z_t / |u|, where it is positive."""
    return u.least / norm_of(u, power) if u.separates else np.nan


def relative_margin(q: Quantities, u: Fixed) -> float:
    """min over t of u . z_t / (|u|_q |z_t|_p), less what rounding may have added."""
    rounding = 4.0 * u.weights.size * ROUNDING
    least = float((u.margins / q.lengths_p).min(initial=np.inf)) / norm_of(u, q.dual_power)
    return least * (1.0 - rounding) - rounding if u.separates else np.nan


def distance(q: Quantities, which: int, length: float) -> float:
    """At most the longest weights and the comparator together."""
    return np.nan if q.longest is None else q.longest[which] + length


def hinge(q: Quantities, u: Fixed) -> Floats:
    """The hinge loss of the comparator; with targets, eps-insensitive."""
    if q.rounds.kind == "targets":
        return np.maximum(0.0, np.abs(u.margins) - q.eps)
    return np.maximum(0.0, 1.0 - u.margins)


def divergence(u: Floats) -> float:
    """The sum of u_j ln(n u_j)."""
    if abs(float(u.sum()) - 1.0) > 1e-9 or (u < 0.0).any():
        return np.nan
    used = u[u > 0.0]
    return float((used * np.log(u.size * used)).sum())


def squared_errors(q: Quantities, u: Fixed) -> Floats:
    """(y_t - u . x_t)^2."""
    return np.asarray(u.margins**2 if q.rounds.kind == "targets" else (1.0 - u.margins) ** 2)


OF_COMPARATOR: Mapping[str, Callable[[Quantities, Fixed], Any]] = {
    "norm": lambda q, u: norm_of(u),
    "norm_1": lambda q, u: norm_of(u, 1.0),
    "norm_inf": lambda q, u: norm_of(u, np.inf),
    "norm_q": lambda q, u: norm_of(u, q.dual_power),
    "margin": lambda q, u: separation(u, 2.0),
    "margin_1": lambda q, u: separation(u, 1.0),
    "margin_q": lambda q, u: separation(u, q.dual_power),
    "relative_margin": relative_margin,
    "divergence": lambda q, u: divergence(u.weights),
    "distance": lambda q, u: distance(q, 0, norm_of(u)),
    "distance_inf": lambda q, u: distance(q, 1, norm_of(u, np.inf)),
    "comparator_loss": lambda q, u: hinge(q, u).sum(),
    "comparator_squares": lambda q, u: (hinge(q, u) ** 2).sum(),
    "comparator_squared_errors": lambda q, u: squared_errors(q, u).sum(),
    "comparator_normalised_errors": lambda q, u: (
        squared_errors(q, u) / (float(getattr(q.p, "delta", 0.0)) + q.rounds.lengths**2)
    ).sum(),
    "comparator_loss_on_updates": lambda q, u: hinge(q, u)[q.played.updated].sum(),
    "squared_scores_on_updates": lambda q, u: (u.margins[q.played.updated] ** 2).sum(),
}
"""Quantities of a comparator."""
