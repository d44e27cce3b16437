"""Lazy vectors: a cell applies what has shrunk all weights when it is next read."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.lazy import LARGE, NUMBERS, SMALL, Lazy
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Store, Vector, by_class_and_feature
from noregret.state.stores.plain import PlainStore, initial_cells

PENDING = Field("seen", "vector", 0.0, "keep")  # the total pull that a cell has applied


class LazyStore(Store[Lazy]):
    """The cells, and for each the total pull that it has applied."""

    kind = "lazy"
    numbers = NUMBERS
    shrinks = True
    others: ClassVar[Mapping[str, Field]] = {"seen": PENDING}

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        return PlainStore.choose(space) if space.algebra == "reference" else cls()

    def build(self, field: Field, space: Space, parts: Parts) -> Lazy:
        cells = initial_cells(field, space)
        return Lazy(cells, np.zeros_like(cells), parts.numbers, np.zeros(1, np.uint8))

    def vectors(self, value: Lazy) -> list[Vector]:
        return [value.v, value.seen]

    def nonzero_cells(self, value: Lazy, space: Space) -> NDArray[np.bool_]:
        return np.asarray(by_class_and_feature(self.weights(value), space) != 0.0)

    def weights(self, value: Lazy) -> Vector:
        """Return the weights with all pulls applied."""
        return np.asarray(value.n[0] * self.pulled(value, value.v, value.seen))

    def pulled(self, value: Lazy, cells: Vector, seen: Vector | float) -> Vector:
        """Return cells after all pulls that they have not seen, before they are scaled."""
        scale, pull, theta = value.n
        size = np.abs(cells)
        rest = np.where(size * scale <= theta, np.maximum(size - (pull - seen), 0.0), size)
        return np.asarray(np.copysign(rest, cells))

    def moved(self, value: Lazy, space: Space, start: Vector) -> Vector:
        cells, seen = self.cells(value, space)
        return np.asarray(self.pulled(value, cells, seen) - self.pulled(value, start, 0.0))

    def move_from(self, value: Lazy, space: Space, start: Vector, moved: Vector) -> None:
        cells, seen = self.cells(value, space)
        cells[...] = np.where(moved == 0.0, start, moved + self.pulled(value, start, 0.0))
        seen[...] = np.where(moved == 0.0, 0.0, value.n[1])

    def settle(self, value: Lazy) -> None:
        value.v[...] = self.weights(value)
        value.seen[...] = 0.0
        value.n[:2] = 1.0, 0.0

    def allow_folding(self, value: Lazy, allowed: bool) -> None:
        value.may[0] = allowed

    def check_numbers(self, value: Lazy) -> str | None:
        scale = float(value.n[0])
        return None if SMALL < scale < LARGE else f"a lazy vector with scale {scale}"
