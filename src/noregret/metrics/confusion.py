"""Who is taken for whom: rounds by truth and prediction, and all that follows from their counts."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from noregret.data.transcript import Transcript
from noregret.metrics.baselines import Codes, is_label

FEW = 8  # labels up to which numbers are coded by one pass for each
RARE = 0.5  # a class is rare when it has less than this part of an even share of the rounds


Costs = Iterable[tuple[Any, Any, float]]


class Confusion:
    """Counts rounds by truth and prediction; classes join as they appear, and the same comes of any chunks.

    `costs` holds (truth, predicted, cost) for mistakes that do not cost 1. A round answered by no class, as the first
    may be, counts against its class and costs 1; a round whose truth is no class is left out.
    """

    def __init__(self, costs: Costs | None = None) -> None:
        self.costs = None if costs is None else tuple(costs)
        self.code = Codes()
        self.table = np.zeros((0, 1), np.int64)  # by truth and prediction; the last column is no prediction at all

    def copy(self) -> "Confusion":
        """The counts as they are now."""
        new = Confusion(self.costs)
        new.code, new.table = Codes(self.code), self.table.copy()
        return new

    def see(self, transcript: Transcript) -> None:
        truth, predicted = self.codes(transcript.truth), self.codes(transcript.predictions)
        size = len(self.code)
        if size > len(self.table):
            grown = np.zeros((size, size + 1), np.int64)
            grown[: len(self.table), : len(self.table)] = self.table[:, :-1]
            grown[: len(self.table), -1] = self.table[:, -1]
            self.table = grown
        predicted[predicted < 0] = size
        places = (truth * (size + 1) + predicted)[truth >= 0]
        self.table += np.bincount(places, minlength=self.table.size).reshape(self.table.shape)

    def codes(self, labels: np.ndarray) -> np.ndarray:
        """The number of every label; -1 for what is none."""
        if labels.dtype.kind in "fiub":
            return self.numeric(labels)
        values = [label.item() if isinstance(label, np.generic) else label for label in labels.tolist()]
        return np.array([self.code[label] if is_label(label) else -1 for label in values], np.int64)

    def numeric(self, labels: np.ndarray) -> np.ndarray:
        found = np.full(labels.size, -1, np.int64)
        for label, number in list(self.code.items())[:FEW]:
            if not isinstance(label, str):
                found[labels == label] = number
        while (left := np.flatnonzero(found < 0)).size:
            if len(self.code) >= FEW:
                found[left] = np.fromiter(map(self.code.__getitem__, labels[left].tolist()), np.int64, left.size)
                break
            label = labels[left[0]].item()
            found[labels == label] = self.code[label]
        return found

    # ---- what follows from the counts -----------------------------------------------------------------------------

    @property
    def labels(self) -> list[Any]:
        """The classes, in order of appearance."""
        return list(self.code)

    @property
    def counts(self) -> np.ndarray:
        """Rounds by truth (rows) and prediction (columns); those without a prediction are in no column."""
        return self.table[:, :-1]

    @property
    def rounds(self) -> np.ndarray:
        """How many rounds each class had."""
        return np.asarray(self.table.sum(axis=1))

    def normalised(self) -> np.ndarray:
        """The share of the rounds of a column's class that was taken for that of the row; NaN where it had none."""
        return divided(self.counts.T, self.rounds)

    @property
    def recall(self) -> np.ndarray:
        """The share of the rounds of each class that was predicted to be it; NaN where it had none."""
        return divided(np.diag(self.counts), self.rounds)

    @property
    def precision(self) -> np.ndarray:
        """The share of the predictions of each class that was right; NaN where it was never predicted."""
        return divided(np.diag(self.counts), self.counts.sum(axis=0))

    @property
    def f1(self) -> np.ndarray:
        """Twice the hits over hits, misses and false alarms: the harmonic mean of precision and recall."""
        return divided(2 * np.diag(self.counts), self.rounds + self.counts.sum(axis=0))

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that had rounds; 0 before the first."""
        found = self.recall[self.rounds > 0]
        return float(found.mean()) if found.size else 0.0

    @property
    def cost(self) -> float:
        """What all mistakes cost."""
        return self.cost_by(self.costs)

    def cost_by(self, costs: Costs | None) -> float:
        """What all mistakes would cost by these costs; 1 each where there are none."""
        each = 1.0 - np.eye(len(self.code), len(self.code) + 1)
        for truth, predicted, cost in costs or ():
            if truth in self.code and predicted in self.code:
                each[self.code[truth], self.code[predicted]] = cost
        return float((each * self.table).sum())

    @property
    def imbalanced(self) -> bool:
        """Whether some class had less than half of an even share of the rounds."""
        met = self.rounds[self.rounds > 0]
        return bool(met.size > 1 and met.min() < RARE * met.sum() / met.size)

    def report(self) -> dict[str, float]:
        found = {"balanced_accuracy": self.balanced_accuracy}
        return found if self.costs is None else {**found, "cost": self.cost}


def divided(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Shares of a whole; NaN where there is nothing to share."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(part / whole)
