"""The judge of a block of lines in which something is wrong: what, and where."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from noregret.errors import BadValue
from noregret.streams.columns import (
    BLANKS,
    NUMBER,
    arrow,
    left_open,
    split,
    wrong_label,
    wrong_number,
    wrong_query,
    wrong_time,
    wrong_weight,
)
from noregret.streams.tables import Columns, Table


class Judge:
    """Reads a block in which something is wrong: names the first bad row, or leaves all of them out."""

    def __init__(self, table: Table, name: str, skip: bool) -> None:
        self.table, self.layout, self.name, self.skip = table, table.layout, name, skip
        self.skipped = 0

    def columns(self, block: bytes, first: int) -> tuple[Columns, np.ndarray]:
        """The columns of the good rows of a block, and the lines they stand on."""
        table, lines, bad = self.text(block, first)
        trimmed = {place: trim(column) for place, column in enumerate(table.columns)}
        for place in self.layout.numeric:
            share = self.layout.shares.get(place)
            for row in unfit(trimmed[place]):
                why = wrong_number(trimmed[place][row].as_py(), share)
                bad.setdefault(int(lines[row]), f"column {self.layout.columns[place]!r}: {why}")
        if self.layout.label is not None and self.table.labelled:
            cells = trimmed[self.layout.label].to_pylist()
            wrong = {cell: wrong_label(cell or "", self.table.targets) for cell in set(cells)}
            for row in [row for row, cell in enumerate(cells) if wrong[cell]]:
                bad.setdefault(int(lines[row]), str(wrong[cells[row]]))
        for role, wrong_cell in self.asides():
            for row, cell in enumerate(trimmed[role].to_pylist()):
                why = wrong_cell(cell)
                if why:
                    bad.setdefault(int(lines[row]), f"column {self.layout.columns[role]!r}: {why}")
        if bad and not self.skip:
            line = min(bad)
            raise BadValue(f"{self.name}:{line}: {bad[line]}")
        self.skipped = len(bad)
        keep = ~np.isin(lines, list(bad))
        exact, mask = self.table.exact(), arrow().array(keep)
        columns = {place: one.filter(mask) for place, one in trimmed.items()}
        typed = {
            place: one.cast(arrow().float64())
            if place in exact
            else one
            if place in self.layout.words
            else one.dictionary_encode()
            for place, one in columns.items()
        }
        return self.table.gathered(typed, int(keep.sum())), lines[keep]

    def asides(self) -> list[tuple[int, Callable[[str | None], str | None]]]:
        """The columns that hold no features and no label, and what may be wrong in them."""
        roles = self.layout.roles
        found: list[tuple[int, Callable[[str | None], str | None]]] = []
        if roles.weight is not None:
            found.append((roles.weight, wrong_weight))
        if roles.query is not None:
            found.append((roles.query, wrong_query))
        if roles.timestamp is not None:
            found.append((roles.timestamp, partial(wrong_time, timed=self.layout.timed)))
        return found

    def text(self, block: bytes, first: int) -> tuple[Any, np.ndarray, dict[int, str]]:
        """The cells of all rows of the right length, as text; their lines; and what is wrong with the others."""
        good: list[bytes] = []
        lines: list[int] = []
        bad: dict[int, str] = {}
        for line, raw in enumerate(block.split(b"\n"), first):
            raw = raw.removesuffix(b"\r")
            why = self.broken(raw) if raw else None
            if why:
                bad[line] = why
            elif raw:
                good.append(raw)
                lines.append(line)
        words = arrow().string()
        if good:
            table = self.table.parsed(b"\n".join(good), [words] * len(self.layout.columns))
        else:
            table = arrow().table({name: arrow().array([], words) for name in self.layout.columns})
        return table, np.array(lines, np.int64), bad

    def broken(self, raw: bytes) -> str | None:
        """Why a line is no row of this table."""
        try:
            line = raw.decode()
        except UnicodeDecodeError as error:
            return f"byte {error.start + 1} of the line is not text in UTF-8"
        if "\r" in line:
            return "a carriage return stands in the middle of the line; a line ends in a line feed, and is a row"
        if '"' in line and left_open(line, self.layout.delimiter):
            return "a quote opens a cell and never closes; a row is one line, and a quote inside a cell is doubled"
        quoted = '"' in line
        cells = len(split(line, self.layout.delimiter)) if quoted else line.count(self.layout.delimiter) + 1
        expected = len(self.layout.columns)
        return None if cells == expected else f"the row has {cells} cells; expected {expected}, one for every column"


def trim(column: Any) -> Any:
    compute = arrow(".compute")
    cells = compute.utf8_trim(column.combine_chunks(), characters=BLANKS)
    return compute.if_else(compute.equal(cells, ""), arrow().scalar(None, arrow().string()), cells)


def unfit(cells: Any) -> list[int]:
    """The rows whose cell is neither a finite number nor empty."""
    compute = arrow(".compute")
    numbers = compute.match_substring_regex(cells, NUMBER)
    values = compute.if_else(numbers, cells, arrow().scalar(None, arrow().string())).cast(arrow().float64())
    words = compute.fill_null(compute.invert(numbers), False)
    endless = compute.fill_null(compute.is_inf(values), False)
    return [int(row) for row in np.flatnonzero(np.asarray(words) | np.asarray(endless))]
