"""Snapshots: w, and w as it was when the last snapshot was taken."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from noregret.algebra.reference import ReferenceSnapshot
from noregret.algebra.snapshot import NUMBERS, Snapshot
from noregret.state.fields import Field, plain
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Store, Vector
from noregret.state.stores.plain import initial_cells

STAMP = Field("stamp", "vector", 0.0, "keep")


def old_of(field: Field) -> Field:
    """The field of the old cells, which begin where the cells do."""
    return replace(plain, random=field.random)


class ReferenceSnapshotStore(Store[ReferenceSnapshot]):
    """In the reference algebra, a copy of all cells."""

    kind = "reference_snapshot"
    others: ClassVar[Mapping[str, Field]] = {"old": plain}

    def build(self, field: Field, space: Space, parts: Parts) -> ReferenceSnapshot:
        cells = initial_cells(field, space)
        return ReferenceSnapshot(cells, cells.copy())

    def cell_fields(self, field: Field) -> list[Field]:
        return [field, old_of(field)]

    def vectors(self, value: ReferenceSnapshot) -> list[Vector]:
        return [value.v, value.old]


class SnapshotStore(Store[Snapshot]):
    """The cells; of those that changed since the snapshot, stamped with its number, also what they were."""

    kind = "snapshot"
    numbers = NUMBERS
    others: ClassVar[Mapping[str, Field]] = {"old": plain, "stamp": STAMP}

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        return ReferenceSnapshotStore() if space.algebra == "reference" else cls()

    def build(self, field: Field, space: Space, parts: Parts) -> Snapshot:
        cells = initial_cells(field, space)
        return Snapshot(cells, cells.copy(), np.zeros_like(cells), parts.numbers)

    def cell_fields(self, field: Field) -> list[Field]:
        return [field, old_of(field), STAMP]

    def vectors(self, value: Snapshot) -> list[Vector]:
        return [value.v, value.old, value.stamp]

    def settle(self, value: Snapshot) -> None:
        value.old[...] = np.where(value.stamp == value.n[0], value.old, value.v)
        value.stamp[...] = value.n[0] = 0.0

    def check_numbers(self, value: Snapshot) -> str | None:
        taken = float(value.n[0])
        if taken < 0.0 or not taken.is_integer() or (value.stamp > taken).any():
            return f"a vector of which {taken} snapshots were taken, with a cell of a later one"
        return None
