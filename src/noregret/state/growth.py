"""States: built, grown, split among classes, mirrored.

A state is a tuple of values, one for each field, and the record n of counters; its class knows the store of each.
Compiled code sees flat arrays with spare room; here they are arrays of (class, feature) cells, whatever the layout.
"""

from collections import namedtuple
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import drop_coefficients
from noregret.algebra.kernel import Bank
from noregret.algebra.partial_features import first_random
from noregret.algebra.supports import drop_row
from noregret.errors import BadValue
from noregret.state.fields import Field
from noregret.state.space import Shape, Space
from noregret.state.stores import Store, choose_store, find_store
from noregret.state.stores.base import Parts, Vector, by_class_and_feature
from noregret.state.stores.kernel_bank import build_bank
from noregret.state.stores.plain import initial_cells

State: TypeAlias = Any  # its fields are those that a rule declares


@cache
def state_class(names: tuple[str, ...], stores: tuple[Store[Any], ...]) -> Any:
    """Return the class of states with these fields, kept in these stores."""
    kind = namedtuple("State", (*names, "n"))  # type: ignore[misc]
    kind._stores = stores  # type: ignore[attr-defined]  # no field of a tuple has a name like this
    return kind


def stores_and_values(state: State) -> Iterator[tuple[Store[Any], Any]]:
    """Yield every value of a state with its store."""
    yield from zip(state._stores, state[:-1], strict=True)


def replace_values(state: State, values: list[Any]) -> State:
    """Return the state with other values and the same counters; the state itself if no value is another."""
    same = all(value is old for value, old in zip(values, state[:-1], strict=True))
    return state if same else type(state)(*values, state.n)


# ---- counters ------------------------------------------------------------------------------------------------------


def build_counters(shape: Shape, seed: int) -> Any:
    """Return the record s.n: the round number t and all other counters, all floats, and room to save them.

    A counter of the name random, or a field's, begins with the first random number of the learner's seed.
    """
    names = ["t", *shape.counters]
    record = np.zeros(2, dtype=[(name, "f8") for name in names]).view(np.recarray)
    for name, initial in shape.counters.items():
        record[name] = first_random(seed) if is_random(name) else initial
    return record[0]


def is_random(name: str) -> bool:
    """Whether a counter is the last random number of a sequence."""
    return name == "random" or name.endswith("_random")


def counters_of(state: State) -> Vector:
    """Return the counters of a state as an array over the same memory."""
    return np.frombuffer(state.n.base.data)[: len(state.n.dtype.names)]


def field_numbers(record: Any, name: str, field: Field) -> Vector:
    """Return the counters that belong to a field, as an array over the same memory."""
    own = list(find_store(field.kind).numbers)
    first = record.dtype.names.index(f"{name}_{own[0]}") if own else 0
    return np.frombuffer(record.base.data)[first : first + len(own)]


# ---- states --------------------------------------------------------------------------------------------------------


def make(shape: Shape, space: Space) -> State:
    """Return a fresh state."""
    record = build_counters(shape, space.seed)
    clock = np.frombuffer(record.base.data)[:1]
    bank = build_bank(space) if space.algebra == "kernel" else None
    stores = tuple(choose_store(field, space) for field in shape.fields.values())
    values = [
        store.build(field, space, Parts(field_numbers(record, name, field), clock, bank))
        for store, (name, field) in zip(stores, shape.fields.items(), strict=True)
    ]
    return state_class(tuple(shape.fields), stores)(*values, record)


def grow(shape: Shape, state: State, old: Space, new: Space) -> State:
    """Return a copy of a state in a space at least as large: new cells have the value that a field begins with."""
    if (new.room, new.class_room) != (old.room, old.class_room):
        refuse_lost_starts(shape, state, new)
    fresh = make(shape, new)
    counters_of(fresh)[:] = counters_of(state)
    drop_starts(shape, fresh, new)
    grown = [
        store.grow(value, old, target, new)
        for (store, value), target in zip(stores_and_values(state), fresh[:-1], strict=True)
    ]
    return refresh(replace_values(fresh, grown))


def copy_state(shape: Shape, state: State, space: Space) -> State:
    """Return a copy that shares no memory with the state."""
    return grow(shape, state, space, space)


def memory_needed(shape: Shape, space: Space) -> int:
    """Return how many bytes a state takes, before it is made."""
    cells = sum(choose_store(field, space).count_cells(space) for field in shape.fields.values())
    return 8 * (cells + space.room + 2 * space.values + 3 * space.supports)


def parts(shape: Shape, state: State, space: Space) -> Iterator[tuple[str, Field, Vector]]:
    """Yield all cells by name: views of shape (class, feature), (class, feature, feature) or (class, support)."""
    for (name, field), (store, value) in zip(shape.fields.items(), stores_and_values(state), strict=True):
        yield from zip(store.cell_names(name), store.cell_fields(field), store.cells(value, space), strict=True)


def nonzero_weights(state: State, space: Space) -> NDArray[np.bool_]:
    """Return which weights of the first vector are not zero, by class and feature."""
    store, value = next((store, value) for store, value in stores_and_values(state) if store.is_vector)
    return store.nonzero_cells(value, space)[: space.classes, : space.features]


def memory(state: State, everything: bool = False) -> list[NDArray[Any]]:
    """Return the arrays that rounds may change, each once; see `Store.memory`."""
    arrays = {
        id(array): array for store, value in stores_and_values(state) for array in store.memory(value, everything)
    }
    return list(arrays.values())


def settle(state: State) -> State:
    """Bring every field to rest: its cells become the weights themselves."""
    for store, value in stores_and_values(state):
        store.settle(value)
    return state


