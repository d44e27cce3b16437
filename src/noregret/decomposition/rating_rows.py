"""Ratings as learners of recommendations read them: who rated what, from dicts, pairs, tables and rows of streams.

A user and an item are named by a text or a whole number. A row may also have its rating, where these do not come as y,
and a time, which is not read: rows are learned in the order in which they come.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noregret.data.blocks import Rows
from noregret.decomposition.rating_columns import (
    ITEM,
    RATING,
    TIME,
    USER,
    Ratings,
    check_ids,
    find_columns,
    find_role,
    lacking,
    read_array,
    unknown,
)
from noregret.decomposition.rating_stream import RowReader
from noregret.errors import BadValue, import_extra, shown
from noregret.features.frames import is_frame, row_to_dict

FAST = {USER, ITEM, RATING}  # names of dicts that are looked up no further
WANTED = "a list of dicts with user and item, a list of pairs, a table with such columns or an array of two columns"


def read_ratings(X: Any, reader: RowReader) -> Ratings:
    """What was given, with users and items that are checked; an error names the row."""
    if isinstance(X, (Mapping, str, bytes)):
        raise BadValue(f"ratings are {WANTED}, not {shown(X)}; use learn_one or predict_one for a single row")
    if is_frame(X):
        found = read_frame(X)
    elif isinstance(X, Rows):
        found = reader.read(X)
    elif isinstance(X, np.ndarray):
        found = read_array(X)
    elif isinstance(X, (list, tuple)):
        found = read_list(X)
    else:
        raise BadValue(f"ratings are {WANTED}, not {shown(X)}")
    if found.checked:
        return found
    return Ratings(check_ids(found.users, USER), check_ids(found.items, ITEM), found.ratings)


def read_one(x: Any) -> Any:
    """A single row as a list of one."""
    x = row_to_dict(x)
    if isinstance(x, Rows):
        return x
    if isinstance(x, np.ndarray):
        return x.reshape(1, -1)
    return [x]


def read_list(X: Sequence[Any]) -> Ratings:
    """Dicts, or tuples of a user, an item and perhaps a rating."""
    if any(isinstance(row, Mapping) for row in X):
        return read_dicts(X)
    size = len(X[0]) if len(X) and hasattr(X[0], "__len__") else 2
    for number, row in enumerate(X):
        if not isinstance(row, (tuple, list, np.ndarray)) or len(row) != size or size not in (2, 3):
            raise BadValue(
                f"row {number}: a row is a dict with user and item, or a pair (user, item), not {shown(row)}",
                row=number,
            )
    ratings = [row[2] for row in X] if size == 3 else None
    return Ratings([row[0] for row in X], [row[1] for row in X], ratings)


def read_dicts(X: Sequence[Any]) -> Ratings:
    """Dicts with user and item; either all of them have a rating, or none."""
    rows = [row if isinstance(row, dict) and row.keys() <= FAST else rename(row, at) for at, row in enumerate(X)]
    for number, row in enumerate(rows):
        if not (USER in row and ITEM in row):
            raise lacking(USER if USER not in row else ITEM, number)
    rated = [number for number, row in enumerate(rows) if RATING in row]
    if rated and len(rated) < len(rows):
        raise lacking(RATING, next(number for number, row in enumerate(rows) if RATING not in row))
    ratings = [row[RATING] for row in rows] if rated else None
    return Ratings([row[USER] for row in rows], [row[ITEM] for row in rows], ratings)


def rename(row: Any, number: int) -> dict[str, Any]:
    """A dict by what its entries are."""
    if not isinstance(row, Mapping):
        raise BadValue(f"row {number} must be a dict as the others are, not {shown(row)}", row=number)
    found: dict[str, Any] = {}
    for name, value in row.items():
        role = find_role(name)
        if role is None:
            raise unknown(name, number)
        if role in found:
            raise BadValue(f"row {number} has two columns of the {role}", row=number)
        found[role] = value
    return found


def read_frame(X: Any) -> Ratings:
    """The columns of a data frame by their names."""
    narwhals = import_extra("narwhals", "tables", "a data frame")
    frame = narwhals.from_native(X, eager_only=True)
    columns = find_columns(frame.columns)
    for role in (USER, ITEM):
        if role not in columns:
            raise BadValue(f"there is no column {role!r}; the columns are {', '.join(map(str, frame.columns))}")
    cells = {role: frame[name].to_list() for role, name in columns.items() if role != TIME}
    for role, values in cells.items():
        missing = next((row for row, value in enumerate(values) if value is None or value != value), None)
        if missing is not None:
            raise lacking(role, missing)
    return Ratings(cells[USER], cells[ITEM], cells.get(RATING))
