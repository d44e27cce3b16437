"""What a learner keeps between rounds: made, grown, split among classes, mirrored, exported, restored.

Compiled code sees flat arrays with spare room; everything here speaks of (class, feature) cells, whatever the layout.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.averaged import Averaged
from noregret.algebra.centre import Centre
from noregret.algebra.covariance import Diagonal, Dropped, Full
from noregret.algebra.kernel import BANKS, Expansion
from noregret.algebra.partial_features import first_random
from noregret.algebra.reference import ReferenceVector
from noregret.algebra.reference_sigma import ReferenceSigma
from noregret.algebra.scaled import Scaled
from noregret.state.reservoirs import carried, empty, number_classes, turn
from noregret.state.stores import STORES, UPKEEP, Field, build, let_fold, refresh, settle, vectors
from noregret.state.stores import counts as counts
from noregret.state.stores import covariance as covariance
from noregret.state.stores import grouped as grouped
from noregret.state.stores import lazy as lazy
from noregret.state.stores import lazy_groups as lazy_groups
from noregret.state.stores import log_weights as log_weights
from noregret.state.stores import plain as plain
from noregret.state.stores import positive as positive
from noregret.state.stores import random_init as random_init
from noregret.state.stores import reservoir as reservoir
from noregret.state.stores import scaled as scaled
from noregret.state.stores import snapshot as snapshot
from noregret.state.stores import top_k as top_k


@dataclass(frozen=True)
class Space:
    """The shape of a state: its algebra, and how many features, classes and supports are in use and have room."""

    algebra: str
    covariance: str = "diagonal"
    kernel: str = "rbf"
    shape: tuple[float, float, float] = (1.0, 1.0, 3.0)
    features: int = 0
    room: int = 0
    classes: int = 1
    class_room: int = 1
    supports: int = 0
    values: int = 0
    seed: int = 0
    spread: float = 0.0  # the deviation of the random weights that scattered fields start with
    groups: tuple[int, ...] | int = ()
    bias: bool = False

    def with_features(self, features: int) -> "Space":
        """The same space with so many features in use; rounds that bring new names need it fast."""
        new = object.__new__(Space)
        new.__dict__.update(self.__dict__, features=features)
        return new

    @property
    def stride(self) -> int:
        """What separates the features (sparse, kernel) or the classes (dense) of one vector."""
        return self.room if self.algebra in ("dense", "reference") else self.class_room


class Shape(NamedTuple):
    """A rule's state as its rule declares it: the fields and the counters with their first values."""

    fields: Mapping[str, Field]
    counters: Mapping[str, float]


@cache
def state_class(names: tuple[str, ...]) -> Any:
    return NamedTuple("State", [(name, Any) for name in (*names, "n")])


def counters(first: Mapping[str, float], seed: int = 0) -> Any:
    """The record s.n: the round number t and the rule's own counters, all floats, and room to save them.

    A counter of the name random, or a field's, starts where the random numbers of the learner's seed begin.
    """
    names = ["t", *first]
    record = np.zeros(2, dtype=[(name, "f8") for name in names]).view(np.recarray)
    for name, start in first.items():
        record[name] = first_random(seed) if name == "random" or name.endswith("_random") else start
    return record[0]


def numbers_at(record: Any, name: str, field: Field) -> np.ndarray:
    """The part of the counters that holds the numbers of a field, as an array over the same memory."""
    own = list(STORES[field.kind].numbers)
    flat = np.frombuffer(record.base.data)
    first = record.dtype.names.index(f"{name}_{own[0]}") if own else 0
    return flat[first : first + len(own)]


def cells(space: Space, flat: np.ndarray) -> np.ndarray:
    """A flat vector as a (class, feature) view."""
    if space.algebra in ("dense", "reference"):
        return flat.reshape(space.class_room, space.room)
    return flat.reshape(-1, space.class_room).T


