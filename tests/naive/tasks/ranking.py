"""Ranking as the twins play it: all rows of a list are scored, then pairs of them are rounds with x_i - x_j."""

from itertools import groupby
from typing import Any

import numpy as np

from ..rules import Array, Round, Rule


class Ranking:
    """Any rule of one score, taught by the worst pair of a list, by one pair for each row, or by all pairs.

    `required` has for every row the margin by which better rows must beat it.
    """

    def __init__(self, rule: Rule, pairs: str, required: Array | None = None) -> None:
        self.rule, self.pairs, self.required = rule, pairs, required
        self.started = False

    def run(self, X: Array, y: Array, query: Any, weight: Array | None = None) -> tuple[Array, list[bool]]:
        """Return the scores of all rows before their list is learned, and whether each list changed the rule."""
        if not self.started:
            self.rule.start(1, X.shape[1])
            self.started = True
        scores, updated = [], []
        for _, rows in groupby(range(len(X)), key=lambda t: query[t]):
            some = list(rows)
            scores += self.final(X[some]).tolist()
            h = 1.0 if weight is None else float(weight[some[0]])
            updated.append(h > 0.0 and self.learn(X, y, some, h))
        return np.array(scores), updated

    def score(self, x: Array) -> float:
        return float(self.rule.scores(x)[0])

    def final(self, X: Array) -> Array:
        return np.array([float(self.rule.final_scores(x)[0]) for x in X])

    def learn(self, X: Array, y: Array, some: list[int], h: float) -> bool:
        """What the margins are is asked again after every step."""

        def margin(i: int, j: int) -> float:
            return self.score(X[i]) - self.score(X[j])

        def missed(i: int, j: int) -> float:
            return margin(i, j) - (0.0 if self.required is None else float(self.required[j]) - 1.0)

        def step(i: int, j: int) -> bool:
            m = missed(i, j)
            self.rule.count()
            return self.rule.learn(Round(X[i] - X[j], np.ones(1), m, wrong=m <= 0.0, weight=h))

        def hardest(i: int) -> int:
            return max((j for j in some if y[j] < y[i]), key=lambda j: self.score(X[j]))

        better = [i for i in some if any(y[j] < y[i] for j in some)]
        if self.pairs == "max_loss":
            return bool(better) and step(
                *min(((i, j) for i in better for j in some if y[j] < y[i]), key=lambda p: missed(*p))
            )
        if self.pairs == "worst":
            return bool(better) and step(i := min(better, key=lambda i: margin(i, hardest(i))), hardest(i))
        if self.pairs == "each":
            moved = [step(i, hardest(i)) for i in better]
        else:
            moved = [step(i, j) for i in better for j in some if y[j] < y[i]]
        return any(moved)
