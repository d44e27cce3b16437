"""Structured output the obvious way: all outputs are written down, and a round compares them one by one.

`outputs` lists (output, features, loss) of a round, in the order of preference among equals; the weights are a dict.
"""

import math
from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from typing import Any, NamedTuple


class Output(NamedTuple):
    name: Any
    features: dict[Any, float]
    loss: float


MARGINS: dict[str, Callable[[float], float]] = {"loss": lambda x: x, "sqrt": math.sqrt, "unit": lambda x: 1.0}


class NaiveStructured:
    """A perceptron or passive-aggressive rule on the difference between the right output and its rival."""

    def __init__(self, rule: str, competitor: str, margin: str, C: float = 1.0) -> None:
        self.rule, self.competitor, self.required, self.C = rule, competitor, MARGINS[margin], C
        self.w: dict[Any, float] = {}
        self.history: list[dict[Any, float]] = [{}]

    def score(self, features: dict[Any, float], w: dict[Any, float] | None = None) -> float:
        w = self.w if w is None else w
        return sum(w.get(name, 0.0) * value for name, value in features.items())

    def best(self, outputs: list[Output], w: dict[Any, float] | None = None) -> Output:
        """The first of those with the highest score."""
        return max(outputs, key=lambda one: self.score(one.features, w))

    def mean(self) -> dict[Any, float]:
        """The mean of the weights after 0, 1, 2 ... rounds."""
        names = {name for w in self.history for name in w}
        return {name: sum(w.get(name, 0.0) for w in self.history) / len(self.history) for name in names}

    def learn(self, outputs: list[Output]) -> None:
        """The right output is the one of loss 0."""
        truth = next(one for one in outputs if one.loss == 0.0)
        if self.competitor == "predicted":
            rival = self.best(outputs)
        else:
            owed = {id(one): 0.0 if one is truth else self.required(one.loss) for one in outputs}
            rival = max(outputs, key=lambda one: self.score(one.features) + owed[id(one)])
        z = {
            name: truth.features.get(name, 0.0) - rival.features.get(name, 0.0)
            for name in [*truth.features, *rival.features]
        }
        size, margin = sum(value**2 for value in z.values()), self.score(z)
        if rival is not truth and size > 0.0:
            step = self.step(self.required(rival.loss) - margin, margin, size)
            self.w = {name: self.w.get(name, 0.0) + step * z.get(name, 0.0) for name in {**self.w, **z}}
        self.history.append(dict(self.w))

    def step(self, missing: float, margin: float, size: float) -> float:
        if self.rule == "perceptron":
            return 1.0 if margin <= 0.0 else 0.0
        limits = {"pa": missing / size, "pa1": min(self.C, missing / size), "pa2": missing / (size + 0.5 / self.C)}
        return max(0.0, limits[self.rule])


def matchings(n: int, m: int, partial: bool) -> Iterator[tuple[tuple[int, int], ...]]:
    """All matchings of n items with m others."""
    for size in range(0 if partial else min(n, m), min(n, m) + 1):
        for left in combinations(range(n), size):
            for right in permutations(range(m), size):
                yield tuple(zip(left, right, strict=True))
