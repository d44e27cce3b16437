"""ADWIN: a window of the last values that grows while their mean stays the same and is cut where it has changed.

The window is an exponential histogram: buckets of 1, 2, 4, 8, ... values, at most ROOM of each size, of which only the
sum and the sum of squares are kept. A window of n values has about ROOM log2(n / ROOM) buckets.
"""

from math import log, sqrt
from typing import Any, ClassVar

import numpy as np

from noregret.data.settings import Setting, Settings, Words
from noregret.errors import BadValue
from noregret.metrics.detector import ALARM, STABLE, WARNING, Detector, Floats, Levels, Loop

ROOM = 5  # buckets of one size; one more, and the two oldest are merged
SIZES = 48  # sizes of buckets: 1, 2, 4, ... values
WIDTH, TOTAL, SQUARES, ROUNDS, WARNED, COUNTS = 0, 1, 2, 3, 4, 5  # places in the state; a count for every size follows
SUMS = COUNTS + SIZES  # the sums of the buckets, oldest first in every size
SQUARE_SUMS = SUMS + SIZES * (ROOM + 1)
END = SQUARE_SUMS + SIZES * (ROOM + 1)
DELTA, WARNING_DELTA, CLOCK, LEAST, HOEFFDING, BOTH = 0, 1, 2, 3, 4, 5  # places in the numbers


def adwin(numbers: Floats, state: Floats, values: Floats, levels: Levels) -> None:
    """Watch values up to the first alarm."""
    for i in range(values.size):
        insert(state, values[i])
        state[ROUNDS] += 1.0
        if state[ROUNDS] >= numbers[CLOCK]:
            state[ROUNDS] = 0.0
            risen = cut_window(numbers, state)
            state[WARNED] = 0.0
            if risen > 0 or (risen < 0 and numbers[BOTH] > 0.0):
                levels[i] = ALARM
                return
            if risen == 0 and find_cut(numbers, state, numbers[WARNING_DELTA]) > 0:
                state[WARNED] = 1.0
        levels[i] = WARNING if state[WARNED] > 0.0 else STABLE


def insert(state: Floats, value: Any) -> None:
    """Put a value into a bucket of its own; of any size with too many buckets, merge the two oldest."""
    state[WIDTH] += 1.0
    state[TOTAL] += value
    state[SQUARES] += value * value
    total, squares, size = value, value * value, 0
    while size < SIZES:
        count, first = int(state[COUNTS + size]), size * (ROOM + 1)
        state[SUMS + first + count] = total
        state[SQUARE_SUMS + first + count] = squares
        state[COUNTS + size] = count + 1.0
        if count < ROOM:
            return
        total = state[SUMS + first] + state[SUMS + first + 1]
        squares = state[SQUARE_SUMS + first] + state[SQUARE_SUMS + first + 1]
        remove_oldest(state, size, 2)
        size += 1
    state[WIDTH] -= 2.0**SIZES  # no room for a larger bucket: the oldest values are dropped
    state[TOTAL] -= total
    state[SQUARES] -= squares


def remove_oldest(state: Floats, size: int, removed: int) -> None:
    """Remove the oldest buckets of a size."""
    count, first = int(state[COUNTS + size]), size * (ROOM + 1)
    for at in range(first, first + count - removed):
        state[SUMS + at] = state[SUMS + at + removed]
        state[SQUARE_SUMS + at] = state[SQUARE_SUMS + at + removed]
    state[COUNTS + size] = float(count - removed)


def cut_window(numbers: Floats, state: Floats) -> int:
    """Drop old buckets until no two parts of the window differ; 1 if the mean rose, -1 if it fell, else 0."""
    first = found = find_cut(numbers, state, numbers[DELTA])
    while found != 0:
        size = largest_size(state)
        at = size * (ROOM + 1)
        state[WIDTH] -= 2.0**size
        state[TOTAL] -= state[SUMS + at]
        state[SQUARES] -= state[SQUARE_SUMS + at]
        remove_oldest(state, size, 1)
        found = find_cut(numbers, state, numbers[DELTA])
    return first


def largest_size(state: Floats) -> int:
    """The size of the oldest bucket."""
    size = SIZES - 1
    while size > 0 and state[COUNTS + size] == 0.0:
        size -= 1
    return size


def find_cut(numbers: Floats, state: Floats, delta: Any) -> int:
    """Whether the means of an older and a newer part of the window differ: 1 if the newer is larger, -1 if smaller."""
    width = state[WIDTH]
    if width < 2.0 * numbers[LEAST]:
        return 0
    mean = state[TOTAL] / width
    variance = max(state[SQUARES] / width - mean * mean, 0.0)
    if numbers[HOEFFDING] > 0.0:
        confidence = log(4.0 * width / delta)
    else:
        confidence = log(2.0 * max(log(width), 1.0) / delta)
    older, older_sum, size = 0.0, 0.0, largest_size(state)
    while size >= 0:
        for k in range(int(state[COUNTS + size])):
            older += 2.0**size
            older_sum += state[SUMS + size * (ROOM + 1) + k]
            newer = width - older
            if newer < numbers[LEAST]:
                return 0
            if older >= numbers[LEAST]:
                rise = (state[TOTAL] - older_sum) / newer - older_sum / older
                inverse = 1.0 / older + 1.0 / newer
                if numbers[HOEFFDING] > 0.0:
                    allowed = sqrt(0.5 * inverse * confidence)
                else:
                    allowed = sqrt(2.0 * inverse * variance * confidence) + 2.0 / 3.0 * inverse * confidence
                if abs(rise) >= allowed:
                    return 1 if rise > 0.0 else -1
        size -= 1
    return 0


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
