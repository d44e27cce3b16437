"""Plain vectors: one number for every class and feature. Also the vectors of the reference and kernel algebras."""

from typing import Any

import numpy as np

from noregret.algebra.reference import ReferenceVector
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Store, Vector, by_class_and_feature
from noregret.state.stores.kernel_bank import ExpansionStore


class PlainStore(Store[Vector]):
    """A flat array."""

    kind = "vector"

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        """Return the store of a vector of the space's algebra."""
        if space.algebra == "kernel":
            return ExpansionStore()
        return ReferenceStore() if space.algebra == "reference" else PlainStore()

    def build(self, field: Field, space: Space, parts: Parts) -> Vector:
        return initial_cells(field, space)

    def vectors(self, value: Vector) -> list[Vector]:
        return [value]


class ReferenceStore(Store[ReferenceVector]):
    """A vector of the reference algebra, where every kind of vector is eager."""

    kind = "reference"

    def build(self, field: Field, space: Space, parts: Parts) -> ReferenceVector:
        return ReferenceVector(initial_cells(field, space), space.room)

    def vectors(self, value: ReferenceVector) -> list[Vector]:
        return [value.v]


def initial_cells(field: Field, space: Space) -> Vector:
    """Return the cells of a vector before any round."""
    flat = np.full(space.room * space.class_room, field.start)
    if field.random and space.spread > 0.0:
        for c, row in enumerate(by_class_and_feature(flat, space)):
            row[:] = space.spread * np.random.default_rng([space.seed, c]).standard_normal(space.room)
        if space.limits is not None:
            np.clip(flat, *space.limits, out=flat)
    return flat
