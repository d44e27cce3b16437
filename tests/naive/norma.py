"""NORMA (Kivinen, Smola and Williamson 2004): f = (1 - eta lam) f - eta l'(f(x), y) k(x, .), as a list of terms."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .kernels import KernelRule
from .rules import Array, FirstOrder, Round, Rule


class Step:
    """The numbers of NORMA: rho, which the nu-trick moves, the offset, and the length of a step."""

    def __init__(self, eta: float = 0.0, lam: float = 0.0, rho: float = 1.0, nu: float = 0.0, **told: str) -> None:
        self.eta, self.lam, self.rho, self.nu = eta, lam, rho, nu
        self.loss, self.schedule = told.get("loss", "hinge"), told.get("schedule", "constant")
        self.offset = told.get("offset") == "yes"

    def length(self, r: Round, eta: float) -> float:
        """Minus eta times the derivative of the loss; rho moves against its own derivative."""
        short = self.rho - r.margin
        if self.loss == "squared":
            return eta * 2.0 * short
        if self.loss == "huber":
            return eta * (0.0 if short < 0.0 else short if short < 1.0 else 1.0)
        missed = r.margin <= 0.0 if self.rho == 0.0 else short > 0.0
        if self.nu > 0.0:
            self.rho += eta * (self.nu - missed)
        return eta * missed


class NORMA(FirstOrder):
    """An eta of 0 stands for one over the size of the rows. An importance weight scales eta."""

    weighs = True
    regresses = True

    def __init__(self, **told: Any) -> None:
        self.how = Step(**told)

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        eta = self.fallen(self.how.schedule, self.fit(self.how.eta, 1.0, r, sqnorm) * r.weight, t)
        self.kept = max(0.0, 1.0 - eta * self.how.lam)
        tau = self.how.length(r, eta)
        if self.how.offset:
            self.shift += tau * float(r.signs[0])
        return tau if tau != 0.0 else None

    def fade(self, t: int) -> float:
        return self.kept

    def scores(self, x: Array) -> Array:
        return super().scores(x) + self.shift


class TruncatedNORMA(KernelRule):
    """Terms (x, a, round): those of the last budget rounds, and no others."""

    weighs = True
    regresses = True

    def __init__(self, budget: float = 1000.0, eta: float = 1.0, lam: float = 1e-4, **told: Any) -> None:
        self.how, self.lasts = Step(eta, lam, **told), int(budget)
        self.terms: list[tuple[Array, float, int]] = []
        self.shift = 0.0

    def scores(self, x: Array) -> Array:
        return np.array([sum(a * self.kernel(support, x) for support, a, _ in self.terms) + self.shift])

    def sqnorm(self, r: Round) -> float:
        return self.kernel(r.x, r.x)

    def update(self, r: Round) -> bool:
        eta = self.fallen(self.how.schedule, self.how.eta * r.weight, self.t)
        tau = self.how.length(r, eta) * float(r.signs[0])
        kept = max(0.0, 1.0 - eta * self.how.lam)
        self.terms = [(support, kept * a, born) for support, a, born in self.terms]
        if tau != 0.0:
            self.terms.append((r.x.copy(), tau, self.t))
        self.terms = [term for term in self.terms if term[2] > self.t - self.lasts]
        self.shift += tau if self.how.offset else 0.0
        return tau != 0.0

    def state(self) -> dict[str, Array]:
        return {"coefficients": np.array([[a for _, a, _ in self.terms]])}

    def shared_state(self) -> dict[str, Array]:
        return {"supports": np.array([support for support, _, _ in self.terms])}


RULES: dict[str, Callable[..., Rule]] = {"norma": NORMA, "norma_truncated": TruncatedNORMA}
