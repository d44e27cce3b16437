"""The twin of the multilabel task: sets of labels 0..k-1, and a virtual label after the last of them."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from ..rules import Array, Round, Rule
from . import Flags


class Multilabel:
    """Crammer et al. 2006, section 8.2 with one pair a step; labels take part from their first row on, or all if fixed.

    threshold "virtual": (lowest of the row, virtual), then, from scores taken again, (virtual, highest of the others).
    threshold "zero": (lowest of the row, highest of the others).
    """

    def __init__(self, rule: Rule, k: int, d: int, fixed: bool = False, threshold: str = "virtual") -> None:
        self.rule, self.k, self.virtual = rule, k, threshold == "virtual"
        self.seen = set(range(k)) if fixed else set[int]()
        rule.start(k + 1, d)

    def told(self, s: Array) -> Array:
        """Scores as they are told: from the threshold, -inf for labels that nobody has seen."""
        above = s[: self.k] - (s[self.k] if self.virtual else 0.0)
        return np.array([above[c] if c in self.seen else -np.inf for c in range(self.k)])

    def run(
        self, X: Array, sets: Sequence[AbstractSet[int]], weight: Array | None = None
    ) -> tuple[Array, Flags, Array]:
        """The scores before each round, whether it changed the rule, and its hinge losses, summed over the steps."""
        told, changed, losses = [], [], []
        for t, (x, own) in enumerate(zip(X, sets, strict=True)):
            h = 1.0 if weight is None else float(weight[t])
            final = self.rule.final_scores(x)
            told.append(self.told(final))
            self.seen |= own
            steps = self.pairs(final, own)
            losses.append(sum(max(0.0, 1.0 - float(final[a] - final[b])) for a, b in steps))
            moved = []
            if h > 0.0:
                self.rule.count()
                for turn in range(len(steps)):
                    s = self.rule.scores(x)
                    a, b = self.pairs(s, own)[turn]
                    signs = np.zeros(self.k + 1)
                    signs[a], signs[b] = 1.0, -1.0
                    margin = float(s[a] - s[b])
                    moved.append(self.rule.learn(Round(x, signs, margin, wrong=margin <= 0.0, weight=h)))
            changed.append(any(moved))
        return np.array(told), np.array(changed), np.array(losses)

    def pairs(self, s: Array, own: AbstractSet[int]) -> list[tuple[int, int]]:
        """Who steps against whom; the first of equals."""
        closest = min(sorted(own), key=lambda c: float(s[c]))
        others = sorted(self.seen - own)
        rival = max(others, key=lambda c: float(s[c])) if others else None
        if self.virtual:
            return [(closest, self.k)] + ([] if rival is None else [(self.k, rival)])
        return [] if rival is None else [(closest, rival)]

    def final(self, X: Array) -> Array:
        return np.array([self.told(self.rule.final_scores(x)) for x in X])
