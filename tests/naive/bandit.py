"""Players that are told only the loss of what they played."""

from typing import Any

import numpy as np

from .rules import Array, Falling, first_weights


class Player(Falling):
    """Plays one of k actions a round and is told the loss of that one."""

    weighs = regresses = False
    random_start = 0.0

    def start(self, k: int, d: int) -> None:
        self.w: Array = first_weights(k, d, self.random_start)

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
        eta = self.fallen(self.rate, self.eta, t)
        weights: Array = np.exp(-eta * (self.estimates - self.estimates.min()))
        return np.asarray((1.0 - self.gamma) * weights / weights.sum() + self.gamma / len(weights))

    def learn(self, x: Array, chance: float, played: int, loss: float) -> None:
        self.estimates[played] += loss / chance


RULES: dict[str, Any] = {"banditron": Banditron, "exp3": Exp3}
