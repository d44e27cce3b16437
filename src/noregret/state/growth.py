"""States: built, grown, brought to rest.

A state is a tuple of values, one for each field, and the record n of counters; its class knows the store of each.
Compiled code sees flat arrays with spare room; here they are arrays of (class, feature) cells, whatever the layout.
"""

from collections import namedtuple
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.banks import Bank
from noregret.algebra.internal_verbs import drop_coefficients, drop_row
from noregret.algebra.partial_features import first_random
from noregret.state.bank_rows import build_bank
from noregret.state.fields import Field
from noregret.state.space import Shape, Space
from noregret.state.starts import drop_worn_starts, refuse_lost_starts
from noregret.state.stores import Store, choose_store, find_store
from noregret.state.stores.base import Parts, Vector

State: TypeAlias = Any  # its fields are those that a rule declares


@cache
def state_class(names: tuple[str, ...], stores: tuple[Store[Any], ...]) -> Any:
    """Return the class of states with these fields, kept in these stores."""
    kind = namedtuple("State", (*names, "n"))  # type: ignore[misc]
    kind._stores = stores  # type: ignore[attr-defined]  # no field of a tuple has a name like this
    kind._folding = overriding(stores, "allow_folding")  # type: ignore[attr-defined]
    kind._remembering = overriding(stores, "make_room")  # type: ignore[attr-defined]
    return kind


def overriding(stores: tuple[Store[Any], ...], method: str) -> list[int]:
    """The numbers of the stores that do something in a method which does nothing by default."""
    return [number for number, store in enumerate(stores) if getattr(type(store), method) is not getattr(Store, method)]


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
    drop_worn_starts(shape, fresh, new)
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
    rows = space.supports * space.room if space.layout == "dense" else 3 * space.values
    return 8 * (cells + 2 * space.room + rows + 5 * space.supports)


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


def whole_memory(state: State, everything: bool) -> list[NDArray[Any]]:
    """Return the arrays that rounds may change, and those that follow from them; see `Store.memory`."""
    derived = [array for store, value in stores_and_values(state) for array in store.derived(value)]
    return [*memory(state, everything), *derived]


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
    for number in state._folding:
        state._stores[number].allow_folding(state[number], allowed)


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
    if not state._remembering:
        return state
    return replace_values(state, [store.make_room(value, rows, values) for store, value in stores_and_values(state)])


def bank_of(state: State) -> Bank:
    """Return the bank of supports that the vectors of a kernel learner share."""
    return next(bank for store, value in stores_and_values(state) if (bank := store.bank(value)) is not None)


def remove_support(state: State, support: int) -> None:
    """Remove a support and its coefficients from all vectors of a kernel learner; the last one takes its place."""
    for value in state[:-1]:
        drop_coefficients(value, support)
    drop_row(bank_of(state), support)


def leaves(value: Any) -> Iterator[Any]:
    """Yield the arrays, records and numbers of a state or a block of rows, in order."""
    if isinstance(value, tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value
