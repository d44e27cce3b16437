"""Kernel expansions: the coefficients of a vector, over a bank of supports that all vectors of a learner share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.kernel import BANKS, Bank, Expansion
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Arrays, Parts, Places, Saved, Store, Vector, check_array

SAVED: dict[str, type[np.generic]] = {"start": np.int64, "idx": np.int32, "val": np.float64, "sq": np.float64}


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
        copy_bank(value.bank, fresh.bank)
        return super().grow(value, old, fresh, new)

    def rearrange(
        self, source: tuple[Expansion, Space], target: tuple[Expansion, Space], classes: Places, features: Places
    ) -> Expansion:
        (value, old), (fresh, new) = source, target
        copy_bank(value.bank, fresh.bank)
        values = bank_size(value.bank)[1]
        fresh.bank.idx[:values] = features[value.bank.idx[:values]]
        (cells,), (places,) = self.cells(value, old), self.cells(fresh, new)
        places[classes, : cells.shape[1]] = cells[: classes.size]
        return fresh

    def bank(self, value: Expansion) -> Bank:
        return value.bank

    def memory(self, value: Expansion, everything: bool = False) -> list[NDArray[Any]]:
        """Return also the arrays of the bank: rounds append rows to it; only where all may change, they remove some."""
        bank = value.bank
        supports, values = bank_size(bank)
        rows: list[NDArray[Any]] = (
            [bank.start[: supports + 1], bank.idx[:values], bank.val[:values]] if everything else []
        )
        return [value.coef, bank.sq, bank.n, *rows]

    def save(self, name: str, value: Expansion, space: Space) -> dict[str, NDArray[Any]]:
        return {**super().save(name, value, space), **save_bank(value.bank)}

    def check(self, name: str, saved: Saved, space: Space) -> str | None:
        return check_bank(saved.arrays, space.features) or super().check(name, saved, space)

    def load(self, name: str, value: Expansion, saved: Saved, space: Space) -> Expansion:
        load_bank(value.bank, saved.arrays)
        return super().load(name, value, saved, space)


def build_bank(space: Space) -> Bank:
    """Return a bank without supports, with room for as many as the space says."""
    return BANKS[space.kernel](
        np.zeros(space.supports + 1, np.int64),
        np.zeros(space.values, np.uint32),
        np.zeros(space.values),
        np.zeros(space.supports),
        np.zeros(space.supports),
        np.zeros(max(space.room, space.class_room)),
        np.zeros(2, np.int64),
        np.array(space.shape),
    )


def bank_size(bank: Bank) -> tuple[int, int]:
    """Return how many supports a bank has, and how many values they have together."""
    supports = int(bank.n[0])
    return supports, int(bank.start[supports])


def copy_bank(source: Bank, target: Bank) -> None:
    """Copy all supports into a bank with at least as much room."""
    supports, values = bank_size(source)
    target.start[: supports + 1] = source.start[: supports + 1]
    target.idx[:values], target.val[:values] = source.idx[:values], source.val[:values]
    target.sq[:supports], target.near[:supports] = source.sq[:supports], source.near[:supports]
    target.n[:] = source.n


def append_rows(bank: Bank, other: Bank) -> None:
    """Append the supports of another bank, for which there is room."""
    (supports, values), (more, more_values) = bank_size(bank), bank_size(other)
    bank.idx[values : values + more_values] = other.idx[:more_values]
    bank.val[values : values + more_values] = other.val[:more_values]
    bank.sq[supports : supports + more] = other.sq[:more]
    bank.start[supports : supports + more + 1] = other.start[: more + 1] + values
    bank.n[0] = supports + more


def save_bank(bank: Bank) -> dict[str, NDArray[Any]]:
    supports, values = bank_size(bank)
    sizes = {"start": supports + 1, "idx": values, "val": values, "sq": supports}
    return {f"bank.{part}": getattr(bank, part)[:size].astype(SAVED[part]) for part, size in sizes.items()}


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
    return None


def load_bank(bank: Bank, arrays: Arrays) -> None:
    """Write checked arrays into a bank."""
    for part in SAVED:
        array = arrays[f"bank.{part}"]
        getattr(bank, part)[: array.size] = array
    bank.n[0] = arrays["bank.sq"].size
