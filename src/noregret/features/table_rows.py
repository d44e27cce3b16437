"""Rows of a table as people have them: numbers, truth values, categories and texts under the names of their columns.

A number is a feature named by its column, and so is a truth value, which is 1 or 0, and an amount such as $1.50, 1,234
or 45%. A text makes a feature column=value; in columns of free text every word does, counted. A date or time has a
year, a month, a weekday and so on, also where it is a text such as 2024-05-31. A missing value is a feature that the
row does not have. Lists and records are read as in JSON lines. Sources of files do the same with whole columns.
"""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from datetime import date
from typing import Any

import numpy as np

from noregret.data.blocks import Rows, SparseBlock
from noregret.errors import BadValue, import_extra, shown
from noregret.features.cells import (
    BLANKS,
    NUMBERS,
    TEXT,
    TIME_NUMBERS,
    TIMES,
    is_spelled,
    read_number,
    read_time,
    split_words,
    time_categories,
    time_numbers,
    to_text,
)
from noregret.features.frames import check_columns, convert_frame, is_frame, library_of

ROLES = ("label", "weight", "timestamp", "query")
DEEP = 50  # nested records, at most
FEW = 5  # names in a warning
MOST_COLUMNS = 4096  # whose kinds are remembered; rows with more are not those of a table


class TableReading:
    """How the rows of a table become features.

    `columns` says what each column of the table holds that was learned from. Without it, the first value of a column
    does, and `kinds` keeps what was found, once the rows are learned.
    """

    def __init__(self, columns: Mapping[str, str] | None = None, options: Mapping[str, Any] | None = None) -> None:
        options = options or {}
        self.columns = columns
        self.kinds: dict[str, str] = {}
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

    def copy(self) -> "TableReading":
        """The same reading, which goes on by itself."""
        new = copy(self)
        new.kinds, new.warned = dict(self.kinds), set(self.warned)
        return new

    def learn(self, found: Mapping[str, str]) -> None:
        """Remember what columns hold, of rows that were learned."""
        if found and len(self.kinds) + len(found) <= MOST_COLUMNS:
            self.kinds.update(found)

    def restore(self, kinds: object) -> None:
        """Remember what a model file says of columns, which may be forged."""
        if isinstance(kinds, dict) and len(kinds) <= MOST_COLUMNS:
            self.kinds = {name: kind for name, kind in kinds.items() if kind in (NUMBERS, TEXT, TIMES)}

    def read_row(
        self, row: Mapping[Any, Any], found: dict[str, str] | None = None
    ) -> tuple[dict[str, float], dict[str, float]]:
        """The features of a row: numbers, and those that say which category or word it has.

        With `found`, a row to be learned: what its new columns hold is added there.
        """
        features = Features(self, {} if found is None else found)
        features.add_record(row, "", 0)
        if features.unknown:
            self.warn_of(features.unknown)
        if found is None and self.kinds and features.found and not features.recognised:
            self.warn_once("the row has none of the columns that were learned, but {}", [*features.found])
        return features.numbers, features.marks

    def read_rows(self, rows: Iterable[Mapping[Any, Any]], found: dict[str, str] | None = None) -> Rows:
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
                parts = self.read_row(row, found)
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

    def read_frame(self, frame: Any, found: dict[str, str] | None = None) -> Rows:
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
                if found is not None and self.columns is None:
                    found.update(dict.fromkeys((name for name in used if name not in self.kinds), NUMBERS))
                return rows
        columns = [table[name].to_list() for name in names]
        texts = [str(name) for name in names]
        return self.read_rows((dict(zip(texts, row, strict=True)) for row in zip(*columns, strict=True)), found)

    def is_plain(self, column: Any) -> bool:
        """Whether a column of a frame holds numbers that are features as they are, all of them there."""
        name, kind = column.name, column.dtype
        known = (self.columns or self.kinds).get(name, NUMBERS if self.columns is None else None) == NUMBERS
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

    def __init__(self, reading: TableReading, found: dict[str, str]) -> None:
        self.reading, self.found = reading, found  # what columns hold that are new
        self.recognised = False  # whether some column was known before
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
        elif name not in reading.categorical and name not in reading.text:
            return self.first_kind(name, value)
        return TEXT if isinstance(value, str) or name in reading.categorical else NUMBERS

    def first_kind(self, name: str, value: Any) -> str:
        """What a column held when it was first seen; a column that is new holds what the value is."""
        known = self.reading.kinds.get(name) or self.found.get(name)
        self.recognised |= name in self.reading.kinds
        if known is None and not self.is_missing(value):
            known = kind_of_value(value)
            column, equals, _ = name.partition("=")
            if equals and column in self.reading.kinds:  # a feature already
                self.recognised = True
            else:
                self.found[name] = known
        return known or TEXT

    def is_missing(self, value: Any) -> bool:
        """Whether a cell is empty: None, NaN, a missing value of pandas, an empty text, or a mark of missing values."""
        if isinstance(value, str):
            text = value.strip(BLANKS)
            return not text or text in self.reading.missing
        return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)

    def count(self, name: str) -> None:
        self.marks[name] = self.marks.get(name, 0.0) + 1.0


def kind_of_value(value: Any) -> str:
    """What a value is by itself: a number, also in other words ($1.50), a date or time, or text."""
    if isinstance(value, str):
        text = value.strip(BLANKS)
        return NUMBERS if is_spelled(text) else TIMES if read_time(text) is not None else TEXT
    return TIMES if isinstance(value, date) else NUMBERS


def names_in(options: Mapping[str, Any], name: str) -> set[str]:
    """The columns that an option names."""
    given = options.get(name)
    return {one for one in given if isinstance(one, str)} if isinstance(given, (list, tuple)) else set()


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
