"""Tables in columns: Parquet and Arrow files, Arrow tables, and whatever frame narwhals can turn into one.

Numbers and truth values are features named as their column, or as their path: the field b of a record a is a.b. A text
makes a feature column=value; of a list, every element does, counted. An empty cell is a feature the row does not have.
Columns that are left out are not read.
"""

import contextlib
import io
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from noregret.data.batch import Batch, Position
from noregret.errors import BadValue
from noregret.streams.arrow_columns import flat, gathered, is_list, is_number, is_text, label_is_truth, wrong_rows
from noregret.streams.column_roles import roles_among
from noregret.streams.columns import Layout, arrow
from noregret.streams.files import patient, standard_input
from noregret.streams.prefetch import ahead
from noregret.streams.read_options import Reading
from noregret.streams.source import Source, number_in
from noregret.streams.tables import Columns, Table
from noregret.streams.timestamps import Clock

ROWS = 16384  # in a batch
AGAIN = "the file may be damaged or cut off; get it again"


class Pieces:
    """A table, piece by piece: groups of rows that can be gone to, each in record batches."""

    groups = 1
    rows: int | None = None

    def schema(self) -> Any:
        raise NotImplementedError

    def batches(self, group: int, columns: list[str]) -> Iterator[Any]:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to close."""


class ParquetPieces(Pieces):
    def __init__(self, path: str) -> None:
        self.file = arrow(".parquet").ParquetFile(path, memory_map=False)
        self.groups, self.rows = self.file.num_row_groups, self.file.metadata.num_rows

    def schema(self) -> Any:
        return self.file.schema_arrow

    def batches(self, group: int, columns: list[str]) -> Iterator[Any]:
        return iter(self.file.iter_batches(ROWS, row_groups=[group], columns=columns, use_threads=True))

    def close(self) -> None:
        self.file.close()


class IpcPieces(Pieces):
    """An Arrow file (Feather version 2), which knows its batches; or a stream of them, which does not."""

    def __init__(self, path: str) -> None:
        self.path, self.size = path, 0 if path == "-" else os.path.getsize(path)
        self.raw = arrow().OSFile(path) if path != "-" else arrow().PythonFile(StandardInput(), mode="r")
        head = b"" if path == "-" else self.raw.read(6)
        if path != "-":
            self.raw.seek(0)
        self.listed = head == b"ARROW1"
        self.file = arrow(".ipc").open_file(self.raw) if self.listed else arrow(".ipc").open_stream(self.raw)
        self.groups = self.file.num_record_batches if self.listed else 1

    def schema(self) -> Any:
        return self.file.schema

    def batches(self, group: int, columns: list[str]) -> Iterator[Any]:
        whole = [self.file.get_batch(group)] if self.listed else self.file
        for batch in whole:
            picked = batch.select(columns)
            for at in range(0, picked.num_rows, ROWS):
                self.must_be_whole()
                yield picked.slice(at, ROWS)

    def must_be_whole(self) -> None:
        """Refuse a file that became shorter, even where what is read next is there."""
        if self.path != "-" and os.path.getsize(self.path) < self.size:
            raise OSError("it became shorter while it was read")

    def close(self) -> None:
        self.raw.close()


class TablePieces(Pieces):
    """An Arrow table that is there already."""

    def __init__(self, table: Any) -> None:
        self.table, self.rows = table, table.num_rows

    def schema(self) -> Any:
        return self.table.schema

    def batches(self, group: int, columns: list[str]) -> Iterator[Any]:
        return iter(self.table.select(columns).to_batches(ROWS))


class StandardInput(io.RawIOBase):
    """Standard input for pyarrow, which takes fewer bytes than it asked for, as pipes give them, for the end."""

    def __init__(self) -> None:
        self.raw = standard_input()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        parts, left = [], size
        while left and (part := patient(partial(self.raw.read, left))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        self.raw.close()
        super().close()


class Columnar(Source):
    """Rounds from a table in columns."""

    takes = frozenset(
        {"label", "weight", "timestamp", "query", "drop", "categorical", "text", "ngrams", "gaps", "labels_by"}
    )
    suits: Mapping[str, Any] = MappingProxyType({"scale": True, "bias": True})

    def __init__(self, opener: Any, what: Any, reading: Reading, kind: str, name: str) -> None:
        super().__init__()
        self.opener, self.what, self.reading, self.kind, self.name = opener, what, reading, kind, name
        self.path = what if isinstance(what, str) else ""
        self.top: Sequence[str] = ()  # the columns as the table has them, records closed

    def __iter__(self) -> Iterator[Batch]:
        self.claim()
        self.notes = []
        pieces, at = self.opened(), 0
        try:
            self.rows = pieces.rows
            with contextlib.closing(ahead(self.batches(pieces))) as batches:
                for batch in batches:
                    at = int(batch.lines[-1]) + 1 if batch.lines is not None and batch.lines.size else at
                    yield batch
        except (OSError, arrow().ArrowException) as error:
            why = " ".join(str(error).split())[:200]
            raise BadValue(f"{self.name}: after row {at} it cannot be read ({why}); {AGAIN}") from None
        finally:
            pieces.close()

    def opened(self) -> Pieces:
        try:
            return self.opener(self.what)  # type: ignore[no-any-return]
        except FileNotFoundError:
            raise BadValue(f"{self.name}: there is no such file; check the path") from None
        except (OSError, arrow().ArrowException) as error:
            why = " ".join(str(error).split())[:200]
            raise BadValue(f"{self.name}: cannot be read as {self.kind} ({why}); {AGAIN}") from None

    def batches(self, pieces: Pieces) -> Generator[Batch, None, None]:
        schema = pieces.schema()
        twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
        if twice:
            raise BadValue(f"{self.name}: more than one column is named {', '.join(map(repr, twice[:10]))}")
        self.top = schema.names
        wanted = [name for name in schema.names if name not in self.reading.drop]
        empty = flat(arrow().Table.from_batches([], arrow().schema([schema.field(name) for name in wanted])))
        layout = self.laid_out(empty.schema)
        table = Table(layout, self.reading)
        clock = Clock(self.reading, self.start)
        first, rows, seen = number_in(self.start, "group"), number_in(self.start, "row"), number_in(self.start, "rows")
        count = 0
        for group in range(first, pieces.groups):
            passed = 0
            for batch in pieces.batches(group, wanted):
                before, passed = passed, passed + batch.num_rows
                skip = max(rows - before, 0) if group == first else 0
                if skip >= batch.num_rows:
                    continue
                some = flat(arrow().Table.from_batches([batch.slice(skip)]))
                lines = np.arange(seen, seen + some.num_rows)
                seen += some.num_rows
                columns, lines = self.judged(gathered(layout, table, some), lines, some, layout)
                if columns.times is not None:
                    keep = clock.in_order(columns.times, lines, self.name)
                    columns, lines = columns.those(keep), lines[keep]
                X, y = table.assembled(columns)
                if label_is_truth(layout, some):
                    y = [None if label is None else label == "true" for label in y]
                position: Position = {"group": group, "row": passed, "rows": seen, **clock.kept()}
                done = seen / pieces.rows if pieces.rows else None
                count += len(X)
                self.skipped = seen - count if self.start is None else 0
                yield Batch(X, y, lines, done, columns.weight, position, table.query(columns))
        self.must_hold(count)

    # ---- columns ------------------------------------------------------------------------------------------------

    def laid_out(self, schema: Any) -> Layout:
        """What the columns are for, and which hold numbers, text and lists."""
        names = list(schema.names)
        drop = tuple(
            name for name in self.reading.drop if name not in self.top
        )  # what is left is the field of a record
        roles = roles_among(names, replace(self.reading, drop=drop), self)
        layout = Layout("", names, roles, timed=True)
        if roles.label is not None and not self.reading.sets and is_list(schema.field(roles.label).type):
            raise BadValue(f"{self.name}: column {names[roles.label]!r} holds lists; several labels of a row need "
                           "--task multilabel (sets=True)")  # fmt: skip
        for place in layout.features():
            kind = schema.field(place).type
            if place in roles.text:
                if not is_text(kind):
                    raise BadValue(f"{self.name}: column {names[place]!r} holds {kind}, not text")
                layout.words.append(place)
            elif is_number(kind) and place not in roles.categorical:
                layout.numeric.append(place)
            elif is_text(kind) or is_list(kind) or (is_number(kind) and place in roles.categorical):
                layout.text.append(place)
            else:
                hint = "--timestamp it, or " if arrow().types.is_temporal(kind) else ""
                raise BadValue(f"{self.name}: column {names[place]!r} holds {kind}; {hint}leave it out with --drop")
        kinds = dict.fromkeys([*layout.text, *layout.words], "text") | dict.fromkeys(layout.numeric, "numbers")
        self.columns = {names[place]: kind for place, kind in sorted(kinds.items())}
        return layout

    def judged(self, columns: Columns, lines: np.ndarray, table: Any, layout: Layout) -> tuple[Columns, np.ndarray]:
        """The rows that can be used; the first that cannot is refused unless such rows are skipped."""
        bad = wrong_rows(columns, table, layout, self.reading)
        if not bad:
            return columns, lines
        if not self.reading.lenient:
            row = min(bad)
            raise BadValue(f"{self.name}: row {lines[row]}: {bad[row]}", row=None)
        keep = ~np.isin(np.arange(columns.rows), list(bad))
        return columns.those(keep), lines[keep]


def parquet(path: str, reading: Reading) -> Columnar:
    """The rows of a Parquet file."""
    if path == "-":
        raise BadValue("a Parquet file cannot be read from standard input: its end comes first; name the file")
    return Columnar(ParquetPieces, path, reading, "parquet", path)


def ipc(path: str, reading: Reading) -> Columnar:
    """The rows of an Arrow file or stream."""
    return Columnar(IpcPieces, path, reading, "arrow", "standard input" if path == "-" else path)
