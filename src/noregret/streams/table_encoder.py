"""Encodes the columns of a table as rows with feature names, labels and queries."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows, SparseBlock, all_finite
from noregret.errors import BadValue, shown
from noregret.features.cells import (
    BLANKS,
    TIME_CATEGORIES,
    TIME_NUMBERS,
    read_number,
    read_time,
    time_categories,
    time_numbers,
)
from noregret.features.names import GrowingNames
from noregret.streams.columns import Layout, arrow, expand_labels, parse_label, parse_label_or_none, parse_labels
from noregret.streams.read_options import DEFAULTS, ReadOptions
from noregret.streams.table_parser import Columns, distinct_cells
from noregret.streams.word_columns import ABSENT, WordColumn, add_word_counts


class NewValue(NamedTuple):
    """A value that is not a feature yet; values are numbered in the order of row, column, position in the column."""

    row: int
    column: int
    position: int
    value: str


class TableEncoder:
    """Turns columns into rows; keeps the names of all features so far."""

    def __init__(self, layout: Layout, options: ReadOptions = DEFAULTS) -> None:
        self.layout, self.labelled, self.targets = add_time_columns(layout), options.labelled, options.targets
        self.missing = options.missing
        self.keep_missing, self.unlabelled = options.keep_missing, options.unlabelled or ()
        self.separator = options.labels_by if options.sets else None  # between the labels of a cell
        self.text_columns = [WordColumn(options.ngrams) for _ in layout.texts]
        layout = self.layout
        self.names = [layout.columns[index] for index in (*layout.numeric, *layout.spelled)]
        self.names += [f"{layout.columns[index]}.{part}" for index in layout.times for part in TIME_NUMBERS]
        self.names_view = GrowingNames(self.names, 0)  # the names of the last block
        self.flags = np.zeros(0, bool)
        self.used_names = set(self.names)
        self.known: list[dict[str, int]] = [{} for _ in layout.categories]  # the feature of each value, by column
        self.full_rows = (
            np.zeros(0, np.int64),
            np.zeros(0, np.int32),
        )  # offsets and columns of rows without empty cells
        self.empty = 0  # empty cells so far
        self.parts_absent = 0  # features that the times of the last block do not have, beyond one for an empty cell
        self.kept = list(options.keep)

    def encode(self, columns: Columns) -> tuple[Rows, Any]:
        """Return rows and labels of columns in which every row can be used."""
        given = self.add_numbers(columns)
        rows, numbers = given.shape
        if not (self.layout.categories or self.layout.texts) and all_finite(given):
            return self.encode_numbers(given), self.labels(columns)
        codes = self.number_values(columns)
        single = [codes[at] for at, index in enumerate(self.layout.categories) if index not in columns.list_offsets]
        width = numbers + len(single)
        idx = np.empty((rows, width), np.int32)
        val = np.hstack((given, np.ones((rows, width - numbers)))) if single else given
        idx[:, :numbers] = np.arange(numbers)
        for at, features in enumerate(single, numbers):
            idx[:, at] = features
        idx[:, numbers:].sort(axis=1)
        missing = np.isnan(val)
        present = (idx != ABSENT) & ~(missing & (not self.keep_missing))
        counts = present.sum(axis=1)
        indptr = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        absent = rows * width - int(indptr[-1])
        self.empty += absent - self.parts_absent
        flat_idx, flat_val = (idx[present], val[present]) if absent else (idx.ravel(), val.ravel())
        sound = not (self.keep_missing and missing.any())
        block = SparseBlock(indptr, flat_idx, flat_val, len(self.names), ready=sound)
        for index, offsets in columns.list_offsets.items():
            features = codes[self.layout.categories.index(index)]
            block = add_word_counts(block, offsets, features, np.ones(features.size))
        for column in self.text_columns:
            words = column.counts
            block = add_word_counts(block, words.offsets, column.numbers[words.numbers], words.counts)
        if len(self.names_view) < len(self.names):
            self.names_view = GrowingNames(self.names, len(self.names))
            self.flags = np.arange(len(self.names)) >= numbers
        return Rows(block, self.names_view, self.flags), self.labels(columns)

    def add_numbers(self, columns: Columns) -> NDArray[np.float64]:
        """Return the numbers of all rows, with those of columns that are texts: NaN where a cell is empty.

        The categories that a time has are added to the cells.
        """
        self.parts_absent = 0
        if not (self.layout.spelled or self.layout.times):
            return columns.numbers
        parts = [columns.numbers]
        for index in self.layout.spelled:
            values = [self.convert(cell, read_number) for cell in distinct_cells(columns.cells[index])]
            parts.append(spread(columns.cells[index], [[np.nan if one is None else one] for one in values]))
        for number, index in enumerate(self.layout.times):
            times = [self.convert(cell, read_time) for cell in distinct_cells(columns.cells[index])]
            nothing = dict.fromkeys(TIME_NUMBERS, np.nan)
            numbers = [nothing if one is None else time_numbers(one) for one in times]
            parts.append(spread(columns.cells[index], [[one[part] for part in TIME_NUMBERS] for one in numbers]))
            categories = [{} if one is None else time_categories(one) for one in times]
            for at, part in enumerate(TIME_CATEGORIES):
                virtual = self.layout.first_virtual + number * len(TIME_CATEGORIES) + at
                columns.cells[virtual] = recode(columns.cells[index], [one.get(part, "") for one in categories])
            lacking = [len(TIME_CATEGORIES) - len(one) for one in categories]
            self.parts_absent += self.count_parts(columns.cells[index], times, lacking)
        return np.hstack(parts)

    def count_parts(self, column: Any, times: list[Any], lacking: list[int]) -> int:
        """Count the features that times do not have, given how many categories each distinct one lacks.

        An empty cell counts as one; where missing values are kept, as none.
        """
        rows = np.bincount(
            column.indices.fill_null(len(times)).to_numpy(zero_copy_only=False), minlength=len(times) + 1
        )
        empty = int(rows[-1]) + sum(int(rows[at]) for at, one in enumerate(times) if one is None)
        absent = int(rows[:-1] @ np.array(lacking, np.int64)) + int(rows[-1]) * len(TIME_CATEGORIES)
        return absent + (0 if self.keep_missing else (len(TIME_NUMBERS) - 1) * empty)

    def convert(self, cell: str, read: Callable[[str], Any]) -> Any:
        """Return what a cell stands for; None where it is empty or a mark of missing values."""
        return None if not cell or cell in self.missing else read(cell)

    def encode_numbers(self, numbers: NDArray[np.float64]) -> Rows:
        """Return rows of numbers without empty cells: all have the same columns."""
        rows, width = numbers.shape
        if self.full_rows[0].size <= rows:
            self.full_rows = (np.arange(rows + 1) * width, np.tile(np.arange(width, dtype=np.int32), rows))
        indptr, idx = self.full_rows
        block = SparseBlock(indptr[: rows + 1], idx[: rows * width], numbers.ravel(), width)
        return Rows(block, self.names, np.zeros(width, bool))

    # ---- features of values and words ---------------------------------------------------------------------------

    def number_values(self, columns: Columns) -> list[NDArray[np.int32]]:
        """Return, for every column of categories, the feature of each cell or element; new values are numbered."""
        encoded = [columns.cells[index] for index in self.layout.categories]
        codes = [column.indices.fill_null(-1).to_numpy(zero_copy_only=False) for column in encoded]
        values = [distinct_cells(column) for column in encoded]
        new: list[NewValue] = []
        for at, known in enumerate(self.known):
            new_value = [bool(value) and value not in known and value not in self.missing for value in values[at]]
            unknown = [code for code, is_new in enumerate(new_value) if is_new]
            if unknown:
                first = np.zeros(len(values[at]) + 1, np.int64)
                first[codes[at][::-1]] = np.arange(codes[at].size)[::-1]
                offsets = columns.list_offsets.get(self.layout.categories[at])
                row = first if offsets is None else np.searchsorted(offsets, first, side="right") - 1
                new += [NewValue(int(row[code]), at, int(first[code]), values[at][code]) for code in unknown]
        self.number_words(columns, new)
        return [
            np.array([*(known.get(value, ABSENT) for value in values[at]), ABSENT], np.int32)[codes[at]]
            for at, known in enumerate(self.known)
        ]

    def number_words(self, columns: Columns, new: list[NewValue]) -> None:
        """Count the words of texts, and number new words and values row by row."""
        for index, column in zip(self.layout.texts, self.text_columns, strict=True):
            column.count(columns.cells[index])
        growing = [at for at, column in enumerate(self.text_columns) if column.counts.new_words]
        if len(growing) == 1 and not new:  # the new words are in order already
            column = self.text_columns[growing[0]]
            column.add(self.add_features(self.layout.texts[growing[0]], column.counts.new_words))
            return
        others = len(self.known)
        for at in growing:
            counts = self.text_columns[at].counts
            rows = np.searchsorted(counts.offsets, counts.first, side="right") - 1
            words = zip(rows.tolist(), counts.first.tolist(), counts.new_words, strict=True)
            new += [NewValue(row, others + at, first, word) for row, first, word in words]
        for _, at, _, value in sorted(new):
            if at >= others:
                self.text_columns[at - others].add(self.add_features(self.layout.texts[at - others], [value]))
            elif value not in self.known[at]:
                self.known[at][value] = self.add_features(self.layout.categories[at], [value])[0]

    def add_features(self, index: int, values: list[str]) -> range:
        """Add a feature for each value of a column; return their numbers."""
        column = self.layout.columns[index]
        names = [f"{column}={value}" for value in values]
        if not self.used_names.isdisjoint(names):
            duplicate = next(name for name in names if name in self.used_names)
            raise BadValue(
                f"column {column!r} and another both make a feature named {shown(duplicate)}; rename one of them"
            )
        self.used_names.update(names)
        self.names += names
        return range(len(self.names) - len(names), len(self.names))

    def count_values(self) -> Iterator[tuple[str, int]]:
        """Yield the columns of categories with the number of different values so far."""
        for index, known in zip(self.layout.categories, self.known, strict=True):
            yield self.layout.columns[index], len(known)

    # ---- labels and queries -------------------------------------------------------------------------------------

    def queries(self, columns: Columns) -> NDArray[Any] | None:
        """Return the query of every row, as text; None if there is no column for it."""
        if self.layout.roles.query is None:
            return None
        column = columns.cells[self.layout.roles.query]
        values = np.array([*distinct_cells(column), ""], object)
        return np.asarray(values[column.indices.fill_null(-1).to_numpy(zero_copy_only=False)])

    def kept_columns(self, columns: Columns) -> dict[str, list[Any]] | None:
        """Return the columns that batches carry along, as text or numbers; None if there are none."""
        if not self.kept:
            return None
        found: dict[str, list[Any]] = {}
        for name in self.kept:
            index = self.layout.columns.index(name)
            if index in self.layout.numeric:
                numbers = columns.numbers[:, self.layout.numeric.index(index)].tolist()
                found[name] = [
                    None if value != value else int(value) if value.is_integer() else value for value in numbers
                ]
            elif index in columns.cells and index not in columns.list_offsets:
                found[name] = [
                    None if cell is None else cell.strip(BLANKS) for cell in columns.cells[index].to_pylist()
                ]
            else:
                raise BadValue(f"column {name!r} cannot be kept: it has a role of its own")
        return found

    def labels(self, columns: Columns) -> Any:
        """Return the labels of all rows; None if there is no column for them."""
        if self.layout.label is None:
            return None
        if columns.targets is not None:
            return columns.targets
        column = columns.cells[self.layout.label]
        values: list[Any] = [self.label(cell) for cell in distinct_cells(column)]
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return expand_labels([*values, None] if column.null_count else values, codes)

    def label(self, cell: str) -> Any:
        """Return the label, or labels, in a cell; None for a mark of labels that are not known."""
        if cell in self.unlabelled:
            return None
        if self.separator is not None:
            labels = parse_labels(cell, self.separator)
            return labels if labels or self.labelled else None
        return parse_label(cell) if self.labelled else parse_label_or_none(cell, self.targets)


def add_time_columns(layout: Layout) -> Layout:
    """Return the layout with a column of categories for each category that a time has."""
    first = len(layout.columns)
    virtual = [f"{layout.columns[index]}.{part}" for index in layout.times for part in TIME_CATEGORIES]
    categories = [*layout.categories, *range(first, first + len(virtual))]
    return replace(layout, columns=[*layout.columns, *virtual], categories=categories, first_virtual=first)


def spread(column: Any, values: list[list[float]]) -> NDArray[np.float64]:
    """Return the values of every row, given those of each distinct cell; NaN where the cell is null."""
    width = len(values[0]) if values else 1
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.array([*values, [np.nan] * width]).reshape(-1, width)[codes])


def recode(column: Any, values: list[str]) -> Any:
    """Return a column with other texts in place of its distinct cells."""
    return arrow().DictionaryArray.from_arrays(column.indices, arrow().array(values, arrow().string()))
