"""Errors of predicted targets: the mean absolute error, the root of the mean squared error, and R2."""

import math

import numpy as np

from noregret.data.batch import Batch
from noregret.data.transcript import Transcript
from noregret.metrics.metric import add_losses


class TargetErrors:
    """mae, rmse and r2 of rounds with a real target; rounds without one are skipped.

    r2 is 1 - sum of squared errors / sum of squared distances of the targets from their mean over all rounds: 1 for
    perfect predictions, 0 for the mean in hindsight, negative for worse. Where all targets are equal it is not defined.
    """

    saved = ("rounds", "absolute", "squared", "first", "sum", "squares")

    def __init__(self) -> None:
        self.rounds = 0
        self.absolute = self.squared = 0.0
        self.first = self.sum = self.squares = 0.0  # of the targets, counted from the first one

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        if transcript.truth is None or transcript.predictions is None:
            return
        truth = np.asarray(transcript.truth, np.float64)
        known = np.isfinite(truth)
        truth, errors = truth[known], (np.asarray(transcript.predictions, np.float64) - truth)[known]
        if self.rounds == 0 and truth.size:
            self.first = float(truth[0])
        self.rounds += truth.size
        self.absolute = add_losses(self.absolute, np.abs(errors))
        self.squared = add_losses(self.squared, errors**2)
        self.sum = add_losses(self.sum, truth - self.first)
        self.squares = add_losses(self.squares, (truth - self.first) ** 2)

    def report(self) -> dict[str, float]:
        rounds = max(self.rounds, 1)
        spread = self.squares - self.sum**2 / rounds
        return {
            "mae": self.absolute / rounds,
            "rmse": math.sqrt(self.squared / rounds),
            "r2": 1.0 - self.squared / spread if spread > 0.0 else math.nan,
        }
