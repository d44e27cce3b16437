"""Vectors whose features belong to groups: grouped (the length of a group is at hand) and lazy_groups."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.grouped import Grouped
from noregret.algebra.lazy_groups import NUMBERS, LazyGroups
from noregret.algebra.reference import ReferenceGroups
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Store, Vector, by_class_and_feature
from noregret.state.stores.lazy import PENDING
from noregret.state.stores.plain import initial_cells


class Links(NamedTuple):
    """The groups as lists: of every feature the first of its group (-1 if alone), the next one (or -1), the size."""

    first: NDArray[np.int32]
    next: NDArray[np.int32]
    size: Vector


class ReferenceGroupsStore(Store[ReferenceGroups]):
    """In the reference algebra, the weights and the group of every feature."""

    kind = "reference_groups"

    def build(self, field: Field, space: Space, parts: Parts) -> ReferenceGroups:
        return ReferenceGroups(initial_cells(field, space), number_groups(space))

    def vectors(self, value: ReferenceGroups) -> list[Vector]:
        return [value.v]


class GroupedStore(Store[Grouped]):
    """The weights, and the last length of every group that was asked for."""

    kind = "grouped"

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        return ReferenceGroupsStore() if space.algebra == "reference" else cls()

    def build(self, field: Field, space: Space, parts: Parts) -> Grouped:
        cells, links = initial_cells(field, space), link_groups(space)
        unknown = np.full(cells.size, -1.0)
        return Grouped(cells, *links, np.zeros_like(cells), unknown, feature_distance(space))

    def vectors(self, value: Grouped) -> list[Vector]:
        return [value.v]

    def derived(self, value: Grouped) -> list[NDArray[Any]]:
        return [value.length, value.pull]

    def refresh(self, value: Grouped) -> None:
        value.pull[...] = -1.0


class LazyGroupsStore(Store[LazyGroups]):
    """The cells; the first cell of a group also has the total pull that the group has applied."""

    kind = "lazy_groups"
    numbers = NUMBERS
    others: ClassVar[Mapping[str, Field]] = {"seen": PENDING}

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        return ReferenceGroupsStore() if space.algebra == "reference" else cls()

    def build(self, field: Field, space: Space, parts: Parts) -> LazyGroups:
        cells, links = initial_cells(field, space), link_groups(space)
        unknown = np.full(cells.size, -1.0)
        distance = feature_distance(space)
        return LazyGroups(cells, np.zeros_like(cells), parts.numbers, links.first, links.next, unknown, distance)

    def vectors(self, value: LazyGroups) -> list[Vector]:
        return [value.v, value.seen]

    def nonzero_cells(self, value: LazyGroups, space: Space) -> NDArray[np.bool_]:
        return np.asarray(by_class_and_feature(self.weights(value), space) != 0.0)

    def weights(self, value: LazyGroups) -> Vector:
        """Return the weights with all pulls applied."""
        cell = np.arange(value.v.size)
        feature = cell // value.by_feature % value.first.size
        first = value.first[feature]
        first = np.where(first < 0, cell, cell + (first - feature) * value.by_feature)
        length = np.sqrt(np.bincount(first, value.v**2, value.v.size))[first]
        pull = value.n[0] - value.seen[first]
        short = length <= pull
        return value.v * np.where(short & (pull > 0.0), 0.0, 1.0 - pull / np.where(short, 1.0, length))

    def settle(self, value: LazyGroups) -> None:
        value.v[...] = self.weights(value)
        value.seen[...] = 0.0
        value.n[0] = 0.0
        self.refresh(value)

    def derived(self, value: LazyGroups) -> list[NDArray[Any]]:
        return [value.length]

    def refresh(self, value: LazyGroups) -> None:
        value.length[...] = -1.0


def number_groups(space: Space) -> NDArray[np.int64]:
    """Return the group of every feature there is room for; a feature beyond the given groups is one of its own."""
    groups, first, room = space.groups, int(space.bias), space.room
    if isinstance(groups, int):
        own = np.arange(room - first) // groups
    else:
        given = np.unique(np.array(groups[: room - first], dtype=np.int64), return_inverse=True)[1]
        own = np.concatenate((given, len(groups) + np.arange(max(room - first - given.size, 0))))
    return np.unique(np.concatenate((np.full(first, -1), own)), return_inverse=True)[1].astype(np.int64)


def link_groups(space: Space) -> Links:
    """Return the groups as lists that compiled code follows."""
    group = number_groups(space)
    members = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    begins = np.cumsum(sizes) - sizes
    first = np.where(sizes > 1, members[begins], -1)[group].astype(np.int32)
    following = np.full(group.size, -1, np.int32)
    inside = group[members[1:]] == group[members[:-1]]
    following[members[:-1][inside]] = members[1:][inside]
    return Links(first, following, sizes[group].astype(np.float64))


def feature_distance(space: Space) -> int:
    """Return the distance between the cells of two adjacent features."""
    return 1 if space.algebra == "dense" else space.stride
