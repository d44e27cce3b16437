"""Running scaling, the obvious way: keep every value of the past and measure the next by them."""

import math
import statistics
from collections.abc import Iterable, Mapping


def scaled(rows: Iterable[Mapping[str, float]]) -> list[dict[str, float]]:
    """Each row by the mean and deviation of the rows before it."""
    past: dict[str, list[float]] = {}
    found = []
    for row in rows:
        found.append({name: measure(value, past.get(name, [])) for name, value in row.items()})
        for name, value in row.items():
            past.setdefault(name, []).append(value)
    return found


def measure(value: float, past: list[float]) -> float:
    if len(past) < 2 or max(past) == min(past):
        return 0.0
    score = (value - statistics.fmean(past)) / statistics.pstdev(past)
    farthest = math.sqrt(len(past))
    return min(max(score, -farthest), farthest)
