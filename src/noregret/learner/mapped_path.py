"""The fast paths of learners behind a kernel map: rows of any kind become dense rows of a fixed number of features."""

from typing import Any

from noregret.features.derived import DerivedTransform
from noregret.features.kernel_maps import KernelMap
from noregret.jit import dict_reader
from noregret.jit.layout import Table
from noregret.learner.dense_path import DensePath
from noregret.learner.fast_path import FEATURES, FastPath
from noregret.learner.hashed_path import HashedPath
from noregret.learner.model import Model
from noregret.learner.row_reader import Row


class MappedRows(FastPath):
    """What these paths have in common: `used` and `room` count the features before the map."""

    saves_all = True

    @classmethod
    def suits(cls, model: Model) -> bool:
        return DensePath.suits(model)

    def reserve_statistics(self) -> None:
        room = self.room
        for transform in self.model.transforms:
            transform.reserve(room)
            room = room if transform.output_width() is None else int(transform.output_width() or 0)

    def count_derived(self, features: int) -> int:
        return self.model.learned_features

    def fill_rows(self, table: Table, row: Row) -> None:
        DensePath.fill_rows(self, table, row)  # type: ignore[arg-type]  # the row that the map makes is dense

    def use_features(self, used: int) -> None:
        self.used, width = used, used
        for transform in self.model.transforms:
            transform.width = width
            width = width if transform.output_width() is None else int(transform.output_width() or 0)


class MappedNames(MappedRows):
    """Rows of named features."""

    def name_features(self, model: Model) -> None:
        self.known = self.scored_names = model.names.known
        self.used = len(self.known)
        self.room = self.limit = 2 * self.used + FEATURES

    def has_room(self, row: dict[Any, Any]) -> bool:
        room = self.room - 1 - self.used  # the last number belongs to no name
        return len(row) <= room or sum(name not in self.known for name in row) <= room

    def unknown_cell(self, used: int | None = None) -> int:
        return dict_reader.UNFIT if self.sorts_rows else self.room - 1


class MappedHashes(MappedRows, HashedPath):
    """Rows of hashed names."""

    def use_features(self, used: int) -> None:
        super().use_features(self.room)


class MappedColumns(MappedRows, DensePath):
    """Rows of numbers."""

    def name_features(self, model: Model) -> None:
        super().name_features(model)
        self.set_width(model.columns)


def choose_mapped(model: Model) -> type[FastPath] | None:
    """The fast path of a learner with a kernel map; None where it has none."""
    if model.algebra != "dense" or sum(isinstance(one, KernelMap) for one in model.transforms) != 1:
        return None
    for one in model.transforms:
        if isinstance(one, DerivedTransform) or (not isinstance(one, KernelMap) and one.row_loops() is None):
            return None
    if model.names.mode == "columns":
        return MappedColumns if model.columns else None
    if model.names.mode == "names":
        return MappedNames
    return MappedHashes if not model.selectors.bits else None
