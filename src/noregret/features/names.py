"""Feature names and their numbers: a vocabulary that grows as names appear."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import LARGEST_INDEX, Rows, SparseBlock, flatten_dicts, sort_rows
from noregret.errors import BadValue, shown
from noregret.features.canonicalize import Renumber

FEW = 256  # up to so many names, looking them up is as fast as comparing them with the cached list


class GrowingNames(Sequence[str]):
    """The first `size` names of a shared list that only grows at its end and has no duplicates.

    A stream gives each batch its names in this form: no name is copied, and whether one such list begins with another
    is known at once.
    """

    def __init__(self, names: list[str], size: int) -> None:
        self.names, self.size = names, size

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, (list, GrowingNames)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # not hashable, like a list

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

    def names_from(self, first: int) -> list[str]:
        """Return the names from number `first` on."""
        return self.names[first : self.size]


def extends(names: Sequence[str], before: Sequence[str]) -> bool:
    """Return whether a list of names begins with another one."""
    if len(names) < len(before):
        return False
    if isinstance(names, GrowingNames) and isinstance(before, GrowingNames) and names.names is before.names:
        return True
    return not before or list(names[: len(before)]) == list(before)


class NameNumbers:
    """The learner's numbers of the names of a stream, extended batch by batch.

    `identity`: name i has number i. `increasing`: the numbers increase. `all_known`: no name is unknown.
    """

    def __init__(self) -> None:
        self.names: Sequence[str] = ()
        self.buffer = np.zeros(0, np.int32)
        self.identity = self.increasing = self.all_known = True
        self.vocabulary_size = 0  # the size of the vocabulary when the numbers were looked up

    @property
    def numbers(self) -> NDArray[Any]:
        return self.buffer[: len(self.names)]

    def new_names(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names that have no numbers here yet."""
        first = len(self.names)
        return names.names_from(first) if isinstance(names, GrowingNames) else names[first:]

    def extend(self, names: Sequence[str], numbers: NDArray[Any]) -> None:
        """Add the numbers of the new names."""
        first, size = len(self.names), len(names)
        if size > self.buffer.size:
            self.buffer = np.concatenate((self.buffer, np.zeros(max(size, 2 * first) - self.buffer.size, np.int32)))
        self.buffer[first:size] = numbers
        self.names = names
        if self.identity:
            self.identity = bool((numbers == np.arange(first, size)).all())
        if self.increasing:
            self.increasing = self.identity or bool((np.diff(self.buffer[max(first - 1, 0) : size]) > 0).all())


class Vocabulary(dict[str, int]):
    """A dict from name to number that gives every new name the next number."""

    def __missing__(self, name: Any) -> int:
        if not isinstance(name, str):
            raise BadValue(f"feature {name!r}: this learner knows its features by name; a name is a string")
        number = self[name] = len(self)
        return number


