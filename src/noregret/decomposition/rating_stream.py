"""Ratings from rows of streams, whose features are columns of numbers or name categories."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noregret.data.blocks import Rows, SparseBlock, to_sparse
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
from noregret.features.names import extends


class RowReader:
    """Reads rows of a stream: columns of numbers, as user: 7, or features that name a category, as user=ann.

    `columns` says what the columns of these names hold; others are those of `COLUMNS`. Any further column is an error,
    or left out where reading is not strict. Names that were read are kept, since every batch of a stream repeats those
    of the batches before.
    """

    def __init__(self, columns: Mapping[str, str] | None = None, strict: bool = True) -> None:
        self.columns, self.strict = dict(columns or {}), strict
        self.names: Sequence[str] = ()
        self.roles = np.zeros(0, np.int8)
        self.ids: list[str | None] = []

    def __deepcopy__(self, memo: Any) -> "RowReader":
        return RowReader(self.columns, self.strict)

    def read(self, X: Rows) -> Ratings:
        """Users and items of all rows, and ratings where rows have them."""
        if X.names is None:
            return read_array(to_table(X.block))
        self.read_names(X.names)
        used = int(X.block.indptr[-1])
        numbers, values = X.block.idx[:used], X.block.val[:used]
        row = np.repeat(np.arange(X.block.rows), np.diff(X.block.indptr))
        found: dict[str, list[Any]] = {}
        for at, name in enumerate((USER, ITEM, RATING)):
            mine = self.roles[numbers] == at
            counts = np.bincount(row[mine], minlength=X.block.rows)
            if name == RATING and not mine.any():
                continue
            if (counts != 1).any():
                raise lacking(name, int(np.flatnonzero(counts != 1)[0]))
            cells = zip(numbers[mine].tolist(), values[mine].tolist(), strict=True)
            found[name] = [value if self.ids[at] is None else self.ids[at] for at, value in cells]
        return Ratings(found[USER], found[ITEM], found.get(RATING))

    def read_names(self, names: Sequence[str]) -> None:
        """For every feature what its column holds, and the category that it names, if it names one."""
        if not extends(names, self.names):
            self.roles, self.ids = np.zeros(0, np.int8), []
        first, roles = len(self.ids), list[int]()
        ids = list[str | None]()
        for name in names[first:]:
            column, equal, category = name.partition("=")
            role = self.columns.get(column) or find_role(column)
            if role is None and (not self.strict or find_role(column.partition(".")[0]) == TIME):
                role = TIME  # as time.hour, which is made of a column of times
            if role is None:
                raise unknown(column)
            roles.append(KNOWN.index(role))
            ids.append(category if equal else None)
        self.ids = self.ids + ids
        self.roles = np.concatenate((self.roles, np.array(roles, np.int8)))
        self.names = names


def to_table(block: Any) -> np.ndarray:
    """Rows without names as an array of their columns."""
    sparse = to_sparse(block)
    assert isinstance(sparse, SparseBlock)
    table, used = np.zeros((sparse.rows, sparse.width)), int(sparse.indptr[-1])
    table[np.repeat(np.arange(sparse.rows), np.diff(sparse.indptr)), sparse.idx[:used]] = sparse.val[:used]
    return table
