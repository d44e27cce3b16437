"""Feature names and their numbers: a dictionary that grows, is kept, and can be read backwards."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from noregret.chunk import LARGEST_INDEX, Rows, SparseBlock, gather, tidied
from noregret.errors import BadValue

FEW = 256  # names that are looked up as fast as they are compared


class Vocabulary(dict[str, int]):
    """Gives every new name the next number."""

    def __missing__(self, name: Any) -> int:
        if not isinstance(name, str):
            raise BadValue(f"feature {name!r}: this learner knows its features by name; a name is a string")
        number = self[name] = len(self)
        return number


class Names:
    """How a learner knows its features: by the number of their column, or by name. The first data decide."""

    def __init__(self) -> None:
        self.known = Vocabulary()
        self.mode: str | None = None
        self.latest: tuple[Sequence[str], np.ndarray] = ((), np.zeros(0, np.int32))

    def settle(self, mode: str, fix: bool) -> None:
        """Refuse data of the other mode; without a mode yet, fix it where data are learned."""
        if self.mode is None:
            self.mode = mode if fix else None
        elif self.mode != mode:
            has, got = ("column number", "names") if self.mode == "columns" else ("name", "columns without names")
            raise BadValue(f"this learner knows its features by {has} and was given {got}; use one learner for each")

    def mode_of(self, name: Any) -> str:
        return "names" if isinstance(name, str) else "columns"

    def block(
        self, rows: Sequence[Mapping[Any, Any]], grow: bool, heed_new: bool = False, gaps: bool = False
    ) -> SparseBlock:
        """Rows given as dicts, as a checked block; values may be missing with `gaps`. New names are added when growing.

        Otherwise all of them look at one cell past the known ones, which no feature owns: they keep their place in
        the row, so that its score is summed as it will be when they are known. Where new names are heeded all the
        same, each gets a number of its own past the known ones.
        """
        indptr, names, val = gather(rows, gaps)
        mode = self.mode
        if names:
            mode = self.mode_of(names[0])
            self.settle(mode, fix=grow)
        if mode == "columns":
            idx = columns(names)
            return SparseBlock(indptr, idx, val, 1 + int(idx.max()) if idx.size else 0)
        idx, width = self.numbers(names, grow, heed_new)
        return SparseBlock(indptr, idx, val, width)

    def renumbered(self, rows: Rows, grow: bool, heed_new: bool = False) -> tuple[SparseBlock, np.ndarray]:
        """Rows of a stream that names its features, with the numbers this learner has for them; and, of the features
        that only say yes or no, the numbers."""
        assert rows.names is not None
        self.settle("names", fix=grow)
        numbers, width = self.numbers(rows.names, grow, heed_new)
        block = rows.block
        never = numbers[np.flatnonzero(rows.indicator)] if rows.indicator is not None else numbers[:0]
        if (numbers == np.arange(numbers.size)).all():
            return block._replace(width=width), never
        moved = block._replace(idx=numbers[block.idx], width=width)
        in_order = bool((np.diff(numbers) > 0).all())
        return moved if in_order else tidied(moved), never

    def numbers(self, names: Sequence[str], grow: bool, heed_new: bool) -> tuple[np.ndarray, int]:
        """The number of every name, and how many features there are with these."""
        if grow:
            return self.grown(names), len(self.known)
        size = len(self.known)
        if heed_new:
            extra: dict[str, int] = {}
            found = [self.known[n] if n in self.known else extra.setdefault(n, size + len(extra)) for n in names]
            return np.array(found, np.int32), size + len(extra)
        idx = np.fromiter((self.known.get(name, size) for name in names), np.int32, len(names))
        return idx, size + int((idx == size).any())

    def grown(self, names: Sequence[str]) -> np.ndarray:
        """The numbers of names, new ones included; the names of a stream mostly begin as they did in its last batch."""
        before, numbers = self.latest
        if len(names) < len(before) or names[: len(before)] != before:
            before, numbers = (), numbers[:0]
        fresh = names[len(before) :]
        numbers = np.concatenate((numbers, np.fromiter(map(self.known.__getitem__, fresh), np.int32, len(fresh))))
        self.latest = (names, numbers) if len(names) > FEW else ((), numbers[:0])
        return numbers

    def name(self, number: int) -> Any:
        return number if self.mode != "names" else self.listed()[number]

    def listed(self) -> list[str]:
        return list(self.known)

    def forget_from(self, size: int) -> None:
        """Undo what a refused call added."""
        self.latest = ((), np.zeros(0, np.int32))
        while len(self.known) > size:
            self.known.popitem()


def columns(names: Iterable[Any]) -> np.ndarray:
    numbers = list(names)
    for number in numbers:
        if not isinstance(number, (int, np.integer)):
            raise BadValue(f"feature {number!r}: this learner knows its features by column number, a whole number")
        if not 0 <= number < LARGEST_INDEX:
            raise BadValue(f"feature number {number} is outside 0 to {LARGEST_INDEX - 1}")
    return np.array(numbers, dtype=np.int32)
