"""How good sets of labels were, and the order of labels behind them."""

from typing import Any

import numpy as np

from noregret.data.transcript import Transcript
from noregret.metrics.basic import added


class Multilabel:
    """Five measures of rounds whose truth is a set of labels; those of one label or a target are passed over.

    The labels of a round are those known when it was predicted, and those it brings, whose score is lower than any
    other. hamming_loss: the share of them that is predicted and wrong, or missed. ranking_loss: of all pairs of a label
    of the row and one that is not, the share in the wrong order, equal scores counting half; 0 where there is no pair.
    one_error: whether the label with the highest score is not the row's; among equals the first counts. These are means
    over the rounds. micro_f1: 2 TP / (2 TP + FP + FN), counted over all labels and rounds. macro_f1: the same for each
    label, and then the mean over the labels that were the row's, or predicted, at least once. Without rounds all are 0.
    """

    def __init__(self) -> None:
        self.rounds = 0
        self.hamming = self.ranking = 0.0
        self.errors = 0
        self.counts = np.zeros((3, 0), np.int64)  # of every label: predicted rightly, predicted wrongly, missed

    def see(self, transcript: Transcript) -> None:
        truth, scores = transcript.relevant, transcript.scores
        if truth is None:
            return
        guess, there = scores > 0.0, truth | ~np.isneginf(scores)
        self.rounds += len(truth)
        self.hamming = added(self.hamming, (guess != truth).sum(axis=1) / there.sum(axis=1))
        shares = [misordered(*one) for one in zip(scores, truth, there, strict=True)]
        self.ranking = added(self.ranking, np.array(shares))
        first = np.argmax(scores, axis=1)
        unknown = np.isneginf(scores).all(axis=1)
        self.errors += int(np.count_nonzero(unknown | ~truth[np.arange(len(truth)), first]))
        counts = np.array([(guess & truth).sum(axis=0), (guess & ~truth).sum(axis=0), (~guess & truth).sum(axis=0)])
        counts[:, : self.counts.shape[1]] += self.counts
        self.counts = counts

    def report(self) -> dict[str, float]:
        rounds = max(self.rounds, 1)
        return {
            "hamming_loss": self.hamming / rounds,
            "ranking_loss": self.ranking / rounds,
            "one_error": self.errors / rounds,
            "micro_f1": f1(self.counts.sum(axis=1)[:, None]),
            "macro_f1": f1(self.counts),
        }


def f1(counts: Any) -> float:
    """The mean over columns of right, wrong and missed predictions that are not all zero."""
    right, wrong, missed = counts[:, counts.any(axis=0)]
    return float(np.mean(2.0 * right / (2.0 * right + wrong + missed))) if right.size else 0.0


def misordered(scores: np.ndarray, truth: np.ndarray, there: np.ndarray) -> float:
    """The share of pairs of one round in the wrong order."""
    own, others = scores[truth], np.sort(scores[there & ~truth])
    pairs = own.size * others.size
    above = 2 * others.size - np.searchsorted(others, own, "left") - np.searchsorted(others, own, "right")
    return float(above.sum()) / (2.0 * pairs) if pairs else 0.0
