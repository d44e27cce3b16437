"""Banks: where the rows of the supports of a kernel learner are kept. All vectors of the learner share one bank.

Three layouts, chosen by what a learner does and by its first rows:
- IndexedBank: sparse rows one after the other, and for every feature a list of the supports that have it. The kernel of
  a row and all supports visits only the features of the row. Supports are never removed.
- SlotBank: sparse rows in slots of one size, so that a support can be replaced by another.
- DenseBank: rows with a value for every feature; sums over them are vectorized.

In all of them n counts: the supports; the number of the row at hand among them (-1 if it is not a support); how many
supports there have been; how many of them are in the lists of an IndexedBank; the budget (0: none).
"""

from typing import Any, NamedTuple, TypeAlias

from noregret.algebra.arrays import Floats, Indices, Integers
from noregret.algebra.internal_verbs import (
    common,
    drop_row,
    expand_support,
    kernel,
    kernel_sum,
    kernel_with_itself,
    kernels,
    measure,
    same_row,
    write_row,
)
from noregret.algebra.kernel_functions import KernelFunction, sum_same
from noregret.algebra.verbs import helper, reassociate

COUNTS = 5  # numbers in n
SUPPORTS, AT_HAND, BORN, LISTED, BUDGET = range(COUNTS)


class IndexedBank(NamedTuple):
    """Sparse rows without gaps; lists: for feature j the places first[j] to first[j + 1] of who and what.

    A list as long as there are listed supports has a value, perhaps 0, of each of them in order.
    """

    start: Integers
    idx: Indices
    val: Floats
    first: Integers
    who: Indices
    what: Floats
    sq: Floats
    near: Floats
    beside: Floats
    born: Integers
    scratch: Floats
    n: Integers
    kernel: KernelFunction


class SlotBank(NamedTuple):
    """Sparse rows in slots of val.size // sq.size values; size: how many values of each are used."""

    size: Integers
    idx: Indices
    val: Floats
    sq: Floats
    near: Floats
    beside: Floats
    born: Integers
    scratch: Floats
    n: Integers
    kernel: KernelFunction


class DenseBank(NamedTuple):
    """Dense rows of scratch.size values each."""

    val: Floats
    sq: Floats
    near: Floats
    beside: Floats
    born: Integers
    scratch: Floats
    n: Integers
    kernel: KernelFunction


Bank: TypeAlias = IndexedBank | SlotBank | DenseBank
BANKS: dict[str, type[Bank]] = {"indexed": IndexedBank, "slots": SlotBank, "dense": DenseBank}


@helper
def slot_size(bank: Any) -> Any:
    """How many values a slot has."""
    return bank.val.size // max(bank.sq.size, 1)


# ---- sums -----------------------------------------------------------------------------------------------------------


@helper
def spread_row(scratch: Any, idx: Any, val: Any) -> Any:
    """Write a sparse row into an array with a place for every feature."""
    for k in range(idx.size):
        scratch[idx[k]] = val[k]


@helper
def clear_row(scratch: Any, idx: Any) -> Any:
    for k in range(idx.size):
        scratch[idx[k]] = 0.0


@helper
def sum_in_order(k: Any, idx: Any, val: Any, scratch: Any) -> Any:
    """The sum over the features of a support, in their order: the same bits as through the lists of features."""
    total = 0.0
    for i in range(idx.size):
        total += common(k, val[i], scratch[idx[i]])
    return total


@helper
def sum_in_parts(k: Any, idx: Any, val: Any, scratch: Any) -> Any:
    """The sum over the features of a support, in four partial sums."""
    a = b = c = d = 0.0
    n = idx.size - idx.size % 4
    for i in range(0, n, 4):
        a += common(k, val[i], scratch[idx[i]])
        b += common(k, val[i + 1], scratch[idx[i + 1]])
        c += common(k, val[i + 2], scratch[idx[i + 2]])
        d += common(k, val[i + 3], scratch[idx[i + 3]])
    for i in range(n, idx.size):
        a += common(k, val[i], scratch[idx[i]])
    return (a + b) + (c + d)


