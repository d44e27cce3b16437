"""Rows of a table as people have them: numbers, truth values, categories and texts under the names of their columns.

A number is a feature named by its column, and so is a truth value, which is 1 or 0. A text makes a feature
column=value; in columns of free text every word does, counted. A date or time has a year, a month, a weekday and so on,
also where it is a text such as 2024-05-31. A missing value is a feature that the row does not have. Lists and records
are read as in JSON lines. Sources of files do the same with whole columns.
"""

import math
import numbers
import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from noregret.data.blocks import Rows, SparseBlock
from noregret.errors import BadValue, import_extra, shown
from noregret.features.cells import (
    BLANKS,
    TIME_NUMBERS,
    read_number,
    read_time,
    split_words,
    time_categories,
    time_numbers,
    write_number,
)
from noregret.features.frames import check_columns, convert_frame, is_frame, library_of

NUMBERS, TEXT, TIMES = "numbers", "text", "times"  # what a column of a table holds
ROLES = ("label", "weight", "timestamp", "query")
DEEP = 50  # nested records, at most
FEW = 5  # names in a warning


class TableReading:
    """How the rows of a table become features.

    `columns` says what each column of the table holds that was learned from; without it, values say it themselves.
    """

    def __init__(self, columns: Mapping[str, str] | None = None, options: Mapping[str, Any] | None = None) -> None:
        options = options or {}
        self.columns = columns
        self.ignored = {options[role] for role in ROLES if isinstance(options.get(role), str)} | names_in(
            options, "drop"
        )
        self.text, self.categorical = names_in(options, "text"), names_in(options, "categorical")
        self.ngrams = options["ngrams"] if type(options.get("ngrams")) is int else 1
        self.missing = names_in(options, "missing")
        self.keep_missing = bool(options.get("keep_missing"))
        self.warned: set[str] = set()

    @classmethod
    def from_source(cls, source: Mapping[str, Any] | None, keep_missing: bool) -> "TableReading | None":
        """The reading that a model remembers of its source, which may come from a forged file; None for other rows."""
        columns = (source or {}).get("columns")
        if source is None or not (isinstance(columns, dict) or source.get("kind") == "jsonl"):
            return None
        reading = source.get("reading")
        options = {**reading} if isinstance(reading, dict) else {}
        if isinstance(source.get("label"), str):
            options.setdefault("label", source["label"])
        if isinstance(source.get("left_out"), str):
            options["drop"] = [*names_in(options, "drop"), source["left_out"]]
        if isinstance(options.get("key"), str):
            options["drop"] = [*names_in(options, "drop"), options["key"]]
        known = {name: kind for name, kind in columns.items() if kind in (NUMBERS, TEXT, TIMES)} if columns else None
        return cls(known, {**options, "keep_missing": keep_missing})

    # ---- rows ----------------------------------------------------------------------------------------------------

    def read_row(self, row: Mapping[Any, Any]) -> tuple[dict[str, float], dict[str, float]]:
        """The features of a row: numbers, and those that say which category or word it has."""
        features = Features(self)
        features.add_record(row, "", 0)
        if features.unknown:
            self.warn_of(features.unknown)
        return features.numbers, features.marks

    def read_rows(self, rows: Iterable[Mapping[Any, Any]]) -> Rows:
        """Rows with names, numbered in order of appearance."""
        known: dict[str, int] = {}
        indicator: list[bool] = []
        idx: list[int] = []
        val: list[float] = []
        ends = [0]
        for number, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise BadValue(f"row {number}: a row of a table is a dict of its columns, not {shown(row)}", row=number)
            try:
                parts = self.read_row(row)
            except BadValue as error:
                raise BadValue(f"row {number}: {error}", row=number) from None
            for marks, part in enumerate(parts):
                for name, value in part.items():
                    if name not in known:
                        known[name] = len(known)
                        indicator.append(bool(marks))
                    idx.append(known[name])
                    val.append(value)
            ends.append(len(idx))
        block = SparseBlock(np.array(ends), np.array(idx, np.int32), np.array(val), len(known), ready=False)
        return Rows(block, list(known), np.array(indicator, bool))

    def read_frame(self, frame: Any) -> Rows:
        """The rows of a data frame."""
        narwhals = import_extra("narwhals", "tables", "a data frame")
        if library_of(frame) == "pyarrow" and not hasattr(frame, "group_by"):  # a RecordBatch
            pyarrow = import_extra("pyarrow", "tables", "a data frame")
            frame = pyarrow.Table.from_batches([frame])
        table = narwhals.from_native(frame, eager_only=True)
        names = list(table.columns)
        check_columns(names)
        self.check_frame(names)
        if all(isinstance(name, str) for name in names):
            used = [name for name in names if name not in self.ignored]
            if all(self.is_plain(table[name]) for name in used):
                rows: Rows = convert_frame(table.select(used).to_native(), self.keep_missing)
                return rows
        columns = [table[name].to_list() for name in names]
        texts = [str(name) for name in names]
        return self.read_rows(dict(zip(texts, row, strict=True)) for row in zip(*columns, strict=True))

    def is_plain(self, column: Any) -> bool:
        """Whether a column of a frame holds numbers that are features as they are, all of them there."""
        name, kind = column.name, column.dtype
        known = (self.columns or {}).get(name, NUMBERS if self.columns is None else None) == NUMBERS
        known = known and name not in self.categorical and kind.is_numeric() and column.null_count() == 0
        return bool(known and not (kind.is_float() and column.is_nan().any()))

    def check_frame(self, names: Sequence[Any]) -> None:
        """Refuse a frame that has none of the columns of the model; warn where some are missing."""
        if not self.columns:
            return
        lacking = [name for name in self.columns if name not in names]
        if len(lacking) == len(self.columns):
            raise BadValue(f"the frame has none of the columns of the model: {list_names(lacking)}")
        self.warn_once("the frame lacks columns of the model: {}; they count as absent", lacking)

    def warn_of(self, unknown: Sequence[str]) -> None:
        self.warn_once("the model was not learned with the columns {}; what it does not know has no weight", unknown)

    def warn_once(self, text: str, names: Iterable[str]) -> None:
        new = [name for name in names if name not in self.warned]
        if new:
            self.warned.update(new)
            warnings.warn(text.format(list_names(new)), stacklevel=4)


