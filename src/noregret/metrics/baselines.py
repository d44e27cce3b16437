"""Baselines: what the simplest predictions would have done on the same rounds.

Each prediction is made before the truth is seen.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.labels import encode_numbers
from noregret.data.transcript import Transcript

FEW = 8  # up to this many classes, counts are computed for all rounds at once
ROWS = 8192  # rounds counted at once

Floats: TypeAlias = NDArray[np.float64]
ErrorLoss: TypeAlias = Callable[[Floats, Floats], Floats]  # of errors, and of the deviation of the targets so far


def absolute_error(errors: Floats, deviation: Floats) -> Floats:
    """The loss |error|."""
    return np.abs(errors)


class LabelCodes(dict[Any, int]):
    """A dict from label to code that gives each new label the next code."""

    def __missing__(self, label: Any) -> int:
        code = self[label] = len(self)
        return code


def is_label(label: object) -> bool:
    """Whether a truth is a class; rounds without a class are not scored."""
    return isinstance(label, (bool, int, float, str, tuple, np.generic))


class LabelBaselines:
    """Mistakes of predicting the majority label so far, and of predicting the last label.

    The first round is a mistake. Among equally frequent labels the one seen first is predicted.
    """

    saved = ("code", "counts", "majority_mistakes", "last_mistakes", "majority", "last")

    def __init__(self) -> None:
        self.code = LabelCodes()
        self.counts: list[int] = []
        self.majority_mistakes = self.last_mistakes = 0
        self.majority = self.last = -1

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        if transcript.truth is not None:
            self.count(transcript.truth)

    def count(self, truth: NDArray[Any]) -> None:
        """Count the mistakes on rounds with these labels."""
        codes = self.encode(truth)
        if not codes.size:
            return
        self.counts += [0] * (len(self.code) - len(self.counts))
        for start in range(0, codes.size, ROWS):
            part = codes[start : start + ROWS]
            few = len(self.counts) <= FEW
            self.majority_mistakes += self.count_at_once(part) if few else self.count_one_by_one(part.tolist())
        before = np.concatenate(([self.last], codes[:-1]))
        self.last_mistakes += int(np.count_nonzero(codes != before))
        self.last = int(codes[-1])

    def encode(self, truth: NDArray[Any]) -> NDArray[np.int64]:
        """The codes of some labels, without those of rounds that have no class."""
        if truth.dtype.kind in "biuf":
            return encode_numbers(self.code, truth)
        labels = [label for label in truth.tolist() if is_label(label)] if truth.dtype == object else truth.tolist()
        return np.fromiter(map(self.code.__getitem__, labels), np.int64, len(labels))

    def count_at_once(self, codes: NDArray[np.int64]) -> int:
        """The mistakes of the majority label, from the counts before every round."""
        seen = np.zeros((codes.size + 1, len(self.counts)), np.int64)
        seen[0] = self.counts
        seen[np.arange(1, codes.size + 1), codes] = 1
        np.cumsum(seen, axis=0, out=seen)
        majority = np.argmax(seen, axis=1)
        self.counts = seen[-1].tolist()
        wrong = int(np.count_nonzero(majority[:-1] != codes))
        # Before the very first round all counts are equal, and no label has the majority.
        wrong += int(self.majority < 0 and codes[0] == majority[0])
        self.majority = int(majority[-1])
        return wrong

    def count_one_by_one(self, codes: list[int]) -> int:
        """The mistakes of the majority label, round by round."""
        counts, majority, wrong = self.counts, self.majority, 0
        most = counts[majority] if majority >= 0 else 0
        for code in codes:
            if code != majority:
                wrong += 1
            count = counts[code] = counts[code] + 1
            if count > most or (count == most and code < majority):
                majority, most = code, count
        self.majority = majority
        return wrong

    @staticmethod
    def fits(values: dict[str, Any]) -> bool:
        """Whether every class has a count, and the codes are those of classes."""
        size = len(values["code"])
        return len(values["counts"]) <= size and max(values["majority"], values["last"]) < size

    def report(self) -> dict[str, float]:
        return {"majority": self.majority_mistakes, "last_label": self.last_mistakes}


class TargetBaselines:
    """Losses of predicting the mean of the targets so far, and of predicting the last target.

    The first prediction is 0. The losses are summed in the order of the rounds.
    """

    saved = ("rounds", "sum", "last", "first", "centred_sum", "centred_squares", "mean_loss", "last_loss")

    def __init__(self, loss: ErrorLoss = absolute_error) -> None:
        self.loss = loss
        self.rounds = 0
        self.sum = self.last = 0.0
        self.first = self.centred_sum = self.centred_squares = 0.0
        self.mean_loss = self.last_loss = 0.0

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        if transcript.truth is not None and transcript.rounds:
            self.count(transcript.truth)

    def count(self, truth: NDArray[Any]) -> None:
        """Add the losses on rounds with these targets."""
        y = np.asarray(truth, np.float64)
        sums = np.cumsum(np.concatenate(([self.sum], y)))
        means = sums[:-1] / np.maximum(np.arange(self.rounds, self.rounds + y.size), 1)
        before, deviation = np.concatenate(([self.last], y[:-1])), self.deviations(y)
        self.mean_loss = float(np.cumsum(np.concatenate(([self.mean_loss], self.loss(y - means, deviation))))[-1])
        self.last_loss = float(np.cumsum(np.concatenate(([self.last_loss], self.loss(y - before, deviation))))[-1])
        self.rounds, self.sum, self.last = self.rounds + y.size, float(sums[-1]), float(y[-1])

    def deviations(self, y: Floats) -> Floats:
        """The standard deviation of the targets before each round; sums are taken from the first target on."""
        if self.rounds == 0:
            self.first = float(y[0])
        centred, rounds = y - self.first, np.maximum(np.arange(self.rounds, self.rounds + y.size), 1)
        sums = np.cumsum(np.concatenate(([self.centred_sum], centred)))
        squares = np.cumsum(np.concatenate(([self.centred_squares], centred**2)))
        self.centred_sum, self.centred_squares = float(sums[-1]), float(squares[-1])
        return np.sqrt(np.maximum(squares[:-1] / rounds - (sums[:-1] / rounds) ** 2, 0.0))

    def report(self) -> dict[str, float]:
        return {"mean": self.mean_loss, "last_target": self.last_loss}
