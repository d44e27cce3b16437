"""Dual averaging over groups (Yang, Xu, King, Lyu 2010; Yang, Lyu, King 2013).

With gbar the mean of the gradients of t rounds, each group of weights solves
    min over w of  gbar.w + lam q |w| + lam r |w|_1 + (gamma / sqrt t) (1/2 |w|^2 + rho |w|_1)
with q the square root of its size, or 1 for one feature over all tasks.
"""

from collections.abc import Callable, Sequence

import numpy as np

from .rda import RDA
from .rules import Array, Rule


class GroupLasso(RDA):
    """A feature beyond the list of groups is a group of its own; every class has groups of its own."""

    def __init__(
        self,
        lam: float = 1e-3,
        gamma: float = 1.0,
        r: float = 0.0,
        rho: float = 0.0,
        loss: str = "logistic",
        groups: int | Sequence[int] = 1,
    ) -> None:
        super().__init__(lam, gamma, loss)
        self.r, self.rho, self.groups = r, rho, groups

    def members(self, d: int) -> list[list[int]]:
        if isinstance(self.groups, int):
            return [list(range(d))[first : first + self.groups] for first in range(0, d, self.groups)]
        told = self.groups[:d]
        alone = [[j] for j in range(len(told), d)]
        return [[j for j in range(len(told)) if told[j] == name] for name in sorted(set(told))] + alone

    def size(self, own: list[int]) -> float:
        """How many features a group has, those not seen yet included."""
        if isinstance(self.groups, int):
            return float(self.groups)
        return float(self.groups.count(self.groups[own[0]])) if own[0] < len(self.groups) else 1.0

    def limits(self, own: list[int]) -> tuple[float, float]:
        """What a mean gradient must exceed alone, and with its group."""
        alone = self.lam * self.r + self.gamma * self.rho / np.sqrt(self.t)
        return alone, self.lam * np.sqrt(self.size(own))

    def weights(self) -> Array:
        w = np.zeros_like(self.G)
        if self.t == 0:
            return w
        gbar = self.G / self.t
        for own in self.members(self.G.shape[1]):
            alone, together = self.limits(own)
            for c in range(len(w)):
                soft = np.sign(gbar[c, own]) * np.maximum(0.0, np.abs(gbar[c, own]) - alone)
                length = np.linalg.norm(soft)
                if length > together:
                    w[c, own] = -(np.sqrt(self.t) / self.gamma) * (1.0 - together / length) * soft
        return w


class Multitask(GroupLasso):
    """A group is one feature over all tasks."""

    def __init__(
        self,
        lam: float = 1e-3,
        gamma: float = 1.0,
        r: float = 1.0,
        shared: str = "across",
        loss: str = "logistic",
        groups: int = 1,
    ) -> None:
        super().__init__(lam, gamma, r, 0.0, loss, groups)
        self.shared = shared

    def limits(self, own: list[int]) -> tuple[float, float]:
        choices = {"across": (0.0, self.lam), "within": (self.lam, 0.0), "both": (self.lam * self.r, self.lam)}
        return choices[self.shared]


RULES: dict[str, Callable[..., Rule]] = {"group_lasso": GroupLasso, "multitask": Multitask}
