"""The time of rounds, which never goes back."""

import math
import re
from datetime import datetime
from typing import Any

import numpy as np

from noregret.data.batch import Position
from noregret.errors import BadValue
from noregret.streams.read_options import Reading

TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?)?")
EPOCH = datetime(1970, 1, 1)


def moment_of(value: Any) -> float | None:
    """A time in seconds where it is a number or written in the usual way; None where that needs a closer look."""
    if type(value) is float or (type(value) is int and abs(value) < 1 << 53):
        return float(value) if math.isfinite(value) else None
    parts = TIME.fullmatch(value) if isinstance(value, str) else None
    if parts is None:
        return None
    year, month, day, hour, minute, second = map(int, parts.groups("0")[:6])
    try:
        since = datetime(year, month, day, hour, minute, second, int((parts[7] or "0").ljust(6, "0"))) - EPOCH
    except ValueError:
        return None
    return ((since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds) / 1e6


class Clock:
    """The latest time so far, kept in the place of a batch so that the order is checked across a stop."""

    def __init__(self, reading: Reading, start: Position | None) -> None:
        self.lenient, self.column, self.skipped = reading.lenient, reading.timestamp, 0
        latest = None if start is None else start.get("time")
        self.latest = float(latest) if isinstance(latest, (int, float)) else -np.inf

    def in_order(self, times: np.ndarray, lines: np.ndarray, name: str) -> np.ndarray:
        """Which rows are not earlier than one before them; one that is, is refused unless such rows are skipped."""
        before = np.maximum.accumulate(np.concatenate(([self.latest], times[:-1])))[: times.size]
        keep: np.ndarray = times >= before
        if not keep.all() and not self.lenient:
            raise self.too_early(name, int(lines[int(np.argmin(keep))]))
        self.skipped += int(np.count_nonzero(~keep))
        self.latest = float(times.max(initial=self.latest))
        return keep

    def admits(self, moment: float, line: int, name: str) -> bool:
        """The same for one row."""
        if moment >= self.latest:
            self.latest = moment
            return True
        if not self.lenient:
            raise self.too_early(name, line)
        self.skipped += 1
        return False

    def too_early(self, name: str, line: int) -> BadValue:
        return BadValue(
            f"{name}:{line}: column {self.column!r}: the time is before that of an earlier row; sort the rows"
        )

    def kept(self) -> dict[str, Any]:
        return {"time": self.latest} if np.isfinite(self.latest) else {}
