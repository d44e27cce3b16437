"""Bases of the span of the supports of a kernel learner: a matrix over its supports."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.basis import Basis
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Places, Saved, Store, Vector, check_array


class BasisStore(Store[Basis]):
    """One row for every support; it belongs to no class and no feature."""

    kind = "basis"
    is_vector = False

    def build(self, field: Field, space: Space, parts: Parts) -> Basis:
        room = space.supports
        scratch = np.zeros(room), np.zeros(room), np.zeros(1)
        return Basis(np.zeros((room, room)), np.zeros(room), np.zeros(room, np.int64), *scratch, np.zeros(1, np.int64))

    def vectors(self, value: Basis) -> list[Vector]:
        return []

    def cell_names(self, name: str) -> list[str]:
        return []

    def cell_fields(self, field: Field) -> list[Field]:
        return []

    def count_cells(self, space: Space) -> int:
        return space.supports * (space.supports + 3)

    def nonzero_places(self, value: Basis) -> NDArray[np.int64]:
        return np.zeros(0, np.int64)

    def grow(self, value: Basis, old: Space, fresh: Basis, new: Space) -> Basis:
        return copy_rows(value, fresh)

    def rearrange(
        self, source: tuple[Basis, Space], target: tuple[Basis, Space], classes: Places, features: Places
    ) -> Basis:
        return copy_rows(source[0], target[0])

    def memory(self, value: Basis, everything: bool = False) -> list[NDArray[Any]]:
        """Return the part in use: what lies beyond it is written before it is read."""
        return [*used_part(value).values(), value.n]

    def save(self, name: str, value: Basis, space: Space) -> dict[str, NDArray[Any]]:
        """Return the matrix with zeros where a row does not reach, and the arrays beside it."""
        part = used_part(value)
        reached = np.arange(part["reach"].size) < part["reach"][:, None]
        saved = {**part, "m": np.where(reached, part["m"], 0.0)}
        return {f"state.{name}.{key}": np.ascontiguousarray(array) for key, array in saved.items()}

    def check(self, name: str, saved: Saved, space: Space) -> str | None:
        size = space.supports
        shapes = {"m": (size, size), "squares": (size,), "reach": (size,)}
        for key, shape in shapes.items():
            dtype = np.int64 if key == "reach" else np.float64
            problem = check_array(saved.arrays, f"state.{name}.{key}", dtype, shape)
            if problem is not None:
                return problem
        reach = saved.arrays[f"state.{name}.reach"]
        if size and not 0 <= reach.min() <= reach.max() <= size:
            return f"state.{name}.reach has a row that is longer than {size}"
        return None

    def load(self, name: str, value: Basis, saved: Saved, space: Space) -> Basis:
        value.n[0] = saved.arrays[f"state.{name}.reach"].size
        for key, target in used_part(value).items():
            target[...] = saved.arrays[f"state.{name}.{key}"]
        return value


def used_part(value: Basis) -> dict[str, NDArray[Any]]:
    """Return the arrays of a basis without spare room and scratch, as views."""
    size = int(value.n[0])
    return {"m": value.m[:size, :size], "squares": value.squares[:size], "reach": value.reach[:size]}


def copy_rows(source: Basis, target: Basis) -> Basis:
    """Copy a basis into one with at least as much room; return the copy."""
    target.n[:] = source.n
    for key, array in used_part(source).items():
        used_part(target)[key][...] = array
    return target
