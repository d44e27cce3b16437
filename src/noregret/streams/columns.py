"""The cells of a table: what counts as a number, which columns hold numbers, and what a label is.

A number is written as Python writes one, digits with a point and an exponent where needed; nan and inf are numbers that
are refused, so that one of them does not turn a column into text. A column holds numbers when all its cells do, empty
ones and the usual marks for a missing value (NA, null, ?) aside; and also when nearly all do, because a stray word
among many numbers is a mistake, to be refused where it stands. Any other column holds text.
"""

import re
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from noregret.streams.column_roles import Roles

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
BLANKS = " \t"
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
ENDLESS = r"(?i)^[+-]?(?:nan|inf|infinity)$"
MISSING = r"(?i)^(?:na|n/a|#n/a|<na>|null|none|nil|\?|-)$"
NO_QUERY = "the query is empty; every row needs one"

number = re.compile(NUMBER).match
endless = re.compile(ENDLESS).match
missing = re.compile(MISSING).match

CELLS = {
    mark: re.compile(r'(?:"((?:[^"]|"")*+)"([^@]*+)|([^@]*+))(@|\Z)'.replace("@", "\\" + mark)) for mark in DELIMITERS
}
ENOUGH, NEARLY = 20, 0.9  # so many numbers, and such a share of them, make any other cell a mistake


def arrow(part: str = "") -> Any:
    """pyarrow, loaded when the first table is read."""
    return import_module("pyarrow" + part)


def split(line: str, delimiter: str) -> list[str]:
    """The cells of one line. A quote that opens a cell and never closes stays in front of its text."""
    cells, at, ended = [], 0, False
    while not ended:
        found = CELLS[delimiter].match(line, at)
        assert found is not None
        quoted, after, bare, mark = found.groups()
        cells.append(bare if quoted is None else quoted.replace('""', '"') + after)
        at, ended = found.end(), not mark
    return cells


def left_open(line: str, delimiter: str) -> bool:
    """Whether a quote opens a cell of the line and never closes."""
    return any(bare and bare[0] == '"' for _, _, bare, _ in CELLS[delimiter].findall(line))


NO_ROLES = Roles()


@dataclass
class Layout:
    """What the head of a table says of its columns."""

    delimiter: str
    columns: list[str]
    roles: Roles = NO_ROLES
    timed: bool = False  # whether the times are numbers
    numeric: list[int] = field(default_factory=list)
    text: list[int] = field(default_factory=list)  # each value is a feature
    words: list[int] = field(default_factory=list)  # each word is one
    shares: dict[int, float] = field(default_factory=dict)  # of numbers in the sample, where not all cells are one

    @property
    def label(self) -> int | None:
        return self.roles.label

    def features(self) -> list[int]:
        aside = self.roles.aside
        return [place for place in range(len(self.columns)) if place not in aside]


def settle(layout: Layout, table: Any) -> None:
    """Tell columns of numbers from columns of text by a sample of rows, given as text."""
    when = layout.roles.timestamp
    layout.timed = when is not None and share_of_numbers(table.column(when)) is not None
    layout.words = list(layout.roles.text)
    for place in layout.features():
        if place in layout.words:
            continue
        share = None if place in layout.roles.categorical else share_of_numbers(table.column(place))
        (layout.text if share is None else layout.numeric).append(place)
        if share is not None and share < 1.0:
            layout.shares[place] = share


def share_of_numbers(cells: Any) -> float | None:
    """The share of numbers among the cells of a column, marks for missing values aside; None when it holds text."""
    compute = arrow(".compute")
    cells = compute.utf8_trim(cells.drop_null(), characters=BLANKS)
    cells = cells.filter(compute.not_equal(cells, ""))
    numbers = matches(cells, f"{NUMBER}|{ENDLESS}")
    marks = matches(cells, MISSING) if numbers < len(cells) else 0
    if len(cells) and numbers == 0:
        return None
    share: float = numbers / max(len(cells) - marks, 1) if len(cells) else 1.0
    return share if share == 1.0 or (numbers >= ENOUGH and share >= NEARLY) else None


