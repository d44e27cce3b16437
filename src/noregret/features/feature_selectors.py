"""Feature selectors: apply a transform only to some columns or namespaces.

The selector a stands for the group of features a, a=... and a^... Every selector of a pipeline has a bit, and the
groups of a feature are the bits of the selectors that match it. Groups are kept per entry of sparse rows, and per
column of a matrix. So a row is transformed alike whichever names were seen before, and also where two hashed names
share a cell.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, Rows, SparseBlock, flatten_dicts
from noregret.errors import BadValue, shown
from noregret.features.names import extends

MAX_GROUPS = 62  # the most selectors of one learner: the bits of an int64
RESERVED = re.compile(r"[%,+*\s]")  # characters with another meaning on the command line


@dataclass(frozen=True)
class SelectorParam:
    """A parameter of a transform that selects features by name, or pairs of features if `paired`."""

    paired: bool = False
    default: tuple[Any, ...] = ()

    def check(self, owner: str, name: str, given: Any) -> tuple[Any, ...]:
        """Return the selectors as a tuple, or raise an error that shows how to write them."""
        example = f'{name}=[("user", "ad")]' if self.paired else f'{name}=["user", "ad"]'
        given = [given] if isinstance(given, (str, int)) and not isinstance(given, bool) else given
        read: Callable[[Any], Any] = check_pair if self.paired else check_name
        try:
            selectors = [read(selector) for selector in check_list(given)]
        except TypeError:
            raise BadValue(f"{owner}: {name} selects features by name, as in {example}, not {shown(given)}") from None
        wrong = next((selector for selector in selectors if self.paired and len(selector) != 2), None)
        if wrong is not None:
            raise BadValue(f"{owner}: {name} needs two names for every pair, as in {example}, not {shown(wrong)}")
        return tuple(dict.fromkeys(selectors))

    def parse(self, text: str) -> Any:
        """Parse selectors as the command line and model files write them: user*ad+user*hour, or hour+weekday."""
        parts = [part.strip() for part in text.split("+")]
        if not self.paired:
            return [unquote(part) for part in parts]
        return [[unquote(name.strip()) for name in part.split("*")] for part in parts]

    def format(self, selectors: tuple[Any, ...]) -> str:
        """Write selectors as `parse` reads them."""
        return "+".join("*".join(map(quote, one)) if self.paired else quote(one) for one in selectors)


def check_list(given: Any) -> Iterable[Any]:
    """Refuse anything that is not a list of values."""
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
        return given
    raise TypeError


def check_pair(given: Any) -> tuple[str, ...]:
    """Return names as a tuple."""
    return tuple(map(check_name, check_list(given)))


def check_name(name: Any) -> str:
    """Return a name as text; features of a matrix are selected by their number."""
    if isinstance(name, bool) or not isinstance(name, (str, int, np.integer)) or name == "":
        raise TypeError
    return str(name)


def quote(name: str) -> str:
    """Percent-encode the reserved characters of a name."""
    return RESERVED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name)


def selected_names(options: Mapping[str, Any]) -> list[str]:
    """Return all names in the selectors of a transform."""
    paired = (name for pair in options.get("between", ()) for name in pair)
    return [*options.get("only", ()), *options.get("negate", ()), *paired]


class FeatureSelectors:
    """The selectors of a pipeline: finds the groups of features."""

    def __init__(self, group_names: Sequence[str]) -> None:
        self.bits = {name: 1 << number for number, name in enumerate(group_names)}
        self.prefixes = [((f"{name}=", f"{name}^"), bit) for name, bit in self.bits.items()]
        self.cached_names: Sequence[str] = ()
        self.cached_groups = np.zeros(0, np.int64)

    def groups_of_name(self, name: str) -> int:
        """Return the groups of one name."""
        groups = self.bits.get(name, 0)
        for prefixes, bit in self.prefixes:
            if name.startswith(prefixes):
                groups |= bit
        return groups

    def groups_of_names(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the groups of the names of a stream; those of the last batch are cached."""
        cached, known = self.cached_names, self.cached_groups
        if not extends(names, cached):
            cached, known = (), np.zeros(0, np.int64)
        new = names[len(cached) :]
        groups = np.concatenate((known, np.fromiter(map(self.groups_of_name, new), np.int64, len(new))))
        self.cached_names, self.cached_groups = names, groups
        return groups

    def groups_of_columns(self, block: Block) -> NDArray[np.int64]:
        """Return the groups of features without names, per entry or per column."""
        groups = np.zeros(block.width + 1, np.int64)
        for name, bit in self.bits.items():
            if name.isdecimal() and int(name) < block.width:
                groups[int(name)] |= bit
        return groups[block.idx[: int(block.indptr[-1])]] if isinstance(block, SparseBlock) else groups[:-1]


def dicts_to_rows(dicts: Sequence[Mapping[Any, Any]], allow_missing: bool) -> Rows:
    """Convert dicts to rows with feature names."""
    indptr, names, val = flatten_dicts(dicts, allow_missing)
    numbers: dict[Any, int] = {}
    idx = np.fromiter((numbers.setdefault(name, len(numbers)) for name in names), np.int32, len(names))
    wrong = next((name for name in numbers if not isinstance(name, str)), None)
    if wrong is not None:
        raise BadValue(f"feature {wrong!r}: this learner knows its features by name; a name is a string")
    return Rows(SparseBlock(indptr, idx, val, len(numbers), ready=False), list(numbers))


def merge_groups(block: SparseBlock, before: SparseBlock, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the groups of sorted rows, given those of the entries before duplicates were summed."""
    merged = np.zeros(int(block.indptr[-1]), np.int64)
    np.bitwise_or.at(merged, np.searchsorted(entry_keys(block), entry_keys(before)), groups)
    return merged


def entry_keys(block: SparseBlock) -> NDArray[np.int64]:
    """Return row and feature of every entry as one sortable integer."""
    rows = np.repeat(np.arange(block.rows, dtype=np.int64), np.diff(block.indptr))
    return np.asarray((rows << 31) | block.idx[: rows.size])
