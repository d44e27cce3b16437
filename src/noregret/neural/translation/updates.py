"""The updates of a translator: one step for one validated pair, on all weights as one vector.

Each is a function of the weights, the gradient and what it keeps, and gives new ones: nothing is changed in place, so a
step that fails leaves all as it was.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from noregret.neural.translation.tensors import Tensor, torch

Kept: TypeAlias = Mapping[str, Tensor]
DELTA = 1e-8  # added to the root of squares
RHO, DELTA_MOVES = 0.95, 1e-6  # of Adadelta: the decay of its means, and what is added to them
MEAN, SQUARES = 0.9, 0.999  # of Adam: the decays of its means


@dataclass(frozen=True)
class Round:
    """One round as an update sees it."""

    eta: float  # the learning rate; of the passive-aggressive step, the largest
    step: int  # counted from 1
    excess: float  # how far the loss of the pair is above the margin
    slope: float  # how fast the loss falls along the gradient that the update gets, which may be shortened


Update: TypeAlias = Callable[[Round, Tensor, Tensor, Kept], tuple[Tensor, Kept]]


def sgd(r: Round, w: Tensor, g: Tensor, kept: Kept) -> tuple[Tensor, Kept]:
    """Stochastic gradient descent."""
    return w - r.eta * g, kept


def adagrad(r: Round, w: Tensor, g: Tensor, kept: Kept) -> tuple[Tensor, Kept]:
    """Duchi, Hazan and Singer 2011: each weight by the root of the sum of its squared gradients."""
    squares = kept["squares"] + g * g
    return w - r.eta * g / (squares.sqrt() + DELTA), {"squares": squares}


def adadelta(r: Round, w: Tensor, g: Tensor, kept: Kept) -> tuple[Tensor, Kept]:
    """Zeiler 2012: the root of the mean squared step over that of the mean squared gradient."""
    squares = RHO * kept["squares"] + (1.0 - RHO) * g * g
    move = -((kept["moves"] + DELTA_MOVES).sqrt() / (squares + DELTA_MOVES).sqrt()) * g
    return w + r.eta * move, {"squares": squares, "moves": RHO * kept["moves"] + (1.0 - RHO) * move * move}


def adam(r: Round, w: Tensor, g: Tensor, kept: Kept) -> tuple[Tensor, Kept]:
    """Kingma and Ba 2015: the mean gradient over the root of the mean square, both without their bias to 0."""
    mean = MEAN * kept["mean"] + (1.0 - MEAN) * g
    squares = SQUARES * kept["squares"] + (1.0 - SQUARES) * g * g
    size = (squares / (1.0 - SQUARES**r.step)).sqrt() + DELTA
    return w - r.eta * (mean / (1.0 - MEAN**r.step)) / size, {"mean": mean, "squares": squares}


def passive_aggressive(r: Round, w: Tensor, g: Tensor, kept: Kept) -> tuple[Tensor, Kept]:
    """The smallest step along the gradient that brings a linear loss down to the margin; at most eta (PA-I)."""
    return (w - min(r.eta, r.excess / r.slope) * g if r.excess > 0.0 < r.slope else w), kept


@dataclass(frozen=True)
class Optimizer:
    """An update, its usual learning rate, and the vectors that it keeps."""

    update: Update
    eta: float
    keeps: tuple[str, ...] = ()

    def start(self, count: int) -> dict[str, Tensor]:
        """What it keeps before the first round, for so many weights."""
        return {name: torch().zeros(count) for name in self.keeps}


# The rates are those of docs/translation.md, tuned there.
OPTIMIZERS: dict[str, Optimizer] = {
    "sgd": Optimizer(sgd, 0.02),
    "adagrad": Optimizer(adagrad, 0.003, ("squares",)),
    "adadelta": Optimizer(adadelta, 0.3, ("squares", "moves")),
    "adam": Optimizer(adam, 3e-4, ("mean", "squares")),
    "pa": Optimizer(passive_aggressive, 0.05),
}
UNSIGNED = ("squares", "moves")


def all_finite(*tensors: Tensor) -> bool:
    """Whether every number is finite."""
    return all(bool(torch().isfinite(one).all()) for one in tensors)


def clip(g: Tensor, most: float) -> Tensor:
    """The gradient, shortened to a norm of at most so much; 0 allows any."""
    norm = float(g.norm())
    return g * (most / norm) if most and norm > most else g


def flatten(tensors: Any) -> Tensor:
    """Several tensors as one vector."""
    return torch().cat([one.flatten() for one in tensors])