def refresh(state: State) -> State:
    """Derive again what follows from the cells, after they were written from outside."""
    for store, value in stores_and_values(state):
        store.refresh(value)
    return state


def allow_folding(state: State, allowed: bool) -> None:
    """Say whether a round may change all cells, which can be undone only if all were saved."""
    for store, value in stores_and_values(state):
        store.allow_folding(value, allowed)


def set_classes(state: State, classes: int) -> None:
    """Say how many classes there are, whether or not a row of each is remembered."""
    for store, value in stores_and_values(state):
        store.set_classes(value, classes)


def use_features(state: State, features: int) -> None:
    """Let full covariances extend over so many features."""
    for store, value in stores_and_values(state):
        store.use_features(value, features)


def make_room(state: State, rows: int, values: int) -> State:
    """Return the state with room to remember so many more rows with so many values in all."""
    return replace_values(state, [store.make_room(value, rows, values) for store, value in stores_and_values(state)])


def bank_of(state: State) -> Bank:
    """Return the bank of supports that the vectors of a kernel learner share."""
    return next(bank for store, value in stores_and_values(state) if (bank := store.bank(value)) is not None)


def remove_support(state: State, support: int) -> None:
    """Remove a support and its coefficients from all vectors of a kernel learner; the others keep their order."""
    for value in state[:-1]:
        drop_coefficients(value, support)
    drop_row(bank_of(state), support)


# ---- classes -------------------------------------------------------------------------------------------------------


def split(shape: Shape, state: State, space: Space, negative: int, positive: int) -> None:
    """Turn a two-class state into a multiclass one: -w/2 for one class, w/2 for the other, Sigma copied.

    A weight that has not moved is then as if its feature came only later: a positive zero, or the random start of its
    class. Only what was learned changes its class or sign.
    """
    refuse_lost_starts(shape, state, space)
    for store, value in stores_and_values(state):
        store.number_classes(value, negative, positive)
    for store, value, start in started_values(shape, state, space):
        moved = store.moved(value, space, start)
        w, moved[...] = moved[0].copy(), 0.0
        moved[negative], moved[positive] = 0.0 - 0.5 * w, 0.0 + 0.5 * w
        store.move_from(value, space, start, moved)
    for _, field, array in settled_parts(shape, state, space):
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


def started_values(shape: Shape, state: State, space: Space) -> Iterator[tuple[Store[Any], Any, Vector]]:
    """Yield the values that began at random and have shrunk since, with their stores and the weights they began at."""
    for (store, value), field in zip(stores_and_values(state), shape.fields.values(), strict=True):
        if is_started(store, field, space):
            yield store, value, initial_weights(field, space)


def is_started(store: Store[Any], field: Field, space: Space) -> bool:
    return store.shrinks and field.random and space.spread > 0.0 and space.algebra != "kernel"


def settled_parts(shape: Shape, state: State, space: Space) -> Iterator[tuple[str, Field, Vector]]:
    """Yield the cells at rest, without those that began at random and shrink: what began must shrink on as a whole."""
    settle_others(shape, state, space)
    apart = {
        name
        for (name, field), store in zip(shape.fields.items(), state._stores, strict=True)
        if is_started(store, field, space)
        for name in store.cell_names(name)
    }
    yield from (part for part in parts(shape, state, space) if part[0] not in apart)


def settle_others(shape: Shape, state: State, space: Space) -> None:
    for (store, value), field in zip(stores_and_values(state), shape.fields.values(), strict=True):
        if not is_started(store, field, space):
            store.settle(value)


def refuse_lost_starts(shape: Shape, state: State, space: Space) -> None:
    """Refuse what the reference algebra cannot do: to know how far a start has shrunk that it has no cell of."""
    shrinking = any(
        field.random and (field.kind == "lazy" or "kept" in shape.counters) for field in shape.fields.values()
    )
    if shrinking and space.algebra == "reference" and space.spread > 0.0 and state.n.t > 0.0:
        raise BadValue(
            "the reference algebra shrinks random initial weights only where it has cells: name the classes, and give "
            "it all features with the first rows"
        )


def drop_starts(shape: Shape, state: State, space: Space) -> None:
    """Set fresh cells to zero where hardly anything is left of the start, and the rest was multiplied into the cells.

    The counter `kept` of a rule is the product of all factors; the scale of a value only that since the last fold.
    """
    if "kept" in shape.counters:
        for store, value, _ in started_values(shape, state, space):
            if state.n.kept < 1e-50 * abs(value.n[0]):
                store.vectors(value)[0][...] = 0.0


def initial_weights(field: Field, space: Space) -> Vector:
    """Return what the weights of a field begin at: random numbers by class and feature, or zeros."""
    if field.random and space.spread > 0.0 and space.algebra != "kernel":
        return by_class_and_feature(initial_cells(field, space), space)
    return np.zeros((space.class_room, 1))


def mirror(shape: Shape, state: State, space: Space) -> None:
    """Swap positive and negative: make the state what the opposite labels would have led to."""
    refuse_lost_starts(shape, state, space)
    for store, value in stores_and_values(state):
        store.flip_signs(value)
    for store, value, start in started_values(shape, state, space):
        store.move_from(value, space, start, 0.0 - store.moved(value, space, start))
    for _, field, array in settled_parts(shape, state, space):
        if field.law == "add":
            np.subtract(2.0 * initial_weights(field, space), array, out=array)
        elif field.law == "multiply":
            np.divide(1.0, array, out=array, where=array != 0.0)
    settle_others(shape, state, space)


def leaves(value: Any) -> Iterator[Any]:
    """Yield the arrays, records and numbers of a state or a block of rows, in order."""
    if isinstance(value, tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value
