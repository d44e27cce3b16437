"""Ratings from rows of streams, whose features are columns of numbers or name categories."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows, to_dense
from noregret.decomposition.rating_columns import (
    ITEM,
    KNOWN,
    RATING,
    TIME,
    USER,
    Ratings,
    find_role,
    lacking,
    read_array,
    unknown,
)
from noregret.errors import BadValue
from noregret.features.names import extends


class ReadNames(NamedTuple):
    """The names of a stream, and what was read from each; never changed, so that threads can share it."""

    names: Sequence[str] = ()
    roles: NDArray[np.int8] = np.zeros(0, np.int8)  # what the column of every name holds, by its place in KNOWN
    categories: tuple[str | None, ...] = ()  # what every name says after "="


class RowReader:
    """Reads rows of a stream: columns of numbers, as user: 7, or features that name a category, as user=ann.

    `columns` says what the columns of these names hold; all others are left out. Without it columns are known by the
    names of `COLUMNS`, and any other is an error. Names that were read are kept, since every batch of a stream repeats
    those of the batches before.
    """

    def __init__(self, columns: Mapping[str, str] | None = None) -> None:
        self.columns = columns
        self.known = ReadNames()

    def __deepcopy__(self, memo: Any) -> "RowReader":
        return RowReader(self.columns)

    def read(self, X: Rows) -> Ratings:
        """Users and items of all rows, and ratings where rows have them."""
        if X.names is None:
            return read_array(to_dense(X.block).val)
        known = self.read_names(X.names)
        used = int(X.block.indptr[-1])
        numbers, values = X.block.idx[:used], X.block.val[:used]
        row = np.repeat(np.arange(X.block.rows), np.diff(X.block.indptr))
        found: dict[str, list[Any]] = {}
        for role in (USER, ITEM, RATING):
            mine = known.roles[numbers] == KNOWN.index(role)
            counts = np.bincount(row[mine], minlength=X.block.rows)
            if role == RATING and not mine.any():
                continue
            if (counts == 0).any():
                raise lacking(role, int(np.flatnonzero(counts == 0)[0]))
            if (counts > 1).any():
                at = int(np.flatnonzero(counts > 1)[0])
                raise BadValue(f"row {at}: there is more than one {role}; leave one of the columns out", row=at)
            cells = zip(numbers[mine].tolist(), values[mine].tolist(), strict=True)
            found[role] = [value if (named := known.categories[at]) is None else named for at, value in cells]
        return Ratings(found[USER], found[ITEM], found.get(RATING))

    def read_names(self, names: Sequence[str]) -> ReadNames:
        """For every feature what its column holds, and the category that it names, if it names one."""
        before = self.known  # of one moment: another thread may read other names
        known = len(before.names) if extends(names, before.names) else 0
        parts = [name.partition("=") for name in names[known:]]
        roles = np.array([KNOWN.index(self.find_role(column)) for column, _, _ in parts], np.int8)
        more = tuple(category if equal else None for _, equal, category in parts)
        found = ReadNames(names, np.concatenate((before.roles[:known], roles)), (*before.categories[:known], *more))
        self.known = found
        return found

    def find_role(self, column: str) -> str:
        """What a column holds; the time also stands for what is not read."""
        if self.columns is not None:
            return self.columns.get(column, TIME)
        role = find_role(column)
        if role is not None:
            return role
        if find_role(column.partition(".")[0]) == TIME:
            return TIME  # as time.hour, which is made of a column of times
        raise unknown(column)
