"""Kernel expansions: the coefficients of a vector, over a bank of supports that all vectors of a learner share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.banks import AT_HAND, LISTED, Bank, DenseBank, IndexedBank
from noregret.algebra.kernel import Expansion
from noregret.state.bank_rows import SAVED, BankRows, add_rows, copy_bank, list_supports, read_rows, save_bank
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Arrays, Parts, Places, Saved, Store, Vector, check_array


class ExpansionStore(Store[Expansion]):
    """A coefficient for every class and support."""

    kind = "expansion"

    def build(self, field: Field, space: Space, parts: Parts) -> Expansion:
        assert parts.bank is not None
        return Expansion(np.zeros(space.supports * space.class_room), parts.bank)

    def vectors(self, value: Expansion) -> list[Vector]:
        return [value.coef]

    def cell_shape(self, space: Space) -> tuple[int, ...]:
        return (space.classes, space.supports)

    def count_cells(self, space: Space) -> int:
        return space.class_room * space.supports

    def grow(self, value: Expansion, old: Space, fresh: Expansion, new: Space) -> Expansion:
        if not fresh.bank.n[0]:  # all vectors share it
            copy_bank(value.bank, fresh.bank)
        return super().grow(value, old, fresh, new)

    def rearrange(
        self, source: tuple[Expansion, Space], target: tuple[Expansion, Space], classes: Places, features: Places
    ) -> Expansion:
        (value, old), (fresh, new) = source, target
        if not fresh.bank.n[0]:  # all vectors share it
            add_rows(fresh.bank, renumber(read_rows(value.bank), features))
            fresh.bank.n[AT_HAND] = -1
        (cells,), (places,) = self.cells(value, old), self.cells(fresh, new)
        places[classes, : cells.shape[1]] = cells[: classes.size]
        return fresh

    def refresh(self, value: Expansion) -> None:
        """Make the lists of supports anew: a call that is undone may have made them for supports that are gone."""
        if isinstance(value.bank, IndexedBank):
            value.bank.n[LISTED] = 0
            list_supports(value.bank)

    def bank(self, value: Expansion) -> Bank:
        return value.bank

    def memory(self, value: Expansion, everything: bool = False) -> list[NDArray[Any]]:
        """Return also the arrays of the bank: rounds append rows to it; only where all may change, they remove some."""
        bank = value.bank
        used = bank.sq[: int(bank.n[0])]  # checked for overflow after every call
        appended = [bank.sq, bank.born, bank.n] if isinstance(bank, IndexedBank) else [used, bank.n]
        if not everything:
            return [value.coef, *appended]
        if isinstance(bank, IndexedBank):
            return [value.coef, *appended, bank.start, bank.idx, bank.val]
        rows = [bank.val] if isinstance(bank, DenseBank) else [bank.val, bank.idx, bank.size]
        return [value.coef, *appended, bank.sq, bank.born, *rows]

    def save(self, name: str, value: Expansion, space: Space) -> dict[str, NDArray[Any]]:
        return {**super().save(name, value, space), **save_bank(value.bank)}

    def check(self, name: str, saved: Saved, space: Space) -> str | None:
        return check_bank(saved.arrays, space.features) or super().check(name, saved, space)

    def load(self, name: str, value: Expansion, saved: Saved, space: Space) -> Expansion:
        load_bank(value.bank, saved.arrays)
        return super().load(name, value, saved, space)


def renumber(rows: BankRows, features: Places) -> BankRows:
    """Return the same rows with other feature numbers, sorted by them."""
    idx = features[rows.idx].astype(np.uint32)
    order = np.lexsort((idx, np.repeat(np.arange(rows.sq.size), np.diff(rows.start))))
    return rows._replace(idx=idx[order], val=rows.val[order])


def check_bank(arrays: Arrays, features: int) -> str | None:
    """Return why saved arrays cannot be supports over so many features, or None."""
    sizes = {part: arrays[f"bank.{part}"].size if f"bank.{part}" in arrays else 0 for part in SAVED}
    shapes = {"start": sizes["sq"] + 1, "idx": sizes["idx"], "val": sizes["idx"], "sq": sizes["sq"]}
    for part, dtype in SAVED.items():
        problem = check_array(arrays, f"bank.{part}", dtype, (shapes[part],))
        if problem is not None:
            return problem
    start, idx = arrays["bank.start"], arrays["bank.idx"]
    if start[0] != 0 or start[-1] != idx.size or (start[1:] < start[:-1]).any():
        return "the supports do not begin one after the other"
    if idx.size and not 0 <= idx.min() <= idx.max() < features:
        return f"a support has a feature that is not one of {features}"
    if "bank.dense" in arrays:
        problem = check_array(arrays, "bank.dense", np.int64, (1,))
        if problem is not None or arrays["bank.dense"][0] != 1:
            return problem or "bank.dense is not 1"
    if "bank.born" in arrays:
        problem = check_array(arrays, "bank.born", np.int64, (sizes["sq"],))
        born = np.sort(arrays["bank.born"])
        if problem is not None or (born.size and not 0 <= born[0] <= born[-1] < 1 << 53) or (np.diff(born) <= 0).any():
            return problem or "bank.born does not say in which order supports came"
    return None


def load_bank(bank: Bank, arrays: Arrays) -> None:
    """Write checked arrays into an empty bank; all vectors of a state share it, and the first one loads it."""
    if bank.n[0]:
        return
    start, idx, val, sq = (arrays[f"bank.{part}"] for part in SAVED)
    born = arrays["bank.born"] if "bank.born" in arrays else np.arange(sq.size)
    add_rows(bank, BankRows(start, idx.astype(np.uint32), val, sq, np.zeros(sq.size), born))
    list_supports(bank)


def longest_row(arrays: Arrays) -> int:
    """Return how many values the longest of the saved supports has."""
    return int(np.diff(arrays["bank.start"]).max(initial=0))
