"""Stores whose values hold vectors of another store, whatever the algebra: scaled, averaged, centre."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from noregret.algebra.banks import Bank
from noregret.state.space import Space
from noregret.state.stores.base import Places, Saved, Store, Value, Vector


@dataclass(frozen=True)
class WrappedStore(Store[Value]):
    """A value around one or more values of an inner store; what is not said otherwise is left to that."""

    inner: Store[Any]

    def inside(self, value: Any) -> list[Any]:
        """Return the values of the inner store: the weights, then those named by `others`."""
        return [value.v]

    def named_values(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        yield from zip(self.cell_names(name), self.inside(value), strict=True)

    def vectors(self, value: Value) -> list[Vector]:
        return [flat for one in self.inside(value) for flat in self.inner.vectors(one)]

    def cell_shape(self, space: Space) -> tuple[int, ...]:
        return self.inner.cell_shape(space)

    def count_cells(self, space: Space) -> int:
        return self.inner.count_cells(space) * (1 + len(self.others))

    def grow(self, value: Value, old: Space, fresh: Value, new: Space) -> Value:
        for source, target in zip(self.inside(value), self.inside(fresh), strict=True):
            self.inner.grow(source, old, target, new)
        return fresh

    def rearrange(
        self, source: tuple[Value, Space], target: tuple[Value, Space], classes: Places, features: Places
    ) -> Value:
        (value, old), (fresh, new) = source, target
        for one, place in zip(self.inside(value), self.inside(fresh), strict=True):
            self.inner.rearrange((one, old), (place, new), classes, features)
        return fresh

    def settle(self, value: Value) -> None:
        for one in self.inside(value):
            self.inner.settle(one)

    def refresh(self, value: Value) -> None:
        for one in self.inside(value):
            self.inner.refresh(one)

    def allow_folding(self, value: Value, allowed: bool) -> None:
        for one in self.inside(value):
            self.inner.allow_folding(one, allowed)

    def bank(self, value: Value) -> Bank | None:
        return self.inner.bank(self.inside(value)[0])

    def memory(self, value: Value, everything: bool = False) -> list[NDArray[Any]]:
        return [array for one in self.inside(value) for array in self.inner.memory(one, everything)]

    def save(self, name: str, value: Value, space: Space) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {}
        for part, one in self.named_values(name, value):
            arrays |= self.inner.save(part, one, space)
        return arrays

    def check(self, name: str, saved: Saved, space: Space) -> str | None:
        problems = (self.inner.check(part, saved, space) for part in self.cell_names(name))
        return next((problem for problem in problems if problem is not None), None)

    def load(self, name: str, value: Value, saved: Saved, space: Space) -> Value:
        for part, one in self.named_values(name, value):
            self.inner.load(part, one, saved, space)
        return value

    def check_numbers(self, value: Value) -> str | None:
        problems = (self.inner.check_numbers(one) for one in self.inside(value))
        return next((problem for problem in problems if problem is not None), None)
