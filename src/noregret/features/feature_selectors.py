"""Features chosen by name: a column or namespace a means the features a, a=... and a^...

Every name that a pipeline chooses by has a bit; the kinds of a feature are the bits of those it belongs to. Kinds stand
beside the values of sparse rows, and beside the columns of a table.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import numpy as np

from noregret.data.blocks import Rows, SparseBlock, flatten_dicts
from noregret.errors import BadValue, shown
from noregret.features.names import extends

MOST = 62  # names that the transforms of one learner may choose by: the bits of a whole number
MARKS = re.compile(r"[%,+*\s]")  # what means something else on the command line


@dataclass(frozen=True)
class Chosen:
    """A parameter that chooses features by name: some of them, or pairs of them where it is `paired`."""

    paired: bool = False
    default: tuple[Any, ...] = ()

    def check(self, owner: str, name: str, given: Any) -> tuple[Any, ...]:
        example = f'{name}=[("user", "ad")]' if self.paired else f'{name}=["user", "ad"]'
        given = [given] if isinstance(given, (str, int)) and not isinstance(given, bool) else given
        try:
            listed = [tuple(map(called, as_listed(one))) if self.paired else called(one) for one in as_listed(given)]
        except TypeError:
            raise BadValue(f"{owner}: {name} chooses features by name, as in {example}, not {shown(given)}") from None
        wrong = next((one for one in listed if self.paired and len(one) != 2), None)
        if wrong is not None:
            raise BadValue(f"{owner}: {name} wants two names for every pair, as in {example}, not {shown(wrong)}")
        return tuple(dict.fromkeys(listed))

    def parsed(self, text: str) -> Any:
        """What is chosen, as the command line and model files write it: user*ad+user*hour, or hour+weekday."""
        parts = [part.strip() for part in text.split("+")]
        if not self.paired:
            return [unquote(part) for part in parts]
        return [[unquote(one.strip()) for one in part.split("*")] for part in parts]

    def written(self, told: tuple[Any, ...]) -> str:
        return "+".join("*".join(map(quoted, one)) if self.paired else quoted(one) for one in told)


def as_listed(given: Any) -> Iterable[Any]:
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
        return given
    raise TypeError


def called(name: Any) -> str:
    """A name as text; the features of a matrix are called by their number."""
    if isinstance(name, bool) or not isinstance(name, (str, int, np.integer)) or name == "":
        raise TypeError
    return str(name)


def quoted(name: str) -> str:
    return MARKS.sub(lambda mark: "".join(f"%{byte:02X}" for byte in mark[0].encode()), name)


def names_in(told: Mapping[str, Any]) -> list[str]:
    """All names that a transform chooses by."""
    return [*told.get("only", ()), *(name for pair in told.get("between", ()) for name in pair)]


class Choosing:
    """Tells the kinds of features, for the names that a pipeline chooses by."""

    def __init__(self, groups: Sequence[str]) -> None:
        self.bits = {name: 1 << place for place, name in enumerate(groups)}
        self.begins = [((f"{name}=", f"{name}^"), bit) for name, bit in self.bits.items()]
        self.before: Sequence[str] = ()
        self.known = np.zeros(0, np.int64)

    def of_name(self, name: str) -> int:
        found = self.bits.get(name, 0)
        for begins, bit in self.begins:
            if name.startswith(begins):
                found |= bit
        return found

    def of_names(self, names: Sequence[str]) -> np.ndarray:
        """The kinds of the names of a stream, which mostly begin as they did in its last batch."""
        before, known = (self.before, self.known) if extends(names, self.before) else ((), np.zeros(0, np.int64))
        fresh = names[len(before) :]
        kinds = np.concatenate((known, np.fromiter(map(self.of_name, fresh), np.int64, len(fresh))))
        self.before, self.known = names, kinds
        return kinds

    def of_columns(self, block: Any) -> np.ndarray:
        """The kinds of features that have only numbers."""
        kinds = np.zeros(block.width + 1, np.int64)
        for name, bit in self.bits.items():
            if name.isdecimal() and int(name) < block.width:
                kinds[int(name)] |= bit
        return kinds[block.idx[: int(block.indptr[-1])]] if isinstance(block, SparseBlock) else kinds[:-1]


def as_rows(dicts: Sequence[Mapping[Any, Any]], gaps: bool) -> Rows:
    """Rows given as dicts of names, as those of a stream that names its features."""
    indptr, names, val = flatten_dicts(dicts, gaps)
    numbers: dict[Any, int] = {}
    idx = np.fromiter((numbers.setdefault(name, len(numbers)) for name in names), np.int32, len(names))
    wrong = next((name for name in numbers if not isinstance(name, str)), None)
    if wrong is not None:
        raise BadValue(f"feature {wrong!r}: this learner knows its features by name; a name is a string")
    return Rows(SparseBlock(indptr, idx, val, len(numbers), ready=False), list(numbers))


def gathered(block: SparseBlock, before: SparseBlock, kinds: np.ndarray) -> np.ndarray:
    """The kinds of sorted rows, from those of the same rows before values of one feature were put together."""
    found = np.zeros(int(block.indptr[-1]), np.int64)
    np.bitwise_or.at(found, np.searchsorted(places(block), places(before)), kinds)
    return found


def places(block: SparseBlock) -> np.ndarray:
    rows = np.repeat(np.arange(block.rows, dtype=np.int64), np.diff(block.indptr))
    return np.asarray((rows << 31) | block.idx[: rows.size])
