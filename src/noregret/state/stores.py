"""How the parts of a state are kept: for every kind of field its arrays, its numbers, and how it is brought to rest.

The numbers of a field live in the record of counters, so that they are saved, restored and undone with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noregret.algebra.averaged import NUMBERS as AVERAGED
from noregret.algebra.averaged import Averaged
from noregret.algebra.centre import NUMBERS as CENTRE
from noregret.algebra.centre import Centre
from noregret.algebra.grouped import Grouped
from noregret.algebra.kernel import Expansion
from noregret.algebra.lazy import NUMBERS as LAZY
from noregret.algebra.lazy import Lazy
from noregret.algebra.lazy_groups import NUMBERS as LAZY_GROUPS
from noregret.algebra.lazy_groups import LazyGroups
from noregret.algebra.log_weights import NUMBERS as LOG_WEIGHTS
from noregret.algebra.log_weights import LogWeights
from noregret.algebra.reference import ReferenceGroups, ReferenceSnapshot
from noregret.algebra.reservoir import NUMBERS as RESERVOIR
from noregret.algebra.reservoir import Reservoir
from noregret.algebra.scaled import NUMBERS as SCALED
from noregret.algebra.scaled import Scaled
from noregret.algebra.snapshot import NUMBERS as SNAPSHOT
from noregret.algebra.snapshot import Snapshot
from noregret.algebra.top_k import NUMBERS as TOP_K
from noregret.algebra.top_k import TopK

if TYPE_CHECKING:
    from noregret.state.growth import Space


@dataclass(frozen=True)
class Field:
    """One part of a rule's state: a vector or a covariance, its value before any round, how classes share it."""

    name: str
    kind: str
    start: float
    law: str


plain = Field("plain", "vector", 0.0, "add")
positive = Field("positive", "vector", 1.0, "multiply")
random_init = Field("random_init", "vector", 0.0, "add")
scaled = Field("scaled", "scaled", 0.0, "add")
lazy = Field("lazy", "lazy", 0.0, "add")
top_k = Field("top_k", "top_k", 0.0, "add")
log_weights = Field("log_weights", "log_weights", 0.0, "add")
grouped = Field("grouped", "grouped", 0.0, "add")
lazy_groups = Field("lazy_groups", "lazy_groups", 0.0, "add")
snapshot = Field("snapshot", "snapshot", 0.0, "add")
reservoir = Field("reservoir", "reservoir", 0.0, "keep")
covariance = Field("covariance", "covariance", 1.0, "copy")
counts = Field("counts", "vector", 0.0, "keep")
averaged = Field("averaged", "averaged", 0.0, "add")
centre = Field("centre", "centre", 0.0, "add")
SEEN = Field("seen", "vector", 0.0, "keep")
STAMP = Field("stamp", "vector", 0.0, "keep")
UPKEEP = {"seen": SEEN, "sum": plain, "old": plain, "stamp": STAMP}


class Store(NamedTuple):
    """Of a kind of field: its numbers with their first values, and the cell arrays it has beside the first.

    Those that are no matter of laziness the reference algebra has too.
    """

    numbers: Mapping[str, float]
    beside: tuple[str, ...] = ()
    always: tuple[str, ...] = ()


STORES: dict[str, Store] = {
    "vector": Store({}),
    "covariance": Store({}),
    "grouped": Store({}),
    "scaled": Store(SCALED),
    "lazy": Store(LAZY, ("seen",)),
    "lazy_groups": Store(LAZY_GROUPS, ("seen",)),
    "top_k": Store(TOP_K),
    "log_weights": Store(LOG_WEIGHTS),
    "averaged": Store(AVERAGED, ("sum",), ("sum",)),
    "centre": Store(CENTRE),
    "snapshot": Store(SNAPSHOT, ("old", "stamp"), ("old",)),
    "reservoir": Store(RESERVOIR),
}


GROUPS = ("grouped", "lazy_groups")  # the kinds that know which features belong together


def numbers(fields: Mapping[str, Field]) -> dict[str, float]:
    """The numbers that the fields of a state keep in its record of counters."""
    return {
        f"{name}_{number}": first
        for name, field in fields.items()
        for number, first in STORES[field.kind].numbers.items()
    }


def build(field: Field, space: "Space", inner: Any, n: np.ndarray, clock: np.ndarray) -> Any:
    """The value of a field over a fresh vector of its algebra, with its own part n of the counters."""
    kind = field.kind
    if kind == "averaged":
        return Averaged(inner, emptied(inner), clock, n)
    if kind == "centre":
        own, height = n[: len(SCALED)], n[len(SCALED) :]
        return Centre(inner if space.algebra == "reference" else Scaled(inner, own, np.zeros(1, np.uint8)), height)
    if kind in GROUPS:
        return build_groups(kind, space, inner, n)
    if kind == "snapshot" and space.algebra == "reference":
        return ReferenceSnapshot(inner.v, np.zeros_like(inner.v))
    if kind == "vector" or space.algebra == "reference":
        return inner
    if kind == "snapshot":
        return Snapshot(inner, np.zeros_like(inner), np.zeros_like(inner), n)
    if kind == "scaled":
        return Scaled(inner, n, np.zeros(1, np.uint8))
    if kind == "lazy":
        return Lazy(inner, np.zeros_like(inner), n, np.zeros(1, np.uint8))
    if kind == "top_k":
        layout = space.stride if space.algebra == "dense" else 0
        return TopK(inner, np.zeros(inner.size, np.int64), np.zeros(inner.size, np.int64), n, layout)
    return LogWeights(inner, np.zeros(2 * inner.size), n)


