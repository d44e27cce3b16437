"""The rows of a bank of supports as plain sparse rows, whatever its layout: to copy, merge, save and check them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.banks import BORN, BUDGET, COUNTS, LISTED, SUPPORTS, Bank, DenseBank, IndexedBank, SlotBank
from noregret.algebra.given_kernels import Gram, Precomputed, kernel_type
from noregret.algebra.kernel_functions import KERNELS, Linear
from noregret.state.space import Space

SAVED: dict[str, type[np.generic]] = {"start": np.int64, "idx": np.int32, "val": np.float64, "sq": np.float64}
UNLISTED = 64  # so many supports may be missing in the lists of an indexed bank, or a quarter of all


class BankRows(NamedTuple):
    """Supports as sparse rows, with what a bank knows of each."""

    start: NDArray[np.int64]
    idx: NDArray[np.uint32]
    val: NDArray[np.float64]
    sq: NDArray[np.float64]
    near: NDArray[np.float64]
    born: NDArray[np.int64]


def build_bank(space: Space) -> Bank:
    """Return a bank without supports, with room for as many as the space says."""
    width, size = max(space.room, space.class_room), space.supports
    n = np.zeros(COUNTS, np.int64)
    n[BUDGET] = space.budget
    function = build_kernel(space)
    sq, near, beside, born, scratch = *np.zeros((3, size)), np.zeros(size, np.int64), np.zeros(width)
    if space.layout == "dense":
        return DenseBank(np.zeros(size * width), sq, near, beside, born, scratch, n, function)
    idx, val = np.zeros(space.values, np.uint32), np.zeros(space.values)
    if space.layout == "slots":
        return SlotBank(np.zeros(size, np.int64), idx, val, sq, near, beside, born, scratch, n, function)
    first, who, what = np.zeros(width + 1, np.int64), np.zeros(2 * idx.size, np.uint32), np.zeros(2 * idx.size)
    start = np.zeros(size + 1, np.int64)
    return IndexedBank(start, idx, val, first, who, what, sq, near, beside, born, scratch, n, function)


def build_kernel(space: Space) -> Any:
    """Return the kernel of a space, as banks have it."""
    if isinstance(space.given, Gram):
        return Precomputed(np.array([float(space.given.objects)]), space.given.matrix.ravel())
    kind = KERNELS.get(space.kernel, Linear) if space.given is None else kernel_type(space.given)
    return kind(np.array(space.shape))


def bank_size(bank: Bank) -> tuple[int, int]:
    """Return how many supports a bank has, and how many values they have together."""
    supports = int(bank.n[SUPPORTS])
    if isinstance(bank, IndexedBank):
        return supports, int(bank.start[supports])
    if isinstance(bank, SlotBank):
        return supports, int(bank.size[:supports].sum())
    return supports, int(np.count_nonzero(bank.val[: supports * bank.scratch.size]))


def read_rows(bank: Bank) -> BankRows:
    """Return all supports of a bank."""
    supports = int(bank.n[SUPPORTS])
    numbers = bank.sq[:supports], bank.near[:supports], bank.born[:supports]
    if isinstance(bank, IndexedBank):
        values = int(bank.start[supports])
        return BankRows(bank.start[: supports + 1], bank.idx[:values], bank.val[:values], *numbers)
    start = np.zeros(supports + 1, np.int64)
    if isinstance(bank, SlotBank):
        np.cumsum(bank.size[:supports], out=start[1:])
        slot = bank.val.size // max(bank.sq.size, 1)
        places = np.repeat(np.arange(supports) * slot - start[:-1], bank.size[:supports]) + np.arange(start[-1])
        return BankRows(start, bank.idx[places], bank.val[places], *numbers)
    table = bank.val.reshape(-1, bank.scratch.size)[:supports]
    rows, columns = np.nonzero(table)
    np.cumsum(np.bincount(rows, minlength=supports), out=start[1:])
    return BankRows(start, columns.astype(np.uint32), table[rows, columns], *numbers)


def add_rows(bank: Bank, rows: BankRows) -> None:
    """Append supports to a bank with room for them."""
    before, more = int(bank.n[SUPPORTS]), rows.sq.size
    after = before + more
    sizes = np.diff(rows.start)
    if isinstance(bank, IndexedBank):
        held = int(bank.start[before])
        bank.idx[held : held + rows.idx.size], bank.val[held : held + rows.idx.size] = rows.idx, rows.val
        bank.start[before : after + 1] = rows.start + held
    elif isinstance(bank, SlotBank):
        slot = bank.val.size // max(bank.sq.size, 1)
        assert not more or int(sizes.max()) <= slot
        places = np.repeat((before + np.arange(more)) * slot - rows.start[:-1], sizes) + np.arange(rows.idx.size)
        bank.idx[places], bank.val[places], bank.size[before:after] = rows.idx, rows.val, sizes
    else:
        table = bank.val.reshape(-1, bank.scratch.size)
        table[before:after] = 0.0
        table[before + np.repeat(np.arange(more), sizes), rows.idx] = rows.val
    bank.sq[before:after], bank.near[before:after] = rows.sq, rows.near
    bank.born[before:after] = rows.born
    bank.n[SUPPORTS] = after
    bank.n[BORN] = 1 + int(bank.born[:after].max(initial=-1))


def copy_bank(source: Bank, target: Bank) -> None:
    """Copy all supports into an empty bank with at least as much room."""
    budget = int(target.n[BUDGET])
    add_rows(target, read_rows(source))
    target.n[:] = source.n
    target.n[LISTED], target.n[BUDGET] = 0, budget
    list_supports(target)


def list_supports(bank: Bank) -> None:
    """Bring the lists of an indexed bank up to date, if too many supports are missing in them."""
    if not isinstance(bank, IndexedBank):
        return
    supports = int(bank.n[SUPPORTS])
    if supports - int(bank.n[LISTED]) <= max(UNLISTED, supports // 4):
        return
    values = int(bank.start[supports])
    order = np.argsort(bank.idx[:values], kind="stable")
    features = bank.idx[:values][order].astype(np.int64)
    who = np.repeat(np.arange(supports, dtype=np.uint32), np.diff(bank.start[: supports + 1]))[order]
    counts = np.bincount(features, minlength=bank.first.size - 1)
    long = 2 * counts > supports  # a list with a place for every support is quicker, and at most twice as long
    bank.n[LISTED] = 0  # until the lists are whole, none of them is read
    np.cumsum(np.where(long, supports, counts), out=bank.first[1:])
    rank = np.arange(values) - np.repeat(np.cumsum(counts) - counts, counts)
    places = bank.first[features] + np.where(long[features], who, rank)
    bank.what[: bank.first[-1]] = 0.0
    bank.who[places], bank.what[places] = who, bank.val[:values][order]
    bank.n[LISTED] = supports


# ---- files ----------------------------------------------------------------------------------------------------------


def save_bank(bank: Bank) -> dict[str, NDArray[Any]]:
    rows = read_rows(bank)
    saved = {f"bank.{part}": np.ascontiguousarray(getattr(rows, part).astype(SAVED[part])) for part in SAVED}
    if not isinstance(bank, IndexedBank):
        saved["bank.born"] = np.argsort(np.argsort(rows.born)).astype(np.int64)  # their order, whatever was before
    if isinstance(bank, DenseBank):
        saved["bank.dense"] = np.ones(1, np.int64)
    return saved
