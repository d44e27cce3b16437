"""Tables with a line of column names: CSV, with commas, semicolons, tabs or bars between the cells.

A column of numbers is one feature, named as the column. A column of text makes a feature of every value in it, named
column=value, that is 1 where the value stands. An empty cell is a feature the row does not have. The label is the
column asked for, or else one named label, target, class or y, or else the last. Which columns hold numbers is decided
by the first megabyte; see `columns`. Blanks around a cell do not count.

A line is a row: a quoted cell may hold the delimiter and doubled quotes, but no line break, so that a quote left open
spoils one row and not the rest of the file. Where the first line holds a number it is taken as a row, and the columns
are named c1, c2, ...
"""

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.errors import BadValue, shown
from noregret.streams.column_roles import USUAL_LABELS, roles_among
from noregret.streams.columns import BLANKS, DELIMITERS, Layout, decimal_commas, number, settle, split
from noregret.streams.files import TextFile, Unreadable
from noregret.streams.line_blocks import LONGEST, Blocks, parsed
from noregret.streams.lines import located
from noregret.streams.prefetch import ahead
from noregret.streams.row_validator import Judge
from noregret.streams.source import Reading, Source, number_in
from noregret.streams.tables import Table
from noregret.streams.timestamps import Clock

SAMPLE, FEWEST = 1 << 20, 21  # bytes, and lines where they are long, that decide what the columns hold
ROWS = 8192
MANY = 1000  # different values of a column that are worth a note, if there are not many more rows


