"""Drift detectors written as their papers tell them, with all values kept."""

from math import log, sqrt
from typing import Any

import numpy as np


class NaiveAdwin:
    """ADWIN with the values of every bucket in a list; buckets are newest first."""

    def __init__(self, delta: float, clock: int, least: int = 5, bound: str = "normal", room: int = 5) -> None:
        self.delta, self.clock, self.least, self.bound, self.room = delta, clock, least, bound, room
        self.buckets: list[list[float]] = []
        self.round = 0

    def allowed(self, older: int, newer: int, delta: float) -> float:
        n = older + newer
        m = 1.0 / (1.0 / older + 1.0 / newer)
        if self.bound == "hoeffding":
            return sqrt(1.0 / (2.0 * m) * log(4.0 / (delta / n)))
        variance = float(np.var([value for bucket in self.buckets for value in bucket]))
        share = delta / max(log(n), 1.0)
        return sqrt(2.0 / m * variance * log(2.0 / share)) + 2.0 / (3.0 * m) * log(2.0 / share)

    def find_cut(self, delta: float) -> int:
        values = [value for bucket in reversed(self.buckets) for value in bucket]  # oldest first
        at = 0
        for bucket in reversed(self.buckets):
            at += len(bucket)
            older, newer = values[:at], values[at:]
            if min(len(older), len(newer)) >= self.least:
                rise = float(np.mean(newer) - np.mean(older))
                if abs(rise) >= self.allowed(len(older), len(newer), delta):
                    return 1 if rise > 0 else -1
        return 0

    def see(self, value: float) -> int:
        """1 where the mean has risen, -1 where it has fallen, else 0."""
        self.buckets.insert(0, [value])
        size = 1
        while sum(len(bucket) == size for bucket in self.buckets) > self.room:
            oldest = [at for at, bucket in enumerate(self.buckets) if len(bucket) == size][-2:]
            merged = self.buckets[oldest[1]] + self.buckets[oldest[0]]  # oldest values first
            self.buckets[oldest[0] : oldest[1] + 1] = [merged]
            size *= 2
        self.round += 1
        if self.round % self.clock:
            return 0
        first = found = self.find_cut(self.delta)
        while found:
            self.buckets.pop()
            found = self.find_cut(self.delta)
        return first


def page_hinkley_level(values: Any, told: dict[str, float]) -> int:
    """The level of the last of the values since the last alarm: 0, 1 (warning) or 2 (alarm)."""
    sums = [0.0]
    for t, value in enumerate(values):
        sums.append(told["alpha"] * sums[-1] + value - float(np.mean(values[: t + 1])) - told["tolerance"])
    above = sums[-1] - min(sums)
    if len(values) < told["least"] or above <= told["warning"] * told["threshold"]:
        return 0
    return 2 if above > told["threshold"] else 1


def ddm_level(mistakes: Any, least: int) -> int:
    """The level of the last of the mistakes since the last alarm: 0, 1 (warning) or 2 (alarm)."""
    if len(mistakes) < least:
        return 0
    points = []
    for n in range(least, len(mistakes) + 1):
        p = sum(mistakes[:n]) / n
        points.append((p, sqrt(p * (1.0 - p) / n)))
    lowest = min(p + s for p, s in points)
    p_min, s_min = next((p, s) for p, s in reversed(points) if p + s == lowest)
    p, s = points[-1]
    return 2 if p + s > p_min + 3.0 * s_min else 1 if p + s > p_min + 2.0 * s_min else 0
