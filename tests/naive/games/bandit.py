"""Twins of what is played with partial feedback: the same draws, every probability and every step written out."""

from typing import Any

import numpy as np

from ..rules import Array
from . import Flags, Game, Labels

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


class Player:
    """Plays one of k actions a round and is told the loss of that one."""

    weighs = regresses = False

    def start(self, k: int, d: int) -> None:
        self.w: Array = np.zeros((k, d))

    def scores(self, x: Array) -> Array:
        return self.w @ x

    def chances(self, x: Array, t: int) -> Array:
        raise NotImplementedError

    def learn(self, x: Array, chance: float, played: int, loss: float) -> None:
        raise NotImplementedError


class Banditron(Player):
    """Kakade, Shalev-Shwartz and Tewari 2008."""

    def __init__(self, gamma: float = 0.05) -> None:
        self.gamma = gamma

    def chances(self, x: Array, t: int) -> Array:
        k = len(self.w)
        p = np.full(k, self.gamma / k)
        p[np.argmax(self.scores(x))] += 1.0 - self.gamma
        return p

    def learn(self, x: Array, chance: float, played: int, loss: float) -> None:
        update = np.zeros_like(self.w)
        update[np.argmax(self.scores(x))] -= x
        if loss == 0.0:
            update[played] += x / chance
        self.w = self.w + update


class Exp3(Player):
    """Auer, Cesa-Bianchi, Freund and Schapire 2002, for losses: the sum of estimated losses of every action."""

    def __init__(self, eta: float = 0.1, gamma: float = 0.0, rate: str = "constant") -> None:
        self.eta, self.gamma, self.rate = eta, gamma, rate

    def start(self, k: int, d: int) -> None:
        self.estimates: Array = np.zeros(k)

    @property
    def w(self) -> Array:  # type: ignore[override]
        return -self.estimates[:, None]

    def scores(self, x: Array) -> Array:
        return -self.estimates

    def chances(self, x: Array, t: int) -> Array:
        eta = self.eta / {"constant": 1.0, "inv_sqrt": t**0.5, "inv_t": t}[self.rate]
        weights: Array = np.exp(-eta * (self.estimates - self.estimates.min()))
        return np.asarray((1.0 - self.gamma) * weights / weights.sum() + self.gamma / len(weights))

    def learn(self, x: Array, chance: float, played: int, loss: float) -> None:
        self.estimates[played] += loss / chance


RULES: dict[str, Any] = {"banditron": Banditron, "exp3": Exp3}


class Bandit:
    """Labels 0..k-1, of which the player is told only whether it played the right one."""

    def __init__(self, player: Player, k: int, seed: int = 0) -> None:
        self.player, self.k, self.draws, self.t = player, k, Draws(seed), 0

    def run(self, X: Array, y: Labels) -> tuple[Array, Labels]:
        """The scores before every round, and what was played."""
        if self.t == 0:
            self.player.start(self.k, X.shape[1])
        scores, played = [], []
        for x, label in zip(X, y, strict=True):
            self.t += 1
            scores.append(self.player.scores(x).copy())
            p = self.player.chances(x, self.t)
            action = self.draws.index(p)
            played.append(action)
            if np.any(x) or isinstance(self.player, Exp3):
                self.player.learn(x, float(p[action]), action, float(action != label))
        return np.array(scores), np.array(played)


def asking(game: Game, ask: float, seed: int, X: Array, y: Labels) -> tuple[Array, Flags]:
    """Scores of all rounds, and which labels a twin asked for; it never hears of the others."""
    draws = Draws(seed)
    game.rule.start(game.k, X.shape[1])
    game.started = True
    scores, asked = [], []
    for t, x in enumerate(X):
        f = game.rule.scores(x)
        first, *rest = sorted(map(float, f), reverse=True)
        margin = first - rest[0] if rest else abs(first)
        scores.append(f.copy())
        asked.append(draws.next() < ask / (ask + margin))
        if asked[-1]:
            game.run(X[t : t + 1], y[t : t + 1])
    return game.shape(np.array(scores)), np.array(asked, dtype=bool)
