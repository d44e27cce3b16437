"""All ratings so far: in the order of their first appearance, by user, and by user and item. Compiled."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.document_loops import place_values
from noregret.jit.compiled import get_function, unbound
from noregret.jit.layout import address, fill

Floats = NDArray[np.float64]
Int32s = NDArray[np.int32]
Table = NDArray[np.int64]
LEAST_SLOTS = 8
NOTHING = -1  # where there is no rating, no user or no item of this number

read_known = read_found = unbound


class Known(NamedTuple):
    """All ratings in the order of their first appearance, with lists by user and a hash table by user and item."""

    users: Int32s
    items: Int32s
    ratings: Floats
    later: Int32s  # the rating of the same user before this one, or NOTHING
    heads: Int32s  # by user: the last rating, or NOTHING
    table: Int32s  # numbers of ratings, or NOTHING; a power of two of slots


def add_rating(known: Known, slot: Any, n: Any, u: Any, i: Any, x: Any) -> None:
    """Write a rating into the list of its user and into the table."""
    known.users[n] = u
    known.items[n] = i
    known.ratings[n] = x
    known.later[n] = known.heads[u]
    known.heads[u] = n
    known.table[slot] = n


def find_slot(known: Known, u: Any, i: Any) -> Any:
    """The slot of a rating, or the empty one where it belongs."""
    mask = known.table.size - 1
    mixed = int(u) * 40503 + int(i) * 1000003
    slot = (mixed ^ (mixed >> 15)) & mask
    while True:
        n = known.table[slot]
        if n < 0 or (known.users[n] == u and known.items[n] == i):
            return slot
        slot = (slot + 1) & mask


def list_entry(table: Table) -> int:
    list_ratings(read_known(table), read_found(table))
    return 0


def list_ratings(known: Known, found: Table) -> None:
    """Fill the lists and the table with the first `found[0]` ratings; `found[1]` counts those that are there twice."""
    for n in range(found[0]):
        u, i = int(known.users[n]), int(known.items[n])
        slot = find_slot(known, u, i)
        if known.table[slot] >= 0:
            found[1] += 1
        else:
            add_rating(known, slot, n, u, i, known.ratings[n])


def follow_entry(table: Table) -> int:
    follow(read_known(table), read_found(table))
    return 0


def follow(known: Known, found: Table) -> None:
    """Write the numbers of all ratings of the user `found[0]`, the last one first; there is room for as many."""
    n = int(known.heads[found[0]])
    for at in range(found.size):
        found[at] = n
        n = int(known.later[n])


SHORTS = np.zeros(1, np.int32)
KNOWN = Known(SHORTS, SHORTS, np.zeros(1), SHORTS, SHORTS, SHORTS)
LISTS = {"known": KNOWN, "found": np.zeros(1, np.int64)}


def count_slots(ratings: int) -> int:
    """The slots of a table for so many ratings, of which at most half are used."""
    return max(LEAST_SLOTS, 2 << (ratings - 1).bit_length())


def fill_lists(known: Known, size: int, native: bool) -> int:
    """List the first ratings by user and in the table, both of which are empty; how many are there twice."""
    found = np.array([size, 0])
    Loop(list_ratings, list_entry, LISTS, "found").run(native, known=known, found=found)
    return int(found[1])


def find_ratings(known: Known, user: int, count: int, native: bool) -> Table:
    """The numbers of the ratings of a user, who has so many, the last one first."""
    found = np.full(count, user)
    if count:
        Loop(follow, follow_entry, LISTS, "found").run(native, known=known, found=found)
    return found


class Loop:
    """A function over arrays, compiled or as plain Python.

    It keeps its table of addresses, with the values that stand there, and writes again only what is another object.
    What belongs to a single call (`once`) is not kept. A call has the table to itself: one that comes from inside it,
    as from a signal handler, gets a table of its own.
    """

    def __init__(
        self, function: Callable[..., None], entry: Callable[[Table], int], examples: dict[str, Any], once: str
    ) -> None:
        self.function, self.entry, self.examples, self.once = function, entry, examples, once
        self.places, slots = place_values(examples)
        self.table = np.zeros(slots, np.int64)
        self.filled: dict[str, Any] = {}

    def __deepcopy__(self, memo: Any) -> "Loop":
        return Loop(self.function, self.entry, self.examples, self.once)

    def run(self, native: bool, **values: Any) -> None:
        if not native:
            with np.errstate(all="ignore"):
                self.function(**values)
            return
        filled: dict[str, Any] | None = vars(self).pop("filled", None)  # one step, which no interrupt divides
        if filled is None:
            Loop(self.function, self.entry, self.examples, self.once).run(native, **values)
            return
        try:
            for name, value in values.items():
                if filled.get(name) is not value:
                    filled.pop(name, None)
                    fill(self.table, self.places[name][0], value)
                    filled[name] = value
            status = get_function(self.entry, self.places).run(address(self.table))
        finally:
            filled.pop(self.once, None)
            self.filled = filled
        if status != 0:
            raise IndexError(f"{self.entry.__name__} reached out of its arrays")
