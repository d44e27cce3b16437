"""Timestamps of rounds, which must not decrease."""

import math
import re
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Position
from noregret.errors import BadValue
from noregret.streams.read_options import ReadOptions

TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?)?")
EPOCH = datetime(1970, 1, 1)


def parse_time(value: Any) -> float | None:
    """Convert a number or a text in the usual form to seconds; None for other values, which pyarrow may parse."""
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


class TimeOrder:
    """Checks that times do not decrease; the latest time is part of a position, so that a resumed read goes on."""

    def __init__(self, options: ReadOptions, start: Position | None) -> None:
        self.lenient, self.column, self.skipped = options.lenient, options.timestamp, 0
        latest = None if start is None else start.get("time")
        self.latest = float(latest) if isinstance(latest, (int, float)) else -np.inf

    def check(self, times: NDArray[np.float64], lines: NDArray[np.int64], name: str) -> NDArray[np.bool_]:
        """Mark the rows that are not earlier than a row before them; the first other row is an error or is skipped."""
        before = np.maximum.accumulate(np.concatenate(([self.latest], times[:-1])))[: times.size]
        keep: NDArray[np.bool_] = times >= before
        if not keep.all() and not self.lenient:
            raise self.too_early(name, int(lines[int(np.argmin(keep))]))
        self.skipped += int(np.count_nonzero(~keep))
        self.latest = float(times.max(initial=self.latest))
        return keep

    def check_one(self, time: float, line: int, name: str) -> bool:
        """Return whether a single row is not earlier than a row before it."""
        if time >= self.latest:
            self.latest = time
            return True
        if not self.lenient:
            raise self.too_early(name, line)
        self.skipped += 1
        return False

    def too_early(self, name: str, line: int) -> BadValue:
        """Return the error for a row that is earlier than a row before it."""
        return BadValue(
            f"{name}:{line}: column {self.column!r}: the time is before that of an earlier row; sort the rows"
        )

    def dump(self) -> dict[str, float]:
        """Return the entries of a position."""
        return {"time": self.latest} if np.isfinite(self.latest) else {}
