"""docs/benchmarks.md and its chart: the tables are written into the page, and the chart is drawn from the page."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from benchmarks.chart import Cells, draw
from benchmarks.measure import COLUMNS, Row

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
CHART = PAGE.with_suffix(".png")

PREFACE = """# Benchmarks

Speed and memory of noregret beside scikit-learn, River and Vowpal Wabbit, each with the target we set ourselves; missed
targets are listed as well. `make bench` measures all of it on your machine.

![how many times as fast as each peer](benchmarks.png)

The data are generated from a seed. All contestants run in one process and take turns; the best of several turns counts.
A figure in x is a ratio of times: the peer's time over ours where the target is a minimum (>=), ours over the peer's
where it is a maximum (<=).

{measured}
"""


class Section(NamedTuple):
    """One benchmark: its title, its rows, and what should be said about them."""

    title: str
    rows: Sequence[Row]
    note: str = ""


def describe_run(command: str, where: str, versions: Mapping[str, str]) -> str:
    """When, how and where figures were measured."""
    packages = ", ".join(f"{package} {number}" for package, number in versions.items())
    return f"Measured on {date.today().isoformat()} by `{command}` on {where}.\n{packages}."


def compose(sections: Sequence[Section], measured: str) -> str:
    """The whole page, all of it from one run."""
    return "\n".join([PREFACE.format(measured=measured), *(compose_section(section) for section in sections)])


def compose_section(section: Section, measured: str = "") -> str:
    """A section of the page; one that was measured by itself says when and where."""
    table = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    table += ["| " + " | ".join(row.cells()) + " |" for row in section.rows]
    parts = [f"## {section.title}", measured, "\n".join(table), section.note]
    return "\n\n".join(part for part in parts if part) + "\n"


def replace_sections(page: str, sections: Sequence[Section], measured: str) -> str:
    """The page with some sections replaced, by their titles, or added at the end."""
    head, *parts = page.split("\n## ")
    fresh = {section.title: compose_section(section, measured).removeprefix("## ") for section in sections}
    kept = [fresh.pop(part.partition("\n")[0], part) for part in parts]
    return "\n## ".join([head, *(part.rstrip("\n") + "\n" for part in [*kept, *fresh.values()])])


def read_rows(page: str) -> list[Cells]:
    """The rows of all tables of the page, as their cells."""
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    cells = [tuple(cell.strip() for cell in line[1:-1].split(" | ")) for line in lines]
    return [row for row in cells if row != COLUMNS]


def write(page: str) -> bool:
    """Write the page and draw its chart; returns False where matplotlib is missing, and then writes neither."""
    if not draw(read_rows(page), CHART):
        return False
    PAGE.write_text(page)
    return True
