"""Parses blocks of lines of a table into columns.

The fast parsers read a whole block at once and give up at the first problem: a row of another length, a cell that is
not a number, an empty line. Large tables are parsed by compiled code, other tables and those with quotes by pyarrow,
with the same result. A pass over a table of numbers, learning included, takes pyarrow 2.6 times as long (6 columns of
text among 14: 1.4 times; only text: as long); `benchmarks/tables.py` measures it. A block that both give up on is read
line by line by `row_validator`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.features.cells import BLANKS
from noregret.streams.columns import (
    Layout,
    arrow,
    has_open_quote,
    label_fault,
    moment_fault,
    parse_times,
    spelled_fault,
)
from noregret.streams.number_text import NEWLINE, PAD
from noregret.streams.read_options import DEFAULTS, ReadOptions

MAX_TEXT_COLUMNS = 64  # with more columns of text, the compiled parser would need too much memory


@dataclass
class Columns:
    """The columns of a block, by what they are.

    `numbers` has a column for every numeric column of the table, with NaN for empty cells. `cells` holds the columns of
    categories, labels and queries as dictionary arrays, and those of free text as strings, by column number; an empty
    cell is null or "". `list_offsets` says where the elements of each row begin, in columns of lists.
    """

    numbers: NDArray[np.float64]
    cells: dict[int, Any]
    targets: NDArray[np.float64] | None = None
    weight: NDArray[np.float64] | None = None
    times: NDArray[np.float64] | None = None
    list_offsets: dict[int, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(self.numbers)

    def select(self, keep: NDArray[np.bool_]) -> "Columns":
        """Return only the rows marked by `keep`."""
        parts = (self.targets, self.weight, self.times)
        targets, weight, times = (None if part is None else part[keep] for part in parts)
        cells, list_offsets = {}, {}
        for index, column in self.cells.items():
            kept = keep
            if index in self.list_offsets:
                sizes = np.diff(self.list_offsets[index])
                kept = np.repeat(keep, sizes)
                list_offsets[index] = np.concatenate(([0], np.cumsum(sizes[keep])))
            cells[index] = column.filter(arrow().array(kept))
        return Columns(self.numbers[keep], cells, targets, weight, times, list_offsets)


class CompiledResult(NamedTuple):
    """What the compiled parser made of a block: columns or None, the number of lines, and whether it failed.

    Blocks with quotes have no columns, but do not count as failures.
    """

    columns: Columns | None
    lines: int
    failed: bool


class TableParser:
    """Parses blocks of lines into columns; returns None for a block that needs a closer look."""

    def __init__(self, layout: Layout, options: ReadOptions = DEFAULTS) -> None:
        self.layout, self.labelled, self.targets = layout, options.labelled, options.targets
        self.missing = options.missing
        # An empty line is no row, which only a second column shows; and every column of text needs memory.
        self.can_compile = len(layout.columns) > 1 and len(layout.categories) <= MAX_TEXT_COLUMNS

    # ---- compiled -----------------------------------------------------------------------------------------------

    def parse_compiled(self, buffer: NDArray[np.uint8], end: int, compiled: Callable[..., None]) -> CompiledResult:
        """Parse the lines in buffer[:end], which has room behind, with the compiled parser."""
        from noregret.streams import csv_text as text

        numeric = np.isin(np.arange(len(self.layout.columns)), self.numeric_columns()).astype(np.int8)
        buffer[end : end + PAD] = NEWLINE
        table = np.zeros(text.SLOTS, np.int64)
        table[text.END], table[text.DELIMITER], table[text.COUNT_ONLY] = end, ord(self.layout.delimiter), 1
        compiled(table, buffer, text.allocate(numeric, 0, 0))
        count = int(table[text.ROWS])
        if table[text.UNSUPPORTED]:
            return CompiledResult(None, count, failed=False)
        table[text.COUNT_ONLY], out = 0, text.allocate(numeric, end, count)
        compiled(table, buffer, out)
        if table[text.ROWS] != count:
            return CompiledResult(None, count, failed=True)
        columns = self.convert_compiled(numeric, out, count)
        return CompiledResult(columns, count, failed=columns is None)

    def convert_compiled(self, numeric: NDArray[np.int8], out: Any, count: int) -> Columns | None:
        """Convert the output of the compiled parser; None if a text is not UTF-8, or a time is invalid."""
        pa, numbers = arrow(), out.val.reshape(count, int(numeric.sum()))
        cells = {}
        for index, ends, text in zip(np.flatnonzero(numeric == 0).tolist(), out.ends, out.text, strict=True):
            column = pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(text))
            try:
                column.validate(full=True)
            except pa.ArrowInvalid:
                return None
            cells[index] = column if index in self.layout.texts else column.dictionary_encode()
        try:
            return self.assign_roles(numbers, cells)
        except pa.ArrowInvalid:
            return None

    # ---- pyarrow ------------------------------------------------------------------------------------------------

    def parse_arrow(self, block: bytes, count: int) -> Columns | None:
        """Parse a block of so many lines with pyarrow."""
        if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
            return None
        pa, numeric = arrow(), self.numeric_columns()
        kinds = [pa.dictionary(pa.int32(), pa.string())] * len(self.layout.columns)
        for index in self.layout.texts:
            kinds[index] = pa.string()
        for index in numeric:
            kinds[index] = pa.float64()
        try:
            table = self.read_csv(block, kinds)
        except pa.ArrowInvalid:
            return None
        columns = [column.combine_chunks() for column in table.columns]
        # An open quote joins several lines to one row, which the count shows, unless it is in the last line.
        last = block[block.rfind(b"\n", 0, -1) + 1 :] if b'"' in block else b""
        if has_open_quote(last.decode(errors="replace"), self.layout.delimiter):
            return None
        if table.num_rows != count or not all(is_finite(columns[index]) for index in numeric):
            return None
        try:
            result = self.combine_columns(dict(enumerate(columns)), count)
        except pa.ArrowInvalid:
            return None
        return result if self.is_valid(result) else None

    def read_csv(self, block: bytes, kinds: list[Any]) -> Any:
        """Read a block as a table of pyarrow with columns of the given types."""
        names, csv = self.layout.columns, arrow(".csv")
        return csv.read_csv(
            arrow().BufferReader(block),
            csv.ReadOptions(column_names=names, block_size=len(block) + 1, use_threads=False),
            csv.ParseOptions(delimiter=self.layout.delimiter),
            csv.ConvertOptions(
                column_types=dict(zip(names, kinds, strict=True)),
                null_values=["", *self.missing],
                strings_can_be_null=True,
            ),
        )

    def combine_columns(self, columns: dict[int, Any], rows: int) -> Columns:
        """Convert columns of pyarrow, by number, to `Columns`."""
        numeric = self.numeric_columns()
        numbers = np.empty((rows, len(numeric)))
        for at, index in enumerate(numeric):
            numbers[:, at] = columns[index].to_numpy(zero_copy_only=False)
        return self.assign_roles(numbers, {index: one for index, one in columns.items() if index not in numeric})

    # ---- roles and checks ---------------------------------------------------------------------------------------

    def assign_roles(self, numbers: NDArray[np.float64], cells: dict[int, Any]) -> Columns:
        """Separate targets, weights and times from the numeric columns."""
        numeric, roles = self.numeric_columns(), self.layout.roles
        others = {
            index: numbers[:, numeric.index(index)].copy() for index in numeric if index not in self.layout.numeric
        }
        if others:
            numbers = numbers[:, [at for at, index in enumerate(numeric) if index not in others]]
        times = None if roles.timestamp is None else others.get(roles.timestamp)
        if roles.timestamp is not None and times is None:
            times = parse_times(cells[roles.timestamp].cast(arrow().string()))
        targets = None if roles.label is None else others.get(roles.label)
        return Columns(numbers, cells, targets, None if roles.weight is None else others[roles.weight], times)

    def numeric_columns(self) -> list[int]:
        """Return the numbers of all columns read as numbers, in order."""
        roles = self.layout.roles
        others = (
            roles.label if self.targets and self.labelled else None,
            roles.weight,
            roles.timestamp if self.layout.numeric_times else None,
        )
        return sorted([*self.layout.numeric, *(index for index in others if index is not None)])

    def is_valid(self, columns: Columns) -> bool:
        """Return whether all labels, weights, times and queries can be used."""
        return (
            self.labels_valid(columns)
            and weights_valid(columns)
            and self.queries_valid(columns)
            and not any(spelled_fault(cell) for at in self.layout.spelled for cell in distinct_cells(columns.cells[at]))
            and not any(moment_fault(cell) for at in self.layout.times for cell in distinct_cells(columns.cells[at]))
        )

    def labels_valid(self, columns: Columns) -> bool:
        """Return whether every row has a label that can be used."""
        label = self.layout.label
        if label is None or not self.labelled:
            return True
        if columns.targets is not None:
            return not bool(np.isnan(columns.targets).any())
        column = columns.cells[label]
        return not column.null_count and not any(label_fault(cell, False) for cell in distinct_cells(column))

    def queries_valid(self, columns: Columns) -> bool:
        """Return whether every row has a query."""
        index = self.layout.roles.query
        return index is None or not (columns.cells[index].null_count or "" in distinct_cells(columns.cells[index]))


def weights_valid(columns: Columns) -> bool:
    """Return whether all weights and times are finite, and no weight is negative."""
    parts = [part for part in (columns.weight, columns.times) if part is not None]
    finite = all(bool(np.isfinite(part).all()) for part in parts)
    return finite and (columns.weight is None or bool((columns.weight >= 0.0).all()))


def distinct_cells(column: Any) -> list[str]:
    """Return the distinct texts of a dictionary array, without the blanks around them."""
    return [cell.strip(BLANKS) for cell in column.dictionary.to_pylist()]


def is_finite(column: Any) -> bool:
    """Return whether all numbers of a column are finite; empty cells, which become NaN, do not count."""
    values = column.to_numpy(zero_copy_only=False)
    return all_finite(values) or int(np.count_nonzero(~np.isfinite(values))) == column.null_count
