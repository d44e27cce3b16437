"""What a learner keeps between rounds: made, grown, split among classes, mirrored, exported, restored.

Compiled code sees flat arrays with spare room; everything here speaks of (class, feature) cells, whatever the layout.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.covariance import Diagonal, Dropped, Full
from noregret.algebra.kernel import BANKS, Expansion
from noregret.algebra.reference import ReferenceSigma, ReferenceVector


@dataclass(frozen=True)
class Field:
    """One part of a rule's state: a vector or a covariance, its value before any round, how classes share it."""

    name: str
    kind: str
    start: float
    law: str


plain = Field("plain", "vector", 0.0, "add")
positive = Field("positive", "vector", 1.0, "multiply")
covariance = Field("covariance", "covariance", 1.0, "copy")


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


def counters(first: Mapping[str, float]) -> Any:
    """The record s.n: the round number t and the rule's own counters, all floats, and room to save them."""
    names = ["t", *first]
    record = np.zeros(2, dtype=[(name, "f8") for name in names]).view(np.recarray)
    for name, start in first.items():
        record[name] = start
    return record[0]


def cells(space: Space, flat: np.ndarray) -> np.ndarray:
    """A flat vector as a (class, feature) view."""
    if space.algebra in ("dense", "reference"):
        return flat.reshape(space.class_room, space.room)
    return flat.reshape(-1, space.class_room).T


def make(shape: Shape, space: Space) -> Any:
    """A fresh state."""
    bank = make_bank(space) if space.algebra == "kernel" else None
    values = [make_field(field, space, bank) for field in shape.fields.values()]
    return state_class(tuple(shape.fields))(*values, counters(shape.counters))


def make_bank(space: Space) -> Any:
    return BANKS[space.kernel](
        np.zeros(space.supports + 1, np.int64),
        np.zeros(space.values, np.uint32),
        np.zeros(space.values),
        np.zeros(space.supports),
        np.zeros(space.supports),
        np.zeros(space.room),
        np.zeros(2, np.int64),
        np.array(space.shape),
    )


def make_field(field: Field, space: Space, bank: Any) -> Any:
    if bank is not None:
        return Expansion(np.zeros(space.supports * space.class_room), bank)
    if field.kind == "vector":
        flat = np.full(space.room * space.class_room, field.start)
        return ReferenceVector(flat) if space.algebra == "reference" else flat
    if space.algebra == "reference" or space.covariance == "full":
        S = np.zeros((space.class_room, space.room, space.room))
        S[:, range(space.room), range(space.room)] = field.start
        if space.algebra == "reference":
            return ReferenceSigma(S, space.covariance)
        return Full(S, np.zeros((2, space.room)), np.array([space.features]))
    return {"diagonal": Diagonal, "drop": Dropped}[space.covariance](
        np.full(space.room * space.class_room, field.start)
    )


def parts(shape: Shape, state: Any, space: Space) -> Iterator[tuple[str, Field, np.ndarray]]:
    """Every field as an array: (class, feature), (class, feature, feature) or (class, support)."""
    for name, field in shape.fields.items():
        value = getattr(state, name)
        if isinstance(value, Expansion):
            yield name, field, cells(space, value.coef)
        elif isinstance(value, (Full, ReferenceSigma)):
            yield name, field, value.S
        else:
            flat = value if isinstance(value, np.ndarray) else value.v
            yield name, field, cells(space, flat)


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
    return fresh


def bank_of(state: Any) -> Any:
    return next(value.bank for value in state if isinstance(value, Expansion))


def split(shape: Shape, state: Any, space: Space, negative: int, positive_class: int) -> None:
    """A two-class state becomes a multiclass one: -w/2 for one class, +w/2 for the other, Sigma copied.

    A weight of zero stays a positive zero, as if its feature came only later.
    """
    for _, field, array in parts(shape, state, space):
        w = array[0].copy()
        if field.law == "add":
            array[negative], array[positive_class] = 0.0 - 0.5 * w, 0.5 * w
        elif field.law == "multiply":
            array[negative], array[positive_class] = w**-0.5, w**0.5
        else:
            array[negative], array[positive_class] = w, w


def mirror(shape: Shape, state: Any, space: Space) -> None:
    """Positive becomes negative: the state that the opposite labels would have led to."""
    for _, field, array in parts(shape, state, space):
        if field.law == "add":
            np.subtract(0.0, array, out=array)
        elif field.law == "multiply":
            np.reciprocal(array, out=array)


def leaves(value: Any) -> Iterator[Any]:
    """The arrays, records and numbers of a state or a block of rows, in order."""
    if isinstance(value, tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def memory(state: Any) -> list[np.ndarray]:
    """The arrays a round may change, each once, scratch space left out."""
    seen: dict[int, np.ndarray] = {}
    for value in state:
        if isinstance(value, Full):
            found = [value.S]
        elif isinstance(value, Expansion):
            found = [value.coef, value.bank.sq, value.bank.n]
        else:
            found = [leaf for leaf in leaves(value) if isinstance(leaf, np.ndarray) and leaf.dtype.names is None]
        seen.update((array.ctypes.data, array) for array in found)
    return list(seen.values())


def needed(shape: Shape, space: Space) -> int:
    """How many bytes a state of this shape takes, before it is made."""
    cells = 0
    for field in shape.fields.values():
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
