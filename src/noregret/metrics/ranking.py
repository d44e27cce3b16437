"""How well lists were put in order: the pairs in the right order, and the discounted gain."""

from dataclasses import replace

import numpy as np

from noregret.data.query_groups import group_slices, pair_margins
from noregret.data.transcript import Transcript
from noregret.metrics.basic import added

FIRST = 10  # rows of a list that the short gain looks at


class Orders:
    """The share of all pairs that were in the right order, a tie counting half, and the mean NDCG of the lists.

    A list whose relevances are all equal cannot be put in order, and is left out.
    """

    def __init__(self) -> None:
        self.pairs = self.halves = self.lists = 0
        self.gain = self.gain_of_first = 0.0

    def see(self, transcript: Transcript) -> None:
        if transcript.lists is None:
            return
        gains: list[tuple[float, float]] = []
        for some in group_slices(transcript.lists):
            f, relevance = transcript.scores[some], transcript.truth[some]
            if relevance.min() == relevance.max():
                continue
            for lead in pair_margins(relevance, f):
                self.pairs += lead.size
                self.halves += 2 * int(np.count_nonzero(lead > 0.0)) + int(np.count_nonzero(lead == 0.0))
            gains.append((ndcg(relevance, f), ndcg(relevance, f, FIRST)))
        self.lists += len(gains)
        self.gain = added(self.gain, np.array([whole for whole, _ in gains]))
        self.gain_of_first = added(self.gain_of_first, np.array([short for _, short in gains]))

    def report(self) -> dict[str, float]:
        return {
            "pair_accuracy": self.halves / max(2 * self.pairs, 1),
            "ndcg": self.gain / max(self.lists, 1),
            "ndcg_at_10": self.gain_of_first / max(self.lists, 1),
        }


class AsTheyCome:
    """What the order in which the rows come would have done."""

    def __init__(self) -> None:
        self.orders = Orders()

    def see(self, transcript: Transcript) -> None:
        self.orders.see(replace(transcript, scores=-np.arange(float(len(transcript.truth)))))

    def report(self) -> dict[str, float]:
        return {f"{name}_as_they_come": value for name, value in self.orders.report().items()}


def ndcg(relevance: np.ndarray, f: np.ndarray, most: int | None = None) -> float:
    """The gain 2^relevance - 1 of a row over log2(1 + its rank), summed over the first rows, against the best order.

    Rows with equal scores share their ranks. Where a relevance is negative the lowest one counts as 0. Gains are
    measured in that of the best row, so that none is too large.
    """
    relevance = relevance - min(relevance.min(), 0.0)
    best = relevance.max()
    gain = np.exp2(relevance - best) - np.exp2(-best)
    discount = 1.0 / np.log2(np.arange(2, f.size + 2))
    discount[f.size if most is None else most :] = 0.0
    order = np.argsort(-f, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(f[order])) + 1, f.size)
    starts = np.concatenate(([0], ends[:-1]))
    shares = np.add.reduceat(gain[order], starts) / (ends - starts)
    found = float(shares @ np.add.reduceat(discount, starts))
    return found / float(np.sort(gain)[::-1] @ discount)
