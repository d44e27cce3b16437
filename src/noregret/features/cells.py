"""Single cells of tables: texts that stand for numbers, truth values or times, and the words of texts."""

import numbers
import re
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

TEXT, NUMBERS, TIMES = "text", "numbers", "times"  # what a column of a table holds

NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
NOT_FINITE = r"(?i)^[+-]?(?:nan|inf|infinity)$"
TRUTH = r"(?i)^(?:true|false)$"
AMOUNT = r"^[+-]?[$€£¥]? ?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)? ?[%€]?$"  # $1.50, 1,234.5, 45 %
CLOCK = r"[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
TIME = rf"^[0-9]{{4}}[-/][0-9]{{2}}[-/][0-9]{{2}}(?:{CLOCK})?$"
MISSING = r"(?i)^(?:na|n/a|#n/a|<na>|null|none|nil|\?|-)$"  # usual marks of a missing value
OTHER_DATES = r"^[0-9]{1,2}[/.-][0-9]{1,2}[/.-](?:[0-9]{2}|[0-9]{4})(?: .*)?$"  # day and month cannot be told apart
BLANKS = " \t"
EPOCH, MIDNIGHT = datetime(1970, 1, 1), time()
ENOUGH, NEARLY = 20, 0.9  # with so many cells of a kind, and this share of them, any other cell is an error
FIRST = 200  # cells by which it is decided whether a kind is worth counting
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

is_number = re.compile(NUMBER).match
is_truth = re.compile(TRUTH).match
is_amount = re.compile(AMOUNT).match
is_time = re.compile(TIME).match
find_words = re.compile(r"\w\w+").findall


class Texts(Protocol):
    """The texts of a column that are not empty."""

    @property
    def size(self) -> int: ...

    def count(self, pattern: str) -> int:
        """How many of them match a regular expression."""
        ...

    def first(self, count: int) -> Self:
        """The first of them."""
        ...


class Verdict(NamedTuple):
    """What a column of texts holds. Where that is text, `pattern` is what most of its cells match nevertheless."""

    kind: str
    pattern: str = ""


def judge_texts(texts: Texts) -> Verdict:
    """Decide what the texts of a column stand for: numbers in other words ($1.50, 1,234, 45%, true), times, or text.

    All must match; of many, nearly all, apart from marks of missing values: then any other is an error of its row.
    Plain numbers alone are text: where they are not, the reader or the type of the column says so.
    """
    few = texts.first(FIRST)
    few = few if few.size else texts
    if few.size and few.count(TRUTH) == few.size and texts.count(TRUTH) == texts.size:
        return Verdict(NUMBERS)
    for kind, pattern in ((NUMBERS, f"{AMOUNT}|{NUMBER}"), (TIMES, TIME)):
        if 2 * few.count(pattern) <= few.size:
            continue
        fitting = texts.count(pattern)
        if 2 * fitting <= texts.size:
            continue
        marked = fitting - (texts.count(NUMBER) if kind == NUMBERS else 0)
        if fitting == texts.size:
            return Verdict(kind if marked else TEXT)
        if 2 * marked <= fitting:
            return Verdict(TEXT, NUMBER)
        told = texts.size - texts.count(MISSING)
        nearly = fitting >= ENOUGH and fitting >= NEARLY * told
        return Verdict(kind) if nearly else Verdict(TEXT, pattern)
    return Verdict(TEXT)


def is_spelled(cell: str) -> bool:
    """Whether a text stands for a number in other words: $1.50, 1,234, 45%, true; a plain number does not."""
    return bool(is_truth(cell) or (is_amount(cell) and not is_number(cell)))


def read_number(cell: str) -> float | None:
    """The number that a text stands for: 1.5, $1,234.50, 45% as 0.45, true as 1; None where it stands for none."""
    if is_number(cell):
        return float(cell)
    if is_truth(cell):
        return float(cell.lower() == "true")
    if not is_amount(cell):
        return None
    value = float(re.sub("[$€£¥, %]", "", cell))
    return value / 100.0 if cell.endswith("%") else value


def read_time(cell: Any) -> datetime | None:
    """The time, in UTC and without a zone, that a text, a date or a time stands for; None where it stands for none."""
    if isinstance(cell, str):
        if not is_time(cell):
            return None
        text = cell.replace("/", "-")
        head, point, fraction = text.partition(".")
        digits = re.match("[0-9]*", fraction)
        text = f"{head}{point}{fraction[:6].ljust(6, '0') if digits and digits.end() > 6 else fraction}"
        try:
            cell = datetime.fromisoformat(text)
        except ValueError:
            return None
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).replace(tzinfo=None) if cell.tzinfo is not None else cell
    return datetime(cell.year, cell.month, cell.day) if isinstance(cell, date) else None


def time_numbers(moment: datetime) -> dict[str, float]:
    """What a time is as numbers: the year, and the days since 1970."""
    return {"year": float(moment.year), "days": (moment - EPOCH).total_seconds() / 86400.0}


def time_categories(moment: datetime) -> dict[str, str]:
    """What a time is as categories: the month, the day of the week, and the hour; at midnight sharp it is a date."""
    hour = {"hour": str(moment.hour)} if moment.time() != MIDNIGHT else {}
    return {"month": str(moment.month), "weekday": WEEKDAYS[moment.weekday()], **hour}


TIME_NUMBERS, TIME_CATEGORIES = tuple(time_numbers(EPOCH)), ("month", "weekday", "hour")


def write_number(value: float) -> str:
    """A number as text; whole numbers without a decimal point, very large ones with an exponent."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)


def to_text(value: Any) -> str:
    """A value as the text of a category: without blanks around it, whole numbers without a decimal point."""
    if isinstance(value, str):
        return value.strip(BLANKS)
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return write_number(float(value)) if isinstance(value, (numbers.Real, np.number)) else str(value)


def split_words(text: str, ngrams: int = 1) -> list[str]:
    """The words of one text, in lower case, and runs of up to `ngrams` words."""
    words = find_words(text.lower())
    return [" ".join(words[at + 1 - n : at + 1]) for at in range(len(words)) for n in range(1, min(ngrams, at + 1) + 1)]
