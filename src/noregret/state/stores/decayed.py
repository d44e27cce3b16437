"""Decayed vectors: weights that shrink in every round."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.algebra.decayed import NUMBERS, SMALL, Decayed, scale_now
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Store
from noregret.state.stores.plain import PlainStore
from noregret.state.stores.wrapped import WrappedStore


@dataclass(frozen=True)
class DecayedStore(WrappedStore[Decayed]):
    """v with a scale that falls by the clock."""

    kind = "decayed"
    numbers = NUMBERS

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        return cls(PlainStore.choose(space))

    def build(self, field: Field, space: Space, parts: Parts) -> Decayed:
        return Decayed(self.inner.build(field, space, parts), parts.clock, parts.numbers, np.zeros(1, np.uint8))

    def settle(self, value: Decayed) -> None:
        self.vectors(value)[0][...] *= scale_now(value)
        value.n[1], value.n[2] = 1.0, value.clock[0]

    def allow_folding(self, value: Decayed, allowed: bool) -> None:
        value.may[0] = allowed

    def check_numbers(self, value: Decayed) -> str | None:
        decay, scale, at = value.n.tolist()
        if not (0.0 <= decay < 1.0 and SMALL <= scale <= 1.0 and 0.0 <= at <= value.clock[0]):
            return f"a decay of {decay}, a scale of {scale} in round {at}"
        return super().check_numbers(value)
