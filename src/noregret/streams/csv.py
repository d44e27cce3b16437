"""CSV files: tables with commas, semicolons, tabs or bars between the cells.

A column of numbers is one feature with the name of the column. A column of text makes a feature column=value of every
value, which is 1 in the rows that have it. An empty cell is a feature that the row does not have. The label is the
requested column, or else a column named label, target, class or y, or else the last one. Which columns hold numbers is
decided from the first megabyte; see `columns`. Blanks around a cell are ignored.

A row is one line: a quoted cell may contain the delimiter and doubled quotes, so that an open quote spoils one row and
not the rest of the file. Line breaks in quotes are read as blanks if the first megabyte has some and is sound. If the
first line contains a number, it is a row, and the columns are named c1, c2, ...
"""

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.errors import BadValue, shown
from noregret.features.cells import BLANKS, OTHER_DATES, is_number
from noregret.streams.column_kinds import (
    detect_types,
    has_decimal_commas,
    holds_fractions,
    holds_only,
    note_many_values,
    note_misfits,
)
from noregret.streams.column_roles import USUAL_LABELS, find_roles
from noregret.streams.columns import DELIMITERS, Layout, split_cells
from noregret.streams.files import TextFile, Unreadable
from noregret.streams.line_blocks import LONGEST, LineBlocks, parse_blocks
from noregret.streams.lines import add_line_number
from noregret.streams.prefetch import prefetch
from noregret.streams.read_options import TABLE_OPTIONS, ReadOptions
from noregret.streams.recoding import QuotedLines, join_quoted_lines
from noregret.streams.row_validator import RowValidator
from noregret.streams.source import Source, read_position
from noregret.streams.table_encoder import TableEncoder
from noregret.streams.table_parser import TableParser
from noregret.streams.timestamps import TimeOrder

SAMPLE, FEWEST = 1 << 20, 21  # the bytes, and the fewest lines, from which the types of the columns are detected
ROWS = 8192
MOST_COLUMNS = 1 << 20


class CountedBatch(NamedTuple):
    """A batch, with the rows skipped and the empty cells up to its end."""

    batch: Batch
    skipped: int
    empty: int


