"""Ranking quality: the share of pairs in the right order, and the normalised discounted cumulative gain (NDCG)."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.query_groups import count_ordered, group_slices
from noregret.data.transcript import Transcript
from noregret.metrics.metric import add_losses

FIRST = 10  # rows of a list that NDCG@10 takes into account


class Ranking:
    """The share of all pairs in the right order, a tie counting half, and the mean NDCG of the lists.

    A list whose relevances are all equal has no order and is left out.
    """

    saved = ("pairs", "halves", "lists", "gain", "gain_of_first")

    def __init__(self) -> None:
        self.pairs = self.halves = self.lists = 0
        self.gain = self.gain_of_first = 0.0

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        if transcript.lists is None or transcript.scores is None or transcript.truth is None:
            return
        gains: list[tuple[float, float]] = []
        for rows in group_slices(transcript.lists):
            scores, relevance = transcript.scores[rows], transcript.truth[rows]
            if relevance.min() == relevance.max():
                continue
            pairs, halves = count_ordered(relevance, scores)
            self.pairs += pairs
            self.halves += halves
            gains.append((ndcg(relevance, scores), ndcg(relevance, scores, FIRST)))
        self.lists += len(gains)
        self.gain = add_losses(self.gain, np.array([whole for whole, _ in gains]))
        self.gain_of_first = add_losses(self.gain_of_first, np.array([first for _, first in gains]))

    def merge(self, other: "Ranking") -> "Ranking":
        new = Ranking()
        new.pairs, new.halves = self.pairs + other.pairs, self.halves + other.halves
        new.lists, new.gain = self.lists + other.lists, self.gain + other.gain
        new.gain_of_first = self.gain_of_first + other.gain_of_first
        return new

    def report(self) -> dict[str, float]:
        return {
            "pair_accuracy": self.halves / max(2 * self.pairs, 1),
            "ndcg": self.gain / max(self.lists, 1),
            "ndcg_at_10": self.gain_of_first / max(self.lists, 1),
        }


class InputOrder:
    """The baseline of ranking: the rows of each list in the order in which they come."""

    def __init__(self) -> None:
        self.ranking = Ranking()

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        if transcript.truth is not None:
            scores = -np.arange(float(len(transcript.truth)))
            self.ranking.see(batch, replace(transcript, scores=scores))

    def report(self) -> dict[str, float]:
        return {f"{name}_as_they_come": value for name, value in self.ranking.report().items()}


def ndcg(relevance: NDArray[np.float64], scores: NDArray[np.float64], most: int | None = None) -> float:
    """The gain 2^relevance - 1 of a row over log2(1 + its rank), summed over the first rows, against the best order.

    Rows with equal scores share their ranks. Where a relevance is negative the lowest one counts as 0. Gains are
    measured in that of the best row, so that none overflows.
    """
    relevance = relevance - min(relevance.min(), 0.0)
    best = relevance.max()
    gain = np.exp2(relevance - best) - np.exp2(-best)
    discount = 1.0 / np.log2(np.arange(2, scores.size + 2))
    discount[scores.size if most is None else most :] = 0.0
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])) + 1, scores.size)
    starts = np.concatenate(([0], ends[:-1]))
    shared = np.add.reduceat(gain[order], starts) / (ends - starts)
    reached = float(shared @ np.add.reduceat(discount, starts))
    return reached / float(np.sort(gain)[::-1] @ discount)
