"""Feature names and their numbers: a dictionary that grows, is kept, and can be read backwards."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, overload

import numpy as np

from noregret.data.blocks import LARGEST_INDEX, Rows, SparseBlock, flatten_dicts, sort_rows
from noregret.errors import BadValue
from noregret.features.canonicalize import Run

FEW = 256  # names that are looked up as fast as they are compared


class Growing(Sequence[str]):
    """The first names of a list that only ever grows, at its end, and names nothing twice.

    So a stream hands over the names of each batch: none is copied, and that one list begins as another is seen at once.
    """

    def __init__(self, names: list[str], size: int) -> None:
        self.names, self.size = names, size

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, (list, Growing)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self.names[number] for number in range(*at.indices(self.size))]
        return self.names[range(self.size)[at]]

    def __iter__(self) -> Iterator[str]:
        return islice(self.names, self.size)

    def from_place(self, first: int) -> list[str]:
        """The names from one on."""
        return self.names[first : self.size]


def extends(names: Sequence[str], before: Sequence[str]) -> bool:
    """Whether a list of names begins with another."""
    if len(names) < len(before):
        return False
    if isinstance(names, Growing) and isinstance(before, Growing) and names.names is before.names:
        return True
    return not before or list(names[: len(before)]) == list(before)


class Numbered:
    """The numbers of the names of a stream, which grow batch by batch; `same` where each is its place, `rising` where
    they are in order, `known` where none stands for a name nobody knows."""

    def __init__(self) -> None:
        self.names: Sequence[str] = ()
        self.room = np.zeros(0, np.int32)
        self.same = self.rising = self.known = True
        self.among = 0  # how many features there were

    @property
    def numbers(self) -> np.ndarray:
        return self.room[: len(self.names)]

    def fresh(self, names: Sequence[str]) -> Sequence[str]:
        """The names that have no numbers here yet."""
        first = len(self.names)
        return names.from_place(first) if isinstance(names, Growing) else names[first:]

    def go_on(self, names: Sequence[str], numbers: np.ndarray) -> None:
        """Take the numbers of the names that are new here."""
        first, size = len(self.names), len(names)
        if size > self.room.size:
            self.room = np.concatenate((self.room, np.zeros(max(size, 2 * first) - self.room.size, np.int32)))
        self.room[first:size] = numbers
        self.names = names
        if self.same:
            self.same = bool((numbers == np.arange(first, size)).all())
        if self.rising:
            self.rising = self.same or bool((np.diff(self.room[max(first - 1, 0) : size]) > 0).all())


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
        self.entered = Vocabulary()
        self.all = Growing([], 0)  # all names, where they are a stream's; the last ones may not be entered yet
        self.mode: str | None = None
        self.latest = Numbered()
        self.seen = Numbered()

    @property
    def known(self) -> Vocabulary:
        """The number of every name. Those of a stream, each its place there, are entered when somebody asks."""
        first = len(self.entered)
        if first < len(self.all):
            self.entered.update(zip(self.all.from_place(first), range(first, len(self.all)), strict=True))
        return self.entered

    @property
    def size(self) -> int:
        """How much a refused call may have added to."""
        return max(len(self.entered), len(self.all))

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
        self, rows: Sequence[Mapping[Any, Any]], grow: bool, include_unknown: bool = False, gaps: bool = False
    ) -> SparseBlock:
        """Rows given as dicts, as a checked block; values may be missing with `gaps`. New names are added when growing.

        Otherwise all of them look at one cell past the known ones, which no feature owns: they keep their place in
        the row, so that its score is summed as it will be when they are known. Where new names are heeded all the
        same, each gets a number of its own past the known ones.
        """
        indptr, names, val = flatten_dicts(rows, gaps)
        mode = self.mode
        if names:
            mode = self.mode_of(names[0])
            self.settle(mode, fix=grow)
        if mode == "columns":
            idx = columns(names)
            return SparseBlock(indptr, idx, val, 1 + int(idx.max()) if idx.size else 0)
        idx, width = self.numbers(names, grow, include_unknown)
        return SparseBlock(indptr, idx, val, width)

    def renumbered(
        self, rows: Rows, grow: bool, include_unknown: bool = False, arrange: Run | None = None
    ) -> tuple[SparseBlock, np.ndarray]:
        """Rows of a stream that names its features, with the numbers this learner has for them; and the number of every
        name. `arrange` is what renumbers rows at full speed."""
        assert rows.names is not None
        self.settle("names", fix=grow)
        found, width = self.found(rows.names, grow, include_unknown)
        block = rows.block._replace(width=width)
        if found.same:
            return block, found.numbers
        if found.rising:
            return block._replace(idx=found.numbers[block.idx]), found.numbers
        if arrange is not None and block.ready:
            return arrange(found.numbers, block), found.numbers
        return sort_rows(block._replace(idx=found.numbers[block.idx])), found.numbers

    def numbers(self, names: Sequence[str], grow: bool, include_unknown: bool) -> tuple[np.ndarray, int]:
        """The number of every name, and how many features there are with these."""
        found, width = self.found(names, grow, include_unknown)
        return found.numbers, width

    def found(self, names: Sequence[str], grow: bool, include_unknown: bool) -> tuple[Numbered, int]:
        """The same, with what is known of the numbers."""
        if grow:
            return self.grown(names), self.size
        size = self.size
        if include_unknown:
            extra: dict[str, int] = {}
            found = Numbered()
            each = [self.known[n] if n in self.known else extra.setdefault(n, size + len(extra)) for n in names]
            found.go_on(names, np.array(each, np.int32))
            return found, size + len(extra)
        found = self.looked_up(names)
        return found, size + (not found.known)

    def grown(self, names: Sequence[str]) -> Numbered:
        """The numbers of names, new ones included; the names of a stream mostly begin as they did in its last batch."""
        latest = self.latest if extends(names, self.latest.names) else Numbered()
        size = self.size
        if isinstance(names, Growing) and latest.same and len(latest.names) == size:  # a stream names nothing twice
            self.all = names
            latest.go_on(names, np.arange(size, len(names), dtype=np.int32))
        else:
            fresh = latest.fresh(names)
            if isinstance(names, Growing) and self.known.keys().isdisjoint(fresh):
                self.known.update(zip(fresh, range(size, size + len(fresh)), strict=True))
                numbers = np.arange(size, size + len(fresh), dtype=np.int32)
            else:
                numbers = np.fromiter(map(self.known.__getitem__, fresh), np.int32, len(fresh))
            latest.go_on(names, numbers)
        self.latest = latest if len(names) > FEW else Numbered()
        return latest

    def looked_up(self, names: Sequence[str]) -> Numbered:
        """The numbers of names; those nobody knows share the number after the last."""
        size, seen = self.size, self.seen
        if seen.among != size or not extends(names, seen.names):
            seen = Numbered()
            seen.among = size
        fresh = seen.fresh(names)
        numbers = np.fromiter((self.known.get(name, size) for name in fresh), np.int32, len(fresh))
        seen.known = seen.known and not bool((numbers == size).any())
        seen.go_on(names, numbers)
        self.seen = seen if len(names) > FEW else Numbered()
        return seen

    def name(self, number: int) -> Any:
        return number if self.mode != "names" else self.listed()[number]

    def listed(self) -> list[str]:
        return list(self.known)

    def truncate(self, size: int) -> None:
        """Undo what a refused call added."""
        known, self.all = self.known, Growing([], 0)
        self.latest, self.seen = Numbered(), Numbered()
        while len(known) > size:
            known.popitem()


def columns(names: Iterable[Any]) -> np.ndarray:
    numbers = list(names)
    for number in numbers:
        if not isinstance(number, (int, np.integer)):
            raise BadValue(f"feature {number!r}: this learner knows its features by column number, a whole number")
        if not 0 <= number < LARGEST_INDEX:
            raise BadValue(f"feature number {number} is outside 0 to {LARGEST_INDEX - 1}")
    return np.array(numbers, dtype=np.int32)