class Features:
    """The features of one row."""

    def __init__(self, reading: TableReading) -> None:
        self.reading = reading
        self.numbers: dict[str, float] = {}
        self.marks: dict[str, float] = {}
        self.unknown: list[str] = []

    def add_record(self, record: Mapping[Any, Any], prefix: str, depth: int) -> None:
        """Add the fields of a record; of a record inside it, under the name of the field, a point, and its own."""
        if depth > DEEP:
            raise BadValue(f"records are nested more than {DEEP} deep")
        for key, value in record.items():
            if not isinstance(key, str):
                raise BadValue(f"a column has a name, which is a string, not {shown(key)}")
            name = f"{prefix}{key}"
            if name in self.reading.ignored:
                continue
            if isinstance(value, Mapping):
                self.add_record(value, f"{name}.", depth + 1)
            elif isinstance(value, (list, tuple)):
                for one in value:
                    if not self.is_missing(one):
                        self.count(f"{name}={to_text(one)}")
            else:
                self.add_value(name, value)

    def add_value(self, name: str, value: Any) -> None:
        """Add what one cell says."""
        reading = self.reading
        kind = self.kind_of(name, value)
        if self.is_missing(value):
            if reading.keep_missing and kind in (NUMBERS, TIMES):
                names = [name] if kind == NUMBERS else [f"{name}.{part}" for part in TIME_NUMBERS]
                self.numbers.update(dict.fromkeys(names, math.nan))
        elif name in reading.text:
            for word in split_words(to_text(value), reading.ngrams):
                self.count(f"{name}={word}")
        elif kind == TIMES:
            moment = read_time(value.strip(BLANKS) if isinstance(value, str) else value)
            if moment is None:
                raise BadValue(f"column {name!r}: {shown(value)} is not a time")
            self.numbers |= {f"{name}.{part}": number for part, number in time_numbers(moment).items()}
            for part, text in time_categories(moment).items():
                self.count(f"{name}.{part}={text}")
        elif kind == NUMBERS:
            self.numbers[name] = to_number(name, value)
        else:
            self.count(f"{name}={to_text(value)}")

    def kind_of(self, name: str, value: Any) -> str:
        """What the column of a value holds; where it is not known, what the value is."""
        reading = self.reading
        if reading.columns is not None:
            kind = reading.columns.get(name)
            if kind is not None:
                return kind
            column, equals, _ = name.partition("=")
            column = column if column in reading.columns or column in reading.warned else column.rpartition(".")[0]
            made = reading.columns.get(column) == TIMES or (equals and column in {*reading.columns, *reading.warned})
            if not made:  # otherwise it is a feature already
                self.unknown.append(name)
        elif name not in reading.categorical and name not in reading.text and is_moment(value):
            return TIMES
        return TEXT if isinstance(value, str) or name in reading.categorical else NUMBERS

    def is_missing(self, value: Any) -> bool:
        """Whether a cell is empty: None, NaN, a missing value of pandas, an empty text, or a mark of missing values."""
        if isinstance(value, str):
            text = value.strip(BLANKS)
            return not text or text in self.reading.missing
        return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)

    def count(self, name: str) -> None:
        self.marks[name] = self.marks.get(name, 0.0) + 1.0


def is_moment(value: Any) -> bool:
    """Whether a value is a date or time, or a text that says one."""
    return isinstance(value, date) or (isinstance(value, str) and read_time(value.strip(BLANKS)) is not None)


def names_in(options: Mapping[str, Any], name: str) -> set[str]:
    """The columns that an option names."""
    given = options.get(name)
    return {one for one in given if isinstance(one, str)} if isinstance(given, (list, tuple)) else set()


def to_text(value: Any) -> str:
    """A value as the text of a category: without blanks around it, whole numbers without a decimal point."""
    if isinstance(value, str):
        return value.strip(BLANKS)
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    return write_number(float(value)) if isinstance(value, (numbers.Real, np.number)) else str(value)


def to_number(name: str, value: Any) -> float:
    """A value as a number, which must be finite."""
    try:
        number = read_number(value.strip(BLANKS)) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None:
        raise BadValue(f"column {name!r}: {shown(value)} is not a number")
    if not math.isfinite(number):
        raise BadValue(f"column {name!r}: the value is {number}; every value must be finite")
    return number


def list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(map(repr, names[:FEW])) + more


def is_table(X: Any) -> bool:
    """Whether rows are those of a table: a data frame, or dicts."""
    return is_frame(X) or (isinstance(X, (list, tuple)) and bool(X) and all(isinstance(row, Mapping) for row in X))
