"""Gradient descent in batches (Dekel et al. 2012) and batch Adaline (Widrow and Hoff 1960)."""

from collections.abc import Callable

import numpy as np

from .gradient import slope
from .rules import Array, Round, Rule


class GradientBatch(Rule):
    """Keeps the gradients of the batch in a list. An importance weight scales g."""

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, eta: float = 0.1, batch: float = 12.0, reduction: str = "mean", loss: str = "hinge") -> None:
        self.eta, self.size, self.reduction, self.loss = eta, int(batch), reduction, loss
        self.gradients: list[Array] = []

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        self.gradients.append(r.weight * derivative * r.z)
        if len(self.gradients) == self.size:
            reduce = np.mean if self.reduction == "mean" else np.sum
            self.w = self.w - self.eta * reduce(self.gradients, axis=0)
            self.gradients = []
        return derivative != 0.0


class AdalineBatch(GradientBatch):
    """w += rho sum (y - f) x, where half a slope is the error."""

    def __init__(self, rho: float = 1e-3, batch: float = 12.0, loss: str = "squared") -> None:
        super().__init__(rho / 2.0, batch, "sum", loss)


RULES: dict[str, Callable[..., Rule]] = {"gradient_batch": GradientBatch, "adaline_batch": AdalineBatch}
