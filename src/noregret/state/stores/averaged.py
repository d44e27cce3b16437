"""Averaged vectors: w, and beside it how much the mean of w over the rounds differs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from noregret.algebra.averaged import NUMBERS, Averaged
from noregret.state.fields import Field, plain
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Store
from noregret.state.stores.plain import PlainStore
from noregret.state.stores.wrapped import WrappedStore


@dataclass(frozen=True)
class AveragedStore(WrappedStore[Averaged]):
    """w and the sum u, vectors of one algebra."""

    kind = "averaged"
    numbers = NUMBERS
    others: ClassVar[Mapping[str, Field]] = {"sum": plain}

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        return cls(PlainStore.choose(space))

    def build(self, field: Field, space: Space, parts: Parts) -> Averaged:
        v, u = self.inner.build(field, space, parts), self.inner.build(plain, space, parts)
        return Averaged(v, u, parts.clock, parts.numbers)

    def inside(self, value: Averaged) -> list[Any]:
        return [value.v, value.u]
