"""ADWIN: a window of the last values that grows while their mean stays the same and is cut where it has changed.

The window is an exponential histogram: buckets of 1, 2, 4, 8, ... values, at most ROOM of each size, of which only the
sum and the sum of squares are kept. A window of n values has about ROOM log2(n / ROOM) buckets.
"""

from math import log, sqrt
from typing import Any, ClassVar, Self

import numpy as np

from noregret.data.settings import Setting, Settings, Words
from noregret.errors import BadValue, shown
from noregret.metrics.detector import (
    ALARM,
    STABLE,
    WARNING,
    Detector,
    Floats,
    Loop,
    Runner,
    refuse_value,
    run_interpreted,
)

ROOM = 5  # buckets of one size; one more, and the two oldest are merged
SIZES = 48  # sizes of buckets: 1, 2, 4, ... values
WIDTH, TOTAL, SQUARES, ROUNDS, WARNED, COUNTS = 0, 1, 2, 3, 4, 5  # places in the state; a count for every size follows
SUMS = COUNTS + SIZES  # the sums of the buckets, oldest first in every size
SQUARE_SUMS = SUMS + SIZES * (ROOM + 1)
END = SQUARE_SUMS + SIZES * (ROOM + 1)
DELTA, WARNING_DELTA, CLOCK, LEAST, HOEFFDING, BOTH = 0, 1, 2, 3, 4, 5  # places in the numbers


def adwin(numbers: Any, state: Any, values: Any, levels: Any) -> None:
    """Watch values up to the first alarm."""
    for i in range(len(values)):
        insert(state, values[i])
        state[ROUNDS] += 1.0
        if state[ROUNDS] >= numbers[CLOCK]:
            state[ROUNDS] = 0.0
            risen, warned = cut_window(numbers, state)
            state[WARNED] = 0.0
            if risen > 0 or (risen < 0 and numbers[BOTH] > 0.0):
                levels[i] = ALARM
                return
            if risen == 0 and warned > 0:
                state[WARNED] = 1.0
        levels[i] = WARNING if state[WARNED] > 0.0 else STABLE


def insert(state: Any, value: Any) -> None:
    """Put a value into a bucket of its own; of any size with too many buckets, merge the two oldest."""
    state[WIDTH] += 1.0
    state[TOTAL] += value
    state[SQUARES] += value * value
    total, squares, size = value, value * value, 0
    while size < SIZES:
        count, first = int(state[COUNTS + size]), size * (ROOM + 1)
        state[SUMS + first + count] = total
        state[SQUARE_SUMS + first + count] = squares
        if count < ROOM:
            state[COUNTS + size] = count + 1.0
            return
        total = state[SUMS + first] + state[SUMS + first + 1]
        squares = state[SQUARE_SUMS + first] + state[SQUARE_SUMS + first + 1]
        for at in range(first, first + ROOM - 1):  # always as many, which compiled code need not count
            state[SUMS + at] = state[SUMS + at + 2]
            state[SQUARE_SUMS + at] = state[SQUARE_SUMS + at + 2]
        state[COUNTS + size] = ROOM - 1.0
        size += 1
    state[WIDTH] -= 2.0**SIZES  # no room for a larger bucket: the oldest values are dropped
    state[TOTAL] -= total
    state[SQUARES] -= squares


def remove_oldest(state: Any, size: int) -> None:
    """Remove the oldest bucket of a size."""
    count, first = int(state[COUNTS + size]), size * (ROOM + 1)
    for at in range(first, first + count - 1):
        state[SUMS + at] = state[SUMS + at + 1]
        state[SQUARE_SUMS + at] = state[SQUARE_SUMS + at + 1]
    state[COUNTS + size] = count - 1.0


def cut_window(numbers: Any, state: Any) -> Any:
    """Drop old buckets until no two parts of the window differ.

    Returns 1 if the mean rose, -1 if it fell, else 0; and the same for what is left, by the delta of warnings.
    """
    first, warned = find_cut(numbers, state)
    found = first
    while found != 0:
        size = largest_size(state)
        at = size * (ROOM + 1)
        state[WIDTH] -= 2.0**size
        state[TOTAL] -= state[SUMS + at]
        state[SQUARES] -= state[SQUARE_SUMS + at]
        remove_oldest(state, size)
        found, warned = find_cut(numbers, state)
    return first, warned


def largest_size(state: Any) -> int:
    """The size of the oldest bucket."""
    size = SIZES - 1
    while size > 0 and state[COUNTS + size] == 0.0:
        size -= 1
    return size


def find_cut(numbers: Any, state: Any) -> Any:
    """Whether the means of an older and a newer part of the window differ: 1 if the newer is larger, -1 if smaller.

    The first of two answers is by the delta of alarms, the second by that of warnings, as far as it was looked for.
    """
    warned, width = 0, state[WIDTH]
    if width < 2.0 * numbers[LEAST]:
        return 0, 0
    mean = state[TOTAL] / width
    variance = max(state[SQUARES] / width - mean * mean, 0.0)
    hoeffding, least, total = numbers[HOEFFDING] > 0.0, numbers[LEAST], state[TOTAL]
    confidence = confidence_of(hoeffding, width, numbers[DELTA])
    weaker = confidence_of(hoeffding, width, numbers[WARNING_DELTA])
    # A difference below the first of the two terms that chance allows is not worth the divisions and the root.
    ordinary = 0.0 if hoeffding else 2.0 * width * variance * weaker
    older, older_sum, size = 0.0, 0.0, largest_size(state)
    while size >= 0:
        values = 2.0**size
        for k in range(int(state[COUNTS + size])):
            older += values
            older_sum += state[SUMS + size * (ROOM + 1) + k]
            newer = width - older
            if newer < least:
                return 0, warned
            apart = (total - older_sum) * older - older_sum * newer  # rise * older * newer
            if older >= least and apart * apart >= ordinary * older * newer:
                rise = (total - older_sum) / newer - older_sum / older
                inverse = 1.0 / older + 1.0 / newer
                if warned == 0 and abs(rise) >= allowed(hoeffding, inverse, variance, weaker):
                    warned = 1 if rise > 0.0 else -1
                if warned != 0 and abs(rise) >= allowed(hoeffding, inverse, variance, confidence):
                    return (1 if rise > 0.0 else -1), warned
        size -= 1
    return 0, warned


