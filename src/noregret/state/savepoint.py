"""Savepoints: a call saves what its rounds may change, and writes it back when the call fails.

`take_savepoint` chooses how by what a call may change: nothing of this state, a few cells, or all of it. A rollback can
be repeated: what was saved is never used up, so one that was interrupted is finished by calling it again.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.state.growth import State, counters_of, memory, refresh, stores_and_values
from noregret.state.guarded_round import CHECK, GATHER, GATHERING, RESTORE, SAVE, UNDO, GatherSlots
from noregret.state.slots import address, count_slots
from noregret.state.space import Space
from noregret.state.stores.base import is_finite

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

    def take(self) -> None:
        """Copy what the rounds may change, where that was left for later; before the first of them, in any thread."""

    def is_finite(self, state: State) -> bool:
        """Whether all that the rounds may have changed is finite in the state as it is now."""

    def rollback(self) -> State:
        """Bring back and return the state as it was; may be repeated."""


Spare = dict[int, NDArray[Any]]
"""Memory for copies of arrays, by the identity of the array: that of savepoints which are not needed any more."""


def take_savepoint(
    state: State,
    space: Space,
    reach: Reach,
    rows: SparseRows | None = None,
    spare: Spare | None = None,
    later: bool = False,
) -> Savepoint:
    """Save what the rounds of a call may change; rows are given where the reach is "row" and the rows are sparse.

    Copies are made in spare memory, as far as there is some: new memory can cost more than to write it. Those that take
    long are left for `Savepoint.take` where that is asked for.
    """
    if reach == "nothing":
        return Untouched(state)
    if reach == "top_k" and all(store.lists_nonzeros for store, _ in stores_and_values(state)):
        return SavedNonzeros(state)
    if reach == "row" and rows is not None and space.algebra == "sparse" and space.covariance != "full":
        arrays = memory(state)
        if 4 * rows.nonzeros * space.class_room * len(arrays) < sum(array.size for array in arrays):
            return SavedCells(state, arrays, rows, space.class_room)
    whole = SavedWhole(state, everything=reach == "all", spare=spare)
    if not later:
        whole.take()
    return whole


class Untouched:
    """The rounds work on another state: this one needs no copy."""

    covers_all = True

    def __init__(self, state: State) -> None:
        self.state, self.counters = state, counters_of(state)
        self.saved = self.counters.copy()

    def take(self) -> None:
        """Everything is copied at once."""

    def is_finite(self, state: State) -> bool:
        return all(is_finite(array) for array in memory(state)) and is_finite(counters_of(state))

    def rollback(self) -> State:
        self.counters[:] = self.saved
        return refresh(self.state)


class SavedWhole(Untouched):
    """A copy of all cells; where everything may change, also of what rounds usually only append to."""

    def __init__(self, state: State, everything: bool, spare: Spare | None = None) -> None:
        super().__init__(state)
        self.copies = [(array, find_room(spare or {}, array)) for array in memory(state, everything)]
        self.taken = False

    def take(self) -> None:
        if not self.taken:
            for array, copy in self.copies:
                copy[...] = array
            self.taken = True

    def rollback(self) -> State:
        if self.taken:  # otherwise no round has been played
            for array, copy in self.copies:
                array[...] = copy
        return super().rollback()


def find_room(spare: Spare, array: NDArray[Any]) -> NDArray[Any]:
    """Memory for a copy of an array: spare one that fits, which is taken out, since no other copy may use it."""
    found = spare.pop(id(array), None)
    if found is None or found.shape != array.shape or found.dtype != array.dtype:
        return np.empty_like(array)
    return found


def gather_spare(contents: Savepoint | None, most: int) -> Spare:
    """The memory of a savepoint that is not needed any more, unless it has more bytes than that."""
    if not isinstance(contents, SavedWhole) or sum(copy.nbytes for _, copy in contents.copies) > most:
        return {}
    return {id(array): copy for array, copy in contents.copies}


class SavedCells(Untouched):
    """The cells of some features, saved, checked and written back by compiled code."""

    covers_all = False

    def __init__(self, state: State, arrays: list[NDArray[np.float64]], rows: SparseRows, width: int) -> None:
        super().__init__(state)
        self.run, self.arrays = rows.undo_log().run, arrays
        self.features = self.distinct(rows.features())
        self.cells = np.zeros(self.features.size * width * len(arrays))
        self.table = np.zeros(UNDO.first + 2 * len(arrays), np.int64)
        write(self.table, UNDO.touched, self.features, self.cells)
        self.table[UNDO.cells], self.table[UNDO.vectors] = width, len(arrays)
        write(self.table, UNDO.first, *arrays)
        self.perform(SAVE)

    def distinct(self, features: NDArray[np.int32]) -> NDArray[np.int32]:
        """The features without most of the repetitions."""
        distinct, recent = np.empty(features.size, np.int32), np.full(1 << 13, -1, np.int32)
        self.table = np.zeros(count_slots(GatherSlots), np.int64)
        write(self.table, GATHERING.touched, features, distinct, recent)
        return distinct[: self.perform(GATHER)].copy()

    def perform(self, action: int) -> int:
        self.table[UNDO.task] = action
        self.run(address(self.table))
        return int(self.table[UNDO.task])

    def is_finite(self, state: State) -> bool:
        return self.perform(CHECK) == 0 and is_finite(counters_of(state))

    def rollback(self) -> State:
        self.perform(RESTORE)
        return super().rollback()


class SavedNonzeros(Untouched):
    """The few cells that are not zero."""

    covers_all = False

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.cells = [(places, cells[places]) for places, cells in nonzeros(state)]

    def is_finite(self, state: State) -> bool:
        return all(is_finite(cells[places]) for places, cells in nonzeros(state)) and is_finite(counters_of(state))

    def rollback(self) -> State:
        for (changed, cells), (places, values) in zip(nonzeros(self.state), self.cells, strict=True):
            cells[changed] = 0.0
            cells[places] = values
        return super().rollback()


def nonzeros(state: State) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Return, for every vector of a state, the places of its non-zeros as they are now, and all its cells."""
    return [(store.nonzero_places(value), store.vectors(value)[0]) for store, value in stores_and_values(state)]


def write(table: NDArray[np.int64], slot: int, *arrays: NDArray[Any]) -> None:
    """Write the addresses and sizes of flat arrays into a table."""
    for number, array in enumerate(arrays):
        table[slot + 2 * number : slot + 2 * number + 2] = address(array), array.size
