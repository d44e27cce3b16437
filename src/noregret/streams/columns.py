"""The columns of a table, what is wrong with a cell, and how labels and times are written."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import import_extra
from noregret.features.cells import (
    BLANKS,
    MISSING,
    NOT_FINITE,
    NUMBERS,
    TEXT,
    TIMES,
    is_number,
    read_number,
    read_time,
)
from noregret.streams.column_roles import ColumnRoles

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
AS_TEXT = "correct it, leave it empty, or read the column as text with --categorical"
NO_QUERY = "the query is empty; every row needs one"

is_not_finite = re.compile(NOT_FINITE).match
is_missing = re.compile(MISSING).match

CELLS = {
    mark: re.compile(r'(?:"((?:[^"]|"")*+)"([^@]*+)|([^@]*+))(@|\Z)'.replace("@", "\\" + mark)) for mark in DELIMITERS
}
LARGEST_FLOAT = 10**308  # integers up to it can be floats


def arrow(part: str = "") -> Any:
    """Import pyarrow, or one of its modules, when the first table is read."""
    return import_extra("pyarrow" + part, "tables", "reading tables (CSV, Parquet, Arrow, frames) and times")


def split_cells(line: str, delimiter: str) -> list[str]:
    """Split a line into cells; a quote that opens a cell and never closes stays part of its text."""
    cells, at, ended = [], 0, False
    while not ended:
        match = CELLS[delimiter].match(line, at)
        assert match is not None
        quoted, after, bare, mark = match.groups()
        cells.append(bare if quoted is None else quoted.replace('""', '"') + after)
        at, ended = match.end(), not mark
    return cells


def has_open_quote(line: str, delimiter: str) -> bool:
    """Return whether a quote opens a cell of the line and never closes."""
    return any(bare and bare[0] == '"' for _, _, bare, _ in CELLS[delimiter].findall(line))


NO_ROLES = ColumnRoles()


@dataclass
class Layout:
    """The columns of a table: their roles, and what each feature column holds."""

    delimiter: str
    columns: list[str]
    roles: ColumnRoles = NO_ROLES
    numeric_times: bool = False  # whether times are numbers
    numeric: list[int] = field(default_factory=list)
    categories: list[int] = field(default_factory=list)  # columns of categories: each value is a feature
    spelled: list[int] = field(default_factory=list)  # columns of numbers in other words: true, $1.50, 1,234, 45%
    times: list[int] = field(default_factory=list)  # columns of dates or times: several features each
    texts: list[int] = field(default_factory=list)  # columns of free text: each word is a feature
    told_numbers: tuple[str, ...] = ()  # names of columns that hold numbers, whatever a sample looks like
    told_times: tuple[str, ...] = ()
    first_virtual: int = 0  # the first of the columns that an encoder makes of others
    number_shares: dict[int, float] = field(
        default_factory=dict
    )  # the share of numbers in the sample, where it is below 1

    @property
    def label(self) -> int | None:
        return self.roles.label

    def kinds(self) -> dict[str, str]:
        """Return what each feature column holds: text, numbers or times."""
        kinds = dict.fromkeys((*self.categories, *self.texts), TEXT)
        kinds |= dict.fromkeys((*self.numeric, *self.spelled), NUMBERS) | dict.fromkeys(self.times, TIMES)
        return {self.columns[index]: kind for index, kind in sorted(kinds.items())}

    def features(self) -> list[int]:
        """Return the numbers of the feature columns."""
        others = self.roles.not_features
        return [index for index in range(len(self.columns)) if index not in others]


def spelled_fault(cell: str | None) -> str | None:
    """Return why a cell cannot be in a column of numbers in other words, or None if it can."""
    if not cell or read_number(cell) is not None:
        return None
    return f"{cell!r} is not like the first cells of this column, which stand for numbers; {what_to_do(cell)}"


def moment_fault(cell: str | None) -> str | None:
    """Return why a cell cannot be in a column of dates or times, or None if it can."""
    if not cell or read_time(cell) is not None:
        return None
    return f"{cell!r} is not a time like the first cells of this column; {what_to_do(cell)}"


def what_to_do(cell: str) -> str:
    """Return what to do about a cell that is not like the others of its column."""
    mark = f"leave the cell empty where the value is not known, or say --missing {cell}"
    return mark if is_missing(cell) else AS_TEXT


def number_fault(cell: str, share: float | None = None) -> str | None:
    """Return why a cell cannot be in a column of numbers, or None if it can."""
    if is_not_finite(cell) or (is_number(cell) and not np.isfinite(float(cell))):
        return f"the value is {cell}; every value must be finite"
    if is_number(cell):
        return None
    if is_missing(cell):
        return f"{cell!r} is among numbers; {what_to_do(cell)}"
    if share is None:
        return f"{cell!r} is not a number, as the cells of this column were before; {AS_TEXT}"
    share = min(share, 0.999)
    return f"{cell!r} is not a number, and {share:.1%} of this column's first cells are; correct it or leave it empty"


def query_fault(cell: str | None) -> str | None:
    """Return why a cell cannot be a query, or None if it can."""
    return None if cell else NO_QUERY


def weight_fault(cell: str | None) -> str | None:
    """Return why a cell cannot be a weight, or None if it can."""
    if not cell:
        return "the weight is empty; every row needs one"
    if not is_number(cell):
        return f"the weight {cell!r} is not a number"
    return None if 0.0 <= float(cell) < np.inf else f"the weight is {cell}; weights must be finite and not negative"


def parse_times(cells: Any) -> Any:
    """Convert texts to times in seconds; raises pyarrow's ArrowInvalid for a text that is no time."""
    moments = arrow(".compute").cast(cells, arrow().timestamp("us"))
    return moments.cast(arrow().int64()).to_numpy(zero_copy_only=False) / 1e6