class Csv(Source):
    """The rows of a CSV file, read in blocks of lines; memory grows only with the number of features."""

    kind = "csv"
    accepts = TABLE_OPTIONS | {"encoding", "header", "labels_by", "numbers", "times"}
    learner_defaults: Mapping[str, Any] = MappingProxyType({"scale": True, "bias": True})

    def __init__(
        self, path: str, options: ReadOptions | None = None, block: int = 1 << 20, native: bool | None = None
    ) -> None:
        super().__init__()
        self.path, self.options, self.block = path, options or ReadOptions(), block
        self.native = native  # whether to use the compiled parser; None: only for large files
        self.name = "standard input" if path == "-" else path
        self.first_line = 1  # the line of the first row, once it is known

    def __iter__(self) -> Iterator[Batch]:
        self.begin()
        self.notes = []
        rows = empty = 0
        with contextlib.closing(
            prefetch(self.locate_errors(self.batches(TextFile(self.path, self.options.live, self.options.encoding))))
        ) as parts:
            for batch, skipped, cells in parts:
                rows, empty, self.skipped = rows + len(batch.X), cells, skipped
                if len(batch.X):
                    yield batch
        self.check_not_empty(rows)
        if empty:
            one = "1 empty cell was read as an absent feature"
            self.notes.append(one if empty == 1 else f"{empty:,} empty cells were read as absent features")

    def locate_errors(self, batches: Generator[CountedBatch, None, None]) -> Generator[CountedBatch, None, None]:
        """Yield the same batches; add the line number to errors of the file."""
        line = None
        with contextlib.closing(batches):
            try:
                for counted in batches:
                    position = counted.batch.position
                    line = line if position is None else position["line"]
                    yield counted
            except Unreadable as error:
                raise add_line_number(error, self.name, line or self.first_line) from None

    def batches(self, file: TextFile) -> Generator[CountedBatch, None, None]:
        """Yield the batches of a file, also those without rows, which count skipped rows."""
        source: Any = file
        try:
            head = self.read_head(file)
            joined, inside = join_quoted_lines(head, False)
            if joined != head and is_table(joined) and not (inside and len(head) < SAMPLE):
                self.notes.append("cells in quotes contain line breaks, read as blanks; line numbers count rows")
                head, source = joined, QuotedLines(file, inside)
            line, byte, layout = self.read_layout(head)
            if self.start is not None:
                line, byte = read_position(self.start, "line"), read_position(self.start, "byte")
            self.first_line = line
            blocks = LineBlocks(source, head, byte, self.block)
        except BaseException:
            file.close()
            raise
        parser, encoder, skipped = TableParser(layout, self.options), TableEncoder(layout, self.options), 0
        native = len(head) >= SAMPLE if self.native is None else self.native
        order = TimeOrder(self.options, self.start)
        with contextlib.closing(parse_blocks(blocks, parser, compile_parser() if native else None)) as parts:
            for part in parts:
                columns, lines = part.columns, np.arange(line, line + part.lines)
                if columns is None:
                    self.refuse_zero_bytes(part.text, line)
                    columns = parser.parse_arrow(part.text, part.lines)
                if columns is None:
                    validator = RowValidator(parser, self.name, self.options.lenient)
                    columns, lines = validator.validate(part.text, line)
                    skipped += validator.skipped
                if columns.times is not None:
                    keep = order.check(columns.times, lines, self.name)
                    columns, lines = columns.select(keep), lines[keep]
                line, byte = line + part.lines, byte + part.size
                X, y = encoder.encode(columns)
                position = {"byte": byte, "line": line, **order.dump()}
                query, kept = encoder.queries(columns), encoder.kept_columns(columns)
                whole = Batch(X, y, lines, part.progress, columns.weight, position, query, kept)
                for at in range(0, max(len(X), 1), ROWS):
                    cut = whole.cut(at, min(at + ROWS, len(X)))
                    yield CountedBatch(cut, skipped + order.skipped, encoder.empty)
        self.notes += note_many_values(encoder.count_values(), line)

    def needs_compiling(self) -> bool:
        from noregret.jit.compiled import is_cached
        from noregret.streams import csv_text as text

        large = os.path.isfile(self.path) and os.path.getsize(self.path) >= SAMPLE
        return large and not is_cached(text.csv, parser_slots(), text.ENDS)

    # ---- the head -----------------------------------------------------------------------------------------------

    def read_head(self, file: TextFile) -> bytes:
        """Read the first megabyte, or more if lines are long; it does not depend on the block size."""
        head = self.read_first_lines(file) if file.live else b""
        while not file.live and (len(head) < SAMPLE or (len(head) < LONGEST and head.count(b"\n") < FEWEST)):
            more = read_fully(file, SAMPLE)
            head += more
            if len(more) < SAMPLE:
                head += b"" if head.endswith(b"\n") else b"\n"
                break
        if len(head) >= LONGEST and b"\n" not in head:
            raise Unreadable(self.name, f"a line is longer than {LONGEST >> 20} MB; is this a table?", in_line=True)
        if not head.strip():
            raise BadValue(f"{self.name}: is empty; give a file with rows")
        self.refuse_zero_bytes(head, 1)
        return head

    def read_first_lines(self, file: TextFile) -> bytes:
        """Read the names of the columns and the first row of a live pipe, or what else had come with them."""
        head, buffer, more = b"", bytearray(1 << 16), 1
        while more and len(head) < LONGEST and not self.has_row(head):
            more = file.readinto(buffer)
            head += buffer[:more]
        return head if more or head.endswith(b"\n") else head + b"\n"

    def has_row(self, head: bytes) -> bool:
        """Return whether the first lines of a table have a row, after the names of the columns if there are any."""
        first, newline, rest = head.lstrip(b"\xef\xbb\xbf\r\n").partition(b"\n")
        if not newline or b"\n" in rest or self.options.header:
            return b"\n" in rest
        cells = split_cells(first.decode(errors="replace").rstrip("\r"), sniff_delimiter(first))
        return self.options.header is False or any(is_number(cell.strip(BLANKS)) for cell in cells)

    def refuse_zero_bytes(self, block: bytes, first: int) -> None:
        """Raise an error for a zero byte; the block begins at line `first`."""
        if b"\0" in block:
            line = first + block.count(b"\n", 0, block.index(b"\0"))
            raise BadValue(f"{self.name}:{line}: there is a zero byte; a table is text, in UTF-8")

    def read_layout(self, head: bytes) -> tuple[int, int, Layout]:
        """Return the line number and the byte where the first row begins, and the layout of the columns."""
        bom = 3 * head.startswith(b"\xef\xbb\xbf")
        blank = len(head) - bom - len(head[bom:].lstrip(b"\r\n"))
        start = bom + blank
        line = 1 + head[:start].count(b"\n")
        stop = head.find(b"\n", start) + 1 or len(head)
        try:
            first = head[start:stop].decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise BadValue(
                f"{self.name}:{line}: this is not text in UTF-8; name its --encoding, as in latin-1"
            ) from None
        sample = head[start : head.rfind(b"\n") + 1] or head[start:]
        delimiter = sniff_delimiter(sample)
        if delimiter != ",":
            self.notes.append(f"the cells are separated by {DELIMITERS[delimiter]}")
        if first.count(delimiter) >= MOST_COLUMNS:
            raise BadValue(f"{self.name}:{line}: there are more than {MOST_COLUMNS:,} columns; is this a table? "
                           "Rows with so many features can be given as libsvm")  # fmt: skip
        cells = [cell.strip(BLANKS) for cell in split_cells(first, delimiter)]
        header = self.options.header
        if header is None and any(is_number(cell) for cell in cells):
            self.notes.append(f"the first line holds a number, so there are no column names: c1 to c{len(cells)}")
            header = False
        if header is False:
            cells = [f"c{number}" for number in range(1, len(cells) + 1)]
            stop = start
        else:
            self.check_names(cells, line)
            sample = head[stop : head.rfind(b"\n") + 1] or head[stop:]
            line += 1
        guesses_label = self.options.labelled and self.options.label is None
        if len(cells) == 1 and guesses_label and cells[0].lower() not in USUAL_LABELS:
            raise BadValue(f"{self.name}: there is only one column, {shown(cells[0])}; separate the cells by commas, "
                           "semicolons, tabs or bars")  # fmt: skip
        layout = Layout(delimiter, cells, find_roles(cells, self.options, self))
        validator = RowValidator(TableParser(layout, self.options), self.name, skip=True)
        table, lines, _ = validator.split_rows(sample, line)
        if self.left_out is not None and holds_fractions(table.column(cells.index(self.left_out))):
            layout = Layout(delimiter, cells, find_roles(cells, replace(self.options, label_left_out=False), self))
        self.detect_columns(layout, table, lines)
        return line, stop, layout

    def detect_columns(self, layout: Layout, table: Any, lines: NDArray[np.int64]) -> None:
        """Find out which columns hold numbers, from a sample of rows given as text."""
        layout.told_numbers, layout.told_times = self.options.numbers, self.options.times
        nearly = detect_types(layout, table)
        self.columns = layout.kinds()
        self.notes += note_misfits(layout.columns, nearly, table.columns, lambda row: f"line {lines[row]}")
        for index in layout.categories:
            if holds_only(table.column(index), OTHER_DATES):
                self.notes.append(
                    f"column {layout.columns[index]!r} holds dates that are read as text; written as 2024-05-31 they "
                    "would have a year, a month, a weekday"
                )
            if has_decimal_commas(table.column(index)):
                self.notes.append(
                    f"column {layout.columns[index]!r} is read as text: a number has a decimal point, not a comma"
                )

    def check_names(self, names: list[str], line: int) -> None:
        """Refuse columns without a name, and duplicate names; a first column without a name is the index of a frame."""
        if not names[0] and len(names) > 1:
            names[0] = next(name for name in ("index", *(f"index {n}" for n in range(10**6))) if name not in names)
            self.options = replace(self.options, drop=tuple(dict.fromkeys((*self.options.drop, names[0]))))
            self.notes.append("the first column has no name, as the index of a frame; it is left out")
        nameless = [str(number) for number, name in enumerate(names, 1) if not name]
        if nameless:
            raise BadValue(f"{self.name}:{line}: column {', '.join(nameless[:10])} has no name; give every column one")
        duplicates = [name for name, count in Counter(names).items() if count > 1]
        if duplicates:
            raise BadValue(f"{self.name}:{line}: more than one column is named {', '.join(map(repr, duplicates[:10]))}")


