"""The version space of linear predictors: all weights that put every row on its side."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown

Floats = NDArray[np.float64]
LEAST = 1e-9  # of the margin of weights with |w_j| <= 1 on rows of length 1: what rounding may leave of 0


class VersionSpace:
    """All weights w with y w.x > 0 for every row x with label y (-1 or +1) that was added.

    A row excludes a half space of weights; what is left is a cone. `feasible` says whether it contains anything,
    `centre` is the centre of the largest ball in it that fits into the box |w_j| <= 1: far from all rows.
    """

    def __init__(self, features: int | None = None) -> None:
        if features is not None and (type(features) is not int or features < 1):
            raise BadValue(f"features must be a whole number of at least 1, not {shown(features)}")
        self.features = features
        self.signed: list[Floats] = []  # y x of every row

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.signed)

    def __repr__(self) -> str:
        return f"<version space of {len(self)} rows with {self.features or 0} features>"

    def add(self, x: Any, y: Any) -> "VersionSpace":
        """Add a row with its label: 1 is positive; -1, 0 and False are negative."""
        if not isinstance(y, (bool, int, float, np.number, np.bool_)) or y not in (-1, 0, 1):
            raise BadValue(f"a label must be -1 or +1, not {shown(y)}")
        row = self.as_vector(x, "a row")
        self.features = row.size
        self.signed.append(row if y == 1 else -row)
        return self

    def as_vector(self, given: Any, what: str) -> Floats:
        try:
            vector = np.asarray(given.toarray() if hasattr(given, "toarray") else given, np.float64).reshape(-1)
        except (TypeError, ValueError):
            raise BadValue(f"{what} is a list of numbers, not {shown(given)}") from None
        if not vector.size or not np.isfinite(vector).all():
            raise BadValue(f"{what} is a list of finite numbers, not {shown(given)}")
        if self.features is not None and vector.size != self.features:
            raise BadValue(f"{what} has {vector.size} numbers, and there are {self.features} features")
        return vector

    def contains(self, w: Any) -> bool:
        """Whether weights put every row on its side."""
        weights = self.as_vector(w, "w")
        return all(float(row @ weights) > 0.0 for row in self.signed)

    def feasible(self) -> bool:
        """Whether some weights put every row on its side: whether the rows are separable without a threshold."""
        return not self.signed or self.largest_ball()[1] > LEAST

    def centre(self) -> Floats:
        """The centre of the largest ball inside; an error where there is nothing inside."""
        if not self.signed:
            if self.features is None:
                raise BadValue("the version space has no rows yet, and the number of features is not known")
            return np.zeros(self.features)
        weights, radius = self.largest_ball()
        if radius <= LEAST:
            raise BadValue(f"the version space is empty: no weights put all {len(self)} rows on their side")
        return weights

    def largest_ball(self) -> tuple[Floats, float]:
        """Centre and radius r of the ball: y w.x >= r |x| for every row, and |w_j| + r <= 1; a linear program."""
        from scipy.optimize import linprog  # not needed to list the learners

        rows = np.array(self.signed)
        lengths = np.linalg.norm(rows, axis=1)
        if (lengths == 0.0).any():
            return np.zeros(rows.shape[1]), 0.0
        n, ones = rows.shape[1], np.ones((rows.shape[1], 1))
        walls = np.block([[np.eye(n), ones], [-np.eye(n), ones]])
        left = np.vstack([np.hstack([-rows / lengths[:, None], np.ones((len(rows), 1))]), walls])
        right = np.concatenate([np.zeros(len(rows)), np.ones(2 * n)])
        cost = np.zeros(n + 1)
        cost[-1] = -1.0
        found = linprog(cost, A_ub=left, b_ub=right, bounds=[(-1.0, 1.0)] * n + [(0.0, 1.0)])
        if found.x is None:
            raise BadValue(f"the linear program of the version space was not solved: {found.message}")
        return np.asarray(found.x[:-1]), float(found.x[-1])
