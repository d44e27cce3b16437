"""Forward-backward splitting (Duchi and Singer 2009): v = w - eta g, then

min over w of  1/2 |w - v|^2 + eta r(w)

for five penalties r, each by its closed form over all weights.
"""

from collections.abc import Callable, Sequence

import numpy as np

from .gradient import OGD, slope
from .rules import Array, Round, Rule


class Fobos(OGD):
    """r = lam |w|_1 + lam2 / 2 |w|^2; the penalty acts on every round."""

    def __init__(
        self,
        eta0: float = 0.1,
        lam: float = 1e-3,
        lam2: float = 0.0,
        schedule: str = "inv_sqrt",
        loss: str = "hinge",
    ) -> None:
        super().__init__(eta0, loss, schedule)
        self.lam, self.lam2 = lam, lam2

    def update(self, r: Round) -> bool:
        derivative, eta = slope(self.loss, r), self.rate(self.t)
        self.w = self.prox(self.w - eta * r.weight * derivative * r.z, eta)
        return derivative != 0.0

    def prox(self, v: Array, eta: float) -> Array:
        return np.sign(v) * np.maximum(np.abs(v) - eta * self.lam, 0.0) / (1.0 + eta * self.lam2)


class One(Fobos):
    """One penalty with one weight."""

    def __init__(self, eta0: float = 0.1, lam: float = 1e-3, schedule: str = "inv_sqrt", loss: str = "hinge") -> None:
        super().__init__(eta0, lam, 0.0, schedule, loss)

    def shorten(self, length: float, t: int) -> float:
        """By which factor the penalty moves a vector of that length: all that a kernel learner needs to know."""
        raise NotImplementedError

    def prox(self, v: Array, eta: float) -> Array:
        return v * self.shorten(float(np.linalg.norm(v)), self.t)


class L2(One):
    """r = lam |w|"""

    def shorten(self, length: float, t: int) -> float:
        return max(0.0, 1.0 - self.rate(t) * self.lam / length) if length > 0.0 else 0.0


class L2Squared(One):
    """r = lam / 2 |w|^2"""

    def shorten(self, length: float, t: int) -> float:
        return 1.0 / (1.0 + self.rate(t) * self.lam)


class Group(One):
    """r = lam times the sum of the lengths of the groups; a feature beyond the list is a group of its own."""

    def __init__(self, *numbers: float, groups: int | Sequence[int] = 1, **told: object) -> None:
        super().__init__(*numbers, **told)  # type: ignore[arg-type]
        self.groups = groups

    def group(self, j: int) -> tuple[str, int]:
        if isinstance(self.groups, int):
            return "row", j // self.groups
        return ("told", self.groups[j]) if j < len(self.groups) else ("own", j)

    def prox(self, v: Array, eta: float) -> Array:
        w = np.zeros_like(v)
        names = [self.group(j) for j in range(v.shape[1])]
        for c in range(len(v)):
            for name in set(names):
                own = [j for j in range(v.shape[1]) if names[j] == name]
                length = np.linalg.norm(v[c, own])
                if length > eta * self.lam:
                    w[c, own] = (1.0 - eta * self.lam / length) * v[c, own]
        return w


class Infinity(One):
    """r = lam max |w_j|: v less its projection on the l1 ball of radius eta lam (Duchi and others 2008)."""

    def prox(self, v: Array, eta: float) -> Array:
        radius, sizes = eta * self.lam, np.abs(v).ravel()
        if sizes.sum() <= radius:
            return np.zeros_like(v)
        if radius == 0.0:
            return v
        u = np.sort(sizes)[::-1]
        heights = (np.cumsum(u) - radius) / np.arange(1, len(u) + 1)
        height = heights[np.flatnonzero(u * np.arange(1, len(u) + 1) - np.cumsum(u) + radius > 0.0)[-1]]
        return np.asarray(v - np.sign(v) * np.maximum(np.abs(v) - height, 0.0))


RULES: dict[str, Callable[..., Rule]] = {
    "fobos": Fobos,
    "fobos_l2": L2,
    "fobos_l2_squared": L2Squared,
    "fobos_group": Group,
    "fobos_infinity": Infinity,
}
