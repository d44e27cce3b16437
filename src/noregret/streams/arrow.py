"""Columnar tables: Parquet and Arrow files, Arrow tables, and data frames converted to one.

A number or truth value is a feature named by its column, or by its path: the field b of a record a is a.b. A text makes
a feature column=value; amounts ($1.50, 1,234, 45%) and times written as text are numbers and times, as in CSV, by the
first rows. Every element of a list makes a feature, which is counted. An empty cell is a feature that the row does not
have. Dropped columns are not read.
"""

import contextlib
import io
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch, Position
from noregret.errors import BadValue
from noregret.features.cells import NUMBER
from noregret.streams.arrow_columns import (
    extract_columns,
    find_invalid_rows,
    flatten_records,
    is_list,
    is_number,
    is_plain_text,
    is_text,
    label_is_boolean,
    type_of,
    without_marks,
)
from noregret.streams.column_kinds import judge_column, note_many_values, note_misfits, place_column
from noregret.streams.column_roles import find_roles
from noregret.streams.columns import Layout, arrow
from noregret.streams.files import open_stdin, retry_read
from noregret.streams.prefetch import prefetch
from noregret.streams.read_options import TABLE_OPTIONS, ReadOptions
from noregret.streams.source import Source, read_position
from noregret.streams.table_encoder import TableEncoder
from noregret.streams.table_parser import Columns
from noregret.streams.timestamps import TimeOrder

ROWS = 16384  # in a batch
DAMAGED = (OSError, ValueError, TypeError, LookupError, OverflowError, MemoryError, NotImplementedError)
AGAIN = "the file may be damaged or cut off; get it again"


def validated(table: Any) -> Any:
    """Return a table or record batch of Arrow, all of which was checked: offsets, indices and UTF-8."""
    table.validate(full=True)
    return table


class RowGroups:
    """A table in groups of rows, each read in record batches; reading can resume at any group."""

    groups = 1
    rows: int | None = None

    def schema(self) -> Any:
        """Return the schema of the table."""
        raise NotImplementedError

    def batches(self, group: int, columns: list[str]) -> Iterator[Any]:
        """Yield the record batches of a group, with only some columns."""
        raise NotImplementedError

    def sample(self, columns: list[str]) -> Any:
        """Return the first record batch that has rows, with only some columns; None if there is none."""
        parts = (batch for group in range(self.groups) for batch in self.batches(group, columns))
        return next((batch for batch in parts if batch.num_rows), None)

    def close(self) -> None:
        """Close the file, if there is one."""


class ParquetGroups(RowGroups):
    """A Parquet file."""

    def __init__(self, path: str) -> None:
        self.file = arrow(".parquet").ParquetFile(path, memory_map=False)
        self.groups, self.rows = self.file.num_row_groups, self.file.metadata.num_rows

    def schema(self) -> Any:
        return self.file.schema_arrow

    def batches(self, group: int, columns: list[str]) -> Iterator[Any]:
        return map(validated, self.file.iter_batches(ROWS, row_groups=[group], columns=columns, use_threads=True))

    def close(self) -> None:
        self.file.close()


class IpcGroups(RowGroups):
    """An Arrow file (Feather version 2), whose batches are listed in it; or an Arrow stream, which is one group."""

    def __init__(self, path: str) -> None:
        self.path, self.size = path, 0 if path == "-" else os.path.getsize(path)
        self.raw = arrow().OSFile(path) if path != "-" else arrow().PythonFile(StandardInput(), mode="r")
        head = b"" if path == "-" else self.raw.read(6)
        if path != "-":
            self.raw.seek(0)
        self.listed = head == b"ARROW1"
        self.file = arrow(".ipc").open_file(self.raw) if self.listed else arrow(".ipc").open_stream(self.raw)
        self.groups = self.file.num_record_batches if self.listed else 1
        self.ahead: list[Any] = []  # batches of a stream that were read before they were asked for

    def schema(self) -> Any:
        return self.file.schema

    def sample(self, columns: list[str]) -> Any:
        if self.listed:
            return super().sample(columns)
        while not (self.ahead and self.ahead[-1].num_rows):
            try:
                self.ahead.append(self.file.read_next_batch())
            except StopIteration:
                return None
        return validated(self.ahead[-1].select(columns)).slice(0, ROWS)

    def batches(self, group: int, columns: list[str]) -> Iterator[Any]:
        ahead, self.ahead = self.ahead, []
        for batch in [self.file.get_batch(group)] if self.listed else chain(ahead, self.file):
            selected = validated(batch.select(columns))
            for at in range(0, selected.num_rows, ROWS):
                self.check_not_truncated()
                yield selected.slice(at, ROWS)

    def check_not_truncated(self) -> None:
        """Refuse a file that became shorter, even if the next rows can still be read."""
        if self.path != "-" and os.path.getsize(self.path) < self.size:
            raise OSError("it became shorter while it was read")

    def close(self) -> None:
        self.raw.close()