@reassociate
def sum_dense(k: Any, val: Any, scratch: Any) -> Any:
    """The sum over all features; its terms may be added in any order."""
    total = 0.0
    for i in range(scratch.size):
        total += common(k, val[i], scratch[i])
    return total


@helper
def add_column(k: Any, column: Any, b: float, out: Any) -> Any:
    """Add what a feature of value b adds to the sums of all supports that are listed."""
    for i in range(column.size):
        out[i] += common(k, column[i], b)


@kernel_sum.on(object)
def kernel_sum_by_feature(k: Any, a: Any, b: Any) -> Any:
    return sum_dense(k, a, b)


@kernel_with_itself.on(object)
def kernel_with_itself_by_feature(bank: Any, k: Any, idx: Any, val: Any, xx: float) -> Any:
    return kernel(k, sum_same(k, val), xx, xx)


@measure.on(IndexedBank)
def measure_indexed(bank: Any, k: Any, idx: Any, val: Any, xx: float, out: Any) -> Any:
    supports = bank.n[0]
    listed = bank.n[3]
    for i in range(listed):
        out[i] = 0.0
    known = bank.first.size - 1
    for i in range(idx.size):
        j = idx[i]
        if j < known:
            first = bank.first[j]
            last = bank.first[j + 1]
            if last - first == listed:
                add_column(bank.kernel, bank.what[first:last], val[i], out)
            else:
                for place in range(first, last):
                    out[bank.who[place]] += common(bank.kernel, bank.what[place], val[i])
    if listed < supports:
        spread_row(bank.scratch, idx, val)
        for i in range(listed, supports):
            first = bank.start[i]
            last = bank.start[i + 1]
            out[i] = sum_in_order(bank.kernel, bank.idx[first:last], bank.val[first:last], bank.scratch)
        clear_row(bank.scratch, idx)
    kernels(bank.kernel, out, bank.sq, xx, supports)


@measure.on(SlotBank)
def measure_slots(bank: Any, k: Any, idx: Any, val: Any, xx: float, out: Any) -> Any:
    slot = slot_size(bank)
    spread_row(bank.scratch, idx, val)
    for i in range(bank.n[0]):
        first = i * slot
        last = first + bank.size[i]
        out[i] = sum_in_parts(bank.kernel, bank.idx[first:last], bank.val[first:last], bank.scratch)
    clear_row(bank.scratch, idx)
    kernels(bank.kernel, out, bank.sq, xx, bank.n[0])


@helper
def measure_spread(bank: Any, xx: float, out: Any) -> Any:
    """The kernel of the row in scratch and all supports of a dense bank."""
    width = bank.scratch.size
    for i in range(bank.n[0]):
        out[i] = kernel_sum(bank.kernel, bank.val[i * width : (i + 1) * width], bank.scratch)
    kernels(bank.kernel, out, bank.sq, xx, bank.n[0])


@measure.on(DenseBank)
def measure_dense(bank: Any, k: Any, idx: Any, val: Any, xx: float, out: Any) -> Any:
    spread_row(bank.scratch, idx, val)
    measure_spread(bank, xx, out)
    clear_row(bank.scratch, idx)


# ---- one support ----------------------------------------------------------------------------------------------------


@helper
def same_values(idx: Any, val: Any, other: Any, values: Any) -> Any:
    if idx.size != other.size:
        return False
    different = 0
    for k in range(idx.size):
        different += 1 if idx[k] != other[k] or val[k] != values[k] else 0
    return different == 0


@same_row.on(IndexedBank)
def same_row_indexed(bank: Any, i: int, idx: Any, val: Any) -> Any:
    first = bank.start[i]
    last = bank.start[i + 1]
    return same_values(bank.idx[first:last], bank.val[first:last], idx, val)


