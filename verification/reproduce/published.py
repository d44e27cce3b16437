"""Published numbers as they are printed, and when a number of ours agrees with one of them."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Figure(NamedTuple):
    """A mean, its standard deviation over the runs (0 where none is known), and half a unit of its last digit."""

    mean: float
    deviation: float = 0.0
    rounding: float = 0.0

    def shown(self, digits: int) -> str:
        around = f" ± {self.deviation:.{digits}f}" if self.deviation > 0.0 else ""
        return f"{self.mean:.{digits}f}{around}"


def figure(text: str) -> Figure:
    """What `.332+-.012` or `412.4` stands for."""
    mean, _, deviation = text.partition("+-")
    try:
        return Figure(float(mean), float(deviation or 0.0), half_a_unit(mean))
    except ValueError:
        raise ValueError(f"{text!r} is no figure: those are written .332+-.012 or 412.4") from None


def half_a_unit(text: str) -> float:
    """What rounding may have taken from a number printed so."""
    _, dot, digits = text.partition(".")
    return 0.5 * 10.0 ** -len(digits) if dot else 0.5


def table(text: str) -> dict[str, list[Figure]]:
    """Lines of a name and its figures."""
    rows: dict[str, list[Figure]] = {}
    for line in text.strip().splitlines():
        name, *cells = line.split()
        if name in rows:
            raise ValueError(f"{name} stands twice in a published table")
        rows[name] = [figure(cell) for cell in cells]
    widths = {len(cells) for cells in rows.values()}
    if len(widths) > 1:
        raise ValueError(f"the lines of a published table have {min(widths)} to {max(widths)} figures")
    return rows


def measured(values: Sequence[float]) -> Figure:
    """The mean of some runs and their standard deviation."""
    return Figure(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0)


def within_two_deviations(published: Figure, ours: Figure) -> bool:
    """By two of the larger of both deviations, and what the print rounded off."""
    allowed = 2.0 * max(published.deviation, ours.deviation) + published.rounding
    return abs(published.mean - ours.mean) <= allowed + 1e-12


def within_scatter(published: Figure, ours: Figure, runs: int) -> bool:
    """By two standard errors of the difference between two means of so many runs."""
    error = math.hypot(published.deviation, ours.deviation) / math.sqrt(runs)
    return abs(published.mean - ours.mean) <= 2.0 * error + published.rounding
