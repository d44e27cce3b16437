"""The metrics of every run: mistakes, loss, updates, time."""

from typing import Any, NamedTuple

import numpy as np

from noregret.data.batch import Batch
from noregret.data.transcript import Transcript
from noregret.metrics.metric import add_losses, add_up


class Mistakes:
    """The number of wrong predictions, and their rate."""

    saved = ("rounds", "mistakes")

    def __init__(self, rounds: int = 0, mistakes: int = 0) -> None:
        self.rounds, self.mistakes = rounds, mistakes

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        self.rounds += transcript.rounds
        self.mistakes += int(np.count_nonzero(transcript.mistakes))

    def merge(self, other: "Mistakes") -> "Mistakes":
        return Mistakes(self.rounds + other.rounds, self.mistakes + other.mistakes)

    def report(self) -> dict[str, float]:
        return {"rounds": self.rounds, "mistakes": self.mistakes, "rate": self.mistakes / max(self.rounds, 1)}


class Loss:
    """The sum of the losses, and their mean."""

    saved = ("rounds", "total")

    def __init__(self, rounds: int = 0, total: float = 0.0) -> None:
        self.rounds, self.total = rounds, total

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        self.rounds += transcript.rounds
        self.total = add_losses(self.total, transcript.losses)

    def merge(self, other: "Loss") -> "Loss":
        return Loss(self.rounds + other.rounds, self.total + other.total)

    def report(self) -> dict[str, float]:
        return {"loss": self.total, "mean_loss": self.total / max(self.rounds, 1)}


class Updates:
    """The number of rounds on which the learner changed."""

    saved = ("updates",)

    def __init__(self, updates: int = 0) -> None:
        self.updates = updates

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        self.updates += int(np.count_nonzero(transcript.updated))

    def merge(self, other: "Updates") -> "Updates":
        return Updates(self.updates + other.updates)

    def report(self) -> dict[str, float]:
        return {"updates": self.updates}


class LabelChanges:
    """How often the label differs from that of the round before: rarely, where rows are sorted by label or time."""

    saved = ("changes", "last")

    def __init__(self) -> None:
        self.changes, self.last = 0, None

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        if transcript.truth is None or not len(transcript.truth):
            return
        labels = transcript.truth
        self.changes += int(np.count_nonzero(labels[1:] != labels[:-1]))
        self.changes += self.last is not None and bool(labels[0] != self.last)
        self.last = labels[-1]

    def report(self) -> dict[str, float]:
        return {"label_changes": self.changes}


class Runtime:
    """The seconds spent playing, and rounds per second."""

    def __init__(self, rounds: int = 0, seconds: float = 0.0) -> None:
        self.rounds, self.seconds = rounds, seconds

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        self.rounds += transcript.rounds
        self.seconds += transcript.seconds

    def merge(self, other: "Runtime") -> "Runtime":
        return Runtime(self.rounds + other.rounds, self.seconds + other.seconds)

    def report(self) -> dict[str, float]:
        return {"seconds": self.seconds, "rounds_per_second": self.rounds / max(self.seconds, 1e-9)}


class CurvePoint(NamedTuple):
    """The totals after so many rounds."""

    rounds: int
    mistakes: int
    loss: float
    updates: int


class LearningCurve:
    """The totals each time the number of rounds has doubled, or more often; they do not depend on the batches."""

    saved = ("rounds", "mistakes", "loss", "updates", "next", "steps", "points")

    def __init__(self, first: int = 1, per_doubling: int = 1) -> None:
        self.first, self.per_doubling, self.points = first, per_doubling, list[CurvePoint]()
        self.rounds, self.mistakes, self.loss, self.updates = 0, 0, 0.0, 0
        self.next, self.steps = first, 0

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        cuts, losses = self.find_cuts(transcript.rounds), add_up(self.loss, transcript.losses)
        if cuts:
            mistakes, updates = (
                np.cumsum(marks)[np.array(cuts) - 1] for marks in (transcript.mistakes, transcript.updated)
            )
            rounds = [self.rounds + cut for cut in cuts]
            totals = (self.mistakes + mistakes).tolist(), losses[cuts].tolist(), (self.updates + updates).tolist()
            self.points += map(CurvePoint, rounds, *totals)
        self.rounds += transcript.rounds
        self.mistakes += int(np.count_nonzero(transcript.mistakes))
        self.loss = float(losses[-1])
        self.updates += int(np.count_nonzero(transcript.updated))

    def find_cuts(self, rounds: int) -> list[int]:
        """After how many of the next rounds there are points."""
        cuts = []
        while self.next <= self.rounds + rounds:
            cuts.append(self.next - self.rounds)
            self.next = self.find_next(self.next)
        return cuts

    def find_next(self, rounds: int) -> int:
        """The number of rounds of the first point after so many rounds."""
        found = rounds
        while found <= rounds:
            self.steps += 1
            doublings, part = divmod(self.steps, self.per_doubling)
            found = round((self.first << doublings) * 2.0 ** (part / self.per_doubling))
        return found

    @property
    def now(self) -> CurvePoint:
        """The totals so far."""
        return CurvePoint(self.rounds, self.mistakes, self.loss, self.updates)

    def all_points(self) -> list[CurvePoint]:
        """The points, and the totals so far where they are behind the last point."""
        behind = self.rounds > (self.points[-1].rounds if self.points else 0)
        return [*self.points, *([self.now] if behind else [])]

    def fits(self, values: dict[str, Any]) -> bool:
        """Whether values can be those of a curve with these points."""
        return bool(values["next"] > values["rounds"] >= 0)

    def report(self) -> dict[str, float]:
        return {}


class Totals(LearningCurve):
    """Mistakes, loss and updates, counted once for their totals and for their curve with four points per doubling."""

    def __init__(self) -> None:
        LearningCurve.__init__(self, per_doubling=4)

    def report(self) -> dict[str, float]:
        """What `Mistakes`, `Loss` and `Updates` report."""
        each = max(self.rounds, 1)
        return {
            "rounds": self.rounds,
            "mistakes": self.mistakes,
            "rate": self.mistakes / each,
            "loss": self.loss,
            "mean_loss": self.loss / each,
            "updates": self.updates,
        }
