"""How good probabilities are: log loss, Brier score, and how often labels of probability p are right."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.data.transcript import Transcript
from noregret.metrics.metric import add_losses

BINS = 10
LEAST = 1e-15  # probability that a log loss is taken of


class Reliability:
    """log_loss, brier and calibration_error of rounds with probabilities, whose columns are these classes.

    The Brier score is the mean of the squared distances to the truth, summed over classes. The calibration error is the
    mean distance between the probability of the predicted label and how often it is right, over ten bins of equal
    width (expected calibration error). A label that has no column had the probability 0.
    """

    saved = ("rounds", "log_loss", "squares", "rows", "right", "sums")

    def __init__(self, classes: Sequence[Any]) -> None:
        self.column = {label: number for number, label in enumerate(classes)}
        self.rounds, self.log_loss, self.squares = 0, 0.0, 0.0
        self.rows, self.right, self.sums = np.zeros(BINS, np.int64), np.zeros(BINS, np.int64), np.zeros(BINS)

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        p = transcript.probabilities
        if p is None or transcript.truth is None or not len(p):
            return
        labels = transcript.truth.tolist()
        truth = np.array([self.column.get(label, -1) for label in labels], np.int64)
        own = np.where(truth < 0, 0.0, p[np.arange(len(p)), truth])
        top = p.max(axis=1)
        right = truth == p.argmax(axis=1)
        self.rounds += len(p)
        self.log_loss = add_losses(self.log_loss, -np.log(np.maximum(own, LEAST)))
        self.squares = add_losses(self.squares, (p**2).sum(axis=1) - 2.0 * own + 1.0)
        bins = np.minimum((top * BINS).astype(np.int64), BINS - 1)
        self.rows += np.bincount(bins, minlength=BINS)
        self.right += np.bincount(bins[right], minlength=BINS)
        self.sums += np.bincount(bins, top, minlength=BINS)

    @staticmethod
    def fits(values: dict[str, Any]) -> bool:
        return all(len(values[name]) == BINS for name in ("rows", "right", "sums"))

    def report(self) -> dict[str, float]:
        if not self.rounds:
            return {}
        error = float(np.abs(self.sums - self.right).sum() / self.rounds)
        brier = self.squares / self.rounds
        return {"log_loss": self.log_loss / self.rounds, "brier": brier, "calibration_error": error}

    def bins(self) -> list[dict[str, float]]:
        """For each bin with rounds: its range, its rounds, the mean probability, and the share that was right."""
        return [
            {
                "from": number / BINS,
                "to": (number + 1) / BINS,
                "rows": int(self.rows[number]),
                "probability": float(self.sums[number] / self.rows[number]),
                "right": float(self.right[number] / self.rows[number]),
            }
            for number in np.flatnonzero(self.rows).tolist()
        ]
