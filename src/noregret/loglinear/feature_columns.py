"""The columns of features by name, in the order in which they first appeared."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.learner.header_fields import corrupt, read_list
from noregret.learner.model_file import Header

Floats = NDArray[np.float64]


class Table(NamedTuple):
    """The features of a list: a row for each candidate, and which of all columns these are, in ascending order."""

    H: Floats
    columns: NDArray[np.intp]


class FeatureColumns:
    """Numbers of features by name; names are only added, so that going back is cutting the end off."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.known)

    def add(self, rows: Sequence[Mapping[str, float]]) -> None:
        """Enter the features of some candidates."""
        known = self.known
        for row in rows:
            for name in row:
                if name not in known:
                    known[name] = len(known)

    def tabulate(self, rows: Sequence[Mapping[str, float]]) -> Table:
        """The features of a list; those without a column are left out."""
        known = self.known
        used = sorted({known[name] for row in rows for name in row if name in known})
        place = {column: at for at, column in enumerate(used)}
        H = np.zeros((len(rows), len(used)))
        for number, row in enumerate(rows):
            for name, value in row.items():
                if name in known:
                    H[number, place[known[name]]] = value
        return Table(H, np.array(used, np.intp))

    def copy(self) -> "FeatureColumns":
        new = FeatureColumns()
        new.known = dict(self.known)
        return new

    def since(self, size: int) -> list[str]:
        """The names after the first ones, in order."""
        return list(islice(reversed(self.known), len(self.known) - size))[::-1]

    def truncate(self, size: int) -> None:
        """Forget all but the first names."""
        while len(self.known) > size:
            self.known.popitem()

    def dump(self) -> list[str]:
        return list(self.known)

    def restore(self, header: Header) -> None:
        """Enter the names of a model file."""
        names: list[Any] = read_list(header, "features")
        if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
            raise corrupt("features must be different names")
        self.known = {name: column for column, name in enumerate(names)}
