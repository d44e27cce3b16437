"""Novikoff's proof on a stream: what every update of the perceptron adds to u.w and to |w|^2."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.evaluation.separability import Examples

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Invariants:
    """The updates of a perceptron, in order, against a unit vector u of margin gamma and rows of length at most R.

    Each adds at least gamma to u.w and at most R^2 to |w|^2. After k updates k gamma <= u.w <= |w| <= sqrt(k) R, so
    that k <= (R / gamma)^2.
    """

    rounds: NDArray[np.int64]  # from 1
    margins: Floats  # w.z before the update: not positive
    projections: Floats  # u.w after it
    squares: Floats  # |w|^2 after it
    gamma: float
    radius: float

    @property
    def projection_growth(self) -> Floats:
        """By how much each update made u.w larger."""
        return np.diff(self.projections, prepend=0.0)

    @property
    def square_growth(self) -> Floats:
        """By how much each update made |w|^2 larger."""
        return np.diff(self.squares, prepend=0.0)

    @property
    def hold(self) -> bool:
        """Whether both invariants hold on every update, but for rounding."""
        slack = 1e-9 * max(1.0, float(np.abs(self.squares).max(initial=0.0)))
        grows = self.projection_growth >= self.gamma - 1e-9 * max(1.0, float(np.abs(self.projections).max(initial=0.0)))
        return bool(grows.all() and (self.square_growth <= self.radius**2 + slack).all())

    def report(self) -> list[dict[str, float]]:
        """The updates, for programs."""
        columns = {
            "round": self.rounds.tolist(),
            "margin": self.margins.tolist(),
            "u.w": self.projections.tolist(),
            "u.w_growth": self.projection_growth.tolist(),
            "square": self.squares.tolist(),
            "square_growth": self.square_growth.tolist(),
        }
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def trace_invariants(examples: Examples, updated: NDArray[np.bool_], u: Floats, gamma: float) -> Invariants:
    """Follow the weights of a perceptron with step size 1 through its updates on rounds of two classes."""
    Z: Any = examples.Z
    at = np.flatnonzero(updated)
    w, margins, squares = np.zeros(Z.shape[1]), np.zeros(at.size), np.zeros(at.size)
    for number, row in enumerate(at.tolist()):
        start, stop = int(Z.indptr[row]), int(Z.indptr[row + 1])
        places, values = Z.indices[start:stop], Z.data[start:stop]
        margins[number] = w[places] @ values
        w[places] += values
        squares[number] = w @ w
    projections = np.cumsum(np.asarray(Z[at] @ u))
    return Invariants(at + 1, margins, projections, squares, gamma, examples.radius)
