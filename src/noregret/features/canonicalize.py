"""Rows with other numbers for their features: sorted again, and values of the same feature summed in their order."""

from collections.abc import Callable
from typing import Any

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.data.blocks import LARGEST_INDEX, SparseBlock

read_numbers = read_indptr = read_idx = read_val = read_room = read_more = unbound

FRESH, NUMBERS, INDPTR, IDX, VAL, ROOM, MORE, SLOTS = 0, 1, 3, 5, 7, 9, 11, 13
SHORT = 64  # features that are sorted by counting, for each, those that go before it
TOGETHER = 16  # numbers that are compared at once
RANKED = 256  # features of a row that is sorted and summed in one go
NOT_THERE, NO_VALUE = np.int32(-1), -0.0  # -0.0 is what changes no value that is added to it

Run = Callable[[np.ndarray, SparseBlock], SparseBlock]


def tidy(table: Any) -> int:
    """`renumber` on what the table holds."""
    room = (read_room(table), read_more(table))
    renumber(table[FRESH], read_numbers(table), read_indptr(table), read_idx(table), read_val(table), room)
    return 0


def at_place(i: Any) -> Any:
    """A place that is known not to be negative: compiled code need not look whether it counts from the end."""
    return np.uint64(i)


def renumber(fresh: Any, numbers: Any, indptr: Any, idx: Any, val: Any, room: Any) -> None:
    """Feature j becomes numbers[j]; or, where only fresh ones are told, feature -1 - j does, and others stay.

    Every row is sorted, in place, and moves up where rows before it became shorter.
    """
    start = at = 0
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        falls, previous = 0, -1
        for k in range(start, stop):
            number = idx[at_place(k)]
            if fresh == 0:
                number = numbers[at_place(number)]
            elif number < 0:
                number = numbers[at_place(-1 - number)]
            idx[at_place(k)] = number
            falls += number <= previous
            previous = number
        if falls > 0 and stop - start <= RANKED:
            at = ranked(idx, val, start, stop, at, room)
        elif falls > 0 or at < start:
            if falls > 0:
                sort(idx[start:stop], val[start:stop], room[0], room[1])
            at = summed(idx, val, start, stop, at)
        else:
            at = stop
        indptr[row + 1] = at
        start = stop


def summed(idx: Any, val: Any, start: Any, stop: Any, at: Any) -> Any:
    """Move a sorted row to where `at` says, one value for each feature: where it ends there."""
    previous = -1
    for k in range(start, stop):
        number, value = idx[at_place(k)], val[at_place(k)]
        if number == previous:
            val[at_place(at - 1)] += value
        else:
            idx[at_place(at)] = number
            val[at_place(at)] = value
            at += 1
        previous = number
    return at


def smaller(array: Any, i: Any, number: Any) -> Any:
    """How many of the next numbers, TOGETHER of them, are below one; a machine compares them at once."""
    return int(np.count_nonzero(array[i : i + TOGETHER] < number))


def ranked(idx: Any, val: Any, start: Any, stop: Any, at: Any, room: Any) -> Any:
    """Sort a short row, sum its values and move it to where `at` says: where it ends there.

    The place of a feature is how many numbers are below its own. So equal ones meet at one place, and the places after
    it stay empty. Nothing here is asked, so nothing must be guessed.
    """
    numbers, places, values, size = room[0], room[0][RANKED + TOGETHER :], room[1], stop - start
    for k in range(size):
        numbers[at_place(k)] = idx[at_place(start + k)]
        places[at_place(k)] = NOT_THERE
        values[at_place(k)] = NO_VALUE
    for k in range(size, size + TOGETHER):
        numbers[at_place(k)] = LARGEST_INDEX
    for k in range(size):
        number, before = numbers[at_place(k)], 0
        for part in range(0, size, TOGETHER):
            before += smaller(numbers, part, number)
        places[at_place(before)] = number
        values[at_place(before)] += val[at_place(start + k)]
    for k in range(size):
        number = places[at_place(k)]
        idx[at_place(at)] = number
        val[at_place(at)] = values[at_place(k)]
        at += number != NOT_THERE
    return at


def sort(idx: Any, val: Any, room: Any, more: Any) -> None:
    """Sort by number, equal ones in their order: short runs by counting, then merged to runs of twice the length."""
    for start in range(0, idx.size, SHORT):
        stop = min(start + SHORT, idx.size)
        counted(idx[start:stop], val[start:stop], room, more)
    length = SHORT
    while length < idx.size:
        for start in range(0, idx.size - length, 2 * length):
            merge(idx[start : start + 2 * length], val[start : start + 2 * length], length, room, more)
        length *= 2


def counted(idx: Any, val: Any, room: Any, more: Any) -> None:
    for i in range(idx.size):
        number, before = idx[at_place(i)], np.int32(0)  # as wide as the numbers, so that many are compared at once
        for j in range(i):
            before += np.int32(idx[at_place(j)] <= number)
        for j in range(i + 1, idx.size):
            before += np.int32(idx[at_place(j)] < number)
        room[at_place(before)] = number
        more[at_place(before)] = val[at_place(i)]
    for i in range(idx.size):
        idx[at_place(i)] = room[at_place(i)]
        val[at_place(i)] = more[at_place(i)]


def merge(idx: Any, val: Any, length: Any, room: Any, more: Any) -> None:
    """Two sorted runs, the first of some length, become one."""
    for i in range(length):
        room[i] = idx[i]
        more[i] = val[i]
    i, j, k = 0, length, 0
    while i < length:
        if j < idx.size and idx[j] < room[i]:
            idx[k] = idx[j]
            val[k] = val[j]
            j += 1
        else:
            idx[k] = room[i]
            val[k] = more[i]
            i += 1
        k += 1


def places() -> dict[str, tuple[int, Any]]:
    """Where the arrays stand in the table, with an example of each."""
    whole, real = np.zeros(1, np.int32), np.zeros(1)
    wholes = {"numbers": (NUMBERS, whole), "indptr": (INDPTR, np.zeros(1, np.int64)), "idx": (IDX, whole)}
    return {**wholes, "val": (VAL, real), "room": (ROOM, whole), "more": (MORE, real)}


def arranged(numbers: np.ndarray, block: SparseBlock, run: Callable[..., None], fresh: bool = False) -> SparseBlock:
    """The block with other numbers, by `tidy` compiled; it must be sound, every feature of it one of the numbered.

    With `fresh` only features -1, -2, ... are told numbers, and the arrays of the block are written over.
    """
    used = int(block.indptr[-1])
    indptr, idx, val = block.indptr, block.idx[:used], block.val[:used]
    if not fresh:
        indptr, idx, val = indptr.copy(), idx.copy(), val.copy()
    longest = max(int(np.diff(indptr).max(initial=0)), 2 * RANKED + TOGETHER)
    table = np.zeros(SLOTS, np.int64)
    table[FRESH] = fresh
    run(table, numbers, indptr, idx, val, np.empty(longest, np.int32), np.empty(longest))
    last = int(indptr[-1])
    return block._replace(indptr=indptr, idx=idx[:last], val=val[:last])
