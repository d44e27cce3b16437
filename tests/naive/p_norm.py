"""The p-norm perceptron (Grove, Littlestone and Schuurmans 2001) and ALMA_p (Gentile 2001)."""

from collections.abc import Callable

import numpy as np

from .rules import Array, Round, Rule


def length(v: Array, p: float) -> float:
    return float(np.sum(np.abs(v) ** p) ** (1.0 / p))


def gradient_of_half_squared_norm(v: Array, p: float) -> Array:
    """The gradient of 1/2 |v|_p^2; that for q = p / (p - 1) is its inverse."""
    if not v.any():
        return np.zeros_like(v)
    return np.asarray(np.sign(v) * np.abs(v) ** (p - 1.0) / length(v, p) ** (p - 2.0))


class PNorm(Rule):
    """theta += eta z after a mistake; scores with the gradient of 1/2 |theta|_p^2."""

    weighs = True

    def __init__(self, p: float = 4.0, eta: float = 1.0) -> None:
        self.p = p
        self.eta = eta

    def scores(self, x: Array) -> Array:
        return gradient_of_half_squared_norm(self.w, self.p) @ x

    def update(self, r: Round) -> bool:
        if r.margin > 0.0:
            return False
        self.w = self.w + self.eta * r.weight * r.z
        return True


class Alma(Rule):
    """Keeps w itself, in the ball |w|_q <= 1."""

    def __init__(self, p: float = 2.0, alpha: float = 0.9, B: float = 0.0, C: float = 2.0**0.5) -> None:
        self.p, self.q = p, p / (p - 1.0)
        self.alpha = alpha
        self.B = B or 8.0**0.5 / alpha
        self.C = C
        self.k = 1

    def update(self, r: Round) -> bool:
        x = r.z / length(r.z, self.p)
        gamma = self.B * np.sqrt(self.p - 1.0) / np.sqrt(self.k)
        if float(np.sum(self.w * x)) > (1.0 - self.alpha) * gamma:
            return False
        eta = self.C / (np.sqrt(self.p - 1.0) * np.sqrt(self.k))
        there = gradient_of_half_squared_norm(self.w, self.q) + eta * x
        w = gradient_of_half_squared_norm(there, self.p)
        self.w = w / max(1.0, length(w, self.q))
        self.k += 1
        return True


RULES: dict[str, Callable[..., Rule]] = {"p_norm": PNorm, "alma": Alma}
