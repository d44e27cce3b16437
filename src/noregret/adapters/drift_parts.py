"""Rounds of a drift-aware learner, cut where something happens: an alarm, or a warning that begins."""

from collections.abc import Callable, Iterator

import numpy as np

from noregret.data.transcript import Transcript
from noregret.learner.labelled_rows import LabelledRows
from noregret.learner.protocol import Learner
from noregret.metrics.detector import ALARM, STABLE, Levels
from noregret.metrics.drift import DriftMonitor

FIRST = 64  # rounds that are tried first after an event; then twice as many


class EarlyEvent(Exception):
    """Something happened before the last of the rounds that were played: after so many."""

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self.rounds = rounds


class Parts:
    """The learners and the monitor while rounds are played; `since` is how many rounds ago the last alarm was.

    After an event the rounds behind it belong to another learner, or there is another to be trained beside. They were
    played in vain, and are played again. So after an event only as many are tried as came before the last alarm.
    """

    def __init__(
        self,
        learner: Learner,
        shadow: Learner | None,
        monitor: DriftMonitor,
        restart: Callable[[Learner], Learner],
        shadows: bool,
        since: int = 0,
    ) -> None:
        self.learner, self.shadow, self.monitor = learner, shadow, monitor
        self.restart, self.shadows = restart, shadows
        self.rounds, self.quiet, self.alarmed_at = 0, since, -since
        self.alarms: list[int] = []  # counted from the first round played here

    def play(self, rows: LabelledRows, first: int) -> Iterator[Transcript]:
        """Play all rounds; the learners are changed in place or replaced."""
        start, size = 0, max(first, 1)
        while start < len(rows):
            part = rows.slice(start, start + size)
            before = self.learner.copy()
            try:
                played = self.accept(part, part.play(self.learner))
                size *= 2
            except EarlyEvent as event:
                self.learner = before
                part = part.slice(0, event.rounds)
                played = self.accept(part, part.play(self.learner))
                size = max(FIRST, self.quiet)
            start += len(part)
            yield played

    def accept(self, rows: LabelledRows, played: Transcript) -> Transcript:
        """Count rounds that the learner has played, and react where something happened in the last of them.

        Raises EarlyEvent, and changes nothing but the learner, where something happened before.
        """
        monitor = self.monitor.copy()
        levels = monitor.detect(played.mistakes, played.losses)
        at = find_event(levels, self.shadow is not None, self.shadows)
        if at is not None and at + 1 < played.rounds:
            raise EarlyEvent(at + 1)
        self.monitor = monitor
        self.rounds += played.rounds
        if self.shadow is not None:
            kept = not (levels == STABLE).any()
            self.shadow = rows.teach(self.shadow) if kept else None
        if at is not None:
            self.react(rows.slice(at, at + 1), int(levels[at]))
        return played

    def react(self, row: LabelledRows, level: int) -> None:
        """After a round with an alarm, or with the first warning."""
        new = self.shadow if self.shadow is not None else row.teach(self.restart(self.learner))
        if level == ALARM:
            self.quiet, self.alarmed_at = self.rounds - self.alarmed_at, self.rounds
            self.alarms.append(self.rounds)
            self.learner, self.shadow = new, None
            self.monitor = self.monitor.restart()
        else:
            self.shadow = new


def find_event(levels: Levels, shadow: bool, shadows: bool) -> int | None:
    """The first round with an alarm or, where shadows are kept, with a warning and no shadow; None if there is none.

    A shadow is dropped in the first round without a warning.
    """
    stable = np.flatnonzero(levels == STABLE)
    begin = 0 if not shadow else int(stable[0]) if stable.size else len(levels)
    found = np.flatnonzero(levels == ALARM)
    events = [int(found[0])] if found.size else []
    if shadows:
        found = np.flatnonzero(levels[begin:] != STABLE)
        events += [begin + int(found[0])] if found.size else []
    return min(events, default=None)
