"""States in files: named arrays without spare room, and counters by name. Everything is checked before it is used."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.given_kernels import Gram
from noregret.algebra.partial_features import PRIME
from noregret.errors import BadValue, shown
from noregret.state.bank_rows import bank_size
from noregret.state.growth import (
    State,
    bank_of,
    counters_of,
    is_random,
    make,
    memory_needed,
    refresh,
    replace_values,
    stores_and_values,
)
from noregret.state.space import Shape, Space, enlarge, physical_memory
from noregret.state.starts import drop_worn_starts
from noregret.state.stores import choose_store
from noregret.state.stores.base import Arrays, Saved, Vector, is_finite
from noregret.state.stores.kernel_bank import check_bank, longest_row

WIDE = 1 << 24  # a kernel learner has a cell for every feature, which its file does not: up to so many are believed


class SavedState(NamedTuple):
    """What a file says of a state, and what the learner knows of it.

    The labels are those that remembered rows may have. The limits are those of counters that rules use as sizes.
    """

    features: Any  # as the file says it, not yet checked
    classes: int
    counters: Mapping[str, Any]  # the same
    arrays: Arrays
    labels: Vector
    limits: Mapping[str, int]
    known: int = 0  # features that have names or were numbered by a transform


def save_counters(shape: Shape, state: State) -> dict[str, float]:
    """Return the counters by name, without those that follow from the rest."""
    stores = zip(shape.fields, stores_and_values(state), strict=True)
    derived = {f"{name}_{number}" for name, (store, _) in stores for number in store.unsaved}
    return {name: float(state.n[name]) for name in state.n.dtype.names if name not in derived}


def save_arrays(shape: Shape, state: State, space: Space) -> dict[str, NDArray[Any]]:
    """Return the arrays of a state by name, without spare room."""
    if space.algebra == "kernel":
        space = replace(space, supports=bank_size(bank_of(state))[0])
    arrays: dict[str, NDArray[Any]] = {}
    for name, (store, value) in zip(shape.fields, stores_and_values(state), strict=True):
        arrays |= store.save(name, value, space)
    return arrays


def load_state(shape: Shape, base: Space, saved: SavedState) -> tuple[State, Space]:
    """Return a state from a file, and its space; BadValue says what is wrong with the file.

    All arrays are checked before anything of their size is made.
    """
    exact = used_space(base, saved)
    file = Saved(saved.arrays, saved.labels)
    for name, field in shape.fields.items():
        refuse(choose_store(field, exact).check(name, file, exact))
        if field.law == "multiply" and (saved.arrays[f"state.{name}"] < 0.0).any():
            refuse(f"state.{name} has negative numbers")
    space = enlarge(replace(base, layout=exact.layout), exact.features, exact.classes, exact.supports, exact.values)
    if memory_needed(shape, space) > physical_memory() // 2:
        refuse(f"{space.features} features and {space.classes} classes do not fit in memory")
    state = make(shape, space)
    load_counters(shape, state, saved)
    drop_worn_starts(shape, state, space)
    values = [
        store.load(name, value, file, space)
        for name, (store, value) in zip(shape.fields, stores_and_values(state), strict=True)
    ]
    state = replace_values(state, values)
    for store, value in stores_and_values(state):
        refuse(store.check_numbers(value))
    return refresh(state), space


def used_space(base: Space, saved: SavedState) -> Space:
    """Return the space without spare room that the file is for."""
    if type(saved.features) is not int or saved.features < 0:
        refuse(f"{shown(saved.features)} is not a number of features")
    supports = values = 0
    if base.algebra == "kernel":
        refuse(check_bank(saved.arrays, saved.features))
        supports, values = saved.arrays["bank.sq"].size, saved.arrays["bank.idx"].size
        if base.budget and supports > base.budget:
            refuse(f"{supports} supports, where a budget allows {base.budget}")
        if isinstance(base.given, Gram) and (
            saved.features > base.given.objects or (np.diff(saved.arrays["bank.start"]) != 1).any()
        ):
            refuse(f"a support is not one of {base.given.objects} objects")
        if "bank.dense" in saved.arrays:
            if isinstance(base.given, Gram):
                refuse("supports of a precomputed kernel are not dense rows")
            base = replace(base, layout="dense")
        elif base.layout == "slots":
            values = longest_row(saved.arrays)
        if saved.features > max(saved.known, WIDE) and saved.features - 1 > saved.arrays["bank.idx"].max(initial=0):
            refuse(f"{saved.features} features, of which no support has the last")
    return replace(base, features=saved.features, classes=saved.classes, supports=supports, values=values)


def load_counters(shape: Shape, state: State, saved: SavedState) -> None:
    """Write the counters of a file into a fresh state; one that the file does not know keeps its initial value."""
    counters = rename_counters(shape, state, saved.counters)
    if set(counters) | set(shape.counters) != set(state.n.dtype.names):
        refuse("its counters are not those of the rule")
    for name, value in counters.items():
        if type(value) not in (int, float):
            refuse(f"counter {shown(name)} is {shown(value)}")
        state.n[name] = float(value)
    if not is_finite(counters_of(state)):
        refuse("a counter is not finite")
    if state.n.t < 0.0:
        refuse(f"counter t is {state.n.t}")
    for name in filter(is_random, counters):
        if not (1.0 <= state.n[name] < PRIME and state.n[name].is_integer()):
            refuse(f"counter {name} is {state.n[name]}, not a random number of its sequence")
    for name, limit in saved.limits.items():
        number = float(state.n[name])
        if not 0.0 <= number <= limit or not number.is_integer():
            refuse(f"counter {name} is {number}, not a whole number up to {limit}")


def rename_counters(shape: Shape, state: State, counters: Mapping[str, float]) -> dict[str, float]:
    """Return the counters of a file by their names of today."""
    stores = zip(shape.fields, stores_and_values(state), strict=True)
    former = {
        f"{name}_{old}": f"{name}_{new}" for name, (store, _) in stores for old, new in store.former_numbers.items()
    }
    return {former.get(name, name): value for name, value in counters.items()}


def refuse(problem: str | None) -> None:
    """Raise an error if there is a problem."""
    if problem is not None:
        raise BadValue(f"corrupt model file: {problem}")
