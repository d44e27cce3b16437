"""Blocks of lines become rows: quickly where all is well, and with a judge where something is wrong.

The quick ways parse a whole block at once and give up at the first surprise: a row of another length, a cell that is
no number, an empty line. Long tables are read by compiled code, others and those with quotes by pyarrow; the rows are
the same. The judge then reads the block line by line, says what is wrong and where, or leaves such
rows out, before any of their values gets a feature of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.chunk import LARGEST_INDEX, Rows, SparseBlock, all_finite
from noregret.errors import BadValue, shown
from noregret.streams.columns import (
    BLANKS,
    NUMBER,
    Layout,
    arrow,
    in_full,
    label_of,
    left_open,
    lenient,
    split,
    wrong_label,
    wrong_number,
)

ABSENT = LARGEST_INDEX
WORDY = 64  # columns of text that the compiled reader takes
PATIENCE = 8  # blocks that the compiled reader may give up on before it is asked no more


@dataclass
class Columns:
    """The cells of a block, sorted by what they are."""

    numbers: np.ndarray  # rows by columns of numbers, nan where a cell is empty
    words: dict[int, Any]  # columns of text and labels by place, as dictionary arrays; an empty cell is null or ""
    targets: np.ndarray | None

    @property
    def rows(self) -> int:
        return len(self.numbers)


class Table:
    """The columns of a table and the features they have made so far; names are only ever added."""

    def __init__(self, layout: Layout, labelled: bool = True, targets: bool = False) -> None:
        self.layout, self.labelled, self.targets = layout, labelled, targets
        self.names = [layout.columns[place] for place in layout.numeric]
        self.told: list[str] = []  # the names as they were at the last block; what was handed over does not change
        self.flags = np.zeros(0, bool)
        self.taken = set(self.names)
        self.known: list[dict[str, int]] = [{} for _ in layout.text]
        self.empty = 0  # cells without a value so far
        self.compiled: Callable[..., None] | None = None
        self.failures = 0
        # A blank line is no row, which only other columns show; and every column of text takes room.
        self.can_compile = len(layout.columns) > 1 and len(layout.text) <= WORDY

    # ---- the quick ways -----------------------------------------------------------------------------------------

    def quick(self, block: bytes, count: int) -> Columns | None:
        """The columns of so many lines, or None when something in them needs a closer look."""
        columns = None
        if self.compiled is not None and self.can_compile and self.failures < PATIENCE and b'"' not in block:
            columns = self.by_compiled(block, count)
            self.failures += columns is None
        columns = columns or self.by_arrow(block, count)
        return columns if columns is not None and self.labels_fine(columns) else None

    def by_compiled(self, block: bytes, count: int) -> Columns | None:
        from noregret.streams import csv_text as text

        pa, exact = arrow(), self.exact()
        numeric = np.isin(np.arange(len(self.layout.columns)), exact).astype(np.int8)
        out, table = text.room(numeric, len(block), count), np.zeros(text.SLOTS, np.int64)
        table[text.END], table[text.DELIMITER] = len(block), ord(self.layout.delimiter)
        assert self.compiled is not None
        self.compiled(table, text.padded(block), out)
        if table[text.ROWS] != count:
            return None
        words = {}
        for place, ends, cells in zip(np.flatnonzero(numeric == 0).tolist(), out.ends, out.text, strict=True):
            column = pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(cells))
            try:
                column.validate(full=True)
            except pa.ArrowInvalid:
                return None
            words[place] = column.dictionary_encode()
        return self.sorted_out(out.val.reshape(count, len(exact)), words)

    def by_arrow(self, block: bytes, count: int) -> Columns | None:
        if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
            return None
        pa, exact = arrow(), self.exact()
        kinds = [pa.dictionary(pa.int32(), pa.string())] * len(self.layout.columns)
        for place in exact:
            kinds[place] = pa.float64()
        try:
            table = self.parsed(block, kinds)
        except pa.ArrowInvalid:
            return None
        columns = [one.combine_chunks() for one in table.columns]
        # A quote left open makes one row of several lines, unless there is no line after it.
        last = block[block.rfind(b"\n", 0, -1) + 1 :] if b'"' in block else b""
        if left_open(last.decode(errors="replace"), self.layout.delimiter):
            return None
        if table.num_rows != count or not all(finite(columns[place]) for place in exact):
            return None
        return self.gathered(dict(enumerate(columns)), count)

    def gathered(self, columns: dict[int, Any], rows: int) -> Columns:
        """Columns of pyarrow, by place."""
        exact = self.exact()
        numbers = np.empty((rows, len(exact)))
        for at, place in enumerate(exact):
            numbers[:, at] = columns[place].to_numpy(zero_copy_only=False)
        return self.sorted_out(numbers, {place: one for place, one in columns.items() if place not in exact})

    def sorted_out(self, numbers: np.ndarray, words: dict[int, Any]) -> Columns:
        """Columns whose numbers may hold the targets among them."""
        exact, label = self.exact(), self.layout.label
        if label not in exact:
            return Columns(numbers, words, None)
        at = exact.index(label)
        return Columns(np.delete(numbers, at, axis=1), words, numbers[:, at].copy())

    def exact(self) -> list[int]:
        """The places of all columns read as numbers, in order."""
        label = self.layout.label
        targets = label is not None and self.targets and self.labelled
        return sorted([*self.layout.numeric, *([label] if label is not None and targets else [])])

    def labels_fine(self, columns: Columns) -> bool:
        label = self.layout.label
        if label is None or not self.labelled:
            return True
        if columns.targets is not None:
            return not bool(np.isnan(columns.targets).any())
        column = columns.words[label]
        return not column.null_count and not any(wrong_label(cell, False) for cell in cells_of(column))

    def parsed(self, block: bytes, kinds: list[Any]) -> Any:
        names, csv = self.layout.columns, arrow(".csv")
        return csv.read_csv(
            arrow().BufferReader(block),
            csv.ReadOptions(column_names=names, block_size=len(block) + 1, use_threads=False),
            csv.ParseOptions(delimiter=self.layout.delimiter),
            csv.ConvertOptions(
                column_types=dict(zip(names, kinds, strict=True)), null_values=[""], strings_can_be_null=True
            ),
        )

    # ---- rows and labels ----------------------------------------------------------------------------------------

    def assembled(self, columns: Columns) -> tuple[Rows, Any]:
        """Rows and labels from columns in which all is well."""
        rows, numbers = columns.rows, len(self.layout.numeric)
        width = numbers + len(self.layout.text)
        idx = np.empty((rows, width), np.int32)
        val = np.hstack((columns.numbers, np.ones((rows, width - numbers)))) if self.layout.text else columns.numbers
        idx[:, :numbers] = np.arange(numbers)
        idx[:, numbers:] = self.numbered([columns.words[place] for place in self.layout.text], rows)
        idx[:, numbers:].sort(axis=1)
        present = (idx != ABSENT) & ~np.isnan(val)
        counts = present.sum(axis=1)
        indptr = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        missing = rows * width - int(indptr[-1])
        self.empty += missing
        flat_idx, flat_val = (idx[present], val[present]) if missing else (idx.ravel(), val.ravel())
        block = SparseBlock(indptr, flat_idx, flat_val, len(self.names))
        if len(self.told) < len(self.names):
            self.told, self.flags = list(self.names), np.arange(len(self.names)) >= numbers
        return Rows(block, self.told, self.flags), self.labels(columns)

    def numbered(self, texts: list[Any], rows: int) -> np.ndarray:
        """The feature number of every cell of text; values not seen before are numbered row by row."""
        codes = [column.indices.fill_null(-1).to_numpy(zero_copy_only=False) for column in texts]
        values = [cells_of(column) for column in texts]
        fresh: list[tuple[int, int, str]] = []
        for place, known in enumerate(self.known):
            new = [code for code, value in enumerate(values[place]) if value and value not in known]
            if new:
                first = np.zeros(len(values[place]) + 1, np.int64)
                first[codes[place][::-1]] = np.arange(rows)[::-1]
                fresh += [(int(first[code]), place, values[place][code]) for code in new]
        for _, place, value in sorted(fresh):
            if value not in self.known[place]:
                self.known[place][value] = self.added(place, value)
        found = np.empty((rows, len(texts)), np.int32)
        for place, known in enumerate(self.known):
            numbers = [known.get(value, ABSENT) for value in values[place]]
            found[:, place] = np.array([*numbers, ABSENT], np.int32)[codes[place]]
        return found

    def added(self, place: int, value: str) -> int:
        column = self.layout.columns[self.layout.text[place]]
        name = f"{column}={value}"
        if name in self.taken:
            raise BadValue(f"column {column!r} and another both make a feature named {shown(name)}; rename one of them")
        self.taken.add(name)
        self.names.append(name)
        return len(self.names) - 1

    def labels(self, columns: Columns) -> Any:
        if self.layout.label is None:
            return None
        if columns.targets is not None:
            return columns.targets
        column = columns.words[self.layout.label]
        values: list[Any] = [
            label_of(cell) if self.labelled else lenient(cell, self.targets) for cell in cells_of(column)
        ]
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return in_full([*values, None] if column.null_count else values, codes)


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
        if bad and not self.skip:
            line = min(bad)
            raise BadValue(f"{self.name}:{line}: {bad[line]}")
        self.skipped = len(bad)
        keep = ~np.isin(lines, list(bad))
        exact, mask = self.table.exact(), arrow().array(keep)
        columns = {place: one.filter(mask) for place, one in trimmed.items()}
        typed = {
            place: one.cast(arrow().float64()) if place in exact else one.dictionary_encode()
            for place, one in columns.items()
        }
        return self.table.gathered(typed, int(keep.sum())), lines[keep]

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


def cells_of(column: Any) -> list[str]:
    """The distinct texts of a column, without the blanks around them."""
    return [cell.strip(BLANKS) for cell in column.dictionary.to_pylist()]


def finite(column: Any) -> bool:
    """Whether all numbers of a column are; empty cells, which arrive as nan, are no numbers."""
    values = column.to_numpy(zero_copy_only=False)
    return all_finite(values) or int(np.count_nonzero(~np.isfinite(values))) == column.null_count


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
