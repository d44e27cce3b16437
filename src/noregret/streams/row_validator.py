"""The row validator: reads a block of lines that the fast parsers gave up on, and finds the rows that are invalid."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue
from noregret.features.cells import BLANKS, NUMBER
from noregret.streams.columns import (
    arrow,
    has_open_quote,
    label_fault,
    moment_fault,
    number_fault,
    query_fault,
    spelled_fault,
    split_cells,
    time_fault,
    weight_fault,
)
from noregret.streams.table_parser import Columns, TableParser

CheckCell = Callable[[str | None], str | None]  # returns why a cell cannot be used, or None


class RowValidator:
    """Reads a block line by line: raises an error for the first invalid row, or leaves invalid rows out."""

    def __init__(self, parser: TableParser, name: str, skip: bool) -> None:
        self.parser, self.layout, self.name, self.skip = parser, parser.layout, name, skip
        self.skipped = 0

    def validate(self, block: bytes, first: int) -> tuple[Columns, NDArray[np.int64]]:
        """Return the columns of the valid rows of a block, and their line numbers; the block begins at line `first`."""
        table, lines, bad = self.split_rows(block, first)
        trimmed = {index: trim(column, self.parser.missing) for index, column in enumerate(table.columns)}
        self.check_cells(trimmed, lines, bad)
        if bad and not self.skip:
            line = min(bad)
            raise BadValue(f"{self.name}:{line}: {bad[line]}")
        self.skipped = len(bad)
        keep = ~np.isin(lines, list(bad))
        mask = arrow().array(keep)
        columns = {index: self.convert(index, column.filter(mask)) for index, column in trimmed.items()}
        return self.parser.combine_columns(columns, int(keep.sum())), lines[keep]

    def check_cells(self, columns: dict[int, Any], lines: NDArray[np.int64], bad: dict[int, str]) -> None:
        """Add the faults of single cells to `bad`, by line; the first fault of a line counts."""
        for index in self.layout.numeric:
            share = self.layout.number_shares.get(index)
            for row in find_invalid_numbers(columns[index]):
                why = number_fault(columns[index][row].as_py(), share)
                bad.setdefault(int(lines[row]), f"column {self.layout.columns[index]!r}: {why}")
        if self.layout.label is not None and self.parser.labelled:
            cells = columns[self.layout.label].to_pylist()
            faults = {cell: label_fault(cell or "", self.parser.targets) for cell in set(cells)}
            for row in [row for row, cell in enumerate(cells) if faults[cell]]:
                which = f"column {self.layout.columns[self.layout.label]!r}: " if not (cells[row] or "").strip() else ""
                hint = "; --label names another column" if which else ""
                bad.setdefault(int(lines[row]), f"{which}{faults[cells[row]]}{hint}")
        spelled: list[tuple[int, CheckCell]] = [(index, spelled_fault) for index in self.layout.spelled]
        times: list[tuple[int, CheckCell]] = [(index, moment_fault) for index in self.layout.times]
        for role, check in [*self.role_checks(), *spelled, *times]:
            for row, cell in enumerate(columns[role].to_pylist()):
                why = check(cell)
                if why:
                    bad.setdefault(int(lines[row]), f"column {self.layout.columns[role]!r}: {why}")

    def convert(self, index: int, column: Any) -> Any:
        """Convert a column of text to the type that the fast parsers give it."""
        if index in self.parser.numeric_columns():
            return column.cast(arrow().float64())
        return column if index in self.layout.texts else column.dictionary_encode()

    def role_checks(self) -> list[tuple[int, CheckCell]]:
        """Return the columns of weight, query and time, each with its check."""
        roles = self.layout.roles
        checks: list[tuple[int, CheckCell]] = []
        if roles.weight is not None:
            checks.append((roles.weight, weight_fault))
        if roles.query is not None:
            checks.append((roles.query, query_fault))
        if roles.timestamp is not None:
            checks.append((roles.timestamp, partial(time_fault, numeric_times=self.layout.numeric_times)))
        return checks

    def split_rows(self, block: bytes, first: int) -> tuple[Any, NDArray[np.int64], dict[int, str]]:
        """Return the cells of all rows of the right length as text, their lines, and the faults of other lines."""
        good: list[bytes] = []
        lines: list[int] = []
        bad: dict[int, str] = {}
        for line, raw in enumerate(block.split(b"\n"), first):
            raw = raw.removesuffix(b"\r")
            why = self.line_fault(raw) if raw else None
            if why:
                bad[line] = why
            elif raw:
                good.append(raw)
                lines.append(line)
        text = arrow().string()
        if good:
            table = self.parser.read_csv(b"\n".join(good), [text] * len(self.layout.columns))
        else:
            table = arrow().table({name: arrow().array([], text) for name in self.layout.columns})
        return table, np.array(lines, np.int64), bad

    def line_fault(self, raw: bytes) -> str | None:
        """Return why a line is not a row of this table, or None if it is."""
        try:
            line = raw.decode()
        except UnicodeDecodeError as error:
            return f"byte {error.start + 1} of the line is not text in UTF-8; name its --encoding, as in latin-1"
        if "\r" in line:
            return "there is a carriage return in the middle of the line; a row is one line and ends in a line feed"
        if '"' in line and has_open_quote(line, self.layout.delimiter):
            return "a quote opens a cell and never closes; a row is one line, and a quote inside a cell is doubled"
        quoted = '"' in line
        cells = len(split_cells(line, self.layout.delimiter)) if quoted else line.count(self.layout.delimiter) + 1
        expected = len(self.layout.columns)
        return None if cells == expected else f"the row has {cells} cells; expected {expected}, one for every column"


def trim(column: Any, missing: Sequence[str] = ()) -> Any:
    """Remove the blanks around cells; empty cells, and marks of missing values, become null."""
    compute = arrow(".compute")
    cells = compute.utf8_trim(column.combine_chunks(), characters=BLANKS)
    empty = compute.is_in(cells, arrow().array(["", *missing]))
    return compute.if_else(empty, arrow().scalar(None, arrow().string()), cells)


def find_invalid_numbers(cells: Any) -> list[int]:
    """Return the rows whose cell is neither a finite number nor empty."""
    compute = arrow(".compute")
    numbers = compute.match_substring_regex(cells, NUMBER)
    values = compute.if_else(numbers, cells, arrow().scalar(None, arrow().string())).cast(arrow().float64())
    words = compute.fill_null(compute.invert(numbers), False)
    infinite = compute.fill_null(compute.is_inf(values), False)
    return [int(row) for row in np.flatnonzero(np.asarray(words) | np.asarray(infinite))]
