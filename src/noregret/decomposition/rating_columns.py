"""The columns of ratings: users, items and ratings, what they may be called, and the errors about them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from noregret.errors import BadValue, shown

Id = str | int
USER, ITEM, RATING = "user", "item", "rating"
TIME = "time"
KNOWN = (USER, ITEM, RATING, TIME)
COLUMNS = {
    "user": USER, "userid": USER, "user_id": USER, "item": ITEM, "itemid": ITEM, "item_id": ITEM, "movieid": ITEM,
    "movie_id": ITEM, "rating": RATING, "time": TIME, "timestamp": TIME,
}  # fmt: skip
"""What columns of ratings are called, in small letters, and what they are."""


class Ratings(NamedTuple):
    """Users and items, one of each in a row, and the ratings that stood beside them, if any."""

    users: list[Id]
    items: list[Id]
    ratings: list[Any] | None


def place(row: int | None) -> str:
    """Where an error is, if that is a row."""
    return "" if row is None else f"row {row}: "


def unknown(name: object, row: int | None = None) -> BadValue:
    """The error for a column that ratings do not have."""
    wanted = ", ".join(KNOWN)
    return BadValue(f"{place(row)}unknown column {shown(name)}; a rating has {wanted}: leave others out", row=row)


def lacking(what: str, row: int) -> BadValue:
    """The error for a row without a user, an item or a rating."""
    return BadValue(f"row {row}: the {what} is missing", row=row)


def find_role(name: object) -> str | None:
    """What a column of this name holds; None where it is not a column of ratings."""
    return COLUMNS.get(name.lower()) if isinstance(name, str) else None


def find_columns(names: Iterable[object], row: int | None = None) -> dict[str, Any]:
    """The names of columns, of a table or of a row, by what they hold."""
    found: dict[str, Any] = {}
    for name in names:
        role = find_role(name)
        if role is None:
            raise unknown(name, row)
        if role in found:
            both = f"the columns {found[role]!r} and {name!r} both hold the {role}"
            raise BadValue(f"{place(row)}{both}; leave one of them out", row=row)
        found[role] = name
    return found


def check_ids(given: list[Any], what: str) -> list[Id]:
    """Texts and whole numbers; numbers of numpy, and floats that are whole, become those of Python."""
    if {str, int}.issuperset(map(type, given)):
        return given
    return [check_id(value, what, row) for row, value in enumerate(given)]


def check_id(value: Any, what: str, row: int | None = None) -> Id:
    """A text or a whole number, or an error that names the row."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and float.is_integer(value):
        value = float.__int__(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise BadValue(f"{place(row)}the {what} must be a text or a whole number, not {shown(value)}", row=row)
    return str.__str__(value) if isinstance(value, str) else int.__int__(value)  # without code of the caller


def read_array(X: np.ndarray) -> Ratings:
    """Two columns, or three with the rating."""
    if X.ndim != 2 or X.shape[1] not in (2, 3):
        raise BadValue(f"an array of ratings has two columns, user and item, not the shape {X.shape}")
    ratings = X[:, 2].tolist() if X.shape[1] == 3 else None
    return Ratings(X[:, 0].tolist(), X[:, 1].tolist(), ratings)
