"""Rows with other numbers for their features: sorted again, and values of the same feature summed in their order."""

from collections.abc import Callable
from typing import Any

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.chunk import SparseBlock

read_numbers = read_indptr = read_idx = read_val = read_room = read_more = unbound

NUMBERS, INDPTR, IDX, VAL, ROOM, MORE, SLOTS = 0, 2, 4, 6, 8, 10, 12
SHORT = 64  # features that are sorted by counting, for each, those that go before it

Run = Callable[[np.ndarray, SparseBlock], SparseBlock]


def tidy(table: Any) -> int:
    """`renumber` on what the table holds."""
    renumber(
        read_numbers(table), read_indptr(table), read_idx(table), read_val(table), (read_room(table), read_more(table))
    )
    return 0


def renumber(numbers: Any, indptr: Any, idx: Any, val: Any, room: Any) -> None:
    """Feature j becomes numbers[j]; every row is sorted, in place, and moves up where rows before it became shorter."""
    start = at = 0
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        sorted_already = True
        previous = -1
        for k in range(start, stop):
            number = numbers[idx[k]]
            idx[k] = number
            sorted_already = sorted_already and number > previous
            previous = number
        if not sorted_already:
            sort(idx[start:stop], val[start:stop], room[0], room[1])
        at = summed(idx, val, start, stop, at)
        indptr[row + 1] = at
        start = stop


def summed(idx: Any, val: Any, start: Any, stop: Any, at: Any) -> Any:
    """Move a sorted row to where `at` says, one value for each feature: where it ends there."""
    first = at
    for k in range(start, stop):
        if at > first and idx[at - 1] == idx[k]:
            val[at - 1] += val[k]
        else:
            idx[at] = idx[k]
            val[at] = val[k]
            at += 1
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
        number, before = idx[i], 0
        for j in range(i):
            before += idx[j] <= number
        for j in range(i + 1, idx.size):
            before += idx[j] < number
        room[before] = number
        more[before] = val[i]
    for i in range(idx.size):
        idx[i] = room[i]
        val[i] = more[i]


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


def arranged(numbers: np.ndarray, block: SparseBlock, run: Callable[..., None]) -> SparseBlock:
    """The block with other numbers, its arrays copied; it must be sound, every feature of it one of the numbered."""
    used = int(block.indptr[-1])
    indptr, idx, val = block.indptr.copy(), block.idx[:used].copy(), block.val[:used].copy()
    longest = max(int(np.diff(indptr).max(initial=0)), SHORT)
    run(numbers, indptr, idx, val, np.empty(longest, np.int32), np.empty(longest))
    last = int(indptr[-1])
    return block._replace(indptr=indptr, idx=idx[:last], val=val[:last])
