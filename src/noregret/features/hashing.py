"""Signed hashing: every name has a cell of a fixed table and a sign, and need not be remembered.

Names that share a cell collide. Beside each cell stands a mark of the first name that came there, so that collisions
are counted: two names with one cell have one mark with a chance of 2^-31.
"""

from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from noregret.data.blocks import Rows, SparseBlock, flatten_dicts, sort_rows
from noregret.errors import BadValue
from noregret.features.canonicalize import Run
from noregret.features.names import Names, extends

MOST = 30  # bits
REMEMBERED = 1 << 16  # names whose hash need not be computed again


@lru_cache(REMEMBERED)
def hashed(name: str) -> int:
    """64 bits, the same on every machine and for ever."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class HashedNames(Names):
    """Features by the hash of their name: 2^bits cells, whatever comes."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits, self.cells = bits, 1 << bits
        self.marks = np.zeros(0, np.uint32)  # by cell: of the first name that came there; made when one comes
        self.shared = np.zeros(0, bool)  # by cell: whether another name came there, too
        self.log = array("i")  # cells in the order in which they were taken; -1 less a cell when it came to be shared
        self.before: tuple[Sequence[str], np.ndarray, np.ndarray, np.ndarray] = ((), *nothing())
        self.marked = 0  # how many of the names of the stream before are marked

    @property
    def size(self) -> int:
        return len(self.log)

    @property
    def collisions(self) -> int:
        """How many cells more than one name shares."""
        return int(np.count_nonzero(self.shared))

    def settle(self, mode: str, fix: bool) -> None:
        if mode != "names":
            raise BadValue("bits= hashes the names of features, and these have only column numbers; leave bits out")
        if fix:
            self.mode = "hashed"

    def block(
        self, rows: Sequence[Mapping[Any, Any]], grow: bool, include_unknown: bool = False, gaps: bool = False
    ) -> SparseBlock:
        """Rows given as dicts, as a checked block."""
        indptr, names, val = flatten_dicts(rows, gaps)
        if names:
            self.settle(self.mode_of(names[0]), fix=grow)
        cells, signs, marks = self.hashes(names)
        if grow:
            self.mark(cells, marks)
        return sort_rows(SparseBlock(indptr, cells, val * signs, self.cells))

    def renumbered(
        self, rows: Rows, grow: bool, include_unknown: bool = False, arrange: Run | None = None
    ) -> tuple[SparseBlock, np.ndarray]:
        """Rows of a stream that names its features, and the cell of every name."""
        assert rows.names is not None
        self.settle("names", fix=grow)
        cells, signs, marks = self.of_stream(rows.names)
        if grow:
            self.mark(cells[self.marked :], marks[self.marked :])
            self.marked = len(rows.names)
        block = rows.block
        used = int(block.indptr[-1])
        block = block._replace(val=block.val[:used] * signs[block.idx[:used]], width=self.cells)
        if arrange is not None and block.ready:
            return arrange(cells, block), cells
        return sort_rows(block._replace(idx=cells[block.idx[:used]])), cells

    def of_stream(self, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The hashes of the names of a stream, which mostly begin as they did in its last batch."""
        before, *known = self.before
        if not extends(names, before):
            before, known, self.marked = (), list(nothing()), 0
        fresh = [names[number] for number in range(len(before), len(names))]
        if fresh:
            known = [np.concatenate(pair) for pair in zip(known, self.hashes(fresh), strict=True)]
        self.before = (names, known[0], known[1], known[2])
        return known[0], known[1], known[2]

    def hashes(self, names: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cell, the sign and the mark of every name."""
        try:
            each = np.fromiter(map(hashed, names), np.uint64, len(names))
        except AttributeError:
            wrong = next(name for name in names if not isinstance(name, str))
            raise BadValue(f"feature {wrong!r}: this learner knows its features by name; a name is a string") from None
        cells = (each & np.uint64(self.cells - 1)).astype(np.int32)
        signs = np.where(each >> np.uint64(31) & np.uint64(1), 1.0, -1.0)
        return cells, signs, (each >> np.uint64(32)).astype(np.uint32) | np.uint32(1)

    def mark(self, cells: np.ndarray, marks: np.ndarray) -> None:
        """Note which cells are taken now, and which are shared."""
        self.make_room()
        first = self.marks[cells]
        for at in np.flatnonzero((first != marks) & ~self.shared[cells]).tolist():
            cell, mark = int(cells[at]), marks[at]
            if self.marks[cell] == 0:
                self.marks[cell] = mark
                self.log.append(cell)
            elif self.marks[cell] != mark and not self.shared[cell]:
                self.shared[cell] = True
                self.log.append(-1 - cell)

    def make_room(self) -> None:
        if not self.marks.size:
            self.marks, self.shared = np.zeros(self.cells, np.uint32), np.zeros(self.cells, bool)

    def truncate(self, size: int) -> None:
        """Undo what a refused call noted."""
        self.before, self.marked = ((), *nothing()), 0
        while len(self.log) > size:
            entry = self.log.pop()
            if entry >= 0:
                self.marks[entry] = 0
            else:
                self.shared[-1 - entry] = False

    # ---- keeping ------------------------------------------------------------------------------------------------

    def saved(self) -> dict[str, np.ndarray]:
        """What a model file keeps: the log, and the marks of the cells in it."""
        log = np.array(self.log, np.int32)
        taken = log[log >= 0]
        return {"names.cells": log, "names.marks": self.marks[taken] if taken.size else np.zeros(0, np.uint32)}

    def revive(self, arrays: Mapping[str, np.ndarray]) -> bool:
        """Take back what was saved; False if it cannot be."""
        log, marks = arrays.get("names.cells"), arrays.get("names.marks")
        if log is None or marks is None or log.dtype != np.int32 or marks.dtype != np.uint32 or log.ndim != 1:
            return False
        taken, shared = log[log >= 0], -1 - log[log < 0]
        sound = taken.size == marks.size and bool(((log < self.cells) & (log >= -self.cells)).all())
        sound = sound and np.unique(taken).size == taken.size and np.unique(shared).size == shared.size
        if not sound or not bool(np.isin(shared, taken).all()) or not bool((marks > 0).all()):
            return False
        self.make_room()
        self.marks[taken], self.shared[shared] = marks, True
        self.log = array("i", log.tolist())
        return True

    def absorb(self, other: "HashedNames") -> None:
        """Note the names of another learner, too; which of two that share a cell are the same nobody knows any more."""
        log = np.array(other.log, np.int32)
        taken = log[log >= 0]
        if taken.size:
            self.mark(taken, other.marks[taken])
            for cell in (-1 - log[log < 0]).tolist():
                if not self.shared[cell]:
                    self.shared[cell] = True
                    self.log.append(-1 - cell)


def nothing() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.uint32)
