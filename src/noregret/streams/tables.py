"""Blocks of lines become rows: quickly where all is well, and with a judge where something is wrong.

The quick ways parse a whole block at once and give up at the first surprise: a row of another length, a cell that is
no number, an empty line. Long tables are read by compiled code, others and those with quotes by pyarrow; the rows are
the same. The judge then reads the block line by line, says what is wrong and where, or leaves such
rows out, before any of their values gets a feature of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from noregret.data.blocks import Rows, SparseBlock, all_finite
from noregret.errors import BadValue, shown
from noregret.features.names import GrowingNames
from noregret.streams.columns import (
    BLANKS,
    Layout,
    arrow,
    in_full,
    label_of,
    left_open,
    lenient,
    set_of,
    times,
    wrong_label,
)
from noregret.streams.number_text import NEWLINE, PAD
from noregret.streams.read_options import PLAIN, Reading
from noregret.streams.word_columns import ABSENT, WordColumn, with_bag

WORDY = 64  # columns of text that the compiled reader takes


@dataclass
class Columns:
    """The cells of a block, sorted by what they are."""

    numbers: np.ndarray  # rows by columns of numbers, nan where a cell is empty
    words: dict[int, Any]  # columns of text and labels by place, as dictionary arrays (those to be cut into words: as
    # texts); an empty cell is null or ""
    targets: np.ndarray | None = None
    weight: np.ndarray | None = None
    times: np.ndarray | None = None
    bags: dict[int, np.ndarray] = field(default_factory=dict)  # where the words of each row begin, in columns of lists

    @property
    def rows(self) -> int:
        return len(self.numbers)

    def those(self, keep: np.ndarray) -> "Columns":
        """Some of the rows."""
        targets, weight, moments = (
            None if part is None else part[keep] for part in (self.targets, self.weight, self.times)
        )
        words, bags = {}, {}
        for place, column in self.words.items():
            kept = keep
            if place in self.bags:
                sizes = np.diff(self.bags[place])
                kept = np.repeat(keep, sizes)
                bags[place] = np.concatenate(([0], np.cumsum(sizes[keep])))
            words[place] = column.filter(arrow().array(kept))
        return Columns(self.numbers[keep], words, targets, weight, moments, bags)


class Found(NamedTuple):
    """What the compiled reader makes of so many lines, and whether it gave up on the way."""

    columns: Columns | None
    lines: int
    gave_up: bool


class Table:
    """The columns of a table and the features they have made so far; names are only ever added."""

    def __init__(self, layout: Layout, reading: Reading = PLAIN) -> None:
        self.layout, self.labelled, self.targets, self.gaps = layout, reading.labelled, reading.targets, reading.gaps
        self.between = reading.labels_by if reading.sets else None
        self.wordy = [WordColumn(reading.ngrams) for _ in layout.words]
        self.names = [layout.columns[place] for place in layout.numeric]
        self.told = GrowingNames(self.names, 0)  # the names of the last block
        self.flags = np.zeros(0, bool)
        self.taken = set(self.names)
        self.known: list[dict[str, int]] = [{} for _ in layout.text]
        self.full = (np.zeros(0, np.int64), np.zeros(0, np.int32))  # offsets and columns of rows without a gap
        self.empty = 0  # cells without a value so far
        # A blank line is no row, which only other columns show; and every column of text takes room.
        self.can_compile = len(layout.columns) > 1 and len(layout.text) <= WORDY

    # ---- the quick ways -----------------------------------------------------------------------------------------

    def fine(self, columns: Columns) -> bool:
        """Whether all labels, weights and times are as they should be."""
        return self.labels_fine(columns) and weights_fine(columns) and self.queries_fine(columns)

    def by_compiled(self, buffer: np.ndarray, end: int, compiled: Callable[..., None]) -> "Found":
        """The columns of the lines in buffer[:end], behind which there is room, if none needs a closer look."""
        from noregret.streams import csv_text as text

        numeric = np.isin(np.arange(len(self.layout.columns)), self.exact()).astype(np.int8)
        buffer[end : end + PAD] = NEWLINE
        table = np.zeros(text.SLOTS, np.int64)
        table[text.END], table[text.DELIMITER], table[text.LOOKS] = end, ord(self.layout.delimiter), 1
        compiled(table, buffer, text.room(numeric, 0, 0))
        count = int(table[text.ROWS])
        if table[text.STRANGE]:
            return Found(None, count, gave_up=False)
        table[text.LOOKS], out = 0, text.room(numeric, end, count)
        compiled(table, buffer, out)
        if table[text.ROWS] != count:
            return Found(None, count, gave_up=True)
        columns = self.from_text(numeric, out, count)
        return Found(columns, count, gave_up=columns is None)

    def from_text(self, numeric: np.ndarray, out: Any, count: int) -> Columns | None:
        """The columns that the compiled reader has read."""
        pa, numbers = arrow(), out.val.reshape(count, int(numeric.sum()))
        words = {}
        for place, ends, cells in zip(np.flatnonzero(numeric == 0).tolist(), out.ends, out.text, strict=True):
            column = pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(cells))
            try:
                column.validate(full=True)
            except pa.ArrowInvalid:
                return None
            words[place] = column if place in self.layout.words else column.dictionary_encode()
        try:
            return self.sorted_out(numbers, words)
        except pa.ArrowInvalid:  # a time that is none
            return None

    def by_arrow(self, block: bytes, count: int) -> Columns | None:
        """The columns of so many lines, or None when something in them needs a closer look."""
        if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
            return None
        pa, exact = arrow(), self.exact()
        kinds = [pa.dictionary(pa.int32(), pa.string())] * len(self.layout.columns)
        for place in self.layout.words:
            kinds[place] = pa.string()
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
        try:
            found = self.gathered(dict(enumerate(columns)), count)
        except pa.ArrowInvalid:
            return None
        return found if self.fine(found) else None

    def gathered(self, columns: dict[int, Any], rows: int) -> Columns:
        """Columns of pyarrow, by place."""
        exact = self.exact()
        numbers = np.empty((rows, len(exact)))
        for at, place in enumerate(exact):
            numbers[:, at] = columns[place].to_numpy(zero_copy_only=False)
        return self.sorted_out(numbers, {place: one for place, one in columns.items() if place not in exact})

    def sorted_out(self, numbers: np.ndarray, words: dict[int, Any]) -> Columns:
        """Columns whose numbers may hold the targets among them."""
        exact, roles = self.exact(), self.layout.roles
        aside = {place: numbers[:, exact.index(place)].copy() for place in exact if place not in self.layout.numeric}
        if aside:
            numbers = numbers[:, [at for at, place in enumerate(exact) if place not in aside]]
        moments = None if roles.timestamp is None else aside.get(roles.timestamp)
        if roles.timestamp is not None and moments is None:
            moments = times(words[roles.timestamp].cast(arrow().string()))
        targets = None if roles.label is None else aside.get(roles.label)
        return Columns(numbers, words, targets, None if roles.weight is None else aside[roles.weight], moments)

    def exact(self) -> list[int]:
        """The places of all columns read as numbers, in order."""
        roles = self.layout.roles
        wanted = (
            roles.label if self.targets and self.labelled else None,
            roles.weight,
            roles.timestamp if self.layout.timed else None,
        )
        return sorted([*self.layout.numeric, *(place for place in wanted if place is not None)])

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
        if not (self.layout.text or self.layout.words) and all_finite(columns.numbers):
            return self.only_numbers(columns.numbers), self.labels(columns)
        words = self.numbered(columns)
        single = [words[at] for at, place in enumerate(self.layout.text) if place not in columns.bags]
        width = numbers + len(single)
        idx = np.empty((rows, width), np.int32)
        val = np.hstack((columns.numbers, np.ones((rows, width - numbers)))) if single else columns.numbers
        idx[:, :numbers] = np.arange(numbers)
        for at, found in enumerate(single, numbers):
            idx[:, at] = found
        idx[:, numbers:].sort(axis=1)
        missing_values = np.isnan(val)
        present = (idx != ABSENT) & ~(missing_values & (not self.gaps))
        counts = present.sum(axis=1)
        indptr = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        missing = rows * width - int(indptr[-1])
        self.empty += missing
        flat_idx, flat_val = (idx[present], val[present]) if missing else (idx.ravel(), val.ravel())
        sound = not (self.gaps and missing_values.any())
        block = SparseBlock(indptr, flat_idx, flat_val, len(self.names), ready=sound)
        for place, offsets in columns.bags.items():
            bag = words[self.layout.text.index(place)]
            block = with_bag(block, offsets, bag, np.ones(bag.size))
        for column in self.wordy:
            block = with_bag(block, column.bags.offsets, column.numbers[column.bags.numbers], column.bags.counts)
        if len(self.told) < len(self.names):
            self.told, self.flags = GrowingNames(self.names, len(self.names)), np.arange(len(self.names)) >= numbers
        return Rows(block, self.told, self.flags), self.labels(columns)

    def only_numbers(self, numbers: np.ndarray) -> Rows:
        """Rows of numbers without a gap: the same columns in every one."""
        rows, width = numbers.shape
        if self.full[0].size <= rows:
            self.full = (np.arange(rows + 1) * width, np.tile(np.arange(width, dtype=np.int32), rows))
        indptr, idx = self.full
        block = SparseBlock(indptr[: rows + 1], idx[: rows * width], numbers.ravel(), width)
        return Rows(block, self.names, np.zeros(width, bool))

    def numbered(self, columns: Columns) -> list[np.ndarray]:
        """Of every column of text, the feature number of each cell, or of each word of a bag; values not seen before
        are numbered row by row."""
        texts = [columns.words[place] for place in self.layout.text]
        codes = [column.indices.fill_null(-1).to_numpy(zero_copy_only=False) for column in texts]
        values = [cells_of(column) for column in texts]
        fresh: list[tuple[int, int, int, str]] = []  # row, column, place in it, value
        for at, known in enumerate(self.known):
            new = [code for code, value in enumerate(values[at]) if value and value not in known]
            if new:
                first = np.zeros(len(values[at]) + 1, np.int64)
                first[codes[at][::-1]] = np.arange(codes[at].size)[::-1]
                offsets = columns.bags.get(self.layout.text[at])
                row = first if offsets is None else np.searchsorted(offsets, first, side="right") - 1
                fresh += [(int(row[code]), at, int(first[code]), values[at][code]) for code in new]
        self.number_words(columns, fresh)
        return [
            np.array([*(known.get(value, ABSENT) for value in values[at]), ABSENT], np.int32)[codes[at]]
            for at, known in enumerate(self.known)
        ]

    def number_words(self, columns: Columns, fresh: list[tuple[int, int, int, str]]) -> None:
        """Count the words of texts, and number them and the values that are new, row by row."""
        for place, column in zip(self.layout.words, self.wordy, strict=True):
            column.count(columns.words[place])
        lively = [at for at, column in enumerate(self.wordy) if column.bags.fresh]
        if len(lively) == 1 and not fresh:  # what is new comes in its order already
            column = self.wordy[lively[0]]
            column.add(self.added(self.layout.words[lively[0]], column.bags.fresh))
            return
        others = len(self.known)
        for at in lively:
            bags = self.wordy[at].bags
            rows = np.searchsorted(bags.offsets, bags.first, side="right") - 1
            found = zip(rows.tolist(), bags.first.tolist(), bags.fresh, strict=True)
            fresh += [(row, others + at, first, word) for row, first, word in found]
        for _, at, _, value in sorted(fresh):
            if at >= others:
                self.wordy[at - others].add(self.added(self.layout.words[at - others], [value]))
            elif value not in self.known[at]:
                self.known[at][value] = self.added(self.layout.text[at], [value])[0]

    def added(self, place: int, values: list[str]) -> range:
        """The numbers of new features."""
        column = self.layout.columns[place]
        names = [f"{column}={value}" for value in values]
        if not self.taken.isdisjoint(names):
            twice = next(name for name in names if name in self.taken)
            raise BadValue(
                f"column {column!r} and another both make a feature named {shown(twice)}; rename one of them"
            )
        self.taken.update(names)
        self.names += names
        return range(len(self.names) - len(names), len(self.names))

    def query(self, columns: Columns) -> Any:
        """Which list every row belongs to, in the words of its cells."""
        if self.layout.roles.query is None:
            return None
        column = columns.words[self.layout.roles.query]
        return np.array([*cells_of(column), ""], object)[column.indices.fill_null(-1).to_numpy(zero_copy_only=False)]

    def queries_fine(self, columns: Columns) -> bool:
        place = self.layout.roles.query
        return place is None or not (columns.words[place].null_count or "" in cells_of(columns.words[place]))

    def labels(self, columns: Columns) -> Any:
        if self.layout.label is None:
            return None
        if columns.targets is not None:
            return columns.targets
        column = columns.words[self.layout.label]
        values: list[Any] = [self.label(cell) for cell in cells_of(column)]
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return in_full([*values, None] if column.null_count else values, codes)

    def label(self, cell: str) -> Any:
        if self.between is not None:
            found = set_of(cell, self.between)
            return found if found or self.labelled else None
        return label_of(cell) if self.labelled else lenient(cell, self.targets)


def weights_fine(columns: Columns) -> bool:
    parts = [part for part in (columns.weight, columns.times) if part is not None]
    whole = all(bool(np.isfinite(part).all()) for part in parts)
    return whole and (columns.weight is None or bool((columns.weight >= 0.0).all()))


def cells_of(column: Any) -> list[str]:
    """The distinct texts of a column, without the blanks around them."""
    return [cell.strip(BLANKS) for cell in column.dictionary.to_pylist()]


def finite(column: Any) -> bool:
    """Whether all numbers of a column are; empty cells, which arrive as nan, are no numbers."""
    values = column.to_numpy(zero_copy_only=False)
    return all_finite(values) or int(np.count_nonzero(~np.isfinite(values))) == column.null_count
