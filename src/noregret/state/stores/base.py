"""What every store can do. A store is the memory behind one kind of field; it is stateless and works on a value.

A value is what compiled code sees: one of the tuples of arrays of `algebra/`. Its cells are arrays with one number for
every class and feature (in the kernel algebra: for every class and support). Its numbers are part of the record of
counters, so that they are saved, restored and copied with it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.arrays import Floats, Integers
from noregret.algebra.banks import Bank
from noregret.state.fields import Field
from noregret.state.space import Space

Value = TypeVar("Value")
Vector: TypeAlias = Floats
Places: TypeAlias = Integers
Arrays: TypeAlias = Mapping[str, NDArray[Any]]


class Parts(NamedTuple):
    """What a value is built over: its part of the counters, the round number, and the bank of a kernel learner."""

    numbers: Vector
    clock: Vector
    bank: Bank | None = None


class Saved(NamedTuple):
    """What a file holds of a state: named arrays, and which labels remembered rows may have."""

    arrays: Arrays
    labels: Vector


class Store(ABC, Generic[Value]):
    """How values of one kind are built, grown, brought to rest, saved, checked and rolled back."""

    kind: ClassVar[str]
    numbers: ClassVar[Mapping[str, float]] = {}
    """The numbers of a value with their initial values."""
    unsaved: ClassVar[tuple[str, ...]] = ()
    """Those of them that follow from the rest of the value."""
    former_numbers: ClassVar[Mapping[str, str]] = {}
    """Names that numbers had in files of older formats, and what they are now."""
    others: ClassVar[Mapping[str, Field]] = {}
    """The cell arrays beside the weights, by the suffix of their names."""
    is_vector: ClassVar[bool] = True
    """Whether its first cells are weights."""
    shrinks: ClassVar[bool] = False
    """Whether rounds shrink all cells, also those that no row touches, without visiting them."""
    lists_nonzeros: ClassVar[bool] = False
    """Whether `nonzero_places` costs no more than the number of non-zeros."""

    @classmethod
    def choose(cls, space: Space) -> "Store[Any]":
        """Return the store for this kind of field in a space."""
        return cls()

    def __eq__(self, other: object) -> bool:
        """Stores of one class and with the same settings are the same store."""
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).items()))

    # ---- cells ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def build(self, field: Field, space: Space, parts: Parts) -> Value:
        """Return a fresh value."""

    @abstractmethod
    def vectors(self, value: Value) -> list[Vector]:
        """Return the flat arrays of cells: the weights, then those named by `others`."""

    def cells(self, value: Value, space: Space) -> list[Vector]:
        """Return the same arrays as views of shape (class, feature), whatever their layout."""
        return [by_class_and_feature(flat, space) for flat in self.vectors(value)]

    def cell_names(self, name: str) -> list[str]:
        return [name, *(f"{name}_{suffix}" for suffix in self.others)]

    def cell_fields(self, field: Field) -> list[Field]:
        return [field, *self.others.values()]

    def cell_shape(self, space: Space) -> tuple[int, ...]:
        """Return the shape of the cells in use."""
        return (space.classes, space.features)

    def count_cells(self, space: Space) -> int:
        """Return how many cells a value has, with its spare room."""
        return space.class_room * space.room * (1 + len(self.others))

    def nonzero_cells(self, value: Value, space: Space) -> NDArray[np.bool_]:
        """Return which weights are not zero, by class and feature."""
        return np.asarray(self.cells(value, space)[0] != 0.0)

    # ---- changes from outside the rounds -------------------------------------------------------------------------

    def grow(self, value: Value, old: Space, fresh: Value, new: Space) -> Value:
        """Copy a value into a fresh one of a larger space, whose counters are copied already; return the copy."""
        for source, target in zip(self.cells(value, old), self.cells(fresh, new), strict=True):
            target[corner(source.shape)] = source
        return fresh

    def rearrange(
        self, source: tuple[Value, Space], target: tuple[Value, Space], classes: Places, features: Places
    ) -> Value:
        """Copy the cells of a value at rest to other classes and features of a fresh one; return the copy."""
        (value, old), (fresh, new) = source, target
        for cells, places in zip(self.cells(value, old), self.cells(fresh, new), strict=True):
            places[np.ix_(classes, features)] = cells[: classes.size, : old.features]
        return fresh

    def settle(self, value: Value) -> None:
        """Bring a value to rest: its cells become the weights themselves, and what was derived from them is reset."""
        self.refresh(value)

    def refresh(self, value: Value) -> None:
        """Derive again what follows from the cells, after they were written from outside."""

    def moved(self, value: Value, space: Space, start: Vector) -> Vector:
        """Return how far the cells are from a start that has shrunk as they have; exactly 0 where none moved."""
        raise NotImplementedError(f"{self.kind} cells do not shrink")

    def move_from(self, value: Value, space: Space, start: Vector, moved: Vector) -> None:
        """Write the cells that are so far from a start that has shrunk; where they are not, one that will shrink."""
        raise NotImplementedError(f"{self.kind} cells do not shrink")

    def allow_folding(self, value: Value, allowed: bool) -> None:
        """Say whether a round may change every cell, which can be undone only if all were saved."""

    def flip_signs(self, value: Value) -> None:
        """Swap the signs of what is remembered beside the cells: positive becomes negative."""

    def number_classes(self, value: Value, negative: int, positive: int) -> None:
        """Turn the signs of what is remembered beside the cells into the numbers of two classes."""

    def set_classes(self, value: Value, classes: int) -> None:
        """Say how many classes there are."""

    def use_features(self, value: Value, features: int) -> None:
        """Say that so many features are in use."""

    def make_room(self, value: Value, rows: int, values: int) -> Value:
        """Return the value with room to remember so many more rows with so many values in all."""
        return value

    def bank(self, value: Value) -> Bank | None:
        """Return the bank of supports behind a value of the kernel algebra; otherwise None."""
        return None

    # ---- savepoints ----------------------------------------------------------------------------------------------

    def memory(self, value: Value, everything: bool = False) -> list[NDArray[Any]]:
        """Return the arrays that rounds may change; counters, scratch and derived arrays are left out.

        Where rounds may change everything, also those that they usually only append to.
        """
        return list(self.vectors(value))

    def derived(self, value: Value) -> list[NDArray[Any]]:
        """Return the arrays that rounds change and that follow from the others: one word of 8 bytes for every cell.

        None of the words is negative if it is an integer, so that all are finite as floats.
        """
        return []

    def nonzero_places(self, value: Value) -> NDArray[np.int64]:
        """Return the places of the weights that are not zero."""
        return np.flatnonzero(self.vectors(value)[0])

    # ---- files ---------------------------------------------------------------------------------------------------

    def save(self, name: str, value: Value, space: Space) -> dict[str, NDArray[Any]]:
        """Return the arrays of a value by name, without spare room; the space says what is in use."""
        used = corner(self.cell_shape(space))
        cells = zip(self.cell_names(name), self.cells(value, space), strict=True)
        return {f"state.{part}": np.ascontiguousarray(array[used]) for part, array in cells}

    def check(self, name: str, saved: Saved, space: Space) -> str | None:
        """Return why saved arrays cannot be those of a value, or None; the space says what must be in use."""
        shape = self.cell_shape(space)
        for part in self.cell_names(name):
            problem = check_array(saved.arrays, f"state.{part}", np.float64, shape)
            if problem is not None:
                return problem
        return None

    def load(self, name: str, value: Value, saved: Saved, space: Space) -> Value:
        """Write checked arrays into a fresh value, whose counters are loaded already; return the value."""
        for part, target in zip(self.cell_names(name), self.cells(value, space), strict=True):
            array = saved.arrays[f"state.{part}"]
            target[corner(array.shape)] = array
        return value

    def check_numbers(self, value: Value) -> str | None:
        """Return why the numbers of a loaded value, all finite, cannot belong to its cells, or None."""
        return None


def by_class_and_feature(flat: Vector, space: Space) -> Vector:
    """Return a flat vector as a view of shape (class, feature)."""
    if space.by_class:
        return flat.reshape(space.class_room, space.room)
    return flat.reshape(-1, space.class_room).T


def corner(shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the index of the first cells in every direction."""
    return tuple(slice(0, size) for size in shape)


def check_array(arrays: Arrays, name: str, dtype: type[np.generic], shape: tuple[int, ...]) -> str | None:
    """Return why a saved array is not of this type and shape with finite numbers, or None."""
    array = arrays.get(name)
    if array is None:
        return f"{name} is missing"
    if array.dtype != dtype or array.shape != shape:
        return f"{name} has type {array.dtype} and shape {array.shape}, not {np.dtype(dtype)} and {shape}"
    return None if is_finite(array) else f"{name} has numbers that are not finite"


def is_finite(values: NDArray[Any]) -> bool:
    """Whether all numbers are finite. A finite sum has finite terms; only an infinite one needs a second look."""
    if values.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())
