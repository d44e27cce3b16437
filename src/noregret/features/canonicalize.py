"""Renumber the features of sparse rows, then sort every row and sum the values of equal features in their order.

The functions above `slots` are compiled. They read their arrays from a table of addresses.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.data.blocks import LARGEST_INDEX, SparseBlock

read_numbers = read_indptr = read_idx = read_val = read_numbers_buffer = read_values_buffer = unbound

NEW_ONLY, NUMBERS, INDPTR, IDX, VAL, NUMBERS_BUFFER, VALUES_BUFFER, SLOTS = 0, 1, 3, 5, 7, 9, 11, 13
SHORT = 64  # the length of the runs that `sort` sorts by counting before it merges them
TOGETHER = 16  # numbers compared in one vector instruction
RANKED = 256  # the longest row that `rank_sort` handles
EMPTY, NO_VALUE = np.int32(-1), -0.0  # adding -0.0 changes no value, not even -0.0

Integers = NDArray[np.int32]
Floats = NDArray[np.float64]
Table = NDArray[np.int64]  # what the compiled function is called with: numbers, and addresses of arrays
Renumber = Callable[[NDArray[np.int32], SparseBlock], SparseBlock]


def entry(table: Table) -> int:
    """Run `renumber` on the arrays in the table."""
    buffers = (read_numbers_buffer(table), read_values_buffer(table))
    renumber(table[NEW_ONLY], read_numbers(table), read_indptr(table), read_idx(table), read_val(table), buffers)
    return 0


def unsigned(i: Any) -> Any:
    """Mark an index as not negative, so that compiled code does not test for indices that count from the end."""
    return np.uint64(i)


def renumber(
    new_only: int,
    numbers: Integers,
    indptr: NDArray[np.int64],
    idx: Integers,
    val: Floats,
    buffers: tuple[Integers, Floats],
) -> None:
    """Replace feature j by numbers[j]; with `new_only`, replace feature -1 - j by numbers[j] and keep all others.

    Every row is sorted in place. It moves toward the front where earlier rows became shorter.
    """
    start = at = 0
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        unsorted, previous = 0, -1
        for k in range(start, stop):
            number = idx[unsigned(k)]
            if new_only == 0:
                number = numbers[unsigned(number)]
            elif number < 0:
                number = numbers[unsigned(-1 - number)]
            idx[unsigned(k)] = number
            unsorted += number <= previous
            previous = number
        if unsorted > 0 and stop - start <= RANKED:
            at = rank_sort(idx, val, start, stop, at, buffers)
        elif unsorted > 0 or at < start:
            if unsorted > 0:
                sort(idx[start:stop], val[start:stop], buffers[0], buffers[1])
            at = sum_duplicates(idx, val, start, stop, at)
        else:
            at = stop
        indptr[row + 1] = at
        start = stop


def sum_duplicates(idx: Integers, val: Floats, start: int, stop: int, at: int) -> Any:
    """Move a sorted row to position `at`, with one value per feature, and return the position behind it."""
    previous = -1
    for k in range(start, stop):
        number, value = idx[unsigned(k)], val[unsigned(k)]
        if number == previous:
            val[unsigned(at - 1)] += value
        else:
            idx[unsigned(at)] = number
            val[unsigned(at)] = value
            at += 1
        previous = number
    return at


def smaller(array: Integers, i: int, number: int) -> Any:
    """Count how many of the next TOGETHER numbers are smaller; compiles to one vector comparison."""
    return int(np.count_nonzero(array[i : i + TOGETHER] < number))


def rank_sort(idx: Integers, val: Floats, start: int, stop: int, at: int, buffers: tuple[Integers, Floats]) -> Any:
    """Sort a short row, sum its duplicates, move it to position `at` and return the position behind it.

    The rank of a feature is how many numbers in the row are smaller. Equal features share a rank, and the ranks behind
    it stay empty. The loops have no branches, so the processor mispredicts none.
    """
    numbers, sorted_numbers, values, size = buffers[0], buffers[0][RANKED + TOGETHER :], buffers[1], stop - start
    for k in range(size):
        numbers[unsigned(k)] = idx[unsigned(start + k)]
        sorted_numbers[unsigned(k)] = EMPTY
        values[unsigned(k)] = NO_VALUE
    for k in range(size, size + TOGETHER):
        numbers[unsigned(k)] = LARGEST_INDEX
    for k in range(size):
        number, rank = numbers[unsigned(k)], 0
        for part in range(0, size, TOGETHER):
            rank += smaller(numbers, part, number)
        sorted_numbers[unsigned(rank)] = number
        values[unsigned(rank)] += val[unsigned(start + k)]
    for k in range(size):
        number = sorted_numbers[unsigned(k)]
        idx[unsigned(at)] = number
        val[unsigned(at)] = values[unsigned(k)]
        at += number != EMPTY
    return at


def sort(idx: Integers, val: Floats, numbers: Integers, values: Floats) -> None:
    """Sort by number (stable): short runs by counting, then merge runs of doubling length; uses two buffers."""
    for start in range(0, idx.size, SHORT):
        stop = min(start + SHORT, idx.size)
        count_sort(idx[start:stop], val[start:stop], numbers, values)
    length = SHORT
    while length < idx.size:
        for start in range(0, idx.size - length, 2 * length):
            merge(idx[start : start + 2 * length], val[start : start + 2 * length], length, numbers, values)
        length *= 2


def count_sort(idx: Integers, val: Floats, numbers: Integers, values: Floats) -> None:
    """Sort a short run: the rank of an entry is the number of entries before it in the sorted order."""
    for i in range(idx.size):
        number, rank = idx[unsigned(i)], np.int32(0)  # int32 like the numbers, so that the comparisons vectorize
        for j in range(i):
            rank += np.int32(idx[unsigned(j)] <= number)
        for j in range(i + 1, idx.size):
            rank += np.int32(idx[unsigned(j)] < number)
        numbers[unsigned(rank)] = number
        values[unsigned(rank)] = val[unsigned(i)]
    for i in range(idx.size):
        idx[unsigned(i)] = numbers[unsigned(i)]
        val[unsigned(i)] = values[unsigned(i)]


def merge(idx: Integers, val: Floats, length: int, numbers: Integers, values: Floats) -> None:
    """Merge two adjacent sorted runs, the first of the given length."""
    for i in range(length):
        numbers[i] = idx[i]
        values[i] = val[i]
    i, j, k = 0, length, 0
    while i < length:
        if j < idx.size and idx[j] < numbers[i]:
            idx[k] = idx[j]
            val[k] = val[j]
            j += 1
        else:
            idx[k] = numbers[i]
            val[k] = values[i]
            i += 1
        k += 1


def slots() -> dict[str, tuple[int, Any]]:
    """Return the slot of every array in the table, with an example of the array."""
    integers, floats = np.zeros(1, np.int32), np.zeros(1)
    rows = {"indptr": (INDPTR, np.zeros(1, np.int64)), "idx": (IDX, integers), "val": (VAL, floats)}
    buffers = {"numbers_buffer": (NUMBERS_BUFFER, integers), "values_buffer": (VALUES_BUFFER, floats)}
    return {"numbers": (NUMBERS, integers), **rows, **buffers}


def renumber_block(
    numbers: NDArray[np.int32], block: SparseBlock, run: Callable[..., None], new_only: bool = False
) -> SparseBlock:
    """Renumber a checked block by `run`, the compiled `entry`; every feature must have a number.

    With `new_only`, only the features -1, -2, ... are renumbered, and the arrays of the block are overwritten.
    """
    used = int(block.indptr[-1])
    indptr, idx, val = block.indptr, block.idx[:used], block.val[:used]
    if not new_only:
        indptr, idx, val = indptr.copy(), idx.copy(), val.copy()
    longest = max(int(np.diff(indptr).max(initial=0)), 2 * RANKED + TOGETHER)
    table = np.zeros(SLOTS, np.int64)
    table[NEW_ONLY] = new_only
    run(table, numbers, indptr, idx, val, np.empty(longest, np.int32), np.empty(longest))
    last = int(indptr[-1])
    return block._replace(indptr=indptr, idx=idx[:last], val=val[:last])
