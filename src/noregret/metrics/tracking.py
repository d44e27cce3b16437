"""The best sequence of learners in hindsight: a comparator that may change from one learner to another a few times."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BLOCKS = 512  # with more rounds, the sequence may change only between so many blocks of them


@dataclass(frozen=True)
class Sequence:
    """Learners by number, each with the round from which on it is followed, and the loss of following them."""

    loss: float
    parts: tuple[tuple[int, int], ...]  # the first round, counted from 0, and the learner

    @property
    def switches(self) -> int:
        return len(self.parts) - 1


def best_sequences(losses: Floats, switches: int) -> list[Sequence]:
    """For 0, 1, ... switches, the sequence with the smallest total loss; `losses` has a row for each learner.

    A sequence that gains nothing by a switch makes none, so that it may have fewer than allowed.
    """
    learners, rounds = losses.shape
    if not learners or not rounds:
        return []
    starts = np.unique(np.linspace(0, rounds, min(rounds, BLOCKS) + 1).astype(np.int64)[:-1])
    sums = np.add.reduceat(losses, starts, axis=1)
    return [follow(*plan(sums, allowed), starts, allowed) for allowed in range(switches + 1)]


def plan(sums: Floats, allowed: int) -> tuple[Floats, NDArray[np.int64]]:
    """The smallest loss to the end, by switches made and the last learner, and whom each step came from."""
    learners, blocks = sums.shape
    best = np.full((allowed + 1, learners), np.inf)
    best[0] = sums[:, 0]
    came_from = np.zeros((blocks, allowed + 1, learners), np.int64)
    own = np.arange(learners)
    for block in range(1, blocks):
        before = best.copy()
        came_from[block] = own
        for made in range(1, allowed + 1):
            leader = int(np.argmin(before[made - 1]))
            gained = before[made - 1, leader] < before[made]
            best[made] = np.where(gained, before[made - 1, leader], before[made])
            came_from[block, made] = np.where(gained, leader, own)
        best += sums[:, block]
    return best, came_from


def follow(best: Floats, came_from: NDArray[np.int64], starts: NDArray[np.int64], allowed: int) -> Sequence:
    """The sequence that leads to the smallest loss."""
    made, learner = map(int, np.unravel_index(int(np.argmin(best)), best.shape))
    loss, parts = float(best[made, learner]), []
    for block in range(len(starts) - 1, 0, -1):
        before = int(came_from[block, made, learner])
        if before != learner:
            parts.append((int(starts[block]), int(learner)))
            made, learner = made - 1, before
    parts.append((0, int(learner)))
    return Sequence(loss, tuple(reversed(parts)))
