"""Feature hashing (Weinberger et al. 2009): hashes each name to a sign and one of 2^bits cells; names are not stored.

Names that share a cell collide. To count collisions, each cell keeps a fingerprint of the first name hashed to it; two
names in one cell have equal fingerprints with probability 2^-31.
"""

from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows, SparseBlock, flatten_dicts, sort_rows
from noregret.errors import BadValue
from noregret.features.canonicalize import Renumber
from noregret.features.names import Names, extends

MAX_BITS = 30
CACHE_SIZE = 1 << 16  # names whose hashes are cached

Hashes = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.uint32]]  # cell, sign and fingerprint of each name


@lru_cache(CACHE_SIZE)
def hash_name(name: str) -> int:
    """Hash a name to 64 bits, the same on every machine and in every version."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class HashedNames(Names):
    """Features identified by the hash of their name, in 2^bits cells."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits, self.cells = bits, 1 << bits
        self.fingerprints = np.zeros(0, np.uint32)  # by cell: of the first name; allocated with the first name
        self.shared = np.zeros(0, bool)  # by cell: whether names collide there
        self.log = array("i")  # cells in order of first use; -1 - cell when it became shared
        self.cached_names: Sequence[str] = ()  # the names of the last batch of a stream, and their hashes
        self.cached_hashes = empty_hashes()
        self.recorded = 0  # how many of the cached names are recorded in the cells

    @property
    def size(self) -> int:
        return len(self.log)

    @property
    def collisions(self) -> int:
        """The number of cells that several names share."""
        return int(np.count_nonzero(self.shared))

    def check_mode(self, mode: str, fix: bool) -> None:
        if mode != "names":
            raise BadValue("bits= hashes feature names, but these features have only column numbers; leave bits out")
        if fix:
            self.mode = "hashed"

    def encode_dicts(
        self, rows: Sequence[Mapping[Any, Any]], grow: bool, include_unknown: bool = False, allow_missing: bool = False
    ) -> SparseBlock:
        """Convert rows given as dicts to a block; see `Names.encode_dicts`."""
        indptr, names, val = flatten_dicts(rows, allow_missing)
        if names:
            self.check_mode(self.mode_of(names[0]), fix=grow)
        cells, signs, fingerprints = self.hash_names(names)
        if grow:
            self.record(cells, fingerprints)
        return sort_rows(SparseBlock(indptr, cells, val * signs, self.cells))

    def encode_rows(
        self, rows: Rows, grow: bool, include_unknown: bool = False, renumber: Renumber | None = None
    ) -> tuple[SparseBlock, NDArray[Any]]:
        """Convert rows with names to a block; also return the cell of every name."""
        assert rows.names is not None
        self.check_mode("names", fix=grow)
        cells, signs, fingerprints = self.hash_stream(rows.names)
        if grow:
            self.record(cells[self.recorded :], fingerprints[self.recorded :])
            self.recorded = len(rows.names)
        block = rows.block
        used = int(block.indptr[-1])
        block = block._replace(val=block.val[:used] * signs[block.idx[:used]], width=self.cells)
        if renumber is not None and block.ready:
            return renumber(cells, block), cells
        return sort_rows(block._replace(idx=cells[block.idx[:used]])), cells

    def hash_stream(self, names: Sequence[str]) -> Hashes:
        """Return the hashes of the names of a stream; those of the last batch are cached."""
        cached, hashes = self.cached_names, self.cached_hashes
        if not extends(names, cached):
            cached, hashes, self.recorded = (), empty_hashes(), 0
        new = [names[number] for number in range(len(cached), len(names))]
        if new:
            cells, signs, fingerprints = self.hash_names(new)
            hashes = (
                np.concatenate((hashes[0], cells)),
                np.concatenate((hashes[1], signs)),
                np.concatenate((hashes[2], fingerprints)),
            )
        self.cached_names, self.cached_hashes = names, hashes
        return hashes

    def hash_names(self, names: Sequence[Any]) -> Hashes:
        """Return the cell, sign and fingerprint of every name."""
        try:
            each = np.fromiter(map(hash_name, names), np.uint64, len(names))
        except AttributeError:
            wrong = next(name for name in names if not isinstance(name, str))
            raise BadValue(f"feature {wrong!r}: this learner knows its features by name; a name is a string") from None
        cells = (each & np.uint64(self.cells - 1)).astype(np.int32)
        signs = np.where(each >> np.uint64(31) & np.uint64(1), 1.0, -1.0)
        return cells, signs, (each >> np.uint64(32)).astype(np.uint32) | np.uint32(1)

    def record(self, cells: NDArray[Any], fingerprints: NDArray[Any]) -> None:
        """Record which cells are in use, and which are shared."""
        self.allocate()
        first = self.fingerprints[cells]
        for at in np.flatnonzero((first != fingerprints) & ~self.shared[cells]).tolist():
            cell, fingerprint = int(cells[at]), fingerprints[at]
            if self.fingerprints[cell] == 0:
                self.log.append(cell)  # first the log: what is undone is found there, wherever this is cut off
                self.fingerprints[cell] = fingerprint
            elif self.fingerprints[cell] != fingerprint and not self.shared[cell]:
                self.log.append(-1 - cell)
                self.shared[cell] = True

    def allocate(self) -> None:
        """Allocate the arrays of cells."""
        if not self.fingerprints.size:
            self.fingerprints, self.shared = np.zeros(self.cells, np.uint32), np.zeros(self.cells, bool)

    def truncate(self, size: int) -> None:
        """Undo all but the first `size` entries of the log."""
        self.cached_names, self.cached_hashes, self.recorded = (), empty_hashes(), 0
        while len(self.log) > size:
            entry = self.log[-1]
            if entry >= 0:
                self.fingerprints[entry] = 0
            else:
                self.shared[-1 - entry] = False
            self.log.pop()

    # ---- in a model file ------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[Any]]:
        """Return the arrays for a model file: the log, and the fingerprints of the cells in it."""
        log = np.array(self.log, np.int32)
        used = log[log >= 0]
        return {"names.cells": log, "names.marks": self.fingerprints[used] if used.size else np.zeros(0, np.uint32)}

    def restore(self, arrays: Mapping[str, NDArray[Any]], learned: bool = True) -> bool:
        """Load the arrays of a model file; False if they are not valid. Before cells have weights there are none."""
        log, fingerprints = arrays.get("names.cells"), arrays.get("names.marks")
        if log is None or fingerprints is None or log.ndim != 1 or fingerprints.ndim != 1:
            return False
        if log.dtype != np.int32 or fingerprints.dtype != np.uint32:
            return False
        used, shared = log[log >= 0], -1 - log[log < 0]
        sound = used.size == fingerprints.size and bool(((log < self.cells) & (log >= -self.cells)).all())
        sound = sound and np.unique(used).size == used.size and np.unique(shared).size == shared.size
        if not sound or not bool(np.isin(shared, used).all()) or not bool((fingerprints > 0).all()):
            return False
        if not log.size:
            return True
        if not learned:
            return False
        self.allocate()
        self.fingerprints[used], self.shared[shared] = fingerprints, True
        self.log = array("i", log.tolist())
        return True

    def absorb(self, other: "HashedNames") -> None:
        """Add the recorded names of another learner; a cell shared there counts as shared here."""
        log = np.array(other.log, np.int32)
        used = log[log >= 0]
        if used.size:
            self.record(used, other.fingerprints[used])
            for cell in (-1 - log[log < 0]).tolist():
                if not self.shared[cell]:
                    self.log.append(-1 - cell)
                    self.shared[cell] = True


def empty_hashes() -> Hashes:
    """Return the hashes of no names."""
    return np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.uint32)
