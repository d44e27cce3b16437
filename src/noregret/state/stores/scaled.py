"""Scaled vectors: w = c v, with the p-norm of v up to date."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.algebra.scaled import LARGE, NUMBERS, SMALL, Scaled, Unmeasured
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Store, Vector
from noregret.state.stores.plain import PlainStore
from noregret.state.stores.wrapped import WrappedStore


@dataclass(frozen=True)
class ScaledStore(WrappedStore[Scaled]):
    """c v; the reference algebra scales eagerly and stores w itself."""

    kind = "scaled"
    numbers = NUMBERS
    shrinks = True

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        inner = PlainStore.choose(space)
        return inner if space.algebra == "reference" else cls(inner)

    def build(self, field: Field, space: Space, parts: Parts) -> Scaled:
        kind: Any = Scaled if field.measured or space.algebra == "kernel" else Unmeasured
        value: Scaled = kind(self.inner.build(field, space, parts), parts.numbers, np.zeros(1, np.uint8))
        return value

    def settle(self, value: Scaled) -> None:
        self.vectors(value)[0][...] *= value.n[0]
        value.n[:] = list(NUMBERS.values())

    def moved(self, value: Scaled, space: Space, start: Vector) -> Vector:
        return np.asarray(self.cells(value, space)[0] - start)

    def move_from(self, value: Scaled, space: Space, start: Vector, moved: Vector) -> None:
        self.cells(value, space)[0][...] = moved + start
        value.n[1:] = list(NUMBERS.values())[1:]

    def allow_folding(self, value: Scaled, allowed: bool) -> None:
        value.may[0] = allowed

    def check_numbers(self, value: Scaled) -> str | None:
        scale, _, _, order = value.n.tolist()
        if not SMALL < abs(scale) < LARGE or order < 0.0:
            return f"a vector with scale {scale} and norm of order {order}"
        return super().check_numbers(value)
