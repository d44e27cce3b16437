"""Multilabel quality: Hamming loss, ranking loss, one-error and F1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.transcript import Transcript
from noregret.metrics.metric import add_losses


class Multilabel:
    """Five measures of rounds whose truth is a set of labels; other rounds are skipped.

    The labels of a round are those known when it was predicted, and the new ones it brings, whose score is lower than
    any other. hamming_loss: the share of them that is predicted and wrong, or missed. ranking_loss: of all pairs of a
    label of the row and one that is not, the share in the wrong order, equal scores counting half; 0 where there is no
    pair. one_error: whether the label with the highest score is not the row's; among equals the first counts. These are
    means over the rounds. micro_f1: 2 TP / (2 TP + FP + FN), counted over all labels and rounds. macro_f1: the same for
    each label, and then the mean over the labels that were the row's, or predicted, at least once. Without rounds all
    are 0.
    """

    saved = ("rounds", "hamming", "ranking", "errors", "counts")

    def __init__(self) -> None:
        self.rounds = 0
        self.hamming = self.ranking = 0.0
        self.errors = 0
        self.counts = np.zeros((3, 0), np.int64)  # of every label: true positives, false positives, false negatives

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        truth, scores = transcript.relevant, transcript.scores
        if truth is None or scores is None:
            return
        predicted, known = scores > 0.0, truth | ~np.isneginf(scores)
        self.rounds += len(truth)
        self.hamming = add_losses(self.hamming, (predicted != truth).sum(axis=1) / known.sum(axis=1))
        shares = [misordered_share(*row) for row in zip(scores, truth, known, strict=True)]
        self.ranking = add_losses(self.ranking, np.array(shares))
        first = np.argmax(scores, axis=1)
        unknown = np.isneginf(scores).all(axis=1)
        self.errors += int(np.count_nonzero(unknown | ~truth[np.arange(len(truth)), first]))
        both, extra, missed = predicted & truth, predicted & ~truth, ~predicted & truth
        counts = np.array([both.sum(axis=0), extra.sum(axis=0), missed.sum(axis=0)])
        counts[:, : self.counts.shape[1]] += self.counts
        self.counts = counts

    @staticmethod
    def fits(values: dict[str, Any]) -> bool:
        return bool(values["counts"].shape[0] == 3)

    def report(self) -> dict[str, float]:
        rounds = max(self.rounds, 1)
        return {
            "hamming_loss": self.hamming / rounds,
            "ranking_loss": self.ranking / rounds,
            "one_error": self.errors / rounds,
            "micro_f1": mean_f1(self.counts.sum(axis=1)[:, None]),
            "macro_f1": mean_f1(self.counts),
        }


def mean_f1(counts: NDArray[np.int64]) -> float:
    """The mean F1 over the columns of true positives, false positives and false negatives that are not all zero."""
    right, wrong, missed = counts[:, counts.any(axis=0)]
    return float(np.mean(2.0 * right / (2.0 * right + wrong + missed))) if right.size else 0.0


def misordered_share(scores: NDArray[np.float64], truth: NDArray[np.bool_], known: NDArray[np.bool_]) -> float:
    """The share of pairs of one round in the wrong order."""
    own, others = scores[truth], np.sort(scores[known & ~truth])
    pairs = own.size * others.size
    above = 2 * others.size - np.searchsorted(others, own, "left") - np.searchsorted(others, own, "right")
    return float(above.sum()) / (2.0 * pairs) if pairs else 0.0
