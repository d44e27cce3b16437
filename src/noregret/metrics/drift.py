"""Concept drift seen in the losses of a run: the rounds at which a detector set off an alarm, and its warnings."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, shown
from noregret.metrics.adwin import Adwin
from noregret.metrics.ddm import Ddm
from noregret.metrics.detector import ALARM, STABLE, Detector, Floats, Levels, Runner, find_detector, run_interpreted
from noregret.metrics.metric import add_up
from noregret.metrics.page_hinkley import PageHinkley
from noregret.metrics.sliding_window import SlidingWindow

DETECTORS: dict[str, type[Detector]] = {one.name: one for one in (Adwin, Ddm, PageHinkley)}
CLOCKS: dict[str, type[Detector]] = {SlidingWindow.name: SlidingWindow}  # of use only where learners are replaced
WATCHED = ("mistakes", "loss")
MANY = 8  # rounds that a sentence names


class DriftMonitor:
    """A detector and what it watches.

    mistakes: whether a round was a mistake. loss, for real targets: whether the loss of a round is above the mean of
    the losses before it, since the last alarm. So every value is 0 or 1, whatever the range of the losses.
    """

    def __init__(self, detector: Detector, watch: str = "mistakes") -> None:
        if watch not in WATCHED:
            raise BadValue(f"watch must be one of {', '.join(WATCHED)}, not {shown(watch)}")
        self.detector, self.watch = detector, watch
        self.count, self.total = 0, 0.0  # losses since the last alarm, and their sum

    def detect(self, mistakes: NDArray[np.bool_], losses: Floats) -> Levels:
        """The level of every round up to the first alarm."""
        if self.watch == "mistakes":
            return self.detector.detect(mistakes)
        with np.errstate(over="ignore"):
            totals = add_up(self.total, losses)
        counts = self.count + np.arange(len(losses))
        levels = self.detector.detect(losses > np.where(counts > 0, totals[:-1] / np.maximum(counts, 1), np.inf))
        if levels.size and levels[-1] == ALARM:
            self.count, self.total = 0, 0.0
        else:
            self.count, self.total = self.count + len(losses), float(totals[-1])
        return levels

    def restart(self) -> Self:
        """A monitor like this one that has seen nothing."""
        new = self.copy()
        new.detector.state[:] = 0.0
        new.count, new.total = 0, 0.0
        return new

    def copy(self) -> Self:
        """An independent monitor in the same state."""
        new = type(self)(self.detector.copy(), self.watch)
        new.count, new.total = self.count, self.total
        return new


class DriftAlarms:
    """The alarms and warnings of a drift detector that watches the mistakes of a run, or its losses.

    `alarms` are rounds, counted from 1; `warnings` are pairs of the first and the last round of a warning.
    """

    saved = ("watches", "rounds", "alarms", "warned_from", "warned_to", "detector_state")

    def __init__(
        self, detector: Detector | str = "adwin", watch: str = "mistakes", run: Runner = run_interpreted
    ) -> None:
        self.monitor = DriftMonitor(find_detector(detector, DETECTORS, run), watch)
        self.rounds = 0
        self.alarms: list[int] = []
        self.warned_from: list[int] = []
        self.warned_to: list[int] = []
        self.watches = f"{self.monitor.watch} by {self.monitor.detector.describe()}"

    @property
    def warnings(self) -> list[tuple[int, int]]:
        """The first and the last round of every warning."""
        return list(zip(self.warned_from, self.warned_to, strict=True))

    @property
    def detector_state(self) -> Floats:
        """The state of the detector, and the count and the sum of losses, as it is saved with a model."""
        return np.array([self.monitor.count, self.monitor.total, *self.monitor.detector.state])

    @detector_state.setter
    def detector_state(self, saved: Floats) -> None:
        self.monitor.count, self.monitor.total = int(saved[0]), float(saved[1])
        self.monitor.detector.restore_state(saved[2:].copy())

    def fits(self, values: dict[str, Any]) -> bool:
        """Whether values of a file can be those of this metric."""
        state, rounds, first, last = (values[name] for name in ("detector_state", "rounds", "warned_from", "warned_to"))
        marks = [0, *values["alarms"], rounds]
        sound = values["watches"] == self.watches and marks == sorted(marks) and len(first) == len(last)
        sound = sound and state.shape == self.detector_state.shape and 0.0 <= state[0] <= rounds
        return sound and self.monitor.detector.copy().restore_state(state[2:].copy())

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        start = 0
        while start < transcript.rounds:
            levels = self.monitor.detect(transcript.mistakes[start:], transcript.losses[start:])
            self.record(levels)
            start += levels.size

    def record(self, levels: Levels) -> None:
        """Note the levels of the next rounds, of which only the last may be an alarm."""
        for first, last in find_runs(levels != STABLE):
            alarm = levels[last] == ALARM
            if first < last or not alarm:
                self.add_warning(self.rounds + first + 1, self.rounds + last + (0 if alarm else 1))
            if alarm:
                self.alarms.append(self.rounds + last + 1)
        self.rounds += levels.size

    def add_warning(self, first: int, last: int) -> None:
        """Note a warning; it may go on from the rounds before."""
        if self.warned_to and self.warned_to[-1] == first - 1:  # which is no alarm: warnings end before one
            self.warned_to[-1] = last
            return
        self.warned_from.append(first)
        self.warned_to.append(last)

    def report(self) -> dict[str, float]:
        return {"drift_alarms": len(self.alarms), "drift_warnings": len(self.warnings)}

    def describe(self) -> dict[str, Any]:
        """The detector, what it watches, its alarms and its warnings, for a JSON report."""
        return report_drift(self.monitor, self.alarms, self.warnings)


def report_drift(monitor: DriftMonitor, alarms: list[int], warnings: list[tuple[int, int]]) -> dict[str, Any]:
    """Alarms and warnings for a JSON report."""
    zones = [{"from": first, "to": last} for first, last in warnings]
    return {"detector": monitor.detector.describe(), "watches": monitor.watch, "alarms": list(alarms),
            "warnings": zones}  # fmt: skip


def describe_drift(drift: dict[str, Any]) -> str:
    """Alarms in a sentence: drift: 2 alarms of adwin at rounds 1,024, 5,056."""
    alarms, name = drift["alarms"], drift["detector"]["name"]
    if not alarms:
        return f"drift: no alarm of {name}"
    shown_rounds = ", ".join(f"{at:,}" for at in alarms[:MANY])
    more = f" and {len(alarms) - MANY:,} more" if len(alarms) > MANY else ""
    return f"drift: {len(alarms):,} alarm{'s' * (len(alarms) > 1)} of {name} at round{'s' * (len(alarms) > 1)} " + (
        f"{shown_rounds}{more}"
    )


def find_runs(marks: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and the last place of every run of marks."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], marks, [False])).astype(np.int8)))
    return [(int(first), int(last) - 1) for first, last in zip(edges[::2], edges[1::2], strict=True)]
