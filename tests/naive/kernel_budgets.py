"""Kernel learners with a budget, by their definitions: every step forms the Gram matrix of all supports again.

Supports are plain lists. A removed support is replaced by the last one, so that of equal costs the same support goes.
"""

from collections.abc import Callable

import numpy as np

from .kernels import KernelRule
from .rules import Array, Round

DEPENDENT = 1e-8  # how near to the span of the supports a row depends on them


class Budgeted(KernelRule):
    """Supports with one coefficient for every score."""

    def start(self, k: int, d: int) -> None:
        self.k, self.d = k, d
        self.supports: list[Array] = []
        self.alpha: list[Array] = []  # one (k,) row for each support

    def scores(self, x: Array) -> Array:
        total = np.zeros(self.k)
        for support, alpha in zip(self.supports, self.alpha, strict=True):
            total = total + alpha * self.kernel(support, x)
        return total

    def sqnorm(self, r: Round) -> float:
        return self.kernel(r.x, r.x) * float(np.sum(r.signs**2))

    def gram(self, rows: list[Array], others: list[Array]) -> Array:
        return np.array([[self.kernel(a, b) for b in others] for a in rows]).reshape(len(rows), len(others))

    def append(self, x: Array, alpha: Array) -> None:
        self.supports.append(x.copy())
        self.alpha.append(alpha)

    def replace_by_last(self, r: int) -> None:
        self.supports[r], self.alpha[r] = self.supports[-1], self.alpha[-1]
        del self.supports[-1], self.alpha[-1]

    def projection(self, x: Array) -> tuple[Array, float]:
        """The coefficients of the nearest function in the span of the supports, and the squared distance to it."""
        if not self.supports:
            return np.zeros(0), self.kernel(x, x)
        near = self.gram(self.supports, [x])[:, 0]
        d = np.asarray(np.linalg.lstsq(self.gram(self.supports, self.supports), near, rcond=None)[0], np.float64)
        return d, max(0.0, self.kernel(x, x) - float(near @ d))

    def depends(self, x: Array) -> bool:
        """Whether the part of x outside the span is too small, beside x and the parts of its projection."""
        d, squared = self.projection(x)
        parts = sum(share**2 * self.kernel(one, one) for share, one in zip(d, self.supports, strict=True))
        return bool(squared <= DEPENDENT * (self.kernel(x, x) + parts))

    def state(self) -> dict[str, Array]:
        return {"coefficients": np.array(self.alpha).reshape(-1, self.k).T}

    def shared_state(self) -> dict[str, Array]:
        return {"supports": np.array(self.supports).reshape(-1, self.d)}


class Forgetron(Budgeted):
    """Dekel, Shalev-Shwartz and Singer 2008, self-tuned; the supports are in the order they came."""

    def __init__(self, budget: float = 100.0) -> None:
        self.budget = budget
        self.mistakes, self.damage = 0, 0.0
        self.factors: list[float] = []

    def update(self, r: Round) -> bool:
        if r.margin > 0.0:
            return False
        self.mistakes += 1
        self.append(r.x, r.signs.copy())
        if len(self.supports) > self.budget:
            label, sigma = np.sign(self.alpha[0][0]), abs(self.alpha[0][0])
            margin = float(label * self.scores(self.supports[0])[0])

            def damage(phi: float) -> float:
                return float((sigma * phi) ** 2 + 2.0 * sigma * phi - 2.0 * sigma * phi * (phi * margin))

            phi = self.largest(lambda phi: self.damage + damage(phi) <= 15.0 / 32.0 * self.mistakes)
            self.damage += damage(phi)
            self.factors.append(phi)
            self.alpha = [phi * alpha for alpha in self.alpha]
            del self.supports[0], self.alpha[0]
        return True

    @staticmethod
    def largest(allowed: Callable[[float], bool]) -> float:
        """The largest allowed factor, by bisection: all up to it are."""
        if allowed(1.0):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(100):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if allowed(middle) else (low, middle)
        return low


class Projectron(Budgeted):
    """Orabona, Keshet and Caputo 2009: a mistake near the span of the supports is projected onto it."""

    def __init__(self, eta: float = 0.1, budget: float = 500.0) -> None:
        self.eta, self.budget = eta, budget

    def update(self, r: Round) -> bool:
        if r.margin > 0.0:
            return False
        d, distance = self.projection(r.x)
        total = distance * float(np.sum(r.signs**2))
        if total <= self.eta**2 or len(self.supports) + 1 > self.budget or self.depends(r.x):
            self.move(d, r.signs, 1.0)
        else:
            self.append(r.x, r.signs.copy())
        return True

    def move(self, d: Array, signs: Array, step: float) -> None:
        self.alpha = [alpha + step * share * signs for alpha, share in zip(self.alpha, d, strict=True)]


