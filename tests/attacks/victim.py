"""A small learner that is attacked, and the rows that it learns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import noregret as nr

RNG = np.random.default_rng(8)
MATRIX = np.round(RNG.normal(size=(24, 5)) * (RNG.random((24, 5)) < 0.8), 2)
COUNTS = np.abs(MATRIX)
SIGNS = np.where(MATRIX[:, 0] > MATRIX[:, 1], 1, -1).tolist()
CLASSES = [("red", "green", "blue")[number % 3] for number in range(24)]
TARGETS = np.round(10.0 * MATRIX[:, 0] + MATRIX[:, 2], 2).tolist()
NAMED = [{f"f{j}": float(x) for j, x in enumerate(row) if x} for row in MATRIX]
SETS = [{label for k, label in enumerate("abc") if row[k] > 0.0} or {"a"} for row in MATRIX]
GRADES, QUERIES = [number % 3 for number in range(24)], [number // 4 for number in range(24)]


@dataclass(frozen=True)
class Victim:
    """A way to make a learner, and the rows and labels that it learns before it is saved and after it is loaded."""

    make: Callable[[bool], Any]  # compiled or not
    X: Any
    y: Any = None
    query: Any = None

    def learned(self, native: bool) -> Any:
        learner = self.make(native)
        if self.query is not None:
            return learner.learn(self.X[:12], self.y[:12], query=self.query[:12])
        return learner.learn(self.X[:12], None if self.y is None else self.y[:12])


def rule(name: str, X: Any = NAMED, y: Any = SIGNS, query: Any = None, **options: Any) -> Victim:
    return Victim(lambda native: nr.make(name, native=native, **options), X, y, query)