def emptied(vector: Any) -> Any:
    """A vector of the same kind and size that holds nothing."""
    if isinstance(vector, np.ndarray):
        return np.zeros_like(vector)
    return vector._replace(**{vector._fields[0]: np.zeros_like(vector[0])})


def group_numbers(space: "Space") -> np.ndarray:
    """The group of every feature there is room for; a feature that no group was told for is one of its own."""
    groups, first, room = space.groups, int(space.bias), space.room
    if isinstance(groups, int):
        own = np.arange(room - first) // groups
    else:
        told = np.unique(np.array(groups[: room - first], dtype=np.int64), return_inverse=True)[1]
        own = np.concatenate((told, len(groups) + np.arange(max(room - first - told.size, 0))))
    return np.unique(np.concatenate((np.full(first, -1), own)), return_inverse=True)[1].astype(np.int64)


def build_groups(kind: str, space: "Space", inner: Any, n: np.ndarray) -> Any:
    group = group_numbers(space)
    if space.algebra == "reference":
        return ReferenceGroups(inner.v, group)
    flat = inner
    members = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    begins = np.cumsum(sizes) - sizes
    first, following = (
        np.where(sizes > 1, members[begins], -1)[group].astype(np.int32),
        np.full(group.size, -1, np.int32),
    )
    inside = group[members[1:]] == group[members[:-1]]
    following[members[:-1][inside]] = members[1:][inside]
    by_feature = 1 if space.algebra == "dense" else space.stride
    if kind == "lazy_groups":
        lengths = np.full(flat.size, -1.0)
        return LazyGroups(flat, np.zeros_like(flat), n, first, following, lengths, by_feature)
    size = sizes[group].astype(np.float64)
    return Grouped(flat, first, following, size, np.zeros_like(flat), np.full(flat.size, -1.0), by_feature)


def vectors(value: Any) -> list[Any]:
    """The vectors of a field that have a cell for every class and feature (or support), the main one first."""
    if isinstance(value, Averaged):
        return [*vectors(value.v), *vectors(value.u)]
    if isinstance(value, (Lazy, LazyGroups)):
        return [value.v, value.seen]
    if isinstance(value, Snapshot):
        return [value.v, value.old, value.stamp]
    if isinstance(value, ReferenceSnapshot):
        return [value.v, value.old]
    if isinstance(value, Expansion):
        return [value.coef]
    if isinstance(value, np.ndarray):
        return [value]
    return [] if isinstance(value, Reservoir) else vectors(value.v)


def settle(value: Any) -> None:
    """Bring a field to rest: its cells are the weights themselves, and whatever was derived from them is forgotten."""
    if isinstance(value, Scaled):
        vectors(value)[0][...] *= value.n[0]
        value.n[:] = list(SCALED.values())
    elif isinstance(value, Centre):
        settle(value.v)
    elif isinstance(value, Lazy):
        size = np.abs(value.v)
        pulled = np.where(size * value.n[0] <= value.n[2], np.maximum(size - (value.n[1] - value.seen), 0.0), size)
        value.v[...] = value.n[0] * np.copysign(pulled, value.v)
        value.seen[...] = 0.0
        value.n[:2] = 1.0, 0.0
    elif isinstance(value, LazyGroups):
        settle_groups(value)
    elif isinstance(value, Snapshot):
        value.old[...] = np.where(value.stamp == value.n[0], value.old, value.v)
        value.stamp[...] = value.n[0] = 0.0
    elif isinstance(value, TopK):
        value.v[...] *= value.n[0]
        refresh(value, anew=True)
    elif isinstance(value, LogWeights):
        value.n[:] = list(LOG_WEIGHTS.values())
    else:
        refresh(value)


def settle_groups(value: Any) -> None:
    """What is left of every group at once."""
    cell = np.arange(value.v.size)
    feature = cell // value.by_feature % value.first.size
    first = value.first[feature]
    first = np.where(first < 0, cell, cell + (first - feature) * value.by_feature)
    length = np.sqrt(np.bincount(first, value.v**2, value.v.size))[first]
    pull = value.n[0] - value.seen[first]
    short = length <= pull
    value.v[...] *= np.where(short & (pull > 0.0), 0.0, 1.0 - pull / np.where(short, 1.0, length))
    value.seen[...] = 0.0
    value.n[0] = 0.0
    value.length[...] = -1.0


def refresh(value: Any, anew: bool = False) -> None:
    """What is derived from the cells, made again after cells were written from outside."""
    if isinstance(value, Grouped):
        value.pull[...] = -1.0
    elif isinstance(value, LazyGroups):
        value.length[...] = -1.0
    elif isinstance(value, TopK):
        value.slot[...] = 0
        nonzero = np.flatnonzero(value.v)
        rank = nonzero % value.stride if value.stride else nonzero
        order = nonzero[np.lexsort((-nonzero, -rank, np.abs(value.v[nonzero])))]
        value.heap[: order.size] = order
        value.slot[order] = np.arange(1, order.size + 1)
        if anew:
            value.n[:] = 1.0, float(np.sum(value.v[nonzero] ** 2)), 0.0, float(nonzero.size), float(nonzero.size)


def possible(value: Any) -> bool:
    """Whether the numbers of a field can belong to its cells, both written from outside."""
    if not isinstance(value, TopK):
        return True
    size, ordered = value.n[3], value.n[4]
    return bool(size == np.count_nonzero(value.v) and 0.0 <= ordered <= size and ordered.is_integer())


def let_fold(value: Any, allowed: bool) -> None:
    """Whether a round may touch every cell of this field, which can be undone only if all were copied."""
    if isinstance(value, Centre):
        let_fold(value.v, allowed)
    elif isinstance(value, (Scaled, Lazy)):
        value.may[0] = allowed
