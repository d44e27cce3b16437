"""Centres: a point around which rows lie, and its height above them."""

from dataclasses import dataclass
from typing import Any

from noregret.algebra.centre import NUMBERS, Centre
from noregret.algebra.scaled import NUMBERS as SCALED
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Store
from noregret.state.stores.scaled import ScaledStore
from noregret.state.stores.wrapped import WrappedStore


@dataclass(frozen=True)
class CentreStore(WrappedStore[Centre]):
    """A scaled vector, whose numbers come first, and the height."""

    kind = "centre"
    numbers = NUMBERS

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        return cls(ScaledStore.choose(space))

    def build(self, field: Field, space: Space, parts: Parts) -> Centre:
        own, height = parts.numbers[: len(SCALED)], parts.numbers[len(SCALED) :]
        return Centre(self.inner.build(field, space, parts._replace(numbers=own)), height)
