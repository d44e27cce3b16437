"""Twins of what is played with partial feedback: the same draws, every probability and every step written out."""

import numpy as np

from ..bandit import Exp3, Player
from ..rules import Array
from . import Flags, Labels, TaskRow

MODULUS = 2**31 - 1


class Draws:
    """Numbers between 0 and 1 by Park and Miller (1988), in whole numbers."""

    def __init__(self, seed: int) -> None:
        self.now = int(np.random.default_rng(seed).integers(1, MODULUS))

    def next(self) -> float:
        self.now = self.now * 7**5 % MODULUS
        return self.now / MODULUS

    def index(self, p: Array) -> int:
        """One of the indices of p, which are its probabilities."""
        return min(int(np.searchsorted(np.cumsum(p), self.next(), side="right")), len(p) - 1)


class Bandit:
    """Labels 0..k-1, of which the player is told only whether it played the right one."""

    def __init__(self, player: Player, k: int, seed: int = 0) -> None:
        self.player, self.k, self.draws, self.t = player, k, Draws(seed), 0

    def run(self, X: Array, y: Labels) -> tuple[Array, Labels, Flags]:
        """The scores before every round, what was played, and whether that changed anything."""
        if self.t == 0:
            self.player.start(self.k, X.shape[1])
        scores, played, changed = [], [], []
        for x, label in zip(X, y, strict=True):
            self.t += 1
            scores.append(self.player.scores(x).copy())
            p = self.player.chances(x, self.t)
            action = self.draws.index(p)
            played.append(action)
            before = self.player.w.copy()
            if np.any(x) or isinstance(self.player, Exp3):
                self.player.learn(x, float(p[action]), action, float(action != label))
            changed.append(bool(np.any(self.player.w != before)))
        return np.array(scores), np.array(played), np.array(changed)


def asking(task: TaskRow, ask: float, seed: int, X: Array, y: Labels) -> tuple[Array, Flags]:
    """Scores of all rounds, and which labels a twin asked for; it never hears of the others."""
    draws = Draws(seed)
    task.rule.start(task.k, X.shape[1])
    task.started = True
    scores, asked = [], []
    for t, x in enumerate(X):
        f = task.rule.scores(x)
        first, *rest = sorted(map(float, f), reverse=True)
        margin = first - rest[0] if rest else abs(first)
        scores.append(f.copy())
        asked.append(draws.next() < ask / (ask + margin))
        if asked[-1]:
            task.run(X[t : t + 1], y[t : t + 1])
    return task.shape(np.array(scores)), np.array(asked, dtype=bool)
