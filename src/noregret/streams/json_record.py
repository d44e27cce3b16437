"""One record of JSON lines: its features, and its label, weight, query and time."""

import json
import math
from typing import Any, NoReturn

from noregret.errors import shown
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
from noregret.streams.column_roles import USUAL_LABELS
from noregret.streams.columns import arrow, parse_times, time_fault
from noregret.streams.read_options import ReadOptions
from noregret.streams.timestamps import parse_time

INFINITE = (math.inf, -math.inf)  # a JSON number too large for a float becomes one of these
DEEP = 50  # nested records and lists, at most
IN_WORDS = {NUMBERS: "a number", TEXT: "text", TIMES: "a time"}  # what a path holds
NUMERIC = (float, int, bool)
MOST_COLUMNS = 4096  # records with more paths are not tables


class BadRecord(Exception):
    """Why a line cannot be used."""


class Fields:
    """What is known of all records: the options, and what each path holds."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.told = dict.fromkeys(options.numbers, NUMBERS) | dict.fromkeys(options.times, TIMES)  # before it is seen
        self.kinds: dict[str, str] = {}  # of paths that were seen
        self.lists: dict[str, str] = {}  # paths of lists
        self.made: set[str] = set()  # paths that are parts of a time
        self.keeps, self.marks = bool(options.keep), options.missing

    def add(self, record: "Record") -> None:
        """Remember what the paths of a record hold."""
        if record.kinds or record.lists:
            self.kinds.update(record.kinds)
            self.lists.update(record.lists)
            self.made.update(record.made)

    def columns(self) -> dict[str, str] | None:
        """Return what each path holds, as of the columns of a table; None if there are too many."""
        if len(self.lists) + len(self.kinds) - len(self.made) > MOST_COLUMNS:
            return None
        return {**self.lists, **{path: kind for path, kind in self.kinds.items() if path not in self.made}}

    def is_missing(self, value: Any) -> bool:
        """Whether a value is absent: null, an empty text, or a mark of missing values."""
        return value is None or (isinstance(value, str) and (not (text := value.strip(BLANKS)) or text in self.marks))


class Record:
    """The features of one line, and the values of the fields that are not features."""

    def __init__(self, fields: Fields, label: str | None, raw: bytes) -> None:
        self.fields, options = fields, fields.options
        self.features: dict[str, float] = {}
        self.texts: dict[str, str] = {}
        self.kinds: dict[str, str] = {}  # what each path of this record holds
        self.lists: dict[str, str] = {}
        self.made: list[str] = []
        self.others: dict[str, Any] = {}
        self.kept: dict[str, Any] = {}
        roles = (label, options.weight, options.timestamp, options.query)
        self.not_features = {name for name in roles if name is not None} | set(options.drop)
        record = parse_json(raw)
        if not isinstance(record, dict):
            raise BadRecord(f"expected a record, {{...}}, not {shown(record)}")
        if label is None and options.labelled:
            usual = {name.lower(): name for name in reversed(list(record))}
            guess = guess_label(usual, options)
            self.not_features |= {guess} - {None}  # type: ignore[arg-type]
        self.add_record(record, "", 0)

    def add_record(self, record: dict[str, Any], prefix: str, depth: int) -> None:
        """Add the features of a record; paths begin with the prefix."""
        if depth > DEEP:
            raise BadRecord(f"records are nested more than {DEEP} deep")
        known = self.fields.kinds
        for key, value in record.items():
            path = f"{prefix}{key}"
            if self.fields.keeps and path in self.fields.options.keep:
                self.kept[path] = value
            if path in self.not_features:
                self.others[path] = value
            elif known.get(path) is NUMBERS and type(value) in NUMERIC:  # as most values are
                self.add_number(value, path)
            elif isinstance(value, dict):
                self.add_record(value, f"{path}.", depth + 1)
            elif isinstance(value, list):
                self.add_list(value, path, depth)
            elif not self.fields.is_missing(value):
                self.add_value(value, path)
            else:
                self.add_missing(path)

    def add_missing(self, path: str) -> None:
        """Add a missing value, where numbers were before and missing values are kept."""
        if not self.fields.options.keep_missing:
            return
        kind = self.fields.kinds.get(path, self.fields.told.get(path))
        names = [path] if kind == NUMBERS else [f"{path}.{part}" for part in TIME_NUMBERS] if kind == TIMES else []
        self.features.update(dict.fromkeys(names, math.nan))
        self.kinds.update(dict.fromkeys(names, NUMBERS))
        self.made += names if kind == TIMES else ()

    def add_value(self, value: Any, path: str) -> None:
        """Add the feature, or features, of one value."""
        options, kind = self.fields.options, self.kind_of(value, path)
        if kind == NUMBERS:
            self.add_number(read_number(value.strip(BLANKS)) if isinstance(value, str) else value, path)
        elif kind == TIMES:
            self.add_time(value, path)
        elif path in options.text and path not in self.texts:
            self.texts[path] = value
        elif path in options.text:  # a second text of the same path, in a list of records
            for word in split_words(value, options.ngrams):
                self.count(f"{path}={word}")
        else:
            self.count(f"{path}={to_text(value)}")

    def kind_of(self, value: Any, path: str) -> str:
        """Return what a path holds, which the first records decide, or its first value; another kind is an error."""
        options, told = self.fields.options, self.fields.told.get(path)
        known = self.fields.kinds.get(path, self.kinds.get(path, told))
        if path in options.categorical:
            kind = TEXT
        elif isinstance(value, str):
            kind = TEXT if path in options.text else self.kind_of_text(value.strip(BLANKS), known)
        else:
            kind = NUMBERS
        if known is not None and known != kind:
            raise BadRecord(f"field {path!r} is {IN_WORDS[kind]} here, {shown(value)}, and was {IN_WORDS[known]} before"
                            f"; correct it, or read the field as text with --categorical {path}")  # fmt: skip
        self.kinds[path] = kind
        return kind

    def kind_of_text(self, text: str, known: str | None) -> str:
        """Return what a text stands for in a path that is known to hold numbers, times or text, or is not known yet."""
        if known == NUMBERS or (known is None and is_spelled(text)):
            return TEXT if read_number(text) is None else NUMBERS
        return TIMES if known == TIMES or (known is None and read_time(text)) else TEXT

    def add_number(self, value: Any, path: str) -> None:
        """Add the feature of a number."""
        try:
            self.features[path] = self.features.get(path, 0.0) + float(value)
        except OverflowError:
            raise BadRecord(f"field {path!r}: the value is too large for a float") from None
        if not math.isfinite(self.features[path]):
            raise BadRecord(f"field {path!r}: the value is {value}; every value must be finite")

    def add_time(self, value: str, path: str) -> None:
        """Add the features of a date or time, as in other tables."""
        moment = read_time(value.strip(BLANKS))
        if moment is None:
            raise BadRecord(f"field {path!r}: {shown(value)} is not a time, as this field was before; correct it, or "
                            f"read the field as text with --categorical {path}")  # fmt: skip
        for part, number in time_numbers(moment).items():
            self.kinds[f"{path}.{part}"] = NUMBERS
            self.made.append(f"{path}.{part}")
            self.features[f"{path}.{part}"] = number
        for part, category in time_categories(moment).items():
            self.count(f"{path}.{part}={category}")

    def add_list(self, values: list[Any], path: str, depth: int) -> None:
        """Add a feature for every element of a list, with its count."""
        self.lists[path] = TEXT
        for value in values:
            if isinstance(value, dict):
                self.add_record(value, f"{path}.", depth + 1)
            elif isinstance(value, list):
                if depth > DEEP:
                    raise BadRecord(f"lists are nested more than {DEEP} deep")
                self.add_list(value, path, depth + 1)
            elif value is not None:
                self.count(f"{path}={to_text(value)}")

    def count(self, name: str) -> None:
        """Add 1 to a feature."""
        self.features[name] = self.features.get(name, 0.0) + 1.0


class RecordChecks:
    """Reads the label, weight, query and time of records; the label field is guessed from the first record."""

    def __init__(self, options: ReadOptions) -> None:
        self.options, self.label = options, options.label

    def read_label(self, record: Record) -> Any:
        """Return the label; None if there is none and labels may be missing."""
        if self.label is None:
            self.label = guess_label({path.lower(): path for path in reversed(list(record.others))}, self.options)
        value = record.others.get(self.label) if self.label is not None else None
        marks = self.options.unlabelled
        if value is None or (marks is not None and isinstance(value, str) and value in ("", *marks)):
            if not self.options.labelled:
                return None
            if self.label is None:
                raise BadRecord("there is no field label, target, class or y; name the field of the label with --label")
            raise BadRecord(f"there is no field {self.label!r}, the label; every row needs one")
        if self.options.sets and isinstance(value, list):
            return self.read_labels(value)
        if isinstance(value, (list, dict)):
            several = "; for several labels of a row say --task multilabel" if isinstance(value, list) else ""
            raise BadRecord(f"the label is {shown(value)}; it must be a number or a text{several}")
        if self.options.targets:
            if isinstance(value, str) or not math.isfinite(value):
                return self.refuse_label(f"the label {value!r} is not a finite number, but regression needs numbers")
            return float(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                return self.refuse_label(f"the label is {value}; it must be finite")
            return int(value) if value.is_integer() else value
        return value

    def read_labels(self, values: list[Any]) -> tuple[Any, ...] | None:
        """Return several labels of one row."""
        wrong = [one for one in values if one is None or isinstance(one, (list, dict)) or one in INFINITE]
        if wrong or not values:
            self.refuse_label(f"the labels are {shown(values)}; they must be numbers or texts, at least one of them")
            return None
        return tuple(int(one) if isinstance(one, float) and one.is_integer() else one for one in values)

    def refuse_label(self, why: str) -> None:
        """Raise an error for a label that cannot be used, unless labels may be missing."""
        if self.options.labelled:
            raise BadRecord(why)

    def read_weight(self, record: Record) -> float:
        """Return the weight; 1 if there is no field for it."""
        name = self.options.weight
        if name is None:
            return 1.0
        value = record.others.get(name)
        if isinstance(value, (int, float)) and 0.0 <= value < math.inf:
            return float(value)
        raise BadRecord(f"field {name!r}: the weight is {shown(value)}; it must be a number that is not negative")

    def read_query(self, record: Record) -> Any:
        """Return the query; None if there is no field for it."""
        name = self.options.query
        value = None if name is None else record.others.get(name)
        if name is not None and (value is None or value == "" or isinstance(value, (list, dict))):
            raise BadRecord(f"field {name!r}: the query is {shown(value)}; every row needs a number or a text")
        return value

    def read_time(self, record: Record) -> float | None:
        """Return the time in seconds; None if there is no field for it."""
        name = self.options.timestamp
        if name is None:
            return None
        value: Any = record.others.get(name)
        time = parse_time(value)
        if time is None:
            why = "there is no time" if value is None else time_fault(str(value), not isinstance(value, str))
            if why:
                raise BadRecord(f"field {name!r}: {why}")
            time = float(parse_times(arrow().array([value]))[0]) if isinstance(value, str) else float(value)
        return time


def guess_label(usual: dict[str, str], options: ReadOptions) -> str | None:
    """Return the field with a usual name of a label, given fields by their names in lower case; None without one."""
    return next((usual[name] for name in USUAL_LABELS if name in usual and usual[name] not in options.drop), None)


def parse_json(raw: bytes) -> Any:
    """Parse a line; refuses NaN, infinities and duplicate fields."""
    try:
        return json.loads(
            raw.decode().removeprefix("\ufeff"), parse_constant=refuse_constant, object_pairs_hook=refuse_duplicates
        )
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} of the line is not text in UTF-8; name its --encoding, as in latin-1"
        raise BadRecord(problem) from None
    except json.JSONDecodeError as error:
        raise BadRecord(f"this is not JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise BadRecord(f"records are nested more than {DEEP} deep") from None
    except ValueError as error:  # a number of thousands of digits
        raise BadRecord(f"this is not JSON that can be used: {error}") from None


def refuse_constant(word: str) -> NoReturn:
    """Raise an error for NaN, Infinity and -Infinity."""
    raise BadRecord(f"the value is {word}; every value must be finite")


def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a record as a dict, or raise an error for a field that occurs twice."""
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise BadRecord(f"field {duplicate!r} occurs twice")
    return record
