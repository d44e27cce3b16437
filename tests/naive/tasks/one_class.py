"""Twins of the task of one class: the centre moves toward a row that is too far from it, written out step by step.

A radius that is learned is a coordinate more: the centre starts at the height of the largest radius, rows have none.
"""

from collections.abc import Callable

import numpy as np

from ..rules import Array
from . import Flags

Step = Callable[[float, float, int], float]  # how far, from the loss, the weight of the round and its number
STEPS: dict[str, Callable[..., Step]] = {
    "pa": lambda: lambda loss, h, t: loss,
    "pa1": lambda C=1.0: lambda loss, h, t: min(C * h, loss),
    "pa2": lambda C=1.0: lambda loss, h, t: loss / (1.0 + 1.0 / (2.0 * C * h)),
    "ogd": lambda eta0=0.1, radius=1.0: lambda loss, h, t: h * eta0 / np.sqrt(t),
    "adaline": lambda rho=0.01: lambda loss, h, t: 0.5 * h * rho,
    "adaline_normalised": lambda rho=0.5, delta=1e-6: lambda loss, h, t: 0.5 * rho / (delta + 1.0),
}


class OneClass:
    """Rows labelled -1 are judged only."""

    def __init__(self, name: str, radius: float, learns: bool = False, **numbers: float) -> None:
        self.step, self.radius, self.learns = STEPS[name](**numbers), radius, learns
        self.w: Array = np.zeros(0)
        self.t = 0

    def novelty(self, x: Array) -> float:
        return float(np.linalg.norm(np.append(x, 0.0) - self.w)) - self.radius

    def run(self, X: Array, y: Array | None = None, weight: Array | None = None) -> tuple[Array, Flags]:
        """The novelty of each row before it is learned, and whether it moved the centre."""
        if not self.w.size:
            self.w = np.append(np.zeros(X.shape[1]), self.radius if self.learns else 0.0)
        labels = np.ones(len(X)) if y is None else y
        weights = np.ones(len(X)) if weight is None else weight
        scores, moved = [], []
        for x, label, h in zip(X, labels, weights, strict=True):
            loss = self.novelty(x)
            scores.append(loss)
            learned = label > 0 and h > 0.0
            self.t += int(learned)
            moved.append(bool(learned and loss > 0.0))
            if moved[-1]:
                away = np.append(x, 0.0) - self.w
                self.w = self.w + self.step(loss, float(h), self.t) * away / np.linalg.norm(away)
        return np.array(scores), np.array(moved)

    def final(self, X: Array) -> Array:
        return np.array([self.novelty(x) for x in X])


class FollowsRows(OneClass):
    """Without a radius: the first row is the centre, and the ball is as large as the farthest row so far asks for."""

    def __init__(self, name: str, **numbers: float) -> None:
        super().__init__(name, 0.0, False, **numbers)

    def run(self, X: Array, y: Array | None = None, weight: Array | None = None) -> tuple[Array, Flags]:
        if not self.w.size:
            self.w = np.zeros(X.shape[1] + 1)
        labels = np.ones(len(X)) if y is None else y
        weights = np.ones(len(X)) if weight is None else weight
        scores, moved = [], []
        for x, label, h in zip(X, labels, weights, strict=True):
            scores.append(self.novelty(x))
            before = self.w, self.radius
            if label > 0 and h > 0.0:
                self.t += 1
                self.learn(x, float(h))
            moved.append(bool((self.w != before[0]).any() or self.radius != before[1]))
        return np.array(scores), np.array(moved)

    def learn(self, x: Array, h: float) -> None:
        if self.t == 1:
            self.w = np.append(x, 0.0)
            return
        far = float(np.linalg.norm(x - self.w[:-1]))
        if far > self.radius:
            among_rows = self.radius**2 - self.w[-1] ** 2
            self.radius = far
            self.w = np.append(self.w[:-1], np.sqrt(max(far**2 - among_rows, 0.0)))
        loss = self.novelty(x)
        if loss > 0.0:
            away = np.append(x, 0.0) - self.w
            self.w = self.w + self.step(loss, h, self.t) * away / np.linalg.norm(away)
