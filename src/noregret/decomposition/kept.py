"""What is computed of arrays of a state and kept, so that it is not computed anew for each of many single rows."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

Value = TypeVar("Value")


class Kept(NamedTuple, Generic[Value]):
    """A value, and the objects it was computed of. It never changes, so that copies of a state share it."""

    made_of: tuple[object, ...]
    value: Value


def keep(kept: Kept[Value] | None, compute: Callable[[], Value], *made_of: object) -> Kept[Value]:
    """What is kept, if it was computed of these very objects; else it is computed anew.

    A state replaces its arrays; where it changes one in place, it must forget what is kept.
    """
    if kept is not None and all(one is other for one, other in zip(kept.made_of, made_of, strict=True)):
        return kept
    return Kept(made_of, compute())
