"""Ratings as learners of recommendations read them: who rated what, from dicts, pairs, tables and rows of streams.

A user and an item are named by a text or a whole number. A row may also have its rating, where these do not come as y,
and a time, which is not read: rows are learned in the order in which they come.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from noregret.data.blocks import Rows, SparseBlock, to_sparse
from noregret.errors import BadValue, import_extra, shown
from noregret.features.frames import is_frame, row_to_dict

Id = str | int
USER, ITEM, RATING = "user", "item", "rating"
TIMES = ("time", "timestamp")
KNOWN = (USER, ITEM, RATING, *TIMES)
WANTED = "a list of dicts with user and item, a list of pairs, a table with such columns or an array of two columns"


class Ratings(NamedTuple):
    """Users and items, one of each in a row, and the ratings that stood beside them, if any."""

    users: list[Id]
    items: list[Id]
    ratings: list[Any] | None


def read_ratings(X: Any) -> Ratings:
    """What was given, with users and items that are checked; an error names the row."""
    if isinstance(X, (Mapping, str, bytes)):
        raise BadValue(f"ratings are {WANTED}, not {shown(X)}; use learn_one or predict_one for a single row")
    if is_frame(X):
        found = read_frame(X)
    elif isinstance(X, Rows):
        found = read_rows(X)
    elif isinstance(X, np.ndarray):
        found = read_array(X)
    elif isinstance(X, (list, tuple)):
        found = read_list(X)
    else:
        raise BadValue(f"ratings are {WANTED}, not {shown(X)}")
    return Ratings(check_ids(found.users, USER), check_ids(found.items, ITEM), found.ratings)


def read_one(x: Any) -> Any:
    """A single row as a list of one."""
    x = row_to_dict(x)
    if isinstance(x, Rows):
        return x
    if isinstance(x, np.ndarray):
        return x.reshape(1, -1)
    return [x]


def check_ids(given: list[Any], what: str) -> list[Id]:
    """Texts and whole numbers; numbers of numpy, and floats that are whole, become those of Python."""
    if set(map(type, given)) <= {str, int}:
        return given
    return [check_id(value, what, row) for row, value in enumerate(given)]


def check_id(value: Any, what: str, row: int | None = None) -> Id:
    """A text or a whole number, or an error that names the row."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        where = "" if row is None else f"row {row}: "
        raise BadValue(f"{where}the {what} must be a text or a whole number, not {shown(value)}", row=row)
    return str(value) if isinstance(value, str) else int(value)


# ---- lists and arrays ------------------------------------------------------------------------------------------------


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
    for number, row in enumerate(X):
        if not isinstance(row, Mapping):
            raise BadValue(f"row {number} must be a dict as the others are, not {shown(row)}", row=number)
        if not (USER in row and ITEM in row):
            lacking = USER if USER not in row else ITEM
            raise BadValue(f"row {number} has no {lacking!r}; a rating has a user and an item", row=number)
        for name in row:
            if name not in KNOWN:
                raise unknown(name, number)
    rated = [number for number, row in enumerate(X) if RATING in row]
    if rated and len(rated) < len(X):
        number = next(number for number, row in enumerate(X) if RATING not in row)
        raise BadValue(f"row {number} has no {RATING!r}, and others have one", row=number)
    ratings = [row[RATING] for row in X] if rated else None
    return Ratings([row[USER] for row in X], [row[ITEM] for row in X], ratings)


def unknown(name: object, row: int | None = None) -> BadValue:
    """The error for a column that ratings do not have."""
    where = "" if row is None else f"row {row}: "
    return BadValue(f"{where}unknown column {shown(name)}; a rating has {', '.join(KNOWN)}: leave others out", row=row)


def read_array(X: np.ndarray) -> Ratings:
    """Two columns, or three with the rating."""
    if X.ndim != 2 or X.shape[1] not in (2, 3):
        raise BadValue(f"an array of ratings has two columns, user and item, not the shape {X.shape}")
    ratings = X[:, 2].tolist() if X.shape[1] == 3 else None
    return Ratings(X[:, 0].tolist(), X[:, 1].tolist(), ratings)


# ---- tables and streams ----------------------------------------------------------------------------------------------


def read_frame(X: Any) -> Ratings:
    """The columns of a data frame by their names."""
    narwhals = import_extra("narwhals", "tables", "a data frame")
    frame = narwhals.from_native(X, eager_only=True)
    for name in frame.columns:
        if name not in KNOWN:
            raise unknown(name)
    for name in (USER, ITEM):
        if name not in frame.columns:
            raise BadValue(f"there is no column {name!r}; the columns are {', '.join(map(str, frame.columns))}")
    ratings = frame[RATING].to_list() if RATING in frame.columns else None
    return Ratings(frame[USER].to_list(), frame[ITEM].to_list(), ratings)


def read_rows(X: Rows) -> Ratings:
    """Rows of a stream: columns of numbers, as user: 7, or features that name a category, as user=ann."""
    if X.names is None:
        return read_array(to_table(X.block))
    roles, ids = find_roles(X.names)
    used = int(X.block.indptr[-1])
    numbers, values = X.block.idx[:used], X.block.val[:used]
    row = np.repeat(np.arange(X.block.rows), np.diff(X.block.indptr))
    found: dict[str, list[Any]] = {}
    for at, name in enumerate((USER, ITEM, RATING)):
        mine = roles[numbers] == at
        counts = np.bincount(row[mine], minlength=X.block.rows)
        if name == RATING and not mine.any():
            continue
        if (counts != 1).any():
            number = int(np.flatnonzero(counts != 1)[0])
            raise BadValue(f"row {number} has no {name!r}; a rating has a user and an item", row=number)
        cells = zip(numbers[mine].tolist(), values[mine].tolist(), strict=True)
        found[name] = [value if ids[feature] is None else ids[feature] for feature, value in cells]
    return Ratings(found[USER], found[ITEM], found.get(RATING))


def find_roles(names: Sequence[str]) -> tuple[np.ndarray, list[str | None]]:
    """For every feature its column, and the category that it names, if it names one."""
    places = {USER: 0, ITEM: 1, RATING: 2, **dict.fromkeys(TIMES, 3)}
    roles, ids = np.zeros(len(names), np.int8), list[str | None]()
    for number, name in enumerate(names):
        column, equal, category = name.partition("=")
        if column not in places:
            raise unknown(column)
        roles[number] = places[column]
        ids.append(category if equal else None)
    return roles, ids


def to_table(block: Any) -> np.ndarray:
    """Rows without names as an array of their columns."""
    sparse = to_sparse(block)
    assert isinstance(sparse, SparseBlock)
    table, used = np.zeros((sparse.rows, sparse.width)), int(sparse.indptr[-1])
    table[np.repeat(np.arange(sparse.rows), np.diff(sparse.indptr)), sparse.idx[:used]] = sparse.val[:used]
    return table
