"""What the fields of JSON lines hold that are written as text: amounts, times or text, by the first records."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from noregret.features.cells import BLANKS, NUMBER, TEXT, is_spelled, judge_texts, read_time
from noregret.streams.column_kinds import describe_misfit
from noregret.streams.column_roles import USUAL_LABELS
from noregret.streams.json_record import DEEP, BadRecord, Fields, parse_json

SAMPLE = 1 << 17  # the bytes from which it is decided


@dataclass(frozen=True)
class ListTexts:
    """Texts of a field, without the blanks around them."""

    cells: Sequence[str]

    @property
    def size(self) -> int:
        return len(self.cells)

    def count(self, pattern: str) -> int:
        return sum(map(bool, map(re.compile(pattern).match, self.cells)))

    def first(self, count: int) -> Self:
        return type(self)(self.cells[:count])


def judge_fields(head: bytes, fields: Fields) -> list[str]:
    """Find the fields whose texts are amounts or times, by the records of the first lines; returns notes.

    Other fields are left to the reader, which refuses what is not like the first value.
    """
    texts: dict[str, dict[int, str]] = defaultdict(dict)
    numeric: set[str] = set()
    whole = head if len(head) < SAMPLE else head[: head.rfind(b"\n") + 1]
    for line, raw in enumerate(whole.split(b"\n"), 1):
        for path, value in read_values(raw):
            if not isinstance(value, str):
                numeric.add(path)
            elif not fields.is_missing(value):
                texts[path][line] = value.strip(BLANKS)
    options, notes = fields.options, []
    roles = {options.label, options.weight, options.timestamp, options.query}
    others = {*numeric, *fields.told, *options.text, *options.categorical, *options.drop, *roles}
    for path, cells in texts.items():
        if path in others or (options.label is None and path.lower() in USUAL_LABELS):
            continue
        verdict = judge_texts(ListTexts(list(cells.values())))
        if verdict.kind != TEXT:
            fields.told[path] = verdict.kind
        if verdict.pattern not in ("", NUMBER) and not is_special(next(iter(cells.values()))):
            line, cell = next((line, cell) for line, cell in cells.items() if not re.match(verdict.pattern, cell))
            notes.append(describe_misfit(path, cell, f"line {line}", verdict.pattern))
    return notes


def is_special(text: str) -> bool:
    """Whether a text is an amount, a truth value or a time: the reader refuses other texts after it."""
    return is_spelled(text) or read_time(text) is not None


def read_values(raw: bytes) -> Iterator[tuple[str, Any]]:
    """Yield the texts and numbers of a record by their paths; none of a line that cannot be used."""
    try:
        record = parse_json(raw) if raw.strip() else None
    except BadRecord:
        return
    if isinstance(record, dict):
        yield from walk(record, "", 0)


def walk(record: dict[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the texts and numbers of a record and of the records in it."""
    for key, value in record.items():
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, dict) and depth < DEEP:
                yield from walk(one, f"{prefix}{key}.", depth + 1)
            elif isinstance(one, (str, int, float)) and one is value:
                yield f"{prefix}{key}", one
