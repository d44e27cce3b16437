"""A stand-in for the compiler: loops over a table of arrays run as plain Python, on the same arrays."""

import sys
from collections.abc import Callable, Iterable
from operator import itemgetter
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

Values = dict[int, Any]  # by the slot of a table where their addresses would stand
Places = dict[str, tuple[int, Any]]
PLAYED = ("rounds", "pairs")  # values with a row for each round, the users first
REFUSED = (ArithmeticError, IndexError)  # what compiled code ends with, since it checks each index


class PlainLoops:
    """Takes the place of `get_function`, `fill` and `address` in modules that compile loops over tables.

    `count` is told how many rounds are about to be played, and may refuse them. `tracers` are the types of tracers that
    see into these loops; for any other they are one call without lines, as they are when compiled.
    """

    def __init__(self, count: Callable[[int], None], tracers: tuple[type, ...]) -> None:
        self.count, self.tracers = count, tracers
        self.tables: dict[int, Values] = {}

    def install(self, modules: Iterable[ModuleType]) -> None:
        for module in modules:
            for name, stand_in in (("get_function", self.get_function), ("fill", self.fill), ("address", id)):
                setattr(module, name, stand_in)

    def fill(self, table: Any, slot: int, value: Any) -> None:
        self.tables.setdefault(id(table), {})[slot] = value

    def get_function(self, entry: FunctionType, places: Places) -> "PlainEntry":
        return PlainEntry(self, entry, places)

    def run(self, entry: FunctionType, values: dict[str, Any]) -> int:
        """The status of a loop: 0 when it came to its end."""
        self.count(sum(values[name].users.size for name in PLAYED if name in values))
        before = sys.gettrace()
        if not isinstance(before, self.tracers):
            sys.settrace(None)
        try:
            with np.errstate(all="ignore"):
                return int(entry(values))
        except REFUSED:
            return 1
        finally:
            sys.settrace(before)


class PlainEntry:
    """A loop that reads its values by their names."""

    def __init__(self, loops: PlainLoops, entry: FunctionType, places: Places) -> None:
        self.loops, self.entry, self.places = loops, entry, places
        entry.__globals__.update({f"read_{name}": itemgetter(name) for name in places})

    def run(self, table: int) -> int:
        values = self.loops.tables[table]
        return self.loops.run(self.entry, {name: values[slot] for name, (slot, _) in self.places.items()})

    def held(self, table: int) -> Callable[[], int]:
        return lambda: self.run(table)
