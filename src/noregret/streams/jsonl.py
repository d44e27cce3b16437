"""JSON lines: one record per line.

A number is a feature named by its path, a.b for the field b of a; true is 1 and false 0. A text makes a feature
path=text; an amount, as $1.50, 1,234 or 45%, is a number, and a date or time, as 2024-05-31, makes the features that it
has in other tables. Every element of a list makes a feature, which is counted. null and an empty text are features that
the row does not have. The first 128 kilobytes decide whether the texts of a path are amounts, times or text; of other
values, and of rows read as they come, the first one does. Another kind later is an error.
"""

import contextlib
import os
from collections.abc import Generator, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.data.query_groups import query_ids
from noregret.errors import BadValue
from noregret.features import canonicalize
from noregret.streams import words_text
from noregret.streams.column_kinds import note_many_values
from noregret.streams.columns import expand_labels
from noregret.streams.files import TextFile, Unreadable
from noregret.streams.json_kinds import SAMPLE, judge_fields
from noregret.streams.json_record import BadRecord, Fields, Record, RecordChecks
from noregret.streams.lines import LongLine, read_lines
from noregret.streams.prefetch import prefetch
from noregret.streams.read_options import TABLE_OPTIONS, ReadOptions
from noregret.streams.record_features import RecordFeatures
from noregret.streams.source import Source, read_position
from noregret.streams.timestamps import TimeOrder
from noregret.streams.words import counter_slots

ROWS = 4096


class Jsonl(Source):
    """Rounds from JSON lines."""

    kind = "jsonl"
    accepts = TABLE_OPTIONS | {"encoding", "numbers", "times"}
    learner_defaults: Mapping[str, Any] = MappingProxyType({"scale": True, "bias": True})

    def __init__(self, path: str, options: ReadOptions) -> None:
        super().__init__()
        self.path, self.options = path, options
        self.name = "standard input" if path == "-" else path
        self.label = options.label

    def __iter__(self) -> Iterator[Batch]:
        self.begin()
        self.notes = []
        rows = 0
        with contextlib.closing(
            prefetch(self.batches(TextFile(self.path, self.options.live, self.options.encoding)))
        ) as parts:
            for batch, skipped, label, columns in parts:
                rows, self.skipped, self.columns = rows + batch.rows, skipped, columns
                if self.label is None and label is not None:
                    self.notes.append(f"the label is the field {label!r}")
                self.label = label
                if batch.rows:
                    yield batch
        self.check_not_empty(rows)

    def needs_compiling(self) -> bool:
        from noregret.jit.compiled import is_cached

        return bool(self.options.text) and not (
            is_cached(words_text.words, counter_slots(), words_text.REPLACED)
            and is_cached(canonicalize.entry, canonicalize.slots())
        )

    def batches(self, file: TextFile) -> Generator[tuple[Batch, int, str | None, dict[str, str] | None], None, None]:
        """Yield every batch, how many rows were skipped up to its end, the field of the label, and all fields."""
        reader = RecordReader(self.options, self.name, TimeOrder(self.options, self.start))
        byte, line = read_position(self.start, "byte"), read_position(self.start, "line")
        with file:
            if not file.live:
                self.notes += judge_fields(self.read_head(file), reader.fields)
            file.seek_to(byte)
            for raw in read_lines(file, self.name, line, self.options.lenient):
                full = ROWS
                if type(raw) is bytes:
                    line, byte = line + 1, byte + len(raw)
                    reader.read(raw, line)
                elif isinstance(raw, LongLine):
                    line, byte, reader.skipped = line + 1, byte + len(raw), reader.skipped + 1
                else:
                    full = 1  # what had come is read
                if reader.rows >= full:
                    yield self.collect(reader, reader.make_batch(file.progress(), byte, line))
            yield self.collect(reader, reader.make_batch(file.progress(), byte, line))
        self.notes += note_many_values(reader.features.count_values(reader.fields.kinds), reader.seen)

    def read_head(self, file: TextFile) -> bytes:
        """Read the first lines, without moving the reader; what cannot be read is left for it to refuse."""
        again = TextFile(self.path, encoding=self.options.encoding) if os.path.isfile(self.path) else file
        try:
            return again.peek(SAMPLE)
        except Unreadable:
            return again.peeked
        finally:
            if again is not file:
                again.close()

    def collect(self, reader: "RecordReader", batch: Batch) -> tuple[Batch, int, str | None, dict[str, str] | None]:
        """Return a batch with what is known of the source at its end."""
        return batch, reader.skipped, reader.checks.label, reader.fields.columns()


class RecordReader:
    """Collects the rows of a batch."""

    def __init__(self, options: ReadOptions, name: str, order: TimeOrder) -> None:
        self.options, self.name, self.order = options, name, order
        self.checks, self.fields = RecordChecks(options), Fields(options)
        self.features = RecordFeatures(options)
        self.skipped = self.seen = 0
        self.clear()

    def clear(self) -> None:
        """Start a new batch."""
        self.rows = 0
        self.features.clear()
        self.labels: list[Any] = []
        self.weights: list[float] = []
        self.queries: list[Any] = []
        self.lines: list[int] = []
        self.kept: dict[str, list[Any]] = {name: [] for name in self.options.keep}

    def read(self, raw: bytes, line: int) -> None:
        """Add the row of a line; a line that cannot be used is an error, or is skipped and counted."""
        if not raw.strip():
            return
        try:
            record = Record(self.fields, self.checks.label, raw)
            label, weight = self.checks.read_label(record), self.checks.read_weight(record)
            query, time = self.checks.read_query(record), self.checks.read_time(record)
            if time is not None and not self.order.check_one(time, line, self.name):
                return
        except (BadRecord, OverflowError) as error:
            if not self.options.lenient:
                why = "a number is too large for a float" if isinstance(error, OverflowError) else error
                raise BadValue(f"{self.name}:{line}: {why}") from None
            self.skipped += 1
            return
        self.fields.add(record)
        self.features.add(record.features, record.kinds, record.texts)
        self.labels.append(label)
        self.weights.append(weight)
        self.queries.append(query)
        self.lines.append(line)
        for name, values in self.kept.items():
            values.append(record.kept.get(name))
        self.rows += 1
        self.seen += 1

    def make_batch(self, progress: float | None, byte: int, line: int) -> Batch:
        """Return the rows collected, and start a new batch."""
        X = self.features.make_rows()
        y = self.collect_labels()
        weight = np.array(self.weights) if self.options.weight is not None else None
        position = {"byte": byte, "line": line, **self.order.dump()}
        query = query_ids(self.queries) if self.options.query is not None else None
        lines, kept = np.array(self.lines, np.int64), self.kept or None
        batch = Batch(X, y, lines, progress, weight, position, query, kept)
        self.skipped += self.order.skipped
        self.order.skipped = 0
        self.clear()
        return batch

    def collect_labels(self) -> Any:
        """Return the labels as an array if they are of one type, else as a list."""
        if self.options.targets and None not in self.labels:
            return np.array(self.labels, np.float64)
        return expand_labels(self.labels, np.arange(len(self.labels)))
