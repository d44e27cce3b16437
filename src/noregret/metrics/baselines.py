"""What the simplest guesses would have done on the same rounds: the yardstick of every learner."""

from collections.abc import Callable
from typing import Any

import numpy as np

from noregret.data.transcript import Transcript

FEW, ROWS = 8, 8192  # classes up to which, and rounds of which, all counts are made at once


Suffered = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Baselines:
    """Guessing the majority label so far, or the last label; for real targets their mean so far, or the last one.

    Every guess is made before the truth is seen. Labels: mistakes; the first round is one, and among equally frequent
    labels the one seen first is guessed. Targets, where a loss of errors and deviations is given: the sum of losses;
    the first guess is 0.
    """

    def __init__(self, loss: Suffered | None = None) -> None:
        self.guess: Labels | Targets = Labels() if loss is None else Targets(loss)

    def see(self, transcript: Transcript) -> None:
        if transcript.rounds:
            self.guess.see(transcript.truth)

    def report(self) -> dict[str, float]:
        return self.guess.report()


class Codes(dict[Any, int]):
    """Gives every new label the next number."""

    def __missing__(self, label: Any) -> int:
        code = self[label] = len(self)
        return code


def is_label(label: Any) -> bool:
    """Whether a truth is a class; a round of none is nobody's to guess."""
    return isinstance(label, (bool, int, float, str, tuple, np.generic))


class Labels:
    """Mistakes of the majority label and of the last label."""

    def __init__(self) -> None:
        self.code = Codes()
        self.counts: list[int] = []
        self.majority_mistakes = self.last_mistakes = 0
        self.leader = self.last = -1

    def see(self, truth: np.ndarray) -> None:
        labels = [label for label in truth.tolist() if is_label(label)] if truth.dtype == object else truth.tolist()
        codes = np.fromiter(map(self.code.__getitem__, labels), np.int64, len(labels))
        if not codes.size:
            return
        self.counts += [0] * (len(self.code) - len(self.counts))
        for start in range(0, codes.size, ROWS):
            some = codes[start : start + ROWS]
            self.majority_mistakes += self.few(some) if len(self.counts) <= FEW else self.many(some.tolist())
        before = np.concatenate(([self.last], codes[:-1]))
        self.last_mistakes += int(np.count_nonzero(codes != before))
        self.last = int(codes[-1])

    def few(self, codes: np.ndarray) -> int:
        """The mistakes of the majority label: all counts before every round, at once."""
        seen = np.zeros((codes.size + 1, len(self.counts)), np.int64)
        seen[0] = self.counts
        seen[np.arange(1, codes.size + 1), codes] = 1
        np.cumsum(seen, axis=0, out=seen)
        leaders = np.argmax(seen, axis=1)
        self.counts = seen[-1].tolist()
        wrong = int(np.count_nonzero(leaders[:-1] != codes))
        # Before the very first round all counts are equal, and nobody leads.
        wrong += int(self.leader < 0 and codes[0] == leaders[0])
        self.leader = int(leaders[-1])
        return wrong

    def many(self, codes: list[int]) -> int:
        """The same, round by round."""
        counts, leader, wrong = self.counts, self.leader, 0
        most = counts[leader] if leader >= 0 else 0
        for code in codes:
            if code != leader:
                wrong += 1
            count = counts[code] = counts[code] + 1
            if count > most or (count == most and code < leader):
                leader, most = code, count
        self.leader = leader
        return wrong

    def report(self) -> dict[str, float]:
        return {"majority": self.majority_mistakes, "last_label": self.last_mistakes}


class Targets:
    """Losses of the running mean and of the last target, summed in the order of the rounds."""

    def __init__(self, loss: Suffered) -> None:
        self.loss = loss
        self.rounds = 0
        self.sum = self.last = self.first = self.off = self.squares = self.mean_error = self.last_error = 0.0

    def see(self, truth: np.ndarray) -> None:
        y = np.asarray(truth, np.float64)
        sums = np.cumsum(np.concatenate(([self.sum], y)))
        means = sums[:-1] / np.maximum(np.arange(self.rounds, self.rounds + y.size), 1)
        before, spread = np.concatenate(([self.last], y[:-1])), self.deviations(y)
        self.mean_error = float(np.cumsum(np.concatenate(([self.mean_error], self.loss(y - means, spread))))[-1])
        self.last_error = float(np.cumsum(np.concatenate(([self.last_error], self.loss(y - before, spread))))[-1])
        self.rounds, self.sum, self.last = self.rounds + y.size, float(sums[-1]), float(y[-1])

    def deviations(self, y: np.ndarray) -> np.ndarray:
        """How much the targets before each round deviate from their mean; measured from the first of them."""
        if self.rounds == 0:
            self.first = float(y[0])
        away, rounds = y - self.first, np.maximum(np.arange(self.rounds, self.rounds + y.size), 1)
        off = np.cumsum(np.concatenate(([self.off], away)))
        squares = np.cumsum(np.concatenate(([self.squares], away**2)))
        self.off, self.squares = float(off[-1]), float(squares[-1])
        return np.sqrt(np.maximum(squares[:-1] / rounds - (off[:-1] / rounds) ** 2, 0.0))

    def report(self) -> dict[str, float]:
        return {"mean": self.mean_error, "last_target": self.last_error}
