"""Numbers for features made of others: each is known by two whole numbers, and numbered as it first appears."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.data.blocks import LARGEST_INDEX, SparseBlock
from noregret.errors import BadValue
from noregret.features.fitted import LEARN, Loop, Runner

read_first = read_second = read_out = read_slots = read_left = read_right = read_size = unbound


def number_rows(table: Any) -> int:
    number_keys(
        table[LEARN], (read_first(table), read_second(table)), read_out(table),
        (read_slots(table), read_left(table), read_right(table), read_size(table)),
    )  # fmt: skip
    return 0


def number_keys(grow: Any, asked: Any, out: Any, known: Any) -> None:
    """The number of every key; a new one gets the next number when growing, and -1 otherwise."""
    first, second = asked
    slots, left, right, size = known
    for k in range(first.size):
        place = place_of(first[k], second[k], known)
        if slots[place] == 0 and grow:
            left[size[0]], right[size[0]] = first[k], second[k]
            size[0] += 1
            slots[place] = size[0]
        out[k] = slots[place] - 1


def forget_rows(table: Any) -> int:
    forget_keys(
        table[LEARN], (read_first(table), read_second(table)), read_out(table),
        (read_slots(table), read_left(table), read_right(table), read_size(table)),
    )  # fmt: skip
    return 0


def forget_keys(grow: Any, asked: Any, out: Any, known: Any) -> None:
    """Take out the latest keys until as many are left as the first number asked says."""
    slots, left, right, size = known
    while size[0] > asked[0][0]:
        last = size[0] - 1
        slots[place_of(left[last], right[last], known)] = 0  # nothing later was put behind it
        size[0] = last


def place_of(a: Any, b: Any, known: Any) -> Any:
    """The slot of a key, or the empty one where it belongs."""
    slots, left, right, _ = known
    last = slots.size - 1
    mixed = a * 0x2545F4914F6CDD1D + b * 0x5851F42D4C957F2D
    mixed ^= mixed >> 32
    mixed *= 0x27BB2EE687B0B0FD
    place = (mixed ^ (mixed >> 29)) & last
    while slots[place] > 0 and (left[slots[place] - 1] != a or right[slots[place] - 1] != b):
        place = (place + 1) & last
    return place


NAMES = ("first", "second", "out", "slots", "left", "right", "size")
TYPES = dict.fromkeys(NAMES, np.int64)
NUMBER, FORGET = Loop(number_keys, number_rows, TYPES, 2), Loop(forget_keys, forget_rows, TYPES, 2)


class Keys:
    """The keys in the order in which they came, and where to find each."""

    hashed = False

    def __init__(self, run: Runner) -> None:
        self.run = run
        # slots, the two numbers of every key, how many there are: replaced all at once, so that no interrupt parts them
        self.known = (np.zeros(2, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(1, np.int64))

    def __len__(self) -> int:
        return int(self.known[3][0])

    def at(self, number: int) -> tuple[int, int]:
        _, left, right, _ = self.known
        return int(left[number]), int(right[number])

    def numbers(self, first: np.ndarray, second: np.ndarray, grow: bool) -> np.ndarray:
        """The numbers of some keys, -1 for the unknown unless growing."""
        if grow:
            self.make_room(first.size)
        out = np.empty(first.size, np.int64)
        self.run(NUMBER, grow, (ready(first), ready(second), out, *self.known))
        return out

    def make_room(self, more: int) -> None:
        slots, left, right, size = self.known
        count, needed = len(self), len(self) + more
        if needed >= LARGEST_INDEX:
            raise BadValue(f"there would be more than {LARGEST_INDEX - 1} features")
        if needed > left.size:
            spare = np.zeros(max(needed, 2 * left.size) - left.size, np.int64)
            left, right = np.concatenate((left, spare)), np.concatenate((right, spare))
        if 2 * needed > slots.size:
            slots, size = np.zeros(1 << (4 * needed - 1).bit_length() - 1, np.int64), np.zeros(1, np.int64)
            asked = (left[:count].copy(), right[:count].copy(), np.empty(count, np.int64))
            self.run(NUMBER, True, (*asked, slots, left, right, size))
        self.known = (slots, left, right, size)

    def truncate(self, size: int) -> None:
        if len(self) > size:
            nothing = np.zeros(0, np.int64)
            self.run(FORGET, False, (np.array([size], np.int64), nothing, nothing, *self.known))

    # ---- in a model file ------------------------------------------------------------------------------------------

    def saved(self) -> dict[str, np.ndarray]:
        _, left, right, _ = self.known
        return {"left": left[: len(self)].copy(), "right": right[: len(self)].copy()}

    def revive(self, saved: Mapping[str, np.ndarray]) -> bool:
        """Take up saved keys; False if there is one twice."""
        left, right = saved["left"], saved["right"]
        if left.ndim != 1 or left.shape != right.shape or left.dtype != np.int64 or right.dtype != np.int64:
            return False
        if left.size and not 0 <= left.min() <= left.max() < LARGEST_INDEX:
            return False
        return bool((self.numbers(left, right, grow=True) == np.arange(left.size)).all())


class HashedKeys:
    """Keys by their hash: a feature as it is keeps its cell, one that is made has the cell that its two numbers say."""

    hashed = True

    def __init__(self, cells: int, sort_rows: Callable[[SparseBlock], SparseBlock]) -> None:
        """`sort_rows` sorts rows and puts together what shares a cell."""
        self.cells, self.sort_rows = cells, sort_rows

    def __len__(self) -> int:
        return self.cells

    def at(self, number: int) -> tuple[int, int]:
        return number, -1

    def numbers(self, first: np.ndarray, second: np.ndarray, grow: bool) -> np.ndarray:
        """The cells of some keys, the same on every machine and for ever."""
        mixed = first.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + second.astype(np.uint64)
        for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):  # so that every bit of both numbers counts
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        return np.where(second == -1, first, (mixed & np.uint64(self.cells - 1)).astype(np.int64))

    def truncate(self, size: int) -> None:
        """Nothing is remembered."""

    def saved(self) -> dict[str, np.ndarray]:
        return {}

    def revive(self, saved: Mapping[str, np.ndarray]) -> bool:
        return not saved


def ready(numbers: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(numbers, dtype=np.int64)