def make(shape: Shape, space: Space) -> Any:
    """A fresh state."""
    bank = make_bank(space) if space.algebra == "kernel" else None
    record = counters(shape.counters, space.seed)
    clock = np.frombuffer(record.base.data)[:1]

    def field_value(name: str, field: Field) -> Any:
        numbers = numbers_at(record, name, field)
        if field.kind == "covariance":
            return make_covariance(field, space)
        if field.kind == "reservoir":
            return empty(numbers)
        return build(field, space, make_vector(field, space, bank), numbers, clock)

    values = [field_value(name, field) for name, field in shape.fields.items()]
    return state_class(tuple(shape.fields))(*values, record)


def make_bank(space: Space) -> Any:
    return BANKS[space.kernel](
        np.zeros(space.supports + 1, np.int64),
        np.zeros(space.values, np.uint32),
        np.zeros(space.values),
        np.zeros(space.supports),
        np.zeros(space.supports),
        np.zeros(max(space.room, space.class_room)),
        np.zeros(2, np.int64),
        np.array(space.shape),
    )


def make_vector(field: Field, space: Space, bank: Any) -> Any:
    if bank is not None:
        return Expansion(np.zeros(space.supports * space.class_room), bank)
    flat = np.full(space.room * space.class_room, field.start)
    if field.name == "random_init" and space.spread > 0.0:
        for c, row in enumerate(cells(space, flat)):
            row[:] = space.spread * np.random.default_rng([space.seed, c]).standard_normal(space.room)
    return ReferenceVector(flat, space.room) if space.algebra == "reference" else flat


def make_covariance(field: Field, space: Space) -> Any:
    if space.algebra == "reference" or space.covariance == "full":
        S = np.zeros((space.class_room, space.room, space.room))
        S[:, range(space.room), range(space.room)] = field.start
        if space.algebra == "reference":
            return ReferenceSigma(S, space.covariance)
        return Full(S, np.zeros((2, space.room)), np.array([space.features]))
    return {"diagonal": Diagonal, "drop": Dropped}[space.covariance](
        np.full(space.room * space.class_room, field.start)
    )


def named(shape: Shape, algebra: str) -> Iterator[tuple[str, str, Field]]:
    """Every array of cells of a state by name, with the field it belongs to and what it is."""
    for name, field in shape.fields.items():
        if field.kind == "reservoir":
            continue
        yield name, name, field
        store = STORES[field.kind]
        for upkeep in store.always if algebra == "reference" else store.beside:
            yield f"{name}_{upkeep}", name, UPKEEP[upkeep]


def parts(shape: Shape, state: Any, space: Space) -> Iterator[tuple[str, Field, np.ndarray]]:
    """Every field as an array: (class, feature), (class, feature, feature) or (class, support)."""
    for (name, _, field), array in zip(named(shape, space.algebra), arrays_of(shape, state), strict=True):
        yield name, field, array if array.ndim == 3 else cells(space, array)


def arrays_of(shape: Shape, state: Any) -> Iterator[np.ndarray]:
    for name in shape.fields:
        value = getattr(state, name)
        yield from [value.S] if isinstance(value, (Full, ReferenceSigma)) else vectors(value)


def at_rest(state: Any) -> Any:
    """Every field brought to rest: its cells are the weights themselves."""
    for value in state[:-1]:
        settle(value)
    return state


def refreshed(state: Any) -> Any:
    """What is derived from the cells, made again after they were written from outside."""
    for value in state[:-1]:
        refresh(value)
    return state


def allow_folding(state: Any, allowed: bool) -> None:
    """Whether a round may touch all cells: only if all were copied can that be undone."""
    for value in state[:-1]:
        let_fold(value, allowed)


def grown(shape: Shape, state: Any, old: Space, new: Space) -> Any:
    """The same state in a larger space: new cells hold the value a field starts with."""
    fresh = make(shape, new)
    for (_, _, source), (_, _, target) in zip(parts(shape, state, old), parts(shape, fresh, new), strict=True):
        target[tuple(slice(0, size) for size in source.shape)] = source
    if new.algebra == "kernel":
        source_bank, target_bank = bank_of(state), bank_of(fresh)
        for source, target in zip(source_bank[:6], target_bank[:6], strict=True):
            target[: source.size] = source
        target_bank.n[:] = source_bank.n
    for counter in state.n.dtype.names:
        fresh.n[counter] = state.n[counter]
    return refreshed(carried(state, fresh))


