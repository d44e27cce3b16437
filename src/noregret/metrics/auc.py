"""The area under the ROC curve: how often a row of the positive class has a higher score than one of the negative."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.transcript import Transcript

EXACT = 100_000  # scores that are kept as they are; with more, only their leading bits are
LEADING = 22  # bits of a score that tell it from others then: sign, exponent, and ten of the fraction
AT_ONCE = 1 << 16  # scores that are counted at once
SHIFT = np.uint64(64 - LEADING)

Codes: TypeAlias = NDArray[np.uint64]
Counts: TypeAlias = NDArray[np.int64]


class Auc:
    """auc: the share of pairs of a positive and a negative row that the scores put in the right order; ties count half.

    Up to 100,000 rows it is exact. Then scores within a thousandth of each other count as equal, and auc_error is what
    this may have changed at most. Parts of a run that are merged report what the whole would.
    """

    saved = ("positive", "codes", "counts", "rounds")

    def __init__(self, positive: Any) -> None:
        self.positive = positive
        self.codes: Codes = np.zeros(0, np.uint64)  # different scores, ascending
        self.counts: Counts = np.zeros((0, 2), np.int64)  # how many rows have each: negative, positive
        self.rounds = 0  # that are counted
        self.waiting: list[tuple[Codes, NDArray[np.bool_]]] = []  # scores still to be counted, and which are positive

    @property
    def is_exact(self) -> bool:
        """Whether all scores that are counted are told apart."""
        return self.rounds <= EXACT

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        scores = transcript.scores
        if scores is None or transcript.truth is None or scores.ndim != 1 or not len(scores):
            return
        self.waiting.append((order_codes(scores), self.mark_positive(transcript.truth)))
        if sum(len(codes) for codes, _ in self.waiting) >= AT_ONCE:
            self.count()

    def count(self) -> None:
        """Count the scores that wait: sorting many at once takes less time."""
        if not self.waiting:
            return
        new = Auc(self.positive)
        new.codes = np.concatenate([codes for codes, _ in self.waiting])
        positive = np.concatenate([marks for _, marks in self.waiting])
        new.counts, new.rounds = np.stack([~positive, positive], axis=1).astype(np.int64), len(positive)
        if not new.is_exact:
            new.codes = new.codes >> SHIFT
        self.waiting = []
        merged = self.merge(new)
        self.codes, self.counts, self.rounds = merged.codes, merged.counts, merged.rounds

    def mark_positive(self, truth: NDArray[Any]) -> NDArray[np.bool_]:
        """Which labels are the positive one."""
        if truth.dtype.kind in "fiub" and isinstance(self.positive, (bool, int, float)):
            return np.asarray(truth == self.positive)
        return np.array([label == self.positive for label in truth.tolist()], bool)

    def merge(self, other: "Auc") -> "Auc":
        new, parts = Auc(self.positive), (self, other)
        for part in parts:
            part.count()
        new.rounds = self.rounds + other.rounds
        codes = [one.codes >> SHIFT if one.is_exact and not new.is_exact else one.codes for one in parts]
        new.codes, places = np.unique(np.concatenate(codes), return_inverse=True)
        new.counts = np.zeros((len(new.codes), 2), np.int64)
        np.add.at(new.counts, places, np.concatenate([one.counts for one in parts]))
        return new

    @staticmethod
    def fits(values: dict[str, Any]) -> bool:
        """Whether there are counts for every score, in order."""
        codes, counts = values["codes"], values["counts"]
        return bool(counts.shape == (len(codes), 2) and (codes[1:] > codes[:-1]).all())

    def report(self) -> dict[str, float]:
        self.count()
        negative, positive = (int(total) for total in self.counts.sum(axis=0))
        if not negative or not positive:
            return {}
        below = np.cumsum(self.counts[:, 0]) - self.counts[:, 0]
        pairs = float(negative) * float(positive)
        right = float(np.sum(self.counts[:, 1].astype(np.float64) * (below + 0.5 * self.counts[:, 0])))
        if self.is_exact:
            return {"auc": right / pairs}
        equal = float(np.sum(self.counts[:, 0].astype(np.float64) * self.counts[:, 1]))
        return {"auc": right / pairs, "auc_error": 0.5 * equal / pairs}


def order_codes(scores: NDArray[np.float64]) -> Codes:
    """Whole numbers in the order of the scores: their bits, with those of negative numbers turned over."""
    bits = np.ascontiguousarray(scores + 0.0, np.float64).view(np.uint64)  # -0.0 is 0.0
    top = np.uint64(1 << 63)
    return np.asarray(np.where(bits & top, ~bits, bits | top), np.uint64)
