"""One record of JSON lines: its features, and its label, weight, query and time."""

import json
import math
from typing import Any, NoReturn

from noregret.errors import shown
from noregret.features.cells import BLANKS, TIME_NUMBERS, read_time, split_words, time_categories, time_numbers
from noregret.streams.column_roles import USUAL_LABELS
from noregret.streams.columns import arrow, parse_times, time_fault
from noregret.streams.read_options import ReadOptions
from noregret.streams.timestamps import parse_time

INFINITE = (math.inf, -math.inf)  # a JSON number too large for a float becomes one of these
DEEP = 50  # nested records and lists, at most
NUMBER, TEXT, MOMENT = "a number", "text", "a time"  # what a path holds
NUMBERS = (float, int, bool)


class BadRecord(Exception):
    """Why a line cannot be used."""


class Fields:
    """What is known of all records: the options, and what each path holds."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.kinds: dict[str, str] = {}
        self.keeps, self.marks = bool(options.keep), options.missing

    def is_mark(self, value: Any) -> bool:
        """Whether a value is a mark of missing values."""
        return isinstance(value, str) and value in self.marks


class Record:
    """The features of one line, and the values of the fields that are not features."""

    def __init__(self, fields: Fields, label: str | None, raw: bytes) -> None:
        self.fields, options = fields, fields.options
        self.features: dict[str, float] = {}
        self.texts: dict[str, str] = {}
        self.kinds: dict[str, str] = {}  # what each path of this record holds
        self.others: dict[str, Any] = {}
        self.kept: dict[str, Any] = {}
        roles = (label, options.weight, options.timestamp, options.query)
        self.not_features = {name for name in roles if name is not None} | set(options.drop)
        record = parse_json(raw)
        if not isinstance(record, dict):
            raise BadRecord(f"expected a record, {{...}}, not {shown(record)}")
        if label is None and options.labelled:
            usual = {name.lower(): name for name in reversed(list(record))}
            guess = next((usual[name] for name in USUAL_LABELS if name in usual), None)
            self.not_features |= {guess} - {None}  # type: ignore[arg-type]
        self.add_record(record, "", 0)

    def add_record(self, record: dict[str, Any], prefix: str, depth: int) -> None:
        """Add the features of a record; paths begin with the prefix."""
        if depth > DEEP:
            raise BadRecord(f"records are nested more than {DEEP} deep")
        for key, value in record.items():
            path = f"{prefix}{key}"
            if self.fields.keeps and path in self.fields.options.keep:
                self.kept[path] = value
            if path in self.not_features:
                self.others[path] = value
            elif isinstance(value, dict):
                self.add_record(value, f"{path}.", depth + 1)
            elif isinstance(value, list):
                self.add_list(value, path, depth)
            elif value is not None and not (self.fields.marks and self.fields.is_mark(value)):
                self.add_value(value, path)
            else:
                self.add_missing(path)

    def add_missing(self, path: str) -> None:
        """Add a missing value, where numbers were before and missing values are kept."""
        if not self.fields.options.keep_missing:
            return
        kind = self.fields.kinds.get(path)
        names = [path] if kind == NUMBER else [f"{path}.{part}" for part in TIME_NUMBERS] if kind == MOMENT else []
        self.features.update(dict.fromkeys(names, math.nan))

    def add_value(self, value: Any, path: str) -> None:
        """Add the feature, or features, of one value."""
        if self.fields.kinds.get(path) is NUMBER and type(value) in NUMBERS:  # as most values are
            self.add_number(value, path)
            return
        options, kind = self.fields.options, self.kind_of(value, path)
        if kind == NUMBER:
            self.add_number(value, path)
        elif kind == MOMENT:
            self.add_time(value, path)
        elif path in options.text and path not in self.texts:
            self.texts[path] = value
        elif path in options.text:  # a second text of the same path, in a list of records
            for word in split_words(value, options.ngrams):
                self.count(f"{path}={word}")
        else:
            self.count(f"{path}={to_text(value)}")

    def kind_of(self, value: Any, path: str) -> str:
        """Return what a path holds, which its first value decides; a value of another kind is an error."""
        options = self.fields.options
        known = self.fields.kinds.get(path, self.kinds.get(path))
        if path in options.categorical or isinstance(value, str):
            kind = TEXT if known != MOMENT else MOMENT
            if known is None and path not in {*options.categorical, *options.text} and read_time(value.strip(BLANKS)):
                kind = MOMENT
        else:
            kind = NUMBER
        if (known or kind) != kind:
            raise BadRecord(f"field {path!r} is {kind} here, {shown(value)}, and was {known} before")
        self.kinds[path] = kind
        return kind

    def add_number(self, value: Any, path: str) -> None:
        """Add the feature of a number."""
        try:
            self.features[path] = self.features.get(path, 0.0) + float(value)
        except OverflowError:
            raise BadRecord(f"field {path!r}: the value is too large for a float") from None
        if not math.isfinite(self.features[path]):
            raise BadRecord(f"field {path!r}: the value is {value}; every value must be finite")

    def add_time(self, value: str, path: str) -> None:
        """Add the features of a date or time, as in other tables; an empty text is no time."""
        text = value.strip(BLANKS)
        moment = read_time(text)
        if moment is None and text:
            raise BadRecord(f"field {path!r}: {shown(value)} is not a time, as this field was before; correct it, or "
                            f"read the field as text with --categorical {path}")  # fmt: skip
        if moment is None:
            return self.add_missing(path)
        for part, number in time_numbers(moment).items():
            self.kinds[f"{path}.{part}"] = NUMBER
            self.features[f"{path}.{part}"] = number
        for part, category in time_categories(moment).items():
            self.count(f"{path}.{part}={category}")

    def add_list(self, values: list[Any], path: str, depth: int) -> None:
        """Add a feature for every element of a list, with its count."""
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
            usual = {path.lower(): path for path in reversed(list(record.others))}
            self.label = next((usual[name] for name in USUAL_LABELS if name in usual), None)
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


def to_text(value: Any) -> str:
    """Return a value as text, as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def parse_json(raw: bytes) -> Any:
    """Parse a line; refuses NaN, infinities and duplicate fields."""
    try:
        return json.loads(
            raw.decode().removeprefix("\ufeff"), parse_constant=refuse_constant, object_pairs_hook=refuse_duplicates
        )
    except UnicodeDecodeError as error:
        raise BadRecord(f"byte {error.start + 1} of the line is not text in UTF-8") from None
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
