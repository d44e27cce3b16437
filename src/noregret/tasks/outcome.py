"""Rounds that are played together: their classes, and what the loop wrote for them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from noregret.tasks.task import Task

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Segment:
    """Consecutive rounds with the same classes; `fresh` is how many of them the first of these rounds brings."""

    start: int
    stop: int
    known: int
    fresh: int = 0


@dataclass(frozen=True)
class Outcome:
    """What the loop wrote for a slice of rounds; `aux` is one more number of each round, defined by the task."""

    task: "Task"
    segment: Segment
    start: int
    scores: Floats
    updated: NDArray[np.uint8]
    truth: Floats
    aux: Floats
    hidden: Floats = field(default_factory=lambda: np.zeros(1))  # the score of a class that the first round brings

    @property
    def known_at_first(self) -> int:
        """How many classes were known when the first round of the slice was predicted."""
        first = self.start == self.segment.start
        return self.segment.known - self.segment.fresh if first else self.segment.known
