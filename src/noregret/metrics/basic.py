"""The metrics every run has: mistakes, loss, updates, time."""

from typing import Protocol

import numpy as np

from noregret.data.transcript import Transcript


class Metric(Protocol):
    """Sees every transcript of a run, in order, and reports at any time."""

    def see(self, transcript: Transcript) -> None: ...

    def report(self) -> dict[str, float]: ...


class Mistakes:
    """How many predictions were wrong, and at what rate."""

    def __init__(self) -> None:
        self.rounds = self.mistakes = 0

    def see(self, transcript: Transcript) -> None:
        self.rounds += transcript.rounds
        self.mistakes += int(np.count_nonzero(transcript.mistakes))

    def report(self) -> dict[str, float]:
        return {"rounds": self.rounds, "mistakes": self.mistakes, "rate": self.mistakes / max(self.rounds, 1)}


def added(total: float, losses: np.ndarray) -> float:
    """The total with these added one after the other: the same bits in whatever chunks they come."""
    return float(np.cumsum(np.concatenate(([total], losses)))[-1])


class Loss:
    """The sum of the losses suffered, and their mean."""

    def __init__(self) -> None:
        self.rounds, self.total = 0, 0.0

    def see(self, transcript: Transcript) -> None:
        self.rounds += transcript.rounds
        self.total = added(self.total, transcript.losses)

    def report(self) -> dict[str, float]:
        return {"loss": self.total, "mean_loss": self.total / max(self.rounds, 1)}


class Updates:
    """On how many rounds the learner changed its mind."""

    def __init__(self) -> None:
        self.updates = 0

    def see(self, transcript: Transcript) -> None:
        self.updates += int(np.count_nonzero(transcript.updated))

    def report(self) -> dict[str, float]:
        return {"updates": self.updates}


class Runtime:
    """The seconds spent in playing, and rounds a second."""

    def __init__(self) -> None:
        self.rounds, self.seconds = 0, 0.0

    def see(self, transcript: Transcript) -> None:
        self.rounds += transcript.rounds
        self.seconds += transcript.seconds

    def report(self) -> dict[str, float]:
        return {"seconds": self.seconds, "rounds_per_second": self.rounds / max(self.seconds, 1e-9)}


class Milestones:
    """How things stood whenever the rounds had doubled: (rounds, mistakes, loss, updates), the same in any chunks."""

    def __init__(self, first: int = 1) -> None:
        self.next, self.points = first, list[tuple[int, int, float, int]]()
        self.rounds, self.mistakes, self.loss, self.updates = 0, 0, 0.0, 0

    def see(self, transcript: Transcript) -> None:
        start = 0
        while self.next <= self.rounds + transcript.rounds - start:
            stop = start + self.next - self.rounds
            self.add(transcript, start, stop)
            self.points.append((self.rounds, self.mistakes, self.loss, self.updates))
            self.next, start = 2 * self.next, stop
        self.add(transcript, start, transcript.rounds)

    def add(self, transcript: Transcript, start: int, stop: int) -> None:
        self.rounds += stop - start
        self.mistakes += int(np.count_nonzero(transcript.mistakes[start:stop]))
        self.loss = added(self.loss, transcript.losses[start:stop])
        self.updates += int(np.count_nonzero(transcript.updated[start:stop]))

    def report(self) -> dict[str, float]:
        return {}
