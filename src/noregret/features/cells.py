"""Single cells of tables: texts that stand for numbers, truth values or times, and the words of texts."""

import re
from datetime import UTC, date, datetime
from typing import Any

NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
NOT_FINITE = r"(?i)^[+-]?(?:nan|inf|infinity)$"
TRUTH = r"(?i)^(?:true|false)$"
AMOUNT = r"^[+-]?[$€£¥]? ?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)? ?[%€]?$"  # $1.50, 1,234.5, 45 %
CLOCK = r"[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
TIME = rf"^[0-9]{{4}}[-/][0-9]{{2}}[-/][0-9]{{2}}(?:{CLOCK})?$"
OTHER_DATES = r"^[0-9]{1,2}[/.-][0-9]{1,2}[/.-](?:[0-9]{2}|[0-9]{4})(?: .*)?$"  # day and month cannot be told apart
BLANKS = " \t"
EPOCH = datetime(1970, 1, 1)
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

is_number = re.compile(NUMBER).match
is_truth = re.compile(TRUTH).match
is_amount = re.compile(AMOUNT).match
is_time = re.compile(TIME).match
find_words = re.compile(r"\w\w+").findall


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
    """What a time is as categories: the month, the day of the week, and the hour."""
    return {"month": str(moment.month), "weekday": WEEKDAYS[moment.weekday()], "hour": str(moment.hour)}


TIME_NUMBERS, TIME_CATEGORIES = tuple(time_numbers(EPOCH)), tuple(time_categories(EPOCH))


def write_number(value: float) -> str:
    """A number as text; whole numbers without a decimal point."""
    return str(int(value)) if value.is_integer() else repr(value)


def split_words(text: str, ngrams: int = 1) -> list[str]:
    """The words of one text, in lower case, and runs of up to `ngrams` words."""
    words = find_words(text.lower())
    return [" ".join(words[at + 1 - n : at + 1]) for at in range(len(words)) for n in range(1, min(ngrams, at + 1) + 1)]
