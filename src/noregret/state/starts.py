"""Random initial weights: where cells begin, also those made later, and what is left of it where rounds shrink all."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from noregret.errors import BadValue
from noregret.state.fields import Field
from noregret.state.space import Shape, Space
from noregret.state.stores import Store
from noregret.state.stores.base import Vector, by_class_and_feature
from noregret.state.stores.plain import initial_cells

WORN = 1e-50  # a start of which so little is left counts as zero


def initial_weights(field: Field, space: Space) -> Vector:
    """Return what the weights of a field begin at: random numbers by class and feature, or zeros."""
    if field.random and space.spread > 0.0 and space.algebra != "kernel":
        return by_class_and_feature(initial_cells(field, space), space)
    return np.zeros((space.class_room, 1))


def shrinks_start(store: Store[Any], field: Field, space: Space) -> bool:
    """Whether the cells of a field began at random and may have shrunk since."""
    return store.shrinks and field.random and space.spread > 0.0 and space.algebra != "kernel"


def is_worn(shape: Shape, state: Any, value: Any) -> bool:
    """Whether hardly anything is left of a start, and the rest was multiplied into the cells.

    The counter `kept` of a rule is the product of all factors; the scale of a value only that since the last fold.
    """
    return "kept" in shape.counters and bool(state.n.kept < WORN * abs(value.n[0]))


def values_with_starts(shape: Shape, state: Any, space: Space) -> Iterator[tuple[Store[Any], Any, Vector]]:
    """Yield the values that began at random and may have shrunk, with their stores and the start that shrinks on."""
    for field, store, value in zip(shape.fields.values(), state._stores, state[:-1], strict=True):
        if shrinks_start(store, field, space):
            start = initial_weights(field, space)
            yield store, value, np.zeros_like(start) if is_worn(shape, state, value) else start


def drop_worn_starts(shape: Shape, state: Any, space: Space) -> None:
    """Set fresh cells to zero where hardly anything is left of their start."""
    for field, store, value in zip(shape.fields.values(), state._stores, state[:-1], strict=True):
        if shrinks_start(store, field, space) and is_worn(shape, state, value):
            store.vectors(value)[0][...] = 0.0


def refuse_lost_starts(shape: Shape, state: Any, space: Space) -> None:
    """Refuse what the reference algebra cannot do: to know how far a start has shrunk that it has no cell of."""
    shrinking = any(
        field.random and (field.kind == "lazy" or "kept" in shape.counters) for field in shape.fields.values()
    )
    if shrinking and space.algebra == "reference" and space.spread > 0.0 and state.n.t > 0.0:
        raise BadValue(
            "the reference algebra shrinks random initial weights only where it has cells: name the classes, and give "
            "it all features with the first rows"
        )
