"""Counters for loops in plain Python, which read numbers of an array much faster than fields of a numpy record."""

from functools import cache
from typing import Any

from noregret.state.growth import State, counters_of


@cache
def counters_class(names: tuple[str, ...]) -> type:
    """Return a class whose attributes are the numbers of an array."""

    def number(i: int) -> property:
        return property(lambda own: own._numbers[i], lambda own, value: own._numbers.__setitem__(i, value))

    class Counters:
        __slots__ = ("_numbers",)

        def __init__(self, numbers: Any) -> None:
            self._numbers = numbers

        def __repr__(self) -> str:
            return ", ".join(f"{name} = {value:g}" for name, value in zip(names, self._numbers, strict=True))

    for i, name in enumerate(names):
        setattr(Counters, name, number(i))
    return Counters


def with_plain_counters(state: State) -> State:
    """Return the state, over the same memory, for a loop in plain Python."""
    return state._replace(n=counters_class(state.n.dtype.names)(counters_of(state)))
