"""States whose classes change: one of two classes becomes one of many, or positive and negative are swapped."""

from collections.abc import Iterable, Iterator

import numpy as np

from noregret.state.fields import Field
from noregret.state.growth import State, parts, stores_and_values
from noregret.state.space import Shape, Space
from noregret.state.starts import initial_weights, refuse_lost_starts, shrinks_start, values_with_starts
from noregret.state.stores.base import Vector


def split(shape: Shape, state: State, space: Space, negative: int, positive: int) -> None:
    """Turn a two-class state into a multiclass one: -w/2 for one class, w/2 for the other, Sigma copied.

    A weight that has not moved is then as if its feature came only later: a positive zero, or the random start of its
    class. Only what was learned changes its class or sign.
    """
    refuse_lost_starts(shape, state, space)
    for store, value in stores_and_values(state):
        store.number_classes(value, negative, positive)
    for store, value, start in values_with_starts(shape, state, space):
        moved = store.moved(value, space, start)
        w, moved[...] = moved[0].copy(), 0.0
        moved[negative], moved[positive] = 0.0 - 0.5 * w, 0.0 + 0.5 * w
        store.move_from(value, space, start, moved)
    for field, array in settled_cells(shape, state, space):
        w = array[0].copy()
        if field.law == "add":
            start = initial_weights(field, space)
            w = w - start[0]
            array[negative], array[positive] = 0.0 - 0.5 * w + start[negative], 0.0 + 0.5 * w + start[positive]
        elif field.law == "multiply":
            with np.errstate(divide="ignore"):
                array[negative], array[positive] = np.where(w > 0.0, w**-0.5, 0.0), w**0.5
        else:
            array[negative], array[positive] = w, w
    settle_others(shape, state, space)


def mirror(shape: Shape, state: State, space: Space, signed: Iterable[str] = ()) -> None:
    """Swap positive and negative: make the state what the opposite labels would have led to; some counters, too."""
    refuse_lost_starts(shape, state, space)
    for name in signed:
        state.n[name] = 0.0 - state.n[name]
    for store, value in stores_and_values(state):
        store.flip_signs(value)
    for store, value, start in values_with_starts(shape, state, space):
        store.move_from(value, space, start, 0.0 - store.moved(value, space, start))
    for field, array in settled_cells(shape, state, space):
        if field.law == "add":
            np.subtract(2.0 * initial_weights(field, space), array, out=array)
        elif field.law == "multiply":
            np.divide(1.0, array, out=array, where=array != 0.0)
    settle_others(shape, state, space)


def settled_cells(shape: Shape, state: State, space: Space) -> Iterator[tuple[Field, Vector]]:
    """Yield the cells at rest; a start that shrinks is left out: what began together must shrink on together."""
    settle_others(shape, state, space)
    apart = {
        part
        for (name, field), store in zip(shape.fields.items(), state._stores, strict=True)
        if shrinks_start(store, field, space)
        for part in store.cell_names(name)
    }
    yield from ((field, array) for name, field, array in parts(shape, state, space) if name not in apart)


def settle_others(shape: Shape, state: State, space: Space) -> None:
    """Bring every field to rest whose start does not shrink."""
    for field, (store, value) in zip(shape.fields.values(), stores_and_values(state), strict=True):
        if not shrinks_start(store, field, space):
            store.settle(value)
