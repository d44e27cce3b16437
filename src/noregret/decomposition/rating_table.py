"""All ratings so far: in the order of their first appearance, by user, and by user and item. Compiled."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.document_loops import place_values
from noregret.jit.compiled import compile_function, unbound

Floats = NDArray[np.float64]
Int32s = NDArray[np.int32]
Table = NDArray[np.int64]
LEAST_SLOTS = 8

read_known = read_found = unbound


class Known(NamedTuple):
    """All ratings in the order of their first appearance, with lists by user and a hash table by user and item."""

    users: Int32s
    items: Int32s
    ratings: Floats
    later: Int32s  # the rating of the same user before this one, or -1
    heads: Int32s  # by user: the last rating, or -1
    table: Int32s  # numbers of ratings, or -1; a power of two of slots


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


SHORTS = np.zeros(1, np.int32)
KNOWN = Known(SHORTS, SHORTS, np.zeros(1), SHORTS, SHORTS, SHORTS)
LISTS = {"known": KNOWN, "found": np.zeros(1, np.int64)}


def count_slots(ratings: int) -> int:
    """The slots of a table for so many ratings, of which at most half are used."""
    return max(LEAST_SLOTS, 1 << (2 * ratings - 1).bit_length())


def fill_lists(known: Known, size: int, native: bool) -> int:
    """List the first ratings by user and in the table, both of which are empty; how many are there twice."""
    found = np.array([size, 0])
    run(native, list_ratings, list_entry, LISTS, (known, found))
    return int(found[1])


def run(native: bool, function: Any, compiled: Any, examples: dict[str, Any], values: tuple[Any, ...]) -> None:
    """Run a function over arrays, compiled or as plain Python."""
    if not native:
        with np.errstate(all="ignore"):
            function(*values)
        return
    places, slots = place_values(examples)
    compile_function(compiled, places)(np.zeros(slots, np.int64), *values)