def confidence_of(hoeffding: Any, width: Any, delta: Any) -> Any:
    """The logarithm in the difference that chance allows, for a window of some width."""
    return log(4.0 * width / delta) if hoeffding else log(2.0 * max(log(width), 1.0) / delta)


def allowed(hoeffding: Any, inverse: Any, variance: Any, confidence: Any) -> Any:
    """The difference of two means that chance allows; `inverse` is the sum of the inverse sizes of the parts."""
    if hoeffding:
        return sqrt(0.5 * inverse * confidence)
    return sqrt(2.0 * inverse * variance * confidence) + 2.0 / 3.0 * inverse * confidence


class Adwin(Detector):
    """Adaptive windowing: an alarm where the newer part of a window has a larger mean than the older part.

    With bound=hoeffding the probability that a check cuts a window whose mean did not change is at most delta: that is
    the paper's theorem, for independent values. bound=normal uses the variance of the window; it detects sooner, and
    its probability is approximate.
    """

    name = "adwin"
    about = "adaptive windowing: the newer part of the window has a larger mean than the older part"
    paper = "Bifet and Gavalda, Learning from time-changing data with adaptive windowing, SDM 2007"
    loop: ClassVar[Loop] = staticmethod(adwin)
    size = END
    settings: ClassVar[Settings] = {
        "delta": Setting(0.002, 1e-12, 0.5, about="the probability of a false alarm at a check"),
        "warning": Setting(0.2, 1e-12, 1.0, about="the same for a warning"),
        "clock": Setting(32, 1, 1_000_000, whole=True, about="rounds from one check to the next"),
        "least": Setting(5, 1, 1_000_000, whole=True, about="the fewest values in a part of the window"),
        "bound": Words("normal", ("normal", "hoeffding"), "how large a difference chance allows"),
        "side": Words("up", ("up", "both"), "up: only a rise is an alarm; a fall only cuts the window"),
    }

    def __init__(self, run: Runner = run_interpreted, **given: Any) -> None:
        super().__init__(run, **given)
        self.waiting: list[float] = []  # values since the last check; the level is the same until the next
        self.room = 0  # how many values there are until then, those that wait included; 0 where that is not known
        self.level, self.clock = STABLE, int(self.numbers[CLOCK])

    def flush(self) -> None:
        if self.waiting:
            self.run(self, self.waiting, None)
        self.waiting, self.room = [], 0

    def update(self, value: float) -> int:
        if 0.0 <= value <= 1.0:
            waiting = self.waiting
            waiting.append(value)
            if len(waiting) < self.room:
                return self.level
            return self.check_waiting()
        raise refuse_value(self, shown(value))

    def check_waiting(self) -> int:
        """Watch the values that wait, where the next check is due; returns the level of the last."""
        if not self.room:
            self.room = self.clock - int(self.cells[ROUNDS])
            self.level = WARNING if self.cells[WARNED] > 0.0 else STABLE
            if len(self.waiting) < self.room:
                return self.level
        level = self.run(self, self.waiting, None)
        self.waiting, self.room = [], self.clock
        self.level = WARNING if level == WARNING else STABLE  # an alarm takes the warning back
        return level

    def copy(self) -> Self:
        new = super().copy()
        new.waiting = []
        return new

    def mark(self) -> Any:
        checks = len(self.waiting) + 1 >= self.room
        return self.cells.copy() if checks else None, self.waiting.copy()

    def go_back(self, mark: Any) -> None:
        cells, waiting = mark
        if cells is not None:
            self.cells[:] = cells
        self.waiting, self.room = waiting.copy(), 0

    def check(self) -> None:
        if self.params["warning"] < self.params["delta"]:
            raise BadValue(
                f"adwin: warning must be at least delta, {self.params['delta']:g}, since warnings come first"
            )

    def find_numbers(self) -> Floats:
        numbers = [self.params[name] for name in ("delta", "warning", "clock", "least")]
        return np.array([*numbers, self.params["bound"] == "hoeffding", self.params["side"] == "both"], np.float64)

    @property
    def width(self) -> int:
        """The number of values in the window."""
        return int(self.state[WIDTH])

    @property
    def mean(self) -> float:
        """The mean of the values in the window."""
        return float(self.state[TOTAL] / max(self.state[WIDTH], 1.0))

    def buckets(self) -> list[int]:
        """The sizes of the buckets, oldest first."""
        return [1 << size for size in reversed(range(SIZES)) for _ in range(int(self.state[COUNTS + size]))]

    def is_valid(self, state: Floats) -> bool:
        counts = state[COUNTS : COUNTS + SIZES]
        whole = np.isin(counts, np.arange(ROOM + 1)).all() and state[WARNED] in (0.0, 1.0)
        width = float((counts * 2.0 ** np.arange(SIZES)).sum())
        clock = 0.0 <= state[ROUNDS] < self.numbers[CLOCK]
        return bool(whole and clock and state[WIDTH] == width and (state[SUMS:END] >= 0.0).all())
