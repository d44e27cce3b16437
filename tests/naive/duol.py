"""DUOL (Zhao, Hoi and Jin 2011): the dual of a support vector machine, at most two variables at a time.

Nothing is cached: margins are computed again from the expansion. The two variables are found by trying which of their
limits hold.
"""

from collections.abc import Callable
from itertools import product

import numpy as np

from .kernels import KernelRule
from .rules import Array, Round, Rule


def best_of_box(Q: Array, c: Array, low: Array, high: Array) -> Array:
    """The maximum of c.v - v'Q v / 2 over a box: of all choices of limits that hold, the best that is allowed."""
    found, most = low, -np.inf
    for limits in product(("low", "free", "high"), repeat=c.size):
        v = np.array([{"low": low, "high": high, "free": np.zeros(c.size)}[one][i] for i, one in enumerate(limits)])
        free = [i for i, one in enumerate(limits) if one == "free"]
        if free:
            try:
                v[free] = np.linalg.solve(Q[np.ix_(free, free)], (c - Q @ v)[free])
            except np.linalg.LinAlgError:
                continue
        if (v >= low - 1e-12).all() and (v <= high + 1e-12).all():
            value = float(c @ v - 0.5 * v @ Q @ v)
            if value > most + 1e-15:
                found, most = np.clip(v, low, high), value
    return found


class DUOL(KernelRule):
    """Terms x_i with their label and 0 <= g_i <= C."""

    def __init__(self, C: float = 1.0, rho: float = 0.0) -> None:
        self.C, self.rho = C, rho
        self.rows: list[Array] = []
        self.labels: list[float] = []
        self.g: list[float] = []

    def scores(self, x: Array) -> Array:
        terms = zip(self.g, self.labels, self.rows, strict=True)
        return np.array([sum(g * label * self.kernel(row, x) for g, label, row in terms)])

    def sqnorm(self, r: Round) -> float:
        return self.kernel(r.x, r.x)

    def update(self, r: Round) -> bool:
        if r.margin >= 1.0:
            return False
        y, C = float(r.signs[0]), self.C
        margins = [label * float(self.scores(row)[0]) for label, row in zip(self.labels, self.rows, strict=True)]
        signed = {
            i: y * self.labels[i] * self.kernel(self.rows[i], r.x)
            for i in range(len(self.g))
            if margins[i] <= 1.0 + 1e-9
        }
        b = min(signed, key=lambda i: signed[i], default=None)
        own = self.sqnorm(r)
        if b is not None and signed[b] <= -self.rho:
            Q = np.array([[own, signed[b]], [signed[b], self.kernel(self.rows[b], self.rows[b])]])
            c = np.array([1.0 - r.margin, max(0.0, 1.0 - margins[b])])
            step, more = best_of_box(Q, c, np.array([0.0, -self.g[b]]), np.array([C, C - self.g[b]]))
            self.g[b] += float(more)
        else:
            step = min(C, (1.0 - r.margin) / own)
        self.rows.append(r.x.copy())
        self.labels.append(y)
        self.g.append(float(step))
        return True

    def state(self) -> dict[str, Array]:
        return {"coefficients": np.array([[g * label for g, label in zip(self.g, self.labels, strict=True)]])}

    def shared_state(self) -> dict[str, Array]:
        return {"supports": np.array(self.rows)}


RULES: dict[str, Callable[..., Rule]] = {"duol": DUOL}
