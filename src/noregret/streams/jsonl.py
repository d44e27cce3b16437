"""JSON lines: a record on every line.

A number is a feature named by its path, a.b for the field b of a; true is 1 and false 0. A text makes a feature
path=text. Of a list every element does, counted. null is a feature the row does not have. A path that held numbers and
now holds text, or the other way round, is a mistake.
"""

import contextlib
import json
import math
from collections.abc import Generator, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock
from noregret.data.query_groups import query_ids
from noregret.errors import BadValue, shown
from noregret.streams.column_roles import USUAL_LABELS
from noregret.streams.columns import arrow, in_full, times, wrong_time
from noregret.streams.files import TextFile
from noregret.streams.lines import TooLong, lines_of
from noregret.streams.prefetch import ahead
from noregret.streams.read_options import Reading
from noregret.streams.source import Source, number_in
from noregret.streams.timestamps import Clock, moment_of
from noregret.streams.words import words_of

ROWS = 4096
ENDLESS = (math.inf, -math.inf)  # what a number of JSON too large for a float becomes
DEEP = 50  # records in records, at most


class Wrong(Exception):
    """Why a line cannot be used."""


class Jsonl(Source):
    """Rounds from JSON lines."""

    kind = "jsonl"
    takes = frozenset({"label", "weight", "timestamp", "query", "drop", "categorical", "text", "ngrams", "gaps"})
    suits: Mapping[str, Any] = MappingProxyType({"scale": True, "bias": True})

    def __init__(self, path: str, reading: Reading) -> None:
        super().__init__()
        self.path, self.reading = path, reading
        self.name = "standard input" if path == "-" else path
        self.label = reading.label

    def __iter__(self) -> Iterator[Batch]:
        self.claim()
        self.notes = []
        rows = 0
        with contextlib.closing(ahead(self.batches(TextFile(self.path)))) as parts:
            for batch, skipped, label in parts:
                rows, self.skipped = rows + batch.rows, skipped
                if self.label is None and label is not None:
                    self.notes.append(f"the label is the field {label!r}")
                self.label = label
                if batch.rows:
                    yield batch
        self.must_hold(rows)

    def batches(self, file: TextFile) -> Generator[tuple[Batch, int, str | None], None, None]:
        """Every batch, how many rows were skipped up to its end, and the field of the label."""
        reader = Reader(self.reading, self.name, Clock(self.reading, self.start))
        byte, line = number_in(self.start, "byte"), number_in(self.start, "line")
        with file:
            file.go_to(byte)
            for raw in lines_of(file, self.name, line, self.reading.lenient):
                line, byte = line + 1, byte + len(raw)
                if isinstance(raw, TooLong):
                    reader.skipped += 1
                else:
                    reader.read(raw, line)
                if reader.rows == ROWS:
                    yield reader.batch(file.progress(), byte, line), reader.skipped, reader.label
            yield reader.batch(file.progress(), byte, line), reader.skipped, reader.label


