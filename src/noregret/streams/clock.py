"""The time of rounds, which never goes back."""

from typing import Any

import numpy as np

from noregret.errors import BadValue
from noregret.streams.reading import Reading
from noregret.streams.source import Place


class Clock:
    """The latest time so far, kept in the place of a batch so that the order is checked across a stop."""

    def __init__(self, reading: Reading, start: Place | None) -> None:
        self.lenient, self.column, self.skipped = reading.lenient, reading.timestamp, 0
        latest = None if start is None else start.get("time")
        self.latest = float(latest) if isinstance(latest, (int, float)) else -np.inf

    def in_order(self, times: np.ndarray, lines: np.ndarray, name: str) -> np.ndarray:
        """Which rows are not earlier than one before them; one that is, is refused unless such rows are skipped."""
        before = np.maximum.accumulate(np.concatenate(([self.latest], times[:-1])))[: times.size]
        keep: np.ndarray = times >= before
        if not keep.all() and not self.lenient:
            line = int(lines[int(np.argmin(keep))])
            raise BadValue(
                f"{name}:{line}: column {self.column!r}: the time is before that of an earlier row; sort the rows"
            )
        self.skipped += int(np.count_nonzero(~keep))
        self.latest = float(times.max(initial=self.latest))
        return keep

    def kept(self) -> dict[str, Any]:
        return {"time": self.latest} if np.isfinite(self.latest) else {}