def matches(cells: Any, pattern: str) -> int:
    compute = arrow(".compute")
    return compute.sum(compute.match_substring_regex(cells, pattern)).as_py() or 0


def decimal_commas(cells: Any) -> bool:
    """Whether a column of text would be one of numbers if commas were points."""
    return bool(matches(cells, r"^[+-]?[0-9]+,[0-9]+$") > NEARLY * max(len(cells) - cells.null_count, 1))


def wrong_number(cell: str, share: float | None = None) -> str | None:
    """Why the text of a cell cannot stand in a column of numbers, or None when it can."""
    if endless(cell) or (number(cell) and not np.isfinite(float(cell))):
        return f"the value is {cell}; every value must be finite"
    if number(cell):
        return None
    if missing(cell):
        return f"{cell!r} stands among numbers; leave the cell empty where the value is not known"
    if share is None:
        return f"{cell!r} is not a number, as the cells of this column were before; correct it or leave it empty"
    share = min(share, 0.999)
    return f"{cell!r} is not a number, and {share:.1%} of this column's first cells are; correct it or leave it empty"


def wrong_query(cell: str | None) -> str | None:
    """Why the text of a cell cannot name a query, or None when it can."""
    return None if cell else NO_QUERY


def wrong_weight(cell: str | None) -> str | None:
    """Why the text of a cell cannot be a weight, or None when it can."""
    if not cell:
        return "the weight is empty; every row needs one"
    if not number(cell):
        return f"the weight {cell!r} is not a number"
    return None if 0.0 <= float(cell) < np.inf else f"the weight is {cell}; weights must be finite and not negative"


def times(cells: Any) -> Any:
    """Texts as moments, in seconds; an error of pyarrow where one is none."""
    moments = arrow(".compute").cast(cells, arrow().timestamp("us"))
    return moments.cast(arrow().int64()).to_numpy(zero_copy_only=False) / 1e6


def wrong_time(cell: str | None, timed: bool) -> str | None:
    """Why the text of a cell cannot be a time, or None when it can."""
    if not cell:
        return "the time is empty; every row needs one"
    if timed:
        good = number(cell) and np.isfinite(float(cell))
        return None if good else f"the time {cell!r} is not a number, as the first ones were"
    try:
        times(arrow().array([cell]))
    except arrow().ArrowInvalid:
        return f"{cell!r} is not a time; write 2024-05-31, 2024-05-31T12:30:00, or a number"
    return None


# ---- labels ---------------------------------------------------------------------------------------------------------


def label_of(cell: str) -> int | float | str:
    """A label by its text: a whole number, another number, or the text itself."""
    if not number(cell):
        return cell
    if cell.lstrip("+-").isdigit() and len(cell) < 300:
        return int(cell)
    value = float(cell)
    return int(value) if value.is_integer() else value


def wrong_label(cell: str, targets: bool) -> str | None:
    """Why the text of a cell cannot be a label, or None when it can."""
    if not cell:
        return "the label is empty; every row needs one"
    if endless(cell) or (number(cell) and not np.isfinite(float(cell))):
        return f"the label is {cell}; it must be finite"
    if targets and not number(cell):
        return f"the label {cell!r} is not a number, and real targets are asked for"
    return None


def lenient(cell: str, targets: bool) -> int | float | str | None:
    """A label where labels may be missing: None when it cannot be used."""
    if wrong_label(cell, targets):
        return None
    return float(cell) if targets else label_of(cell)


def set_of(cell: str, by: str) -> tuple[int | float | str, ...]:
    """Several labels by the text of one cell."""
    return tuple(label_of(part) for one in cell.split(by) if (part := one.strip(BLANKS)))


def in_full(values: list[Any], codes: np.ndarray) -> Any:
    """The labels of all rows, from the distinct ones: an array of numbers, or a list of values; None without any."""
    kinds = {type(value) for value in values}
    if kinds <= {type(None)}:
        return None
    if kinds <= {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, np.int64)[codes]
    if kinds <= {int, float} and float in kinds:
        return np.array(values, np.float64)[codes]
    return [values[code] for code in codes.tolist()]
