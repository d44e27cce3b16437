"""Rounds that a module is taught again: a uniform sample of all rounds (Vitter 1985), rows as the module takes them."""

from typing import NamedTuple

import numpy as np

from noregret.data.blocks import all_finite
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays
from noregret.learner.outside_rounds import require_memory
from noregret.neural.modules.tensors import Tensor, load_torch, to_array, to_tensor

Undo = list[tuple[int, Tensor, Tensor, float]]


class Round(NamedTuple):
    """A round as a module learns it: a batch of one row, what its output is compared with, and its weight."""

    x: Tensor
    target: Tensor
    weight: float


class RememberedRounds:
    """Room for some rounds. What is overwritten during a call is kept, so that the call can be undone."""

    def __init__(self, capacity: int, first: Round) -> None:
        require_memory("the memory of rounds", capacity * (1 + first.x.numel() * first.x.element_size() // 8))
        torch = load_torch()
        self.x = torch.zeros((capacity, *first.x.shape[1:]), dtype=first.x.dtype, device=first.x.device)
        self.targets = torch.zeros((capacity, *first.target.shape[1:]), dtype=first.target.dtype, device=first.x.device)
        self.weights = np.zeros(capacity)
        self.overwritten: Undo = []

    @property
    def capacity(self) -> int:
        return int(self.weights.size)

    def get(self, place: int) -> Round:
        return Round(self.x[place : place + 1], self.targets[place : place + 1], float(self.weights[place]))

    def put(self, place: int, given: Round) -> None:
        """Keep a round in place of another."""
        old = self.get(place)
        self.overwritten.append((place, old.x.clone(), old.target.clone(), old.weight))
        self.x[place] = given.x[0]
        self.targets[place] = given.target[0]
        self.weights[place] = given.weight

    def copy(self) -> "RememberedRounds":
        new = object.__new__(RememberedRounds)
        new.x, new.targets, new.weights = self.x.clone(), self.targets.clone(), self.weights.copy()
        new.overwritten = []
        return new

    def rollback(self, undo: Undo) -> None:
        """Bring back what was overwritten since a savepoint; may be repeated."""
        for place, x, target, weight in reversed(undo):
            self.x[place] = x[0]
            self.targets[place] = target[0]
            self.weights[place] = weight


def dump_rounds(name: str, rounds: list[Round]) -> Arrays:
    """Rounds as arrays; none where there are no rounds."""
    if not rounds:
        return {}
    torch = load_torch()
    return {
        f"{name}.x": to_array("a row", torch.cat([one.x for one in rounds])),
        f"{name}.targets": to_array("a target", torch.cat([one.target for one in rounds])),
        f"{name}.weights": np.array([one.weight for one in rounds]),
    }


def restore_rounds(name: str, arrays: Arrays, count: int, like: Round, classes: int) -> list[Round]:
    """Rounds of a file, all checked. `like` is any round of the module; codes of classes are below `classes`."""
    if not count:
        return []
    torch = load_torch()
    x, targets, weights = (arrays[f"{name}.{part}"] for part in ("x", "targets", "weights"))
    sound = x.dtype == to_array("a row", like.x).dtype and x.shape == (count, *like.x.shape[1:])
    sound = sound and targets.dtype == to_array("a target", like.target).dtype
    sound = sound and targets.shape == (count, *like.target.shape[1:])
    sound = sound and weights.dtype == np.float64 and weights.shape == (count,) and all_finite(weights)
    if not sound or not (weights > 0.0).all():
        raise corrupt("the rounds that it remembers do not fit")
    rows, codes = to_tensor(x, like.x), to_tensor(targets, like.target)
    wrong = not bool(rows.isfinite().all()) or not bool(codes.isfinite().all())
    if like.target.dtype is torch.int64:
        wrong = wrong or bool(((codes < 0) | (codes >= classes)).any())
    if wrong:
        raise corrupt("the rounds that it remembers do not fit")
    return [Round(rows[t : t + 1], codes[t : t + 1], float(weights[t])) for t in range(count)]


def as_rounds(memory: "RememberedRounds | None", used: int) -> list[Round]:
    """The rounds that are in a memory."""
    return [] if memory is None else [memory.get(place) for place in range(used)]
