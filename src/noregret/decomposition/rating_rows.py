"""Ratings as learners of recommendations read them: who rated what, from dicts, pairs, tables and rows of streams.

A user and an item are named by a text or a whole number. A row may also have its rating, where these do not come as y,
and a time, which is not read: rows are learned in the order in which they come.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from noregret.data.blocks import Rows
from noregret.decomposition.rating_columns import (
    ITEM,
    RATING,
    TIME,
    USER,
    Id,
    Ratings,
    check_id,
    check_ids,
    find_columns,
    lacking,
    read_array,
)
from noregret.decomposition.rating_stream import RowReader
from noregret.errors import BadValue, shown
from noregret.features.frames import is_frame, row_to_dict, to_eager

WANTED = "a list of dicts with user and item, a list of pairs, a table with such columns or an array of two columns"

IDS = frozenset({str, int})


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
    return Ratings(check_ids(found.users, USER), check_ids(found.items, ITEM), found.ratings)


def read_one(x: Any) -> Any:
    """A single row as a list of one."""
    return x if isinstance(x, Rows) else [row_to_dict(x)]


def read_pair(x: Any, y: Any = None) -> tuple[Id, Id, Any] | None:
    """A user, an item and the rating of a single row; None where it is not a usual one, or has none or two ratings."""
    kind = type(x)
    if kind is np.ndarray and x.ndim == 1:
        x, kind = x.tolist(), list
    if kind is tuple or kind is list:
        size = len(x)
        if size == 2:
            (user, item), rating = x, y
        elif size == 3 and y is None:
            user, item, rating = x
        else:
            return None
    elif kind is dict:
        try:
            of_user, of_item, of_rating = find_places(tuple(x))
        except (BadValue, KeyError, TypeError):
            return None
        user, item, rating = x[of_user], x[of_item], y
        if of_rating is not None:
            if y is not None:
                return None
            rating = x[of_rating]
    else:
        return None
    if type(user) in IDS and type(item) in IDS:
        return user, item, rating
    with suppress(BadValue):
        return check_id(user, USER), check_id(item, ITEM), rating
    return None


@lru_cache(64)
def find_places(names: tuple[str, ...]) -> tuple[str, str, str | None]:
    """The names of user, item and rating in dicts with these names."""
    columns = find_columns(names)
    return columns[USER], columns[ITEM], columns.get(RATING)


def read_list(X: Sequence[Any]) -> Ratings:
    """Dicts, or tuples of a user, an item and perhaps a rating."""
    if any(isinstance(row, Mapping) for row in X):
        return read_dicts(X)
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in X]
    for number, row in enumerate(rows):
        if not isinstance(row, (tuple, list)) or len(row) not in (2, 3) or len(row) != len(rows[0]):
            raise BadValue(
                f"row {number}: a row is a dict with user and item, or a pair (user, item), not {shown(row)}",
                row=number,
            )
    ratings = [row[2] for row in rows] if rows and len(rows[0]) == 3 else None
    return Ratings([row[0] for row in rows], [row[1] for row in rows], ratings)


def read_dicts(X: Sequence[Any]) -> Ratings:
    """Dicts with user and item; either all of them have a rating, or none."""
    users, items, ratings = list[Any](), list[Any](), list[Any]()
    known: dict[tuple[object, ...], dict[str, Any]] = {}  # the columns of rows with these names
    for number, row in enumerate(X):
        if not isinstance(row, (dict, Mapping)):  # the first of them is quickly told
            raise BadValue(f"row {number} must be a dict as the others are, not {shown(row)}", row=number)
        names = tuple(row)
        columns = known.get(names)
        if columns is None:
            columns = known[names] = find_columns(names, number)
            for role in (USER, ITEM):
                if role not in columns:
                    raise lacking(role, number)
        users.append(row[columns[USER]])
        items.append(row[columns[ITEM]])
        if RATING in columns:
            ratings.append(row[columns[RATING]])
    if ratings and len(ratings) < len(X):
        raise lacking(RATING, next(number for number, row in enumerate(X) if RATING not in known[tuple(row)]))
    return Ratings(users, items, ratings or None)


def read_frame(X: Any) -> Ratings:
    """The columns of a data frame by their names."""
    frame = to_eager(X)
    columns = find_columns(frame.columns)
    for role in (USER, ITEM):
        if role not in columns:
            raise BadValue(f"there is no column {role!r}; the columns are "
                           f"{', '.join(map(str, frame.columns)) or 'none'}")  # fmt: skip
    cells = {role: frame[name].to_list() for role, name in columns.items() if role != TIME}
    for role, values in cells.items():
        missing = next((row for row, value in enumerate(values) if value is None or value != value), None)
        if missing is not None:
            raise lacking(role, missing)
    return Ratings(cells[USER], cells[ITEM], cells.get(RATING))