class Names:
    """How a learner identifies its features: by name or by column number, as in the first data it learns from."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self.stream_names = GrowingNames([], 0)  # names of a stream, entered into the vocabulary only when needed
        self.mode: str | None = None  # "names", "columns", "hashed", or None before anything was learned
        self.grow_cache = NameNumbers()
        self.lookup_cache = NameNumbers()

    @property
    def known(self) -> Vocabulary:
        """The number of every name."""
        first, size = len(self.vocabulary), len(self.stream_names)
        if first < size:
            self.vocabulary.update(zip(self.stream_names.names_from(first), range(first, size), strict=True))
        return self.vocabulary

    @property
    def size(self) -> int:
        """The number of names; `truncate` undoes what a failed call added."""
        return max(len(self.vocabulary), len(self.stream_names))

    def check_mode(self, mode: str, fix: bool) -> None:
        """Refuse data of another mode; with `fix`, the first mode seen becomes the learner's."""
        if self.mode is None:
            self.mode = mode if fix else None
        elif self.mode != mode:
            has, got = ("column number", "names") if self.mode == "columns" else ("name", "columns without names")
            raise BadValue(f"this learner knows its features by {has} and was given {got}; use one learner for each")

    def mode_of(self, name: Any) -> str:
        """Return the mode that a feature name belongs to."""
        return "names" if isinstance(name, str) else "columns"

    def encode_dicts(
        self, rows: Sequence[Mapping[Any, Any]], grow: bool, include_unknown: bool = False, allow_missing: bool = False
    ) -> SparseBlock:
        """Convert rows given as dicts to a block; with `allow_missing`, values may be missing.

        With `grow`, new names get the next numbers. Otherwise they share one cell past the known ones, which belongs
        to no feature: each keeps its position in the row, so that the score is summed in the same order as when it is
        known. With `include_unknown`, each new name gets a temporary number of its own past the known ones.
        """
        indptr, names, val = flatten_dicts(rows, allow_missing)
        mode = self.mode
        if names:
            mode = self.mode_of(names[0])
            self.check_mode(mode, fix=grow)
        if mode == "columns":
            idx = check_column_numbers(names, indptr)
            return SparseBlock(indptr, idx, val, 1 + int(idx.max()) if idx.size else 0)
        idx, width = self.numbers(names, grow, include_unknown)
        return SparseBlock(indptr, idx, val, width)

    def encode_rows(
        self, rows: Rows, grow: bool, include_unknown: bool = False, renumber: Renumber | None = None
    ) -> tuple[SparseBlock, NDArray[Any]]:
        """Convert rows with names to the numbers of this learner; also return the number of every name.

        `renumber` is the compiled version of the last line, if there is one.
        """
        assert rows.names is not None
        self.check_mode("names", fix=grow)
        found, width = self.find_numbers(rows.names, grow, include_unknown)
        block = rows.block._replace(width=width)
        if found.identity:
            return block, found.numbers
        if found.increasing:
            return block._replace(idx=found.numbers[block.idx]), found.numbers
        if renumber is not None and block.ready:
            return renumber(found.numbers, block), found.numbers
        return sort_rows(block._replace(idx=found.numbers[block.idx])), found.numbers

    def numbers(self, names: Sequence[str], grow: bool, include_unknown: bool) -> tuple[NDArray[Any], int]:
        """Return the number of every name, and the number of features including them."""
        found, width = self.find_numbers(names, grow, include_unknown)
        return found.numbers, width

    def find_numbers(self, names: Sequence[str], grow: bool, include_unknown: bool) -> tuple[NameNumbers, int]:
        """Return the numbers of names with their properties, and the number of features including them."""
        if grow:
            return self.add_names(names), self.size
        size = self.size
        if include_unknown:
            extra: dict[str, int] = {}
            found, known = NameNumbers(), self.known
            numbers = [known[n] if n in known else extra.setdefault(n, size + len(extra)) for n in names]
            found.extend(names, np.array(numbers, np.int32))
            return found, size + len(extra)
        found = self.look_up(names)
        return found, size + (not found.all_known)

    def add_names(self, names: Sequence[str]) -> NameNumbers:
        """Return the numbers of names, after adding the new ones; the names of the last batch are cached."""
        cache = self.grow_cache if extends(names, self.grow_cache.names) else NameNumbers()
        size = self.size
        if isinstance(names, GrowingNames) and cache.identity and len(cache.names) == size:  # all new ones are distinct
            self.stream_names = names
            cache.extend(names, np.arange(size, len(names), dtype=np.int32))
        else:
            new = cache.new_names(names)
            if isinstance(names, GrowingNames) and self.known.keys().isdisjoint(new):
                self.known.update(zip(new, range(size, size + len(new)), strict=True))
                numbers = np.arange(size, size + len(new), dtype=np.int32)
            else:
                numbers = np.fromiter(map(self.known.__getitem__, new), np.int32, len(new))
            cache.extend(names, numbers)
        self.grow_cache = cache if len(names) > FEW else NameNumbers()
        return cache

    def look_up(self, names: Sequence[str]) -> NameNumbers:
        """Return the numbers of names; unknown names share the number after the last."""
        size, cache = self.size, self.lookup_cache
        if cache.vocabulary_size != size or not extends(names, cache.names):
            cache = NameNumbers()
            cache.vocabulary_size = size
        new = cache.new_names(names)
        self.lookup_cache = NameNumbers()  # until the other one is whole again
        numbers = np.fromiter(map(self.known.get, new, repeat(size)), np.int32, len(new))
        cache.all_known = cache.all_known and not bool((numbers == size).any())
        cache.extend(names, numbers)
        self.lookup_cache = cache if len(names) > FEW else NameNumbers()
        return cache

    def name(self, number: int) -> Any:
        """Return the name of a feature, or its number if features have no names."""
        return number if self.mode != "names" else self.as_list()[number]

    def as_list(self) -> list[str]:
        """Return all names, by number."""
        return list(self.known)

    def truncate(self, size: int) -> None:
        """Forget all but the first `size` names."""
        known, self.stream_names = self.known, GrowingNames([], 0)
        self.grow_cache, self.lookup_cache = NameNumbers(), NameNumbers()
        while len(known) > size:
            known.popitem()


def wrong_number(number: Any, row: int) -> BadValue:
    if not isinstance(number, (int, np.integer)):
        wanted = "this learner knows its features by column number, a whole number"
        return BadValue(f"row {row}: feature {shown(number)}: {wanted}", row)
    return BadValue(f"row {row}: feature number {shown(number)} is outside 0 to {LARGEST_INDEX - 1}", row)


def check_column_numbers(names: Iterable[Any], indptr: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the column numbers of rows as an array, or raise an error that names the first one that is invalid.

    `indptr` says where those of every row begin.
    """
    numbers = list(names)
    for at, number in enumerate(numbers):
        if not isinstance(number, (int, np.integer)) or not 0 <= number < LARGEST_INDEX:
            raise wrong_number(number, int(np.searchsorted(indptr, at, "right")) - 1)
    return np.array(numbers, dtype=np.int32)
