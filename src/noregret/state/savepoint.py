"""Savepoints: a call saves what its rounds may change, and writes it back when the call fails.

`take_savepoint` chooses how by what a call may change: nothing of this state, a few cells, or all of it. A rollback can
be repeated: what was saved is never used up, so one that was interrupted is finished by calling it again.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import SparseBlock, all_finite
from noregret.jit.layout import address, fill
from noregret.state import guarded_round as guard
from noregret.state.growth import Space, memory, refreshed

Reach = Literal["nothing", "row", "top_k", "all"]
"""Which cells of a state the rounds of a call may change: none (they work on a larger copy), those of the features of
their rows, the few non-zeros of top-k vectors, or all."""


class UndoLog(Protocol):
    """The compiled `guarded_round.undo_log_cells`, called with the address of its table."""

    def run(self, table: int) -> int: ...


class SparseRows(NamedTuple):
    """The sparse rows of a call: how many non-zeros, their features (checked only if asked for), the undo log."""

    nonzeros: int
    features: Callable[[], NDArray[np.int32]]
    undo_log: Callable[[], UndoLog]


class Savepoint(Protocol):
    """A state before a call."""

    covers_all: bool
    """Whether every cell is safe, so that rounds may change all of them."""

    def is_finite(self, state: Any) -> bool:
        """Whether all that the rounds may have changed is finite in the state as it is now."""

    def rollback(self) -> Any:
        """Bring back and return the state as it was; may be repeated."""


def take_savepoint(state: Any, space: Space, reach: Reach, rows: SparseRows | None = None) -> Savepoint:
    """Save what the rounds of a call may change; rows are given where the reach is "row" and the rows are sparse."""
    if reach == "nothing":
        return Untouched(state)
    if reach == "top_k" and space.algebra != "reference":
        return SavedNonzeros(state)
    if reach == "row" and rows is not None and space.algebra == "sparse" and space.covariance != "full":
        arrays = memory(state)
        if 4 * rows.nonzeros * space.class_room * len(arrays) < sum(array.size for array in arrays):
            return SavedCells(state, rows.features(), space.class_room, rows.undo_log())
    return SavedWhole(state)


class Untouched:
    """The rounds work on another state: this one needs no copy."""

    covers_all = True

    def __init__(self, state: Any) -> None:
        self.state, self.counters = state, counters_of(state)
        self.saved = self.counters.copy()

    def is_finite(self, state: Any) -> bool:
        return all(is_finite(array) for array in memory(state)) and is_finite(counters_of(state))

    def rollback(self) -> Any:
        self.counters[:] = self.saved
        return refreshed(self.state)


class SavedWhole(Untouched):
    """A copy of everything."""

    def __init__(self, state: Any) -> None:
        super().__init__(state)
        self.copies = [(array, array.copy()) for array in memory(state)]

    def rollback(self) -> Any:
        for array, copy in self.copies:
            array[...] = copy
        return super().rollback()


class SavedCells(Untouched):
    """The cells of some features, saved, checked and written back by compiled code."""

    covers_all = False

    def __init__(self, state: Any, features: NDArray[np.int32], width: int, undo_log: UndoLog) -> None:
        super().__init__(state)
        arrays = memory(state)
        self.run = undo_log.run
        self.features = self.distinct(features)
        self.cells = np.zeros(self.features.size * width * len(arrays))
        self.arrays = arrays
        self.table = np.zeros(guard.FIRST + 2 * len(arrays), np.int64)
        write(self.table, guard.TOUCHED, self.features, self.cells)
        self.table[guard.CELLS], self.table[guard.VECTORS] = width, len(arrays)
        write(self.table, guard.FIRST, *arrays)
        self.perform(guard.SAVE)

    def distinct(self, features: NDArray[np.int32]) -> NDArray[np.int32]:
        """The features without most of the repetitions."""
        distinct, recent = np.empty(features.size, np.int32), np.full(1 << 13, -1, np.int32)
        self.table = np.zeros(guard.FIRST, np.int64)
        write(self.table, guard.TOUCHED, features, distinct, recent)
        return distinct[: self.perform(guard.GATHER)].copy()

    def perform(self, action: int) -> int:
        self.table[0] = action
        self.run(self.table.ctypes.data)
        return int(self.table[0])

    def is_finite(self, state: Any) -> bool:
        return self.perform(guard.CHECK) == 0 and is_finite(counters_of(state))

    def rollback(self) -> Any:
        self.perform(guard.RESTORE)
        return super().rollback()


class SavedNonzeros(Untouched):
    """The few cells that are not zero."""

    covers_all = False

    def __init__(self, state: Any) -> None:
        super().__init__(state)
        self.cells = [(places, value.v[places]) for value in state[:-1] for places in [support(value)]]

    def is_finite(self, state: Any) -> bool:
        cells = (value.v[support(value)] for value in state[:-1])
        return all(is_finite(values) for values in cells) and is_finite(counters_of(state))

    def rollback(self) -> Any:
        for value, (places, values) in zip(self.state[:-1], self.cells, strict=True):
            value.v[support(value)] = 0.0
            value.v[places] = values
        return super().rollback()


def counters_of(state: Any) -> NDArray[np.float64]:
    """The counters of a state as an array over the same memory."""
    return np.frombuffer(state.n.base.data)[: len(state.n.dtype.names)]


def is_finite(values: NDArray[Any]) -> bool:
    """A finite sum has finite terms; only an infinite one needs a second look."""
    if values.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def write(table: NDArray[np.int64], slot: int, *arrays: NDArray[Any]) -> None:
    """Write the addresses and sizes of flat arrays into a table."""
    for number, array in enumerate(arrays):
        table[slot + 2 * number : slot + 2 * number + 2] = array.ctypes.data, array.size


# ---- the classes that take_savepoint replaces -----------------------------------------------------------------------


class WholeUndo:
    """Keeps a copy of everything; right when a call touches a good part of the state."""

    def __init__(self, state: Any, copied: bool = True) -> None:
        self.state = state
        self.arrays = memory(state)
        self.copies = [array.copy() for array in self.arrays] if copied else None
        self.counters = state.n.copy()

    def sound(self, state: Any) -> bool:
        return all(all_finite(array) for array in memory(state) if array.dtype.kind == "f") and counters_sound(state)

    def restore(self) -> Any:
        if self.copies is not None:
            for array, copy in zip(self.arrays, self.copies, strict=True):
                array[...] = copy
            restore_counters(self.state, self.counters)
        return self.state


class CellUndo:
    """Keeps the cells that some sparse rows touch; right when they are few and the state is large."""

    def __init__(self, state: Any, block: SparseBlock, width: int) -> None:
        from noregret.jit.compiled import undo_log

        self.state, self.width = state, width
        self.arrays = memory(state)
        self.entry = undo_log()
        self.touched = self.gathered(block.idx[block.indptr[0] : block.indptr[-1]])
        self.saved = np.zeros(self.touched.size * width * len(self.arrays))
        self.counters = state.n.copy()
        self.table = np.zeros(guard.FIRST + 2 * len(self.arrays), np.int64)
        fill(self.table, guard.TOUCHED, (self.touched, self.saved, width, len(self.arrays), *self.arrays))
        self.table[0] = guard.SAVE
        self.entry.run(address(self.table))

    def gathered(self, touched: np.ndarray) -> np.ndarray:
        """The features that rows touch, without most of the repetitions."""
        met, lately = np.empty(touched.size, np.int32), np.full(1 << 13, -1, np.int32)
        table = np.zeros(guard.FIRST, np.int64)
        fill(table, guard.TOUCHED, (touched, met, lately))
        table[0] = guard.GATHER
        self.entry.run(address(table))
        return met[: table[0]].copy()

    def sound(self, state: Any) -> bool:
        self.table[0] = guard.CHECK
        self.entry.run(address(self.table))
        return bool(self.table[0] == 0) and counters_sound(state)

    def restore(self) -> Any:
        self.table[0] = guard.RESTORE
        self.entry.run(address(self.table))
        restore_counters(self.state, self.counters)
        return self.state


class TopKUndo:
    """Keeps the few cells that are not zero, of vectors that have few."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.counters = state.n.copy()
        self.saved = [(cells, value.v[cells]) for value in state[:-1] for cells in [support(value)]]

    def sound(self, state: Any) -> bool:
        return all(all_finite(value.v[support(value)]) for value in state[:-1]) and counters_sound(state)

    def restore(self) -> Any:
        for value, (cells, held) in zip(self.state[:-1], self.saved, strict=True):
            value.v[support(value)] = 0.0
            value.v[cells] = held
        restore_counters(self.state, self.counters)
        return self.state


def support(value: Any) -> np.ndarray:
    """The places of the cells that are not zero, as they are now."""
    return np.array(value.heap[: int(value.n[3])])


def counters_sound(state: Any) -> bool:
    return bool(np.isfinite(np.array(state.n.item())).all())


def restore_counters(state: Any, counters: Any) -> None:
    for name in counters.dtype.names:
        state.n[name] = counters[name]
