"""Keys of derived features: a hash table from two integers to the number of the feature, in order of appearance."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.data.blocks import LARGEST_INDEX, SparseBlock
from noregret.errors import BadValue
from noregret.features.fitted import LEARN, Arrays, Loop, Runner, Table

read_first = read_second = read_out = read_slots = read_left = read_right = read_size = unbound


def number_rows(table: Table) -> int:
    number_keys(
        table[LEARN], (read_first(table), read_second(table)), read_out(table),
        (read_slots(table), read_left(table), read_right(table), read_size(table)),
    )  # fmt: skip
    return 0


def number_keys(grow: bool, keys: Arrays, out: NDArray[np.int64], known: Arrays) -> None:
    """Write the number of every key; a new key gets the next number with `grow`, and -1 otherwise."""
    first, second = keys
    for k in range(first.size):
        out[k] = number_key(first[k], second[k], grow, known)


def number_key(a: int, b: int, grow: bool, known: Arrays) -> Any:
    """Return the number of a key."""
    slots, left, right, size = known
    slot = find_slot(a, b, known)
    if slots[slot] == 0 and grow:
        left[size[0]], right[size[0]] = a, b
        size[0] += 1
        slots[slot] = size[0]
    return slots[slot] - 1


def chain_rows(table: Table) -> int:
    chain_keys(
        table[LEARN], (read_first(table), read_second(table)), read_out(table),
        (read_slots(table), read_left(table), read_right(table), read_size(table)),
    )  # fmt: skip
    return 0


def chain_keys(grow: bool, keys: Arrays, out: NDArray[np.int64], known: Arrays) -> None:
    """Write the number of every key as `number_keys` does; the first integer of most is the number of an earlier one.

    That is keys[0], the position of the earlier key; where it is negative, the key is (keys[1], keys[0]).
    """
    parent, literal = keys
    for k in range(parent.size):
        if parent[k] < 0:
            out[k] = number_key(literal[k], parent[k], grow, known)
        elif out[parent[k]] >= 0:
            out[k] = number_key(out[parent[k]], literal[k], grow, known)
        else:
            out[k] = -1


def remove_rows(table: Table) -> int:
    remove_keys(
        table[LEARN], (read_first(table), read_second(table)), read_out(table),
        (read_slots(table), read_left(table), read_right(table), read_size(table)),
    )  # fmt: skip
    return 0


def remove_keys(grow: bool, keys: Arrays, out: NDArray[np.int64], known: Arrays) -> None:
    """Remove the latest keys until keys[0][0] are left."""
    slots, left, right, size = known
    while size[0] > keys[0][0]:
        last = size[0] - 1
        slots[find_slot(left[last], right[last], known)] = 0  # the latest key: no probe sequence passes this slot
        size[0] = last


def find_slot(a: int, b: int, known: Arrays) -> Any:
    """Return the slot of a key, or the empty slot where it belongs (linear probing)."""
    slots, left, right, _ = known
    last = slots.size - 1
    mixed = a * 0x2545F4914F6CDD1D + b * 0x5851F42D4C957F2D
    mixed ^= mixed >> 32
    mixed *= 0x27BB2EE687B0B0FD
    slot = (mixed ^ (mixed >> 29)) & last
    while slots[slot] > 0 and (left[slots[slot] - 1] != a or right[slots[slot] - 1] != b):
        slot = (slot + 1) & last
    return slot


ARRAYS = ("first", "second", "out", "slots", "left", "right", "size")
TYPES = dict.fromkeys(ARRAYS, np.int64)
NUMBER, REMOVE = Loop(number_keys, number_rows, TYPES, 2), Loop(remove_keys, remove_rows, TYPES, 2)
CHAIN = Loop(chain_keys, chain_rows, TYPES, 2)


class Keys:
    """The keys in order of appearance, with a hash table to find them."""

    hashed = False

    def __init__(self, run: Runner) -> None:
        self.run = run
        # slots, the two integers of every key, the number of keys: replaced in one step, so that interrupts do no harm
        self.known = (np.zeros(2, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(1, np.int64))

    def __len__(self) -> int:
        return int(self.known[3][0])

    def at(self, number: int) -> tuple[int, int]:
        """Return the key of a number."""
        _, left, right, _ = self.known
        return int(left[number]), int(right[number])

    def numbers(self, first: NDArray[Any], second: NDArray[Any], grow: bool) -> NDArray[np.int64]:
        """Return the numbers of keys; new keys get the next numbers with `grow`, and -1 otherwise."""
        if grow:
            self.reserve(first.size)
        out = np.empty(first.size, np.int64)
        self.run(NUMBER, grow, (as_int64(first), as_int64(second), out, *self.known))
        return out

    def chain(self, parent: NDArray[Any], literal: NDArray[Any], order: int, grow: bool) -> NDArray[np.int64]:
        """Return the numbers of keys, most of which extend an earlier one: (number of keys[parent], literal).

        A negative parent begins a chain: the key is (literal, parent). A chain has at most `order` keys.
        """
        if grow:
            self.reserve(parent.size)
        out = np.empty(parent.size, np.int64)
        self.run(CHAIN, grow, (as_int64(parent), as_int64(literal), out, *self.known))
        return out

    def reserve(self, more: int) -> None:
        """Make room for so many more keys."""
        slots, left, right, size = self.known
        count, needed = len(self), len(self) + more
        if needed >= LARGEST_INDEX:
            raise BadValue(f"there would be more than {LARGEST_INDEX - 1} features")
        if needed > left.size:
            spare = np.zeros(max(needed, 2 * left.size) - left.size, np.int64)
            left, right = np.concatenate((left, spare)), np.concatenate((right, spare))
        if 2 * needed > slots.size:
            slots, size = np.zeros(1 << (4 * needed - 1).bit_length() - 1, np.int64), np.zeros(1, np.int64)
            keys = (left[:count].copy(), right[:count].copy(), np.empty(count, np.int64))
            self.run(NUMBER, True, (*keys, slots, left, right, size))
        self.known = (slots, left, right, size)

    def truncate(self, size: int) -> None:
        """Forget all but the first `size` keys."""
        if len(self) > size:
            nothing = np.zeros(0, np.int64)
            self.run(REMOVE, False, (np.array([size], np.int64), nothing, nothing, *self.known))

    # ---- in a model file ------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[Any]]:
        _, left, right, _ = self.known
        return {"left": left[: len(self)].copy(), "right": right[: len(self)].copy()}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        """Load the keys of a model file; False if they are not valid or not distinct."""
        left, right = saved["left"], saved["right"]
        if left.ndim != 1 or left.shape != right.shape or left.dtype != np.int64 or right.dtype != np.int64:
            return False
        if left.size and not 0 <= left.min() <= left.max() < LARGEST_INDEX:
            return False
        return bool((self.numbers(left, right, grow=True) == np.arange(left.size)).all())


class HashedKeys:
    """Keys by hash: an input feature keeps its cell, a derived one gets the cell its key hashes to."""

    hashed = True

    def __init__(self, cells: int, sort_rows: Callable[[SparseBlock], SparseBlock]) -> None:
        """`sort_rows` sorts rows and sums the values that share a cell."""
        self.cells, self.sort_rows = cells, sort_rows

    def __len__(self) -> int:
        return self.cells

    def at(self, number: int) -> tuple[int, int]:
        return number, -1

    def numbers(self, first: NDArray[Any], second: NDArray[Any], grow: bool) -> NDArray[np.int64]:
        """Return the cells of keys; they are the same on every machine and in every version."""
        return np.where(second == -1, first, self.cells_of(mix(first, second)))

    def chain(self, parent: NDArray[Any], literal: NDArray[Any], order: int, grow: bool) -> NDArray[np.int64]:
        """Return the cells of chained keys: each is hashed from the hash, not from the cell, of the one before."""
        start = np.where(parent == -1, literal.astype(np.uint64), mix(literal, parent))
        hashes = start
        for _ in range(1, order):
            hashes = np.where(parent < 0, start, mix(hashes[np.maximum(parent, 0)], literal))
        return np.where(parent == -1, literal, self.cells_of(hashes))

    def cells_of(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        return np.asarray((hashes & np.uint64(self.cells - 1)).astype(np.int64))

    def truncate(self, size: int) -> None:
        """Do nothing: hashed keys are not stored."""

    def dump(self) -> dict[str, NDArray[Any]]:
        return {}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        return not saved


def mix(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.uint64]:
    """Hash two integers to 64 bits, so that every bit of both counts."""
    mixed = first.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + second.astype(np.uint64)
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def as_int64(numbers: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(numbers, dtype=np.int64)