class Csv(Source):
    """The rows of a CSV file, read in blocks of whole lines at constant memory, the names of its features aside."""

    kind = "csv"
    takes = frozenset(
        {
            "label",
            "weight",
            "timestamp",
            "query",
            "drop",
            "categorical",
            "text",
            "ngrams",
            "header",
            "gaps",
            "labels_by",
        }
    )
    suits: Mapping[str, Any] = MappingProxyType({"scale": True, "bias": True})

    def __init__(
        self, path: str, reading: Reading | None = None, block: int = 1 << 20, native: bool | None = None
    ) -> None:
        super().__init__()
        self.path, self.reading, self.block = path, reading or Reading(), block
        self.native = native  # whether compiled code reads it; None: where the table is long enough to be worth it
        self.name = "standard input" if path == "-" else path

    def __iter__(self) -> Iterator[Batch]:
        self.claim()
        self.notes = []
        rows = empty = 0
        with contextlib.closing(ahead(self.placed(self.batches(TextFile(self.path))))) as parts:
            for batch, skipped, absent in parts:
                rows, empty, self.skipped = rows + len(batch.X), absent, skipped
                if len(batch.X):
                    yield batch
        self.must_hold(rows)
        if empty:
            cells = "1 empty cell was taken as an absent feature"
            self.notes.append(cells if empty == 1 else f"{empty:,} empty cells were taken as absent features")

    def placed(
        self, batches: Generator[tuple[Batch, int, int], None, None]
    ) -> Generator[tuple[Batch, int, int], None, None]:
        """The same; an error of the file is told with the line it is in."""
        line = 1
        with contextlib.closing(batches):
            try:
                for batch, skipped, empty in batches:
                    line = line if batch.position is None else batch.position["line"]
                    yield batch, skipped, empty
            except Unreadable as error:
                raise located(error, self.name, line) from None

    def batches(self, file: TextFile) -> Generator[tuple[Batch, int, int], None, None]:
        """Every batch, and how many rows were skipped and how many cells were empty up to its end."""
        try:
            head = self.head(file)
            line, start, layout = self.laid_out(head)
            if self.start is not None:
                line, start = number_in(self.start, "line"), number_in(self.start, "byte")
            blocks = Blocks(file, head, start, self.block)
        except BaseException:
            file.close()
            raise
        table, skipped = Table(layout, self.reading), 0
        native = len(head) >= SAMPLE if self.native is None else self.native
        byte, clock = start, Clock(self.reading, self.start)
        with contextlib.closing(parsed(blocks, table, compiled() if native else None)) as parts:
            for part in parts:
                columns, lines = part.columns, np.arange(line, line + part.lines)
                if columns is None:
                    self.refuse_zero_bytes(part.text, line)
                    columns = table.by_arrow(part.text, part.lines)
                if columns is None:
                    judge = Judge(table, self.name, self.reading.lenient)
                    columns, lines = judge.columns(part.text, line)
                    skipped += judge.skipped
                if columns.times is not None:
                    keep = clock.in_order(columns.times, lines, self.name)
                    columns, lines = columns.those(keep), lines[keep]
                line, byte = line + part.lines, byte + part.size
                X, y = table.assembled(columns)
                position = {"byte": byte, "line": line, **clock.kept()}
                whole = Batch(X, y, lines, part.done, columns.weight, position, table.query(columns))
                # A batch without rows still tells of what was skipped.
                for at in range(0, max(len(X), 1), ROWS):
                    yield whole.cut(at, min(at + ROWS, len(X))), skipped + clock.skipped, table.empty
        self.note_sprawl(table, line)

    def needs_compiling(self) -> bool:
        from noregret.jit.compiled import is_cached
        from noregret.streams import csv_text as text

        large = os.path.isfile(self.path) and os.path.getsize(self.path) >= SAMPLE
        return large and not is_cached(text.csv, places(), text.ENDS)

    def note_sprawl(self, table: Table, lines: int) -> None:
        """Say which columns of text hardly repeat themselves: each value is a feature nobody can learn from."""
        for place, known in zip(table.layout.text, table.known, strict=True):
            if len(known) > max(MANY, lines // 2):
                name = table.layout.columns[place]
                self.notes.append(f"column {name!r} holds {len(known):,} different values, each a feature of its own")

    # ---- the head -----------------------------------------------------------------------------------------------

    def head(self, file: TextFile) -> bytes:
        """The first megabyte, or more where lines are long; the same whatever the block size."""
        head = b""
        while len(head) < SAMPLE or (len(head) < LONGEST and head.count(b"\n") < FEWEST):
            more = full(file, SAMPLE)
            head += more
            if len(more) < SAMPLE:
                head += b"" if head.endswith(b"\n") else b"\n"
                break
        if not head.strip():
            raise BadValue(f"{self.name}: is empty; give a file with rows")
        self.refuse_zero_bytes(head, 1)
        return head

    def refuse_zero_bytes(self, block: bytes, first: int) -> None:
        if b"\0" in block:
            line = first + block.count(b"\n", 0, block.index(b"\0"))
            raise BadValue(f"{self.name}:{line}: there is a zero byte; a table is text, in UTF-8")

    def laid_out(self, head: bytes) -> tuple[int, int, Layout]:
        """The number of the first line of rows, where in the head it starts, and what the columns are."""
        bom = 3 * head.startswith(b"\xef\xbb\xbf")
        blank = len(head) - bom - len(head[bom:].lstrip(b"\r\n"))
        start = bom + blank
        line = 1 + head[:start].count(b"\n")
        stop = head.find(b"\n", start) + 1 or len(head)
        try:
            first = head[start:stop].decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise BadValue(f"{self.name}:{line}: this is not text in UTF-8") from None
        sample = head[start : head.rfind(b"\n") + 1] or head[start:]
        delimiter = sniffed(sample)
        if delimiter != ",":
            self.notes.append(f"the cells are separated by {DELIMITERS[delimiter]}")
        cells = [cell.strip(BLANKS) for cell in split(first, delimiter)]
        named = self.reading.header
        if named is None and any(number(cell) for cell in cells):
            self.notes.append(f"the first line holds a number, so there are no column names: c1 to c{len(cells)}")
            named = False
        if named is False:
            cells = [f"c{place}" for place in range(1, len(cells) + 1)]
            stop = start
        else:
            self.check_names(cells, line)
            sample = head[stop : head.rfind(b"\n") + 1] or head[stop:]
            line += 1
        unnamed = self.reading.labelled and self.reading.label is None
        if len(cells) == 1 and unnamed and cells[0].lower() not in USUAL_LABELS:
            raise BadValue(f"{self.name}: there is only one column, {shown(cells[0])}; separate the cells by commas, "
                           "semicolons, tabs or bars")  # fmt: skip
        layout = Layout(delimiter, cells, roles_among(cells, self.reading, self))
        sound = Judge(Table(layout), self.name, skip=True)
        cells_of_sample = sound.text(sample, line)[0]
        settle(layout, cells_of_sample)
        kinds = dict.fromkeys([*layout.text, *layout.words], "text") | dict.fromkeys(layout.numeric, "numbers")
        self.columns = {cells[place]: kind for place, kind in sorted(kinds.items())}
        for place in layout.text:
            if decimal_commas(cells_of_sample.column(place)):
                self.notes.append(
                    f"column {cells[place]!r} is taken as text: a number has a decimal point, not a comma"
                )
        return line, stop, layout

    def check_names(self, names: list[str], line: int) -> None:
        nameless = [str(place) for place, name in enumerate(names, 1) if not name]
        if nameless:
            raise BadValue(f"{self.name}:{line}: column {', '.join(nameless[:10])} has no name; give every column one")
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise BadValue(f"{self.name}:{line}: more than one column is named {', '.join(map(repr, twice[:10]))}")


def compiled() -> Callable[..., None]:
    """The reader of blocks without surprises, at full speed."""
    from noregret.jit.compiled import compile_function
    from noregret.streams import csv_text as text

    return compile_function(text.csv, places(), text.ENDS)


def places() -> dict[str, tuple[int, Any]]:
    """Where the reader finds its arrays."""
    from noregret.streams import csv_text as text

    return {
        "buffer": (text.BUFFER, np.zeros(1, np.uint8)),
        "out": (text.OUT, text.room(np.zeros(1, np.int8), 1, 1)),
    }


# ---- lines and cells ------------------------------------------------------------------------------------------------


def full(file: TextFile, size: int) -> bytes:
    """So many bytes, fewer only where the file ends."""
    room = bytearray(size)
    view, got, more = memoryview(room), 0, 1
    while got < size and more:
        try:
            more = file.readinto(view[got:])
        except Unreadable as error:
            error.line += room.count(b"\n", 0, got)
            raise
        got += more
    return bytes(view[:got])


def sniffed(sample: bytes) -> str:
    """The delimiter: one that cuts the first lines into equally many cells, else the most frequent in the first."""
    lines = [line for line in sample[:SAMPLE].decode(errors="replace").split("\n")[:50] if line.strip()]
    counts = {mark: [len(split(line, mark)) for line in lines] for mark in DELIMITERS}
    for mark, cells in counts.items():
        if cells[0] > 1 and set(cells) == {cells[0]}:
            return mark
    best = max(reversed(counts), key=lambda mark: counts[mark][0])
    return best if counts[best][0] > 1 else ","