def time_fault(cell: str | None, numeric_times: bool) -> str | None:
    """Return why a cell cannot be a time, or None if it can."""
    if not cell:
        return "the time is empty; every row needs one"
    if numeric_times:
        good = is_number(cell) and np.isfinite(float(cell))
        return None if good else f"the time {cell!r} is not a number, as the first ones were"
    try:
        parse_times(arrow().array([cell]))
    except arrow().ArrowInvalid:
        return f"{cell!r} is not a time; write 2024-05-31, 2024-05-31T12:30:00, or a number"
    return None


# ---- labels ---------------------------------------------------------------------------------------------------------


def parse_label(cell: str) -> int | float | str:
    """Convert the text of a label to an integer, a float, or leave it as text."""
    if not is_number(cell):
        return cell
    if cell.lstrip("+-").isdigit() and len(cell) < 300:
        return int(cell)
    value = float(cell)
    return int(value) if value.is_integer() else value


def label_fault(cell: str, targets: bool) -> str | None:
    """Return why a cell cannot be a label, or None if it can."""
    if not cell:
        return "the label is empty; every row needs one"
    if is_not_finite(cell) or (is_number(cell) and not np.isfinite(float(cell))):
        return f"the label is {cell}; it must be finite"
    if targets and not is_number(cell):
        return f"the label {cell!r} is not a number, but regression needs numbers"
    return None


def parse_label_or_none(cell: str, targets: bool) -> int | float | str | None:
    """Convert the text of a label; None if it cannot be used, where labels may be missing."""
    if label_fault(cell, targets):
        return None
    return float(cell) if targets else parse_label(cell)


def parse_labels(cell: str, by: str) -> tuple[int | float | str, ...]:
    """Convert the text of a cell with several labels."""
    return tuple(parse_label(part) for one in cell.split(by) if (part := one.strip(BLANKS)))


def expand_labels(values: list[Any], codes: NDArray[Any]) -> Any:
    """Return the labels of all rows, given the distinct ones: an array of numbers, or a list; None if all are None."""
    kinds = {type(value) for value in values}
    if kinds <= {type(None)}:
        return None
    if kinds <= {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, np.int64)[codes]
    if kinds <= {int, float} and float in kinds and all(abs(value) < LARGEST_FLOAT for value in values):
        return np.array(values, np.float64)[codes]
    return [values[code] for code in codes.tolist()]
