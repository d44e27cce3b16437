"""Spaces: how many features, classes and supports a state is for, and how many there is room for."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

from noregret.algebra.given_kernels import Gram
from noregret.state.fields import Field

Layout: TypeAlias = Literal["indexed", "slots", "dense"]


@dataclass(frozen=True)
class Space:
    """The size and layout of a state: its algebra, and how many features, classes and supports are used and fit."""

    algebra: str
    covariance: str = "diagonal"
    kernel: str = "rbf"
    shape: tuple[float, float, float] = (1.0, 1.0, 3.0)
    given: Gram | Callable[..., Any] | None = None  # the kernel, where the caller gave it
    features: int = 0
    room: int = 0
    classes: int = 1
    class_room: int = 1
    supports: int = 0
    values: int = 0
    layout: Layout = "indexed"  # of the bank of supports
    budget: int = 0  # the most supports there may be after a round; 0: any number
    seed: int = 0
    spread: float = 0.0  # the standard deviation of the initial weights of fields that may begin at random
    limits: tuple[float, float] | None = None  # of those weights
    groups: tuple[int, ...] | int = ()
    bias: bool = False

    def with_features(self, features: int) -> "Space":
        """The same space with so many features in use; made fast, since every round with a new name asks for it."""
        new = object.__new__(Space)
        new.__dict__.update(self.__dict__, features=features)
        return new

    @property
    def stride(self) -> int:
        """The distance between two features (sparse, kernel) or two classes (dense, reference) in a vector."""
        return self.room if self.by_class else self.class_room

    @property
    def by_class(self) -> bool:
        """Whether the cells of one class are adjacent; otherwise those of one feature are."""
        return self.algebra in ("dense", "reference")


class Shape(NamedTuple):
    """A state as its rule declares it: the fields, and the counters with their initial values."""

    fields: Mapping[str, Field]
    counters: Mapping[str, float]


def enlarge(space: Space, features: int, classes: int, supports: int = 0, values: int = 0) -> Space:
    """Return a space with room for so much. Room grows geometrically, so that growth stays cheap.

    Values are those of all supports together; where supports have slots, those of the longest.
    """
    more = features > space.features or classes > space.classes or supports > space.supports or values > space.values
    if space.room and not more and space.algebra != "kernel":
        return space
    step = 5 / 4 if space.covariance == "full" else 2
    room = space.room if features <= space.room else max(features, int(space.room * step))
    if isinstance(space.groups, int):  # a group is never cut in two
        room = -(-(room - space.bias) // space.groups) * space.groups + space.bias
    elif space.groups:
        room = max(room, len(space.groups) + space.bias)
    if space.algebra == "reference":  # an array without columns has no definite number of rows
        room = max(room, 1)
    class_room = space.class_room if classes <= space.class_room else max(classes, space.class_room * 3 // 2)
    supports, values = enlarge_bank(space, supports, values)
    return replace(
        space,
        features=max(features, space.features),
        room=room,
        classes=max(classes, space.classes),
        class_room=class_room,
        supports=supports,
        values=values,
    )


def enlarge_bank(space: Space, supports: int, values: int) -> tuple[int, int]:
    """Return the room for supports and their values in a larger space."""
    fit = space.supports if supports <= space.supports else max(supports, space.supports * 2)
    if space.budget:  # and those that a round adds before it removes others: a pair of rows at most
        fit = max(space.supports, min(fit, space.budget + 2))
    if space.layout == "dense":
        return fit, 0
    if space.layout == "indexed":
        return fit, space.values if values <= space.values else max(values, space.values * 2)
    slot = space.values // max(space.supports, 1)
    return fit, fit * (slot if values <= slot else max(values, slot * 3 // 2))


@cache
def physical_memory() -> int:
    """Return the memory of this machine in bytes; where it is unknown, more than any state needs."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 62