@same_row.on(SlotBank)
def same_row_slots(bank: Any, i: int, idx: Any, val: Any) -> Any:
    first = i * slot_size(bank)
    last = first + bank.size[i]
    return same_values(bank.idx[first:last], bank.val[first:last], idx, val)


@same_row.on(DenseBank)
def same_row_dense(bank: Any, i: int, idx: Any, val: Any) -> Any:
    width = bank.scratch.size
    different = 0
    for k in range(width):
        different += 1 if bank.val[i * width + k] != 0.0 else 0
    for k in range(idx.size):
        if val[k] != 0.0:
            different -= 1
        different += width if bank.val[i * width + idx[k]] != val[k] else 0
    return different == 0


@write_row.on(IndexedBank)
def write_row_indexed(bank: Any, i: int, idx: Any, val: Any) -> Any:
    first = bank.start[i]
    for k in range(idx.size):
        bank.idx[first + k] = idx[k]
        bank.val[first + k] = val[k]
    bank.start[i + 1] = first + idx.size


@write_row.on(SlotBank)
def write_row_slots(bank: Any, i: int, idx: Any, val: Any) -> Any:
    first = i * slot_size(bank)
    for k in range(idx.size):
        bank.idx[first + k] = idx[k]
        bank.val[first + k] = val[k]
    bank.size[i] = idx.size


@write_row.on(DenseBank)
def write_row_dense(bank: Any, i: int, idx: Any, val: Any) -> Any:
    first = i * bank.scratch.size
    for k in range(bank.scratch.size):
        bank.val[first + k] = 0.0
    for k in range(idx.size):
        bank.val[first + idx[k]] = val[k]


@expand_support.on(IndexedBank)
def expand_support_indexed(bank: Any, b: int, out: Any) -> Any:
    first = bank.start[b]
    last = bank.start[b + 1]
    measure(bank, bank.kernel, bank.idx[first:last], bank.val[first:last], bank.sq[b], out)


@expand_support.on(SlotBank)
def expand_support_slots(bank: Any, b: int, out: Any) -> Any:
    first = b * slot_size(bank)
    last = first + bank.size[b]
    measure(bank, bank.kernel, bank.idx[first:last], bank.val[first:last], bank.sq[b], out)


@expand_support.on(DenseBank)
def expand_support_dense(bank: Any, b: int, out: Any) -> Any:
    width = bank.scratch.size
    for k in range(width):
        bank.scratch[k] = bank.val[b * width + k]
    measure_spread(bank, bank.sq[b], out)
    for k in range(width):
        bank.scratch[k] = 0.0


# ---- removal --------------------------------------------------------------------------------------------------------


@helper
def drop_numbers(bank: Any, i: int) -> Any:
    """Let the last support take the place of support i in all that banks have for every support."""
    last = bank.n[0] - 1
    bank.sq[i] = bank.sq[last]
    bank.near[i] = bank.near[last]
    bank.born[i] = bank.born[last]
    if bank.n[1] == i:
        bank.n[1] = -1
    elif bank.n[1] == last:
        bank.n[1] = i
    bank.n[0] = last


@drop_row.on(SlotBank)
def drop_row_slots(bank: Any, i: int) -> Any:
    last = bank.n[0] - 1
    if i < 0 or i > last:
        raise IndexError("there is no such support")
    slot = slot_size(bank)
    for k in range(bank.size[last]):
        bank.idx[i * slot + k] = bank.idx[last * slot + k]
        bank.val[i * slot + k] = bank.val[last * slot + k]
    bank.size[i] = bank.size[last]
    drop_numbers(bank, i)


@drop_row.on(DenseBank)
def drop_row_dense(bank: Any, i: int) -> Any:
    last = bank.n[0] - 1
    if i < 0 or i > last:
        raise IndexError("there is no such support")
    width = bank.scratch.size
    for k in range(width):
        bank.val[i * width + k] = bank.val[last * width + k]
    drop_numbers(bank, i)