def bank_of(state: Any) -> Any:
    return next(found for value in state[:-1] if (found := bank_within(value)) is not None)


def bank_within(value: Any) -> Any:
    if isinstance(value, (Averaged, Centre, Scaled)):
        return bank_within(value.v)
    return value.bank if isinstance(value, Expansion) else None


def split(shape: Shape, state: Any, space: Space, negative: int, positive_class: int) -> None:
    """A two-class state becomes a multiclass one: -w/2 for one class, +w/2 for the other, Sigma copied.

    A weight of zero stays a positive zero, as if its feature came only later.
    """
    number_classes(state, negative, positive_class)
    for _, field, array in parts(shape, at_rest(state), space):
        w = array[0].copy()
        if field.law == "add":
            array[negative], array[positive_class] = 0.0 - 0.5 * w, 0.0 + 0.5 * w
        elif field.law == "multiply":
            with np.errstate(divide="ignore"):
                array[negative], array[positive_class] = np.where(w > 0.0, w**-0.5, 0.0), w**0.5
        else:
            array[negative], array[positive_class] = w, w
    at_rest(state)


def mirror(shape: Shape, state: Any, space: Space) -> None:
    """Positive becomes negative: the state that the opposite labels would have led to."""
    turn(state)
    for _, field, array in parts(shape, at_rest(state), space):
        if field.law == "add":
            np.subtract(0.0, array, out=array)
        elif field.law == "multiply":
            np.divide(1.0, array, out=array, where=array != 0.0)
    at_rest(state)


def leaves(value: Any) -> Iterator[Any]:
    """The arrays, records and numbers of a state or a block of rows, in order."""
    if isinstance(value, tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def memory(state: Any) -> list[np.ndarray]:
    """The arrays a round may change, each once; what is scratch, derived or a counter is left out."""
    seen: dict[int, np.ndarray] = {}
    for value in state[:-1]:
        found = [value.S] if isinstance(value, (Full, ReferenceSigma)) else vectors(value)
        bank = bank_within(value)
        if bank is not None:
            found += [bank.sq, bank.n]
        seen.update((array.ctypes.data, array) for array in found)
    return list(seen.values())


def needed(shape: Shape, space: Space) -> int:
    """How many bytes a state of this shape takes, before it is made."""
    cells = 0
    for _, _, field in named(shape, space.algebra):
        if space.algebra == "kernel":
            cells += space.supports * space.class_room
        else:
            square = field.kind == "covariance" and (space.covariance == "full" or space.algebra == "reference")
            cells += space.class_room * space.room * (space.room if square else 1)
    return 8 * (cells + space.room + 2 * space.values + 3 * space.supports)


def physical_memory() -> int:
    """The memory of this machine in bytes; without an answer, more than any state needs."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def enlarged(space: Space, features: int, classes: int, supports: int = 0, values: int = 0) -> Space:
    """A space with room for so much, growing geometrically so that growth stays cheap."""
    step = 5 / 4 if space.covariance == "full" else 2
    room = space.room if features <= space.room else max(features, int(space.room * step))
    if isinstance(space.groups, int):  # no group is cut in two
        room = -(-(room - space.bias) // space.groups) * space.groups + space.bias
    elif space.groups:
        room = max(room, len(space.groups) + space.bias)
    if space.algebra == "reference":  # an array of no columns cannot be told how many rows it has
        room = max(room, 1)
    class_room = space.class_room if classes <= space.class_room else max(classes, space.class_room * 3 // 2)
    return replace(
        space,
        features=max(features, space.features),
        room=room,
        classes=max(classes, space.classes),
        class_room=class_room,
        supports=space.supports if supports <= space.supports else max(supports, space.supports * 2),
        values=space.values if values <= space.values else max(values, space.values * 2),
    )
