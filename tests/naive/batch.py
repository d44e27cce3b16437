"""Gradient descent in batches (Dekel et al. 2012) and batch Adaline (Widrow and Hoff 1960)."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .gradient import slope
from .rules import Array, Round, Rule


class GradientBatch(Rule):
    """Keeps the gradients of the batch in a list. An importance weight scales g.

    An eta of 0 stands for min(1, 8 / batch) / S times each gradient, where S is the size of the rows.
    """

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, eta: float = 0.1, batch: float = 12.0, reduction: str = "mean", loss: str = "hinge") -> None:
        self.eta, self.size, self.reduction, self.loss = eta, int(batch), reduction, loss
        self.gradients: list[Array] = []

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        fitted = 1.0 if self.eta > 0.0 else min(1.0, 8.0 / self.size) / self.row_size()
        self.gradients.append(fitted * r.weight * derivative * r.z)
        if len(self.gradients) == self.size:
            reduce = np.mean if self.reduction == "mean" and self.eta > 0.0 else np.sum
            self.w = self.w - (self.eta or 1.0) * reduce(self.gradients, axis=0)
            self.gradients = []
        return derivative != 0.0


class AdalineBatch(GradientBatch):
    """w += rho sum (y - f) x, where half a slope is the error; a rho of 0 stands for 1 / (batch R^2), R = max |z|."""

    def __init__(self, rho: float = 1e-3, batch: float = 12.0, loss: str = "squared") -> None:
        super().__init__(0.5, batch, "sum", loss)
        self.rho, self.largest = rho, 0.0

    def update(self, r: Round) -> bool:
        self.largest = max(self.largest, self.sqnorm(r))
        rate = self.rho if self.rho > 0.0 else 1.0 / max(self.size * self.largest, 1e-300)
        return super().update(replace(r, weight=rate * r.weight))


RULES: dict[str, Callable[..., Rule]] = {"gradient_batch": GradientBatch, "adaline_batch": AdalineBatch}
