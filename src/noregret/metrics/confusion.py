"""The confusion matrix: rounds by truth and prediction, and what follows from their counts."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.labels import encode_numbers
from noregret.data.transcript import Transcript
from noregret.metrics.baselines import LabelCodes, is_label

FIRST = 256  # rounds in which the classes of a batch are looked for, before all of them are encoded
FEW = 4  # classes whose rounds are counted without codes
NUMBERS = "fiub"  # kinds of arrays
RARE = 0.5  # a class is rare when it has less than this part of an even share of the rounds

Costs: TypeAlias = Iterable[tuple[Any, Any, float]]  # truth, predicted, cost
Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]


class Confusion:
    """Counts rounds by truth and prediction; classes are added as they appear.

    `costs` holds (truth, predicted, cost) for mistakes that do not cost 1. A round without a prediction, as the first
    may be, is a mistake that costs 1; a round whose truth is not a class is left out.
    """

    saved = ("code", "table")

    def __init__(self, costs: Costs | None = None) -> None:
        self.costs = None if costs is None else tuple(costs)
        self.code = LabelCodes()
        self.table: Counts = np.zeros((0, 1), np.int64)  # by truth and prediction; the last column: no prediction

    def copy(self) -> "Confusion":
        """The counts as they are now."""
        new = Confusion(self.costs)
        new.code, new.table = LabelCodes(self.code), self.table.copy()
        return new

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        if transcript.truth is None or transcript.predictions is None:
            return
        if not self.code and transcript.truth.dtype.kind in NUMBERS:
            encode_numbers(self.code, transcript.truth[:FIRST])
            self.grow()
        if self.count_few(transcript.truth, transcript.predictions):
            return
        truth, predicted = self.encode(transcript.truth), self.encode(transcript.predictions)
        self.grow()
        size = len(self.code)
        predicted[predicted < 0] = size
        places = (truth * (size + 1) + predicted)[truth >= 0]
        self.table += np.bincount(places, minlength=self.table.size).reshape(self.table.shape)

    def count_few(self, truth: NDArray[Any], predicted: NDArray[Any]) -> bool:
        """Count rounds whose labels are all among a few known numbers, which needs no codes; whether they are."""
        if not 0 < len(self.code) <= FEW or truth.dtype.kind not in NUMBERS or predicted.dtype.kind not in NUMBERS:
            return False
        if not all(isinstance(label, (int, float)) for label in self.code):
            return False
        own, told = ([labels == label for label in self.code] for labels in (truth, predicted))
        if any(sum(map(np.count_nonzero, masks)) < truth.size for masks in (own, told)):
            return False
        self.table[:, :-1] += [[np.count_nonzero(row & column) for column in told] for row in own]
        return True

    def grow(self) -> None:
        """Make room for the classes known now."""
        size, before = len(self.code), len(self.table)
        if size > before:
            grown = np.zeros((size, size + 1), np.int64)
            grown[:before, :before] = self.table[:, :-1]
            grown[:before, -1] = self.table[:, -1]
            self.table = grown

    def merge(self, other: "Confusion") -> "Confusion":
        new = self.copy()
        at = np.array([new.code[label] for label in other.code], np.int64)
        new.grow()
        new.table[np.ix_(at, at)] += other.counts
        new.table[at, -1] += other.table[:, -1]
        return new

    def encode(self, labels: NDArray[Any]) -> Counts:
        """The code of every label; -1 for what is not a label."""
        if labels.dtype.kind in NUMBERS:
            return encode_numbers(self.code, labels)
        values = [label.item() if isinstance(label, np.generic) else label for label in labels.tolist()]
        return np.array([self.code[label] if is_label(label) else -1 for label in values], np.int64)

    # ---- what follows from the counts -----------------------------------------------------------------------------

    @property
    def labels(self) -> list[Any]:
        """The classes, in order of appearance."""
        return list(self.code)

    @property
    def counts(self) -> Counts:
        """Rounds by truth (rows) and prediction (columns); rounds without a prediction are not included."""
        return self.table[:, :-1]

    @property
    def rounds(self) -> Counts:
        """How many rounds each class had."""
        return np.asarray(self.table.sum(axis=1))

    def normalised(self) -> Floats:
        """For each class (columns), the share of its rounds predicted as each class (rows); NaN where it had none."""
        return divide(self.counts.T, self.rounds)

    @property
    def recall(self) -> Floats:
        """The share of the rounds of each class that was predicted right; NaN where it had none."""
        return divide(np.diag(self.counts), self.rounds)

    @property
    def precision(self) -> Floats:
        """The share of the predictions of each class that was right; NaN where it was never predicted."""
        return divide(np.diag(self.counts), self.counts.sum(axis=0))

    @property
    def f1(self) -> Floats:
        """The harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)."""
        return divide(2 * np.diag(self.counts), self.rounds + self.counts.sum(axis=0))

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that had rounds; 0 before the first."""
        recall = self.recall[self.rounds > 0]
        return float(recall.mean()) if recall.size else 0.0

    @property
    def cost(self) -> float:
        """The total cost of the mistakes."""
        return self.cost_by(self.costs)

    def cost_by(self, costs: Costs | None) -> float:
        """The total cost of the mistakes by other costs; without any, every mistake costs 1."""
        each = 1.0 - np.eye(len(self.code), len(self.code) + 1)
        for truth, predicted, cost in costs or ():
            if truth in self.code and predicted in self.code:
                each[self.code[truth], self.code[predicted]] = cost
        return float((each * self.table).sum())

    @property
    def imbalanced(self) -> bool:
        """Whether some class had less than half of an even share of the rounds."""
        rounds = self.rounds[self.rounds > 0]
        return bool(rounds.size > 1 and rounds.min() < RARE * rounds.sum() / rounds.size)

    @staticmethod
    def fits(values: dict[str, Any]) -> bool:
        """Whether the table has a row for each class."""
        size = len(values["code"])
        return bool(values["table"].shape == (size, size + 1))

    def report(self) -> dict[str, float]:
        balanced = {"balanced_accuracy": self.balanced_accuracy}
        return balanced if self.costs is None else {**balanced, "cost": self.cost}


def divide(part: NDArray[Any], whole: Counts) -> Floats:
    """Shares of a whole; NaN where the whole is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(part / whole)