class Reader:
    """Gathers rows; features are numbered as they come."""

    def __init__(self, reading: Reading, name: str, clock: Clock) -> None:
        self.reading, self.name, self.clock, self.label = reading, name, clock, reading.label
        self.numbers: dict[str, int] = {}
        self.names: list[str] = []
        self.yes_or_no: list[bool] = []
        self.kinds: dict[str, bool] = {}  # whether a path holds numbers
        self.skipped = 0
        self.begin()

    def begin(self) -> None:
        self.rows, self.size = 0, [0]
        self.idx: list[int] = []
        self.val: list[float] = []
        self.labels: list[Any] = []
        self.weights: list[float] = []
        self.queries: list[Any] = []
        self.lines: list[int] = []

    def read(self, raw: bytes, line: int) -> None:
        """Add the row of a line; a line that cannot be used is refused, or left out and counted."""
        if not raw.strip():
            return
        try:
            found = Leaves(self, raw)
            label, weight, query = self.label_of(found), self.weight_of(found), self.query_of(found)
            if not self.in_time(found, line):
                return
        except Wrong as wrong:
            if not self.reading.lenient:
                raise BadValue(f"{self.name}:{line}: {wrong}") from None
            self.skipped += 1
            return
        self.kinds.update(found.kinds)
        for name, value in found.features.items():
            if name not in self.numbers:
                self.numbers[name] = len(self.names)
                self.names.append(name)
                self.yes_or_no.append(name not in found.kinds)
            self.idx.append(self.numbers[name])
            self.val.append(value)
        self.size.append(len(self.idx))
        self.labels.append(label)
        self.weights.append(weight)
        self.queries.append(query)
        self.lines.append(line)
        self.rows += 1

    def batch(self, done: float | None, byte: int, line: int) -> Batch:
        idx, val = np.array(self.idx, np.int32), np.array(self.val)
        block = SparseBlock(np.array(self.size, np.int64), idx, val, len(self.names), ready=False)
        X = Rows(block, list(self.names), np.array(self.yes_or_no, bool))
        y = self.in_one()
        weight = np.array(self.weights) if self.reading.weight is not None else None
        position = {"byte": byte, "line": line, **self.clock.kept()}
        query = query_ids(self.queries) if self.reading.query is not None else None
        made = Batch(X, y, np.array(self.lines, np.int64), done, weight, position, query)
        self.skipped += self.clock.skipped
        self.clock.skipped = 0
        self.begin()
        return made

    def in_one(self) -> Any:
        """The labels as one array where they are of one kind."""
        if self.reading.targets and None not in self.labels:
            return np.array(self.labels, np.float64)
        return in_full(self.labels, np.arange(len(self.labels)))

    # ---- what is no feature -------------------------------------------------------------------------------------

    def label_of(self, found: "Leaves") -> Any:
        if self.label is None:
            usual = {path.lower(): path for path in reversed(list(found.aside))}
            self.label = next((usual[name] for name in USUAL_LABELS if name in usual), None)
        value = found.aside.get(self.label) if self.label is not None else None
        if value is None:
            if not self.reading.labelled:
                return None
            if self.label is None:
                raise Wrong("there is no field label, target, class or y; name the field of the label with --label")
            raise Wrong(f"there is no field {self.label!r}, the label; every row needs one")
        if self.reading.sets and isinstance(value, list):
            return self.set_of(value)
        if isinstance(value, (list, dict)):
            raise Wrong(f"the label is {shown(value)}; it must be a number or a text")
        if self.reading.targets:
            if isinstance(value, str) or not math.isfinite(value):
                return self.missing(f"the label {value!r} is not a finite number, and real targets are asked for")
            return float(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                return self.missing(f"the label is {value}; it must be finite")
            return int(value) if value.is_integer() else value
        return value

    def set_of(self, values: list[Any]) -> tuple[Any, ...] | None:
        """Several labels of one row."""
        wrong = [one for one in values if one is None or isinstance(one, (list, dict)) or one in ENDLESS]
        if wrong or not values:
            self.missing(f"the labels are {shown(values)}; they must be numbers or texts, at least one of them")
            return None
        return tuple(int(one) if isinstance(one, float) and one.is_integer() else one for one in values)

    def missing(self, why: str) -> None:
        """A label that cannot be used is none where rows may lack one."""
        if self.reading.labelled:
            raise Wrong(why)

    def weight_of(self, found: "Leaves") -> float:
        name = self.reading.weight
        if name is None:
            return 1.0
        value = found.aside.get(name)
        if isinstance(value, (int, float)) and 0.0 <= value < math.inf:
            return float(value)
        raise Wrong(f"field {name!r}: the weight is {shown(value)}; it must be a number that is not negative")

    def query_of(self, found: "Leaves") -> Any:
        name = self.reading.query
        value = None if name is None else found.aside.get(name)
        if name is not None and (value is None or value == "" or isinstance(value, (list, dict))):
            raise Wrong(f"field {name!r}: the query is {shown(value)}; every row needs a number or a text")
        return value

    def in_time(self, found: "Leaves", line: int) -> bool:
        name = self.reading.timestamp
        if name is None:
            return True
        value: Any = found.aside.get(name)
        moment = moment_of(value)
        if moment is None:
            why = "there is no time" if value is None else wrong_time(str(value), not isinstance(value, str))
            if why:
                raise Wrong(f"field {name!r}: {why}")
            moment = float(times(arrow().array([value]))[0]) if isinstance(value, str) else float(value)
        return self.clock.admits(moment, line, self.name)


class Leaves:
    """What one line says: features, and beside them the fields that are none."""

    def __init__(self, reader: Reader, raw: bytes) -> None:
        self.reader, reading = reader, reader.reading
        self.features: dict[str, float] = {}
        self.kinds: dict[str, bool] = {}
        self.aside: dict[str, Any] = {}
        given = (reader.label, reading.weight, reading.timestamp, reading.query)
        self.special = {name for name in given if name is not None} | set(reading.drop)
        record = parsed(raw)
        if not isinstance(record, dict):
            raise Wrong(f"a record is wanted, {{...}}, not {shown(record)}")
        if reader.label is None and reading.labelled:
            usual = {name.lower(): name for name in reversed(list(record))}
            guess = next((usual[name] for name in USUAL_LABELS if name in usual), None)
            self.special |= {guess} - {None}  # type: ignore[arg-type]
        self.walk(record, "", 0)

    def walk(self, record: dict[str, Any], before: str, depth: int) -> None:
        if depth > DEEP:
            raise Wrong(f"records lie in records more than {DEEP} deep")
        for key, value in record.items():
            path = f"{before}{key}"
            if path in self.special:
                self.aside[path] = value
            elif isinstance(value, dict):
                self.walk(value, f"{path}.", depth + 1)
            elif isinstance(value, list):
                self.bag(value, path, depth)
            elif value is not None:
                self.leaf(value, path)
            elif self.reader.reading.gaps and self.reader.kinds.get(path):
                self.features[path] = math.nan

    def leaf(self, value: Any, path: str) -> None:
        """One value that is a feature."""
        numeric = not isinstance(value, str) and path not in self.reader.reading.categorical
        if self.reader.kinds.get(path, self.kinds.setdefault(path, numeric)) != numeric:
            now, then = ("a number", "text") if numeric else ("text", "a number")
            raise Wrong(f"field {path!r} is {now} here, {shown(value)}, and was {then} before")
        if numeric:
            try:
                self.features[path] = self.features.get(path, 0.0) + float(value)
            except OverflowError:
                raise Wrong(f"field {path!r}: the value is too large for a float") from None
            if not math.isfinite(self.features[path]):
                raise Wrong(f"field {path!r}: the value is {value}; every value must be finite")
        elif path in self.reader.reading.text:
            for word in words_of(value, self.reader.reading.ngrams):
                self.count(f"{path}={word}")
        else:
            self.count(f"{path}={told(value)}")

    def bag(self, values: list[Any], path: str, depth: int) -> None:
        for value in values:
            if isinstance(value, dict):
                self.walk(value, f"{path}.", depth + 1)
            elif isinstance(value, list):
                if depth > DEEP:
                    raise Wrong(f"lists lie in lists more than {DEEP} deep")
                self.bag(value, path, depth + 1)
            elif value is not None:
                self.count(f"{path}={told(value)}")

    def count(self, name: str) -> None:
        self.features[name] = self.features.get(name, 0.0) + 1.0


def told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode().removeprefix("\ufeff"), parse_constant=refused, object_pairs_hook=once)
    except UnicodeDecodeError as error:
        raise Wrong(f"byte {error.start + 1} of the line is not text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise Wrong(f"this is not JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise Wrong(f"records lie in records more than {DEEP} deep") from None
    except ValueError as error:  # a number of thousands of digits
        raise Wrong(f"this is not JSON that can be used: {error}") from None


def refused(word: str) -> NoReturn:
    raise Wrong(f"the value is {word}; every value must be finite")


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Wrong(f"field {twice!r} stands there twice")
    return found