def compile_parser() -> Callable[..., None]:
    """Return the compiled parser of blocks without quotes."""
    from noregret.jit.compiled import compile_function
    from noregret.streams import csv_text as text

    return compile_function(text.csv, parser_slots(), text.ENDS)


def parser_slots() -> dict[str, tuple[int, Any]]:
    """Return the slot of every array of the compiled parser, with an example of the array."""
    from noregret.streams import csv_text as text

    return {
        "buffer": (text.BUFFER, np.zeros(1, np.uint8)),
        "out": (text.OUT, text.allocate(np.zeros(1, np.int8), 1, 1)),
    }


def is_table(text: bytes) -> bool:
    """Return whether all lines of a text have as many cells as the first, and quotes only around cells."""
    lines = [line for line in text[: text.rfind(b"\n") + 1].decode(errors="replace").split("\n") if line.strip()]
    delimiter = sniff_delimiter(text)
    cell = rf'(?: *"(?:[^"]|"")*" *|[^"{re.escape(delimiter)}]*)'
    whole = re.compile(rf"{cell}(?:{re.escape(delimiter)}{cell})*\r?").fullmatch
    counts = {len(split_cells(line, delimiter)) for line in lines}
    return len(lines) > 1 and len(counts) == 1 and counts != {1} and all(map(whole, lines))


def read_fully(file: TextFile, size: int) -> bytes:
    """Read so many bytes, fewer only at the end of the file."""
    buffer = bytearray(size)
    view, got, more = memoryview(buffer), 0, 1
    while got < size and more:
        try:
            more = file.readinto(view[got:])
        except Unreadable as error:
            error.line += buffer.count(b"\n", 0, got)
            raise
        got += more
    return bytes(view[:got])


def sniff_delimiter(sample: bytes) -> str:
    """Detect the delimiter: one that gives all first lines equally many cells, or the most frequent in the first."""
    lines = [line for line in sample[:SAMPLE].decode(errors="replace").split("\n")[:50] if line.strip()]
    counts = {delimiter: [len(split_cells(line, delimiter)) for line in lines] for delimiter in DELIMITERS}
    for delimiter, cells in counts.items():
        if cells[0] > 1 and set(cells) == {cells[0]}:
            return delimiter
    best = max(reversed(counts), key=lambda delimiter: counts[delimiter][0])
    return best if counts[best][0] > 1 else ","
