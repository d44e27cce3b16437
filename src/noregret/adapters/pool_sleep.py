"""Which entries of a pool sleep: those whose weight stays negligible, each time for longer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.learner.header_fields import corrupt

BLOCK = 8192  # rounds between two decisions; these come at the same rounds however the rounds are batched
NEGLIGIBLE = 0.01  # of an equal share: an entry with less weight than this goes to sleep
LONGEST = 6  # an entry sleeps for 1, 2, 4 ... 2^6 blocks, and wakes for one block in between


@dataclass(frozen=True)
class Sleep:
    """Until which round every entry sleeps, and how often it has gone to sleep one after the other."""

    until: tuple[int, ...]
    times: tuple[int, ...]

    @classmethod
    def none(cls, entries: int) -> "Sleep":
        """All are awake."""
        return cls((0,) * entries, (0,) * entries)

    def awake(self, rounds: int) -> NDArray[np.bool_]:
        """Which entries play the round that follows so many."""
        return np.array([until <= rounds for until in self.until], bool)

    def decide(self, shares: NDArray[np.float64], rounds: int, able: Sequence[bool]) -> "Sleep":
        """Who sleeps from now on, after so many rounds, at the end of a block; `able` says who may."""
        until, times = list(self.until), list(self.times)
        for number, share in enumerate(shares.tolist()):
            if not able[number] or until[number] > rounds:
                continue
            if share >= NEGLIGIBLE / len(shares):
                times[number] = 0
                continue
            until[number] = rounds + BLOCK * (1 << times[number])
            times[number] = min(times[number] + 1, LONGEST)
        return replace(self, until=tuple(until), times=tuple(times))

    def dump(self) -> dict[str, Any]:
        return {"until": list(self.until), "times": list(self.times)}

    @classmethod
    def restore(cls, header: Any, entries: int) -> "Sleep":
        """From a model file, checked."""
        fits = isinstance(header, Mapping) and all(is_counts(header.get(name), entries) for name in ("until", "times"))
        if not fits or any(times > LONGEST for times in header["times"]):
            raise corrupt("a pool must say of every entry until when it sleeps")
        return cls(tuple(header["until"]), tuple(header["times"]))


def is_counts(values: Any, size: int) -> bool:
    """Whether these are so many whole numbers."""
    return isinstance(values, list) and len(values) == size and all(type(one) is int and one >= 0 for one in values)


def cut_blocks(before: int, rounds: int) -> list[slice]:
    """The rounds that follow so many others, cut where a decision is due."""
    first = (before // BLOCK + 1) * BLOCK - before
    ends = [*range(first, rounds, BLOCK), rounds]
    return [slice(start, stop) for start, stop in zip([0, *ends[:-1]], ends, strict=True)]
