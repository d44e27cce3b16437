"""Time contestants in turn, and collect the figures in rows and tables."""

import gc
import hashlib
import os
import platform
import statistics
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

Act = Callable[[], object]
Prepare = Callable[[], Act]
Times = dict[str, list[float]]

COLUMNS = ("work", "noregret", "peer", "figure", "target", "")


@dataclass(frozen=True)
class Row:
    """One figure beside its target; a figure of None means that the peer could not be measured."""

    work: str
    ours: str
    peer: str
    figure: float | None
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    seconds: Times = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        if self.figure is None or (self.at_least is None and self.at_most is None):
            return None
        over = self.at_least is None or self.figure >= self.at_least
        under = self.at_most is None or self.figure <= self.at_most
        return over and under

    def cells(self) -> tuple[str, ...]:
        """The row as the table shows it."""
        target = ""
        if self.at_least is not None:
            target = f">= {self.at_least:g} {self.unit}"
        if self.at_most is not None:
            target = f"<= {self.at_most:g} {self.unit}"
        figure = "-" if self.figure is None else f"{self.figure:.3g} {self.unit}"
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        return (self.work, self.ours, self.peer, figure, target, verdict)


def in_turn(contestants: Mapping[str, Prepare], repeats: int, clock: Callable[[], float] = perf_counter) -> Times:
    """Time every contestant `repeats` times, in turn, so that slow phases of the machine affect all of them.

    A contestant prepares (a fresh learner, say) outside the clock and returns what is timed.
    """
    times: Times = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, prepare in contestants.items():
            act = prepare()
            gc.collect()
            gc.disable()
            start = clock()
            act()
            times[name].append(clock() - start)
            gc.enable()
    return times


def best(times: Times, name: str) -> float:
    return min(times[name])


def missing(work: str, ours: str, peer: str, unit: str, at_least: float, times: Times) -> Row:
    """The row of a peer that is not on this machine."""
    return Row(work, ours, f"{peer}: not installed", None, unit, at_least=at_least, seconds=times)


def rate(rows: int, seconds: float) -> str:
    return f"{rows / seconds / 1e6:.2f} M rows/s"


def micros(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us"


def installed(package: str) -> str | None:
    """The version of a package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """The processor's name as the system gives it."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def two_threads() -> float:
    """How much more hashing two threads do than one in the same time: 2 on two free cores."""
    block = bytes(32 << 20)

    def hashing() -> None:
        hashlib.sha256(block).digest()

    def both() -> None:
        other = threading.Thread(target=hashing)
        other.start()
        hashing()
        other.join()

    times = in_turn({"one": lambda: hashing, "two": lambda: both}, repeats=5)
    return 2.0 * best(times, "one") / best(times, "two")


def machine() -> str:
    """The line that says what the figures were measured on."""
    return (
        f"{os.cpu_count()} CPUs, {processor()}, Python {platform.python_version()}; "
        f"two threads do {two_threads():.2f} times the work of one"
    )


def show(title: str, rows: Sequence[Row]) -> None:
    """Print a table: drawn on a terminal, plain lines elsewhere."""
    cells = [row.cells() for row in rows]
    if sys.stdout.isatty():
        table = Table(*COLUMNS, title=title, title_justify="left")
        for row in cells:
            table.add_row(*row, style="red" if row[-1] == "MISSED" else None)
        Console().print(table)
        return
    print(f"\n{title}")
    for line in plain(cells):
        print(line)


def plain(cells: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The table's lines, in columns."""
    table = [COLUMNS, *cells]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def record(row: Row) -> dict[str, object]:
    """The row as results.json keeps it."""
    return {
        "work": row.work,
        "ours": row.ours,
        "peer": row.peer,
        "figure": row.figure,
        "unit": row.unit,
        "at_least": row.at_least,
        "at_most": row.at_most,
        "met": row.met,
        "best_s": {name: min(seconds) for name, seconds in row.seconds.items()},
        "median_s": {name: statistics.median(seconds) for name, seconds in row.seconds.items()},
    }
