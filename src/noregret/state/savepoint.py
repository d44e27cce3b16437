"""A call is a transaction: all its rounds are learned, or the learner is as it was before."""

from typing import Any

import numpy as np

from noregret.data.blocks import SparseBlock, all_finite
from noregret.jit.layout import address, fill
from noregret.state import guarded_round as guard
from noregret.state.growth import memory


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
