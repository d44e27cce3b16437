"""Optimizers: how far a weight moves along its gradient. Each is one text for one weight, as rules of linear learners.

AdaGrad and Adadelta are the rules `adagrad` and `adadelta` themselves. A weight whose gradient is zero rests, as in
linear learners: neither it nor what the optimizer keeps of it changes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra import at, put
from noregret.algebra.verbs import unbound
from noregret.learner.registry import find_rule
from noregret.rules.parameters import bindings
from noregret.rules.specialize import rebind

Floats = NDArray[np.float64]
Step = Callable[[Any, Any, int, float], None]


class Numbers(NamedTuple):
    """What the texts read as p."""

    eta: float  # the learning rate
    momentum: float  # the share of the last step that is repeated; in Adam the decay of the mean gradient
    rho: float  # the decay of the mean of squared gradients
    delta: float  # added to the root of squares
    anchor: float  # the strength of the pull to the anchor


class Weights(NamedTuple):
    """What the texts read as s: all weights of a network in one array, and arrays of the same length beside them.

    An array that an optimizer does not use is empty.
    """

    w: Floats
    squares: Floats
    moves: Floats
    velocity: Floats
    mean: Floats
    seen: Floats
    importance: Floats
    anchor: Floats
    pending: Floats  # the sum of the gradients of a mini-batch


SIGNED = ("w", "velocity", "mean", "anchor", "pending")  # those that change their sign when the sign of an output does


def sgd_step(p: Any, s: Any, j: int, g: float) -> None:
    """A step of eta against the gradient."""
    put(s.w, j, at(s.w, j) - p.eta * g)


def momentum_step(p: Any, s: Any, j: int, g: float) -> None:
    """The heavy ball of Polyak 1964: velocity is a decaying sum of gradients."""
    velocity = p.momentum * at(s.velocity, j) + g
    put(s.velocity, j, velocity)
    put(s.w, j, at(s.w, j) - p.eta * velocity)


def nesterov_step(p: Any, s: Any, j: int, g: float) -> None:
    """Nesterov 1983, in the form of Sutskever et al. 2013: the step looks ahead along the velocity."""
    velocity = p.momentum * at(s.velocity, j) + g
    put(s.velocity, j, velocity)
    put(s.w, j, at(s.w, j) - p.eta * (g + p.momentum * velocity))


def adam_step(p: Any, s: Any, j: int, g: float) -> None:
    """Kingma and Ba 2015: the mean gradient over the root of the mean squared gradient.

    Both means begin at 0. The correction for that is in eta and delta (`correct_start`), as at the end of section 2 of
    the paper.
    """
    mean = p.momentum * at(s.mean, j) + (1.0 - p.momentum) * g
    squares = p.rho * at(s.squares, j) + (1.0 - p.rho) * g * g
    put(s.mean, j, mean)
    put(s.squares, j, squares)
    put(s.w, j, at(s.w, j) - p.eta * mean / (math.sqrt(squares) + p.delta))


def correct_start(p: Any, steps: float) -> Any:
    """What Adam reads in a step of this number: the means of t gradients are too small by 1 - decay^t."""
    root = math.sqrt(1.0 - p.rho**steps)
    return Numbers(p.eta * root / (1.0 - p.momentum**steps), p.momentum, p.rho, p.delta * root, p.anchor)


inner = unbound


def anchored_step(p: Any, s: Any, j: int, g: float) -> None:
    """Elastic weight consolidation (Kirkpatrick et al. 2017): a pull to the anchor, as strong as the weight mattered.

    The squares of the gradients are summed up; `consolidate` makes the importance of weights of them.
    """
    put(s.seen, j, at(s.seen, j) + g * g)
    inner(p, s, j, g + p.anchor * at(s.importance, j) * (at(s.w, j) - at(s.anchor, j)))


@dataclass(frozen=True)
class Optimizer:
    """An optimizer: its text, the arrays it keeps, and its usual numbers."""

    name: str
    step: Step
    keeps: tuple[str, ...]
    rests: bool  # whether the text itself changes nothing where the gradient is zero
    eta: float
    rho: float = 0.0
    delta: float = 0.0
    corrects: bool = False  # whether eta and delta are corrected for the start of its means


ANCHOR = ("seen", "importance", "anchor")


def rule_step(name: str) -> Step:
    """The text of a coordinate rule, with its default options."""
    card = find_rule(name)
    return rebind(card.rule, name, bindings(card.choices, card.defaults))


@cache
def find_optimizer(name: str, with_anchor: bool = False) -> Optimizer:
    """An optimizer by name; with an anchor, its steps also pull to the weights that were consolidated."""
    found = OPTIMIZERS[name]()
    if not with_anchor:
        return found
    step = rebind(anchored_step, f"anchored_{name}", {"inner": found.step})
    return replace(found, name=f"anchored_{name}", step=step, keeps=(*found.keeps, *ANCHOR), rests=False)


OPTIMIZERS: dict[str, Callable[[], Optimizer]] = {
    "sgd": lambda: Optimizer("sgd", sgd_step, (), True, 0.01),
    "momentum": lambda: Optimizer("momentum", momentum_step, ("velocity",), False, 0.001),
    "nesterov": lambda: Optimizer("nesterov", nesterov_step, ("velocity",), False, 0.001),
    "adagrad": lambda: Optimizer("adagrad", rule_step("adagrad"), ("squares",), True, 0.02, delta=1e-8),
    "adadelta": lambda: Optimizer(
        "adadelta", rule_step("adadelta"), ("squares", "moves"), False, 1.0, rho=0.95, delta=1e-6
    ),
    "adam": lambda: Optimizer("adam", adam_step, ("mean", "squares"), False, 0.001, 0.999, 1e-8, True),
}