class ProjectronPlusPlus(Projectron):
    """The same, and a step within the span where the margin is below 1 and the loss pays for the projection."""

    def update(self, r: Round) -> bool:
        if r.margin <= 0.0 or r.margin >= 1.0:
            return super().update(r)
        loss = 1.0 - r.margin
        d, squared = self.projection(r.x)
        squared *= float(np.sum(r.signs**2))
        distance, size = np.sqrt(squared), self.sqnorm(r) - squared
        if distance >= self.eta * loss:
            return False
        self.move(d, r.signs, min(loss / size, 2.0 * (loss - distance / self.eta) / size, 1.0))
        return True


class BudgetedPA(Budgeted):
    """Wang and Vucetic 2010: of all supports that could go, the one for which the constrained problem is cheapest."""

    weighs = True
    regresses = True

    def __init__(self, C: float = 1.0, budget: float = 100.0, method: str = "simple") -> None:
        self.C, self.budget, self.method = C, budget, method

    def update(self, r: Round) -> bool:
        if r.margin >= 1.0:
            return False
        C = self.C * r.weight
        tau = min(C, (1.0 - r.margin) / self.sqnorm(r))
        equal = [i for i, support in enumerate(self.supports) if np.array_equal(support, r.x)]
        if equal and self.method != "full":
            self.alpha[equal[0]] = self.alpha[equal[0]] + tau * r.signs
        elif self.method == "full" and self.depends(r.x):
            d = self.projection(r.x)[0]
            self.alpha = [alpha + tau * share * r.signs for alpha, share in zip(self.alpha, d, strict=True)]
        elif len(self.supports) + 1 <= self.budget:
            self.append(r.x, tau * r.signs)
        else:
            self.remove_best(r, C)
        return True

    def remove_best(self, r: Round, C: float) -> None:
        solved = [self.solve(r, C, gone) for gone in range(len(self.supports))]
        gone = int(np.argmin([cost for cost, _ in solved]))
        moved = solved[gone][1]
        self.alpha = [a + np.array([b]) for a, b in zip(self.alpha, moved[:-1], strict=True)]
        self.append(r.x, np.array([moved[-1]]))
        self.replace_by_last(gone)

    def free(self, gone: int) -> list[int]:
        """The supports that may change beside the new one, which is the last."""
        last = len(self.supports)
        rest = [i for i in range(last) if i != gone]
        if self.method == "simple" or not rest:
            return [last]
        if self.method == "full":
            return [*rest, last]
        here = self.supports[gone]
        far = [self.kernel(self.supports[i], self.supports[i]) - 2 * self.kernel(self.supports[i], here) for i in rest]
        return [rest[int(np.argmin(far))], last]

    def solve(self, r: Round, C: float, gone: int) -> tuple[float, Array]:
        """The least of 1/2 |w - w_t|^2 + C hinge, where support `gone` loses its coefficient: cost and change of w."""
        rows = [*self.supports, r.x]
        K, V = self.gram(rows, rows), self.free(gone)
        y = float(r.signs[0])
        change = np.zeros(len(rows))
        change[gone] = -self.alpha[gone][0]
        onto = np.linalg.lstsq(K[np.ix_(V, V)], K[np.ix_(V, [gone])][:, 0], rcond=None)[0]
        change[V] = self.alpha[gone][0] * onto
        unit = np.linalg.lstsq(K[np.ix_(V, V)], K[np.ix_(V, [len(rows) - 1])][:, 0], rcond=None)[0]
        margin = r.margin + y * float(K[-1] @ change)
        tau = min(C, max(0.0, 1.0 - margin) / float(unit @ K[np.ix_(V, V)] @ unit))
        change[V] += tau * y * unit
        hinge = max(0.0, 1.0 - r.margin - y * float(K[-1] @ change))
        return 0.5 * float(change @ K @ change) + C * hinge, change


RULES = {
    "forgetron": Forgetron,
    "projectron": Projectron,
    "projectron_plus_plus": ProjectronPlusPlus,
    "budgeted_pa": BudgetedPA,
}