class TableGroups(RowGroups):
    """An Arrow table in memory."""

    def __init__(self, table: Any) -> None:
        self.table, self.rows = table, table.num_rows

    def schema(self) -> Any:
        return self.table.schema

    def batches(self, group: int, columns: list[str]) -> Iterator[Any]:
        return iter(validated(self.table.select(columns)).to_batches(ROWS))


class StandardInput(io.RawIOBase):
    """Standard input for pyarrow, which treats a short read, as pipes give, as the end of the file."""

    def __init__(self) -> None:
        self.raw = open_stdin()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        parts, left = [], size
        while left and (part := retry_read(partial(self.raw.read, left))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        self.raw.close()
        super().close()


class ColumnarSource(Source):
    """The rows of a columnar table."""

    accepts = TABLE_OPTIONS | {"labels_by", "numbers", "times"}
    learner_defaults: Mapping[str, Any] = MappingProxyType({"scale": True, "bias": True})

    def __init__(
        self, opener: Callable[[Any], RowGroups], data: Any, options: ReadOptions, kind: str, name: str
    ) -> None:
        """`opener` opens `data`, which is a path or a table."""
        super().__init__()
        self.opener, self.data, self.options, self.kind, self.name = opener, data, options, kind, name
        self.path = data if isinstance(data, str) else ""
        self.top_columns: Sequence[str] = ()  # the columns of the table, before records are flattened

    def __iter__(self) -> Iterator[Batch]:
        self.begin()
        self.notes = []
        groups, at = self.open_groups(), 0
        try:
            self.rows = groups.rows
            with contextlib.closing(prefetch(self.batches(groups))) as batches:
                for batch in batches:
                    at = int(batch.lines[-1]) + 1 if batch.lines is not None and batch.lines.size else at
                    yield batch
        except BadValue:
            raise
        except (*DAMAGED, arrow().ArrowException) as error:
            raise BadValue(f"{self.name}: after row {at} it cannot be read ({reason(error)}); {AGAIN}") from None
        finally:
            groups.close()

    def open_groups(self) -> RowGroups:
        """Open the table; every error says what to do."""
        try:
            return self.opener(self.data)
        except FileNotFoundError:
            raise BadValue(f"{self.name}: there is no such file; check the path") from None
        except (*DAMAGED, arrow().ArrowException) as error:
            raise BadValue(f"{self.name}: cannot be read as {self.kind} ({reason(error)}); {AGAIN}") from None

    def batches(self, groups: RowGroups) -> Generator[Batch, None, None]:
        """Yield the batches of a table."""
        schema = groups.schema()
        duplicates = sorted({name for name in schema.names if schema.names.count(name) > 1})
        if duplicates:
            raise BadValue(f"{self.name}: more than one column is named {', '.join(map(repr, duplicates[:10]))}")
        self.top_columns = schema.names
        wanted = [name for name in schema.names if name not in self.options.drop or name in self.options.keep]
        empty = arrow().Table.from_batches([], arrow().schema([schema.field(name) for name in wanted]))
        flat = flatten_records(empty).schema
        layout = self.read_layout(flat)
        self.detect_texts(layout, flat, groups, wanted)
        encoder, order = TableEncoder(layout, self.options), TimeOrder(self.options, self.start)
        first, row, seen = (read_position(self.start, key) for key in ("group", "row", "rows"))
        count = 0
        for group in range(first, groups.groups):
            passed = 0
            for batch in groups.batches(group, wanted):
                before, passed = passed, passed + batch.num_rows
                skip = max(row - before, 0) if group == first else 0
                if skip >= batch.num_rows:
                    continue
                table = flatten_records(arrow().Table.from_batches([batch.slice(skip)]))
                lines = np.arange(seen, seen + table.num_rows)
                seen += table.num_rows
                columns, lines = self.validate(extract_columns(layout, encoder, table), lines, table, layout)
                if columns.times is not None:
                    keep = order.check(columns.times, lines, self.name)
                    columns, lines = columns.select(keep), lines[keep]
                X, y = encoder.encode(columns)
                if label_is_boolean(layout, table):
                    y = [None if label is None else label == "true" for label in y]
                position: Position = {"group": group, "row": passed, "rows": seen, **order.dump()}
                progress = seen / groups.rows if groups.rows else None
                count += len(X)
                self.skipped = seen - count if self.start is None else 0
                query, kept = encoder.queries(columns), encoder.kept_columns(columns)
                yield Batch(X, y, lines, progress, columns.weight, position, query, kept)
        self.check_not_empty(count)
        single = ((name, size) for name, size in encoder.count_values() if not is_list(type_of(flat, name)))
        self.notes += note_many_values(single, seen)

    # ---- columns ------------------------------------------------------------------------------------------------

    def read_layout(self, schema: Any) -> Layout:
        """Return the roles of the columns, and which hold numbers, categories and free text."""
        names = list(schema.names)
        drop = tuple(name for name in self.options.drop if name not in self.top_columns or name in names)
        roles = find_roles(names, replace(self.options, drop=drop), self)
        if self.left_out is not None and arrow().types.is_floating(schema.field(self.left_out).type):
            roles = find_roles(names, replace(self.options, drop=drop, label_left_out=False), self)
        layout = Layout("", names, roles, numeric_times=True)
        if roles.label is not None and not self.options.sets and is_list(schema.field(roles.label).type):
            raise BadValue(f"{self.name}: column {names[roles.label]!r} holds lists; several labels of a row need "
                           "--task multilabel (sets=True)")  # fmt: skip
        for index in layout.features():
            kind = schema.field(index).type
            if index in roles.text:
                if not is_text(kind):
                    raise BadValue(f"{self.name}: column {names[index]!r} holds {kind}, not text")
                layout.texts.append(index)
            elif is_number(kind) and index not in roles.categorical:
                layout.numeric.append(index)
            elif is_text(kind) or is_list(kind) or (is_number(kind) and index in roles.categorical):
                layout.categories.append(index)
            elif arrow().types.is_timestamp(kind) or arrow().types.is_date(kind):
                layout.times.append(index)
            else:
                raise BadValue(f"{self.name}: column {names[index]!r} holds {kind}; leave it out with --drop")
        return layout

    def detect_texts(self, layout: Layout, schema: Any, groups: RowGroups, wanted: list[str]) -> None:
        """Find out which columns of text hold amounts or times, by the first rows; columns of categories stay so."""
        layout.told_numbers, layout.told_times = self.options.numbers, self.options.times
        texts = [at for at in layout.categories if is_plain_text(schema.field(at).type)]
        texts = [at for at in texts if at not in layout.roles.categorical]
        sample = groups.sample(wanted) if texts else None
        if sample is not None:
            table = flatten_records(arrow().Table.from_batches([sample]))
            layout.categories = [at for at in layout.categories if at not in texts]
            nearly: dict[int, str] = {}
            columns = {at: without_marks(table.column(at), self.options.missing) for at in texts}
            for at in texts:
                place_column(layout, at, judge_column(columns[at], layout.columns[at], layout), nearly)
            layout.categories.sort()
            layout.times.sort()
            nearly = {at: pattern for at, pattern in nearly.items() if pattern != NUMBER}
            self.notes += note_misfits(layout.columns, nearly, columns, "row {}".format)
        self.columns = layout.kinds()

    def validate(
        self, columns: Columns, lines: NDArray[np.int64], table: Any, layout: Layout
    ) -> tuple[Columns, NDArray[np.int64]]:
        """Return the valid rows; the first invalid one is an error unless such rows are skipped."""
        bad = find_invalid_rows(columns, table, layout, self.options)
        if not bad:
            return columns, lines
        if not self.options.lenient:
            row = min(bad)
            raise BadValue(f"{self.name}: row {lines[row]}: {bad[row]}", row=None)
        keep = ~np.isin(np.arange(columns.rows), list(bad))
        return columns.select(keep), lines[keep]


def reason(error: BaseException) -> str:
    """Return what an error says, on one line and not too long."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def parquet(path: str, options: ReadOptions) -> ColumnarSource:
    """Open a Parquet file."""
    if path == "-":
        raise BadValue("a Parquet file cannot be read from standard input: its index is at the end; name the file")
    return ColumnarSource(ParquetGroups, path, options, "parquet", path)


def ipc(path: str, options: ReadOptions) -> ColumnarSource:
    """Open an Arrow file or stream."""
    return ColumnarSource(IpcGroups, path, options, "arrow", "standard input" if path == "-" else path)
