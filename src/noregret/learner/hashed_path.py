"""The fast path of learners that hash feature names: a name is hashed once, then found in a dict of bounded size."""

from collections.abc import Iterable
from itertools import filterfalse
from typing import Any

from noregret.features.hashing import CACHE_SIZE, HashedNames
from noregret.jit import dict_reader
from noregret.learner.fast_path import UNFIT, FastPath, snapshot
from noregret.learner.model import Model


class HashedPath(FastPath):
    """Names stand for the number of their cell, or for that plus the number of all cells where their sign is -1.

    `known` holds names that were learned, and so recorded in the cells; `scored_names` any names.
    """

    def name_features(self, model: Model) -> None:
        assert isinstance(model.names, HashedNames)
        self.names = model.names
        self.known, self.scored_names = {}, {}
        self.hashed_cells = self.used = self.room = model.names.cells
        self.limit = 2 * self.hashed_cells

    def unknown_number(self, learn: bool) -> int:
        return dict_reader.NEW

    def score(self, x: Any) -> Any:
        found = self.score_row(x)
        if found is not False:
            return self.score_bytes(x) if found is None else found
        try:
            row = x.copy() if type(x) is dict else snapshot(x)
            self.remember(self.scored_names, row)
        except UNFIT:
            return None
        found = None if self.closed else self.score_row(row)
        return None if found is False else found

    def find_numbers(self, row: dict[Any, Any]) -> Iterable[int]:
        self.remember(self.scored_names, row)
        return map(self.scored_names.__getitem__, row)

    def remember(self, names: dict[str, int], row: dict[Any, Any]) -> list[str]:
        """Hash the names of a row that a dict does not hold yet; returns these names."""
        if len(names) + len(row) > CACHE_SIZE:
            names.clear()
        new = list(filterfalse(names.__contains__, row))
        cells, signs, _ = self.names.hash_names(new)
        numbers = cells.astype("int64") + (signs < 0.0) * self.hashed_cells
        names.update(zip(new, numbers.tolist(), strict=True))
        return new

    def has_room(self, row: dict[Any, Any]) -> bool:
        return True

    def count_names(self) -> int:
        return self.names.size

    def add_names(self, row: dict[Any, Any]) -> bool:
        """Hash the new names of a row, and record them in their cells."""
        cells, _, fingerprints = self.names.hash_names(self.remember(self.known, row))
        self.names.record(cells, fingerprints)
        return True

    def forget_names(self, before: int) -> None:
        self.known.clear()
        self.names.truncate(before)
