"""The file of predictions: CSV, JSON lines or Parquet, by its extension; complete or not at all."""

import contextlib
import csv
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from noregret.cli.output import open_output
from noregret.errors import BadValue, import_extra

Columns = Mapping[str, Sequence[Any]]
PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson", ".json")


class PredictionWriter(Protocol):
    """Takes the columns of some rows at a time."""

    def write(self, columns: Columns) -> None: ...


class CsvWriter:
    """One line for each row, after a line with the names of the columns."""

    def __init__(self, file: IO[str]) -> None:
        self.file, self.out, self.started = file, csv.writer(file, lineterminator="\n"), False

    def write(self, columns: Columns) -> None:
        if not self.started:
            self.out.writerow(columns)
            self.started = True
        self.out.writerows(zip(*columns.values(), strict=True))


class JsonLinesWriter:
    """One record for each row."""

    def __init__(self, file: IO[str]) -> None:
        self.file = file

    def write(self, columns: Columns) -> None:
        for row in zip(*columns.values(), strict=True):
            self.file.write(json.dumps(dict(zip(columns, row, strict=True))) + "\n")


class ParquetWriter:
    """A Parquet file; the types of its columns are those of the first rows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer: Any = None

    def write(self, columns: Columns) -> None:
        pyarrow = import_extra("pyarrow", "tables", "a Parquet file")
        import_extra("pyarrow.parquet", "tables", "a Parquet file")
        if self.writer is None:
            table = pyarrow.table({name: as_column(values) for name, values in columns.items()})
            self.writer = pyarrow.parquet.ParquetWriter(self.path, table.schema)
        else:
            schema = self.writer.schema
            cells = [as_column(columns[field.name], field.type) for field in schema]
            table = pyarrow.table(cells, schema=schema)
        self.writer.write_table(table)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def as_column(values: Sequence[Any], kind: Any = None) -> Any:
    """Values as a column of one type; values of several types, or of another than before, as text."""
    pyarrow = import_extra("pyarrow", "tables", "a Parquet file")
    try:
        return pyarrow.array(values, kind)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        texts = [None if value is None else str(value) for value in values]
        if kind is not None and kind != pyarrow.string():
            raise BadValue("the predictions change their type, which a Parquet column cannot; write .csv") from None
        return pyarrow.array(texts, pyarrow.string())


@contextlib.contextmanager
def open_predictions(path: str) -> Iterator[PredictionWriter]:
    """Where predictions are written to, in the format of the file; - is standard output, as CSV."""
    suffix = Path(path).suffix.lower()
    if suffix not in PARQUET:
        with open_output(path, "the predictions") as file:
            yield JsonLinesWriter(file) if suffix in JSON_LINES else CsvWriter(file)
        return
    target = Path(path)
    place = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    writer = ParquetWriter(place)
    try:
        try:
            yield writer
        finally:
            writer.close()
        if place.exists():
            os.replace(place, target)
    except OSError as error:
        raise BadValue(f"{path}: the predictions cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            place.unlink()


def flush_if_live(path: str | None, live: bool) -> None:
    """Send what is written to standard output at once, where somebody waits for it."""
    if path == "-" and live:
        sys.stdout.flush()
