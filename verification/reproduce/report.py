"""Rows of a published table beside ours, as lines, as a page, as JSON; and what they say of each learner."""

import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

AGREES, DEPARTS, MISS, NOT_RUN = "agrees", "departs", "MISS", "not run"
COLUMNS = ("published as", "learner", "published", "here", "verdict", "remark")
PATIENCE = 2.0


@dataclass(frozen=True)
class Row:
    """One published result beside ours. `departs` is for what differs for a reason that the remark gives."""

    what: str
    learner: str
    published: str
    ours: str
    verdict: str
    remark: str = ""

    def cells(self) -> tuple[str, ...]:
        return (self.what, self.learner, self.published, self.ours, self.verdict, self.remark)


@dataclass(frozen=True)
class Table:
    """A published table computed again: where it stands, by which protocol, and how long that took."""

    title: str
    source: str
    protocol: str
    rows: list[Row]
    seconds: float = 0.0
    only: str = ""  # what the command line calls it
    date: str = ""

    @property
    def command(self) -> str:
        return f"python -m verification.reproduce --only {self.only}"


@dataclass(frozen=True)
class Result:
    """What one published table says of a learner."""

    source: str
    what: str
    verdict: str
    remark: str


def reproduced(tables: Iterable[Table]) -> dict[str, list[Result]]:
    """For every learner the published results it was held against, in the order of the tables."""
    found: dict[str, list[Result]] = {}
    for table in tables:
        for row in filter(lambda row: row.learner, table.rows):
            found.setdefault(row.learner, []).append(Result(table.source, row.what, row.verdict, row.remark))
    return found


def summary(results: Iterable[Result]) -> str:
    """What a learner's results come to: agrees if any agrees and none is a miss."""
    verdicts = [result.verdict for result in results]
    for verdict in (MISS, AGREES, DEPARTS, NOT_RUN):
        if verdict in verdicts:
            return verdict
    return ""


# ---- keeping ---------------------------------------------------------------------------------------------------------


def write(tables: Sequence[Table], path: Path, about: dict[str, Any]) -> None:
    path.write_text(json.dumps({**about, "tables": [asdict(table) for table in tables]}, indent=2) + "\n")


def read(path: Path) -> list[Table]:
    """The tables that `write` kept."""
    kept = json.loads(path.read_text())["tables"]
    return [Table(**{**table, "rows": [Row(**row) for row in table["rows"]]}) for table in kept]


# ---- showing ---------------------------------------------------------------------------------------------------------


def how(table: Table, before: Table | None) -> str:
    """Where a table stands and how it is computed, if that was not just said."""
    told = (table.source, table.protocol)
    return "As above." if before and told == (before.source, before.protocol) else f"{told[0]}. {told[1]}"


def lines(table: Table, before: Table | None = None) -> Iterator[str]:
    """The table in columns, the remarks below their rows."""
    yield f"{table.title} ({table.seconds:.0f} s)"
    yield from textwrap.wrap(how(table, before), 118, initial_indent="  ", subsequent_indent="  ")
    cells = [COLUMNS[:-1], *(row.cells()[:-1] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    remarks = ["", *(row.remark for row in table.rows)]
    for line, remark in zip(cells, remarks, strict=True):
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        yield from textwrap.wrap(remark, 110, initial_indent=" " * 6, subsequent_indent=" " * 6)


def section(table: Table, before: Table | None = None) -> str:
    """The table as a part of a page."""
    head = [
        f"## {table.title}",
        "",
        *textwrap.wrap(how(table, before), 118, break_on_hyphens=False),
        "",
        f"`{table.command}`, {table.date}, {table.seconds:.0f} s.",
        "",
    ]
    body = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    body += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row.cells()) + " |" for row in table.rows]
    return "\n".join([*head, *body]) + "\n"


def count(tables: Iterable[Table]) -> dict[str, int]:
    """How many rows have which verdict."""
    verdicts = [row.verdict for table in tables for row in table.rows]
    return {verdict: verdicts.count(verdict) for verdict in (AGREES, DEPARTS, MISS, NOT_RUN)}


@dataclass
class Progress:
    """Says on standard error how far a long computation is: at most once in two seconds, never of a short one."""

    of: str
    steps: int
    done: int = 0
    last: float = field(default_factory=perf_counter)

    def step(self, what: str) -> None:
        self.done += 1
        now = perf_counter()
        if now - self.last >= PATIENCE:
            self.last = now
            print(f"{self.of}: {self.done} of {self.steps} done ({what})", file=sys.stderr, flush=True)
