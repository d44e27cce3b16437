"""The weights of the entries of a pool over time, at rounds that become sparser: eight of each doubling."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.learner.header_fields import corrupt

Floats = NDArray[np.float64]
EACH_DOUBLING = 8  # rounds that are kept of each doubling of the number of rounds
MOST = 64 * EACH_DOUBLING  # of as many rounds as can be counted


@dataclass(frozen=True)
class ShareHistory:
    """The weights that some rounds were played with; `rounds` are counted from 1, `shares` has a row for each.

    It is replaced, not changed. Which rounds it keeps does not depend on how they were batched.
    """

    rounds: NDArray[np.int64]
    shares: Floats

    @classmethod
    def empty(cls, entries: int) -> "ShareHistory":
        """Of no round yet."""
        return cls(np.zeros(0, np.int64), np.zeros((0, entries)))

    def add(self, before: int, shares: Floats) -> "ShareHistory":
        """With those of the rounds that are kept, of rounds that follow so many others."""
        kept = find_kept(before, len(shares))
        if not kept.size:
            return self
        rounds, more = np.concatenate((self.rounds, kept)), shares[kept - before - 1]
        return ShareHistory(rounds, np.concatenate((self.shares, more)))

    def dump(self) -> dict[str, NDArray[Any]]:
        """The arrays, for a model file."""
        return {"rounds": self.rounds, "shares": self.shares}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], entries: int, rounds: int) -> "ShareHistory":
        """From the arrays of a model file, checked; a file of an older version has none."""
        if not arrays:
            return cls.empty(entries)
        at, shares = arrays.get("rounds"), arrays.get("shares")
        if (
            at is None
            or shares is None
            or at.dtype != np.int64
            or shares.dtype != np.float64
            or at.ndim != 1
            or len(at) > MOST
            or shares.shape != (len(at), entries)
        ):
            raise corrupt("the weights of a pool over time do not fit its entries")
        inside = bool(((at >= 1) & (at <= rounds)).all() and (np.diff(at) > 0).all())
        if not inside or not ((shares >= 0.0) & (shares <= 1.0)).all() or (abs(shares.sum(axis=1) - 1.0) > 1e-6).any():
            raise corrupt("the weights of a pool over time must be shares of rounds in order")
        return cls(at.copy(), shares.copy())


def find_kept(before: int, rounds: int) -> NDArray[np.int64]:
    """Which of the rounds that follow so many others are kept, by their number from 1."""
    if not rounds:
        return np.zeros(0, np.int64)
    first = max(int(EACH_DOUBLING * math.log2(before + 1)) - 1, 0)
    last = int(EACH_DOUBLING * math.log2(before + rounds)) + 1
    found = {int(2.0 ** (step / EACH_DOUBLING)) for step in range(first, last + 1)}
    return np.array(sorted(at for at in found if before < at <= before + rounds), np.int64)
