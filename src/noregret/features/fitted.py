"""A transform at work: what it has seen of every feature, kept up row by row, put back when a call is refused."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from noregret.data.blocks import Block, DenseBlock, SparseBlock, all_finite, verify
from noregret.errors import BadValue
from noregret.features.feature_selectors import Choosing, Chosen, names_in
from noregret.rules.card import Choice, Param

NEVER = -1.0  # the count of a feature that only says yes or no, and is left as it is
LEARN = 0  # the slot of a loop's table that says whether to learn; its arrays stand behind it
NOTHING = np.zeros(0, np.int32)


class Loop(NamedTuple):
    """A loop `plain(learn, given, out, seen)`, the text that reads its arrays from a table, and their types by name."""

    plain: Callable[..., None]
    text: Callable[..., int]
    arrays: Mapping[str, Any]
    given: int = 3  # how many of the arrays are given, before the one that is written


class Passed(NamedTuple):
    """Rows on their way through transforms: the numbers of the features that only say yes or no, and, where features
    are chosen by name, the kinds of all."""

    block: Block
    never: np.ndarray
    kinds: np.ndarray | None = None


Options = Mapping[str, Param | Choice | Chosen]
Runner = Callable[[Loop, bool, tuple[np.ndarray, ...]], None]
VALUES = {"indptr": np.int64, "idx": np.int32, "val": np.float64, "out": np.float64}


def over_values(plain: Callable[..., None], text: Callable[..., int], *seen: str) -> Loop:
    """A loop over the values of some rows and the arrays named."""
    return Loop(plain, text, VALUES | dict.fromkeys(seen, np.float64))


def interpreted(loop: Loop, learn: bool, arrays: tuple[np.ndarray, ...]) -> None:
    """Run a loop as the plain Python it is."""
    with np.errstate(all="ignore"):
        loop.plain(learn, arrays[: loop.given], arrays[loop.given], arrays[loop.given + 1 :])


class Running:
    """A step between rows and a learner. It measures a row by the rows before, then learns from it."""

    name: ClassVar[str]
    params: ClassVar[Options] = {"only": Chosen()}
    loop: ClassVar[Loop]
    fields: ClassVar[tuple[str, ...]] = ()  # arrays with a cell for every feature
    counts: ClassVar[tuple[str, ...]] = ()  # single numbers
    spares: ClassVar[str | None] = None  # the field that remembers which features are left as they are
    takes_gaps: ClassVar[bool] = False  # whether values may be missing

    def __init__(self, told: Mapping[str, Any], run: Runner, choosing: Choosing | None = None) -> None:
        self.told, self.run = told, run
        self.bits = {} if choosing is None else {name: choosing.bits[name] for name in names_in(told)}
        self.only = sum(self.bits[name] for name in told.get("only", ()))  # the kinds it is for; 0 where it is for all
        self.arrays = {name: np.zeros(0) for name in self.fields} | {name: np.zeros(1) for name in self.counts}
        self.width = 0  # features learned; the arrays may be longer
        self.before: Any = None

    @property
    def keeps(self) -> bool:
        """Whether it keeps anything of the rows it has learned."""
        return bool(self.arrays)

    @property
    def room(self) -> int:
        """How many features the arrays have cells for."""
        return min((self.arrays[name].size for name in self.fields), default=0)

    def options(self) -> tuple[np.ndarray, ...]:
        """What the loop must know beside the rows and what was seen."""
        return ()

    def checked(self, block: Block) -> Block:
        return verify(block)

    def chosen(self, kinds: np.ndarray | None) -> np.ndarray | None:
        """Which of the features this transform is for; None where it is for all."""
        return None if not self.only or kinds is None else (kinds & self.only) != 0

    def apply(self, rows: Passed, learn: bool, include_unknown: bool) -> Passed:
        """The rows transformed.

        With `include_unknown`, features never learned get numbers of their own; otherwise they may share one number
        past the known ones.
        """
        block = self.checked(rows.block)
        self.reach(block.width)
        some = self.chosen(by_entry(rows.kinds, block))
        given = entries(block)
        if some is None:
            return rows._replace(block=with_values(block, self.measured(given, learn, rows.never, block.width)))
        out = given[2].copy()
        out[some] = self.measured(those(given, some), learn, rows.never, block.width)
        return rows._replace(block=with_values(block, out))

    def measured(self, rows: tuple[np.ndarray, ...], learn: bool, never: np.ndarray, width: int) -> np.ndarray:
        """The values transformed."""
        touched = self.remember(rows[1], never, width) if learn and rows[0].size > 1 else NOTHING
        marks = None if self.spares is None else self.arrays[self.spares]
        fresh = NOTHING if marks is None else never[marks[never] == 0.0]
        out = np.empty(rows[1].size)
        try:
            if marks is not None:
                marks[fresh] = NEVER
            self.run(self.loop, learn, (*rows, out, *self.arrays.values(), *self.options()))
        finally:
            if marks is not None and not learn:  # what is only looked at may turn out to be a number when it is learned
                marks[fresh] = 0.0
        if not all(all_finite(self.arrays[name][touched]) for name in self.fields):
            raise BadValue(self.too_large())
        return finite(self.name, out, rows[0])

    def too_large(self) -> str:
        return f"values this large cannot be taken by {self.name}; leave it out"

    def reach(self, width: int) -> None:
        """Make room for so many features."""
        for name in self.fields:
            array = self.arrays[name]
            if width > array.size:
                more = np.zeros(max(width - array.size, array.size))
                self.arrays[name] = np.concatenate((array, more))

    def remember(self, idx: np.ndarray, never: np.ndarray, width: int) -> np.ndarray:
        """Keep all that learning these features will change; the numbers of the features that are touched."""
        touched = distinct(np.concatenate((idx, never)), width) if self.fields else NOTHING
        cells = {name: self.arrays[name][touched] for name in self.fields}
        counts = {name: self.arrays[name].copy() for name in self.counts}
        self.before = (self.width, touched, cells, counts)
        self.width = max(self.width, width)
        return touched

    def keep(self) -> None:
        """What was learned so far stays."""
        self.before = None

    def restore(self) -> None:
        """Forget what was learned last, if it was not kept."""
        if self.before is None:
            return
        self.width, touched, cells, counts = self.before
        for name, old in cells.items():
            self.arrays[name][touched] = old
        for name, old in counts.items():
            self.arrays[name][:] = old
        self.before = None

    def namer(self, before: Callable[[int], Any]) -> Callable[[int], Any]:
        """How features are called after this step, from how they are called before it."""
        return before

    # ---- in a model file ------------------------------------------------------------------------------------------

    def saved(self, width: int | None = None) -> dict[str, np.ndarray]:
        """Every array without its spare room."""
        width = self.width if width is None else width
        cut = {name: padded(self.arrays[name], width) for name in self.fields}
        return cut | {name: self.arrays[name].copy() for name in self.counts}

    def revive(self, saved: Mapping[str, np.ndarray], width: int | None = None) -> bool:
        """Take up what was saved, of so many features if that is known; False if this transform cannot have seen it."""
        sizes = {saved[name].shape for name in self.fields} | (
            {(width,)} if width is not None and self.fields else set()
        )
        sound = len(sizes) <= 1 and all(len(size) == 1 for size in sizes)
        sound = sound and all(saved[name].shape == (1,) for name in self.counts)
        names = (*self.fields, *self.counts)
        sound = sound and all(saved[name].dtype == np.float64 and all_finite(saved[name]) for name in names)
        if sound and self.possible(saved):
            self.arrays = {name: saved[name].copy() for name in names}
            self.width = next(iter(sizes))[0] if sizes else 0
            return True
        return False

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        """Whether finite arrays of the right sizes can be what this transform has seen."""
        return True

    def outputs(self) -> int | None:
        """How many features come out, where they are other ones than go in."""
        return None


# ---- rows --------------------------------------------------------------------------------------------------------


def entries(block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows as offsets, columns and values; a row of a dense block has a value in every column."""
    if isinstance(block, SparseBlock):
        used = int(block.indptr[-1])
        idx = np.ascontiguousarray(block.idx[:used], dtype=np.int32)
        return np.ascontiguousarray(block.indptr), idx, np.ascontiguousarray(block.val[:used])
    indptr = np.arange(block.rows + 1, dtype=np.int64) * block.width
    idx = np.tile(np.arange(block.width, dtype=np.int32), block.rows)
    return indptr, idx, np.ascontiguousarray(block.val).reshape(-1)


def those(rows: tuple[np.ndarray, ...], some: np.ndarray) -> tuple[np.ndarray, ...]:
    """Some of the values of rows."""
    indptr, idx, val = rows
    return np.concatenate(([0], np.cumsum(some)))[indptr], idx[some], val[some]


def by_entry(kinds: np.ndarray | None, block: Block) -> np.ndarray | None:
    """The kinds of every value that `entries` lists."""
    return np.tile(kinds, block.rows) if kinds is not None and isinstance(block, DenseBlock) else kinds


def with_values(block: Block, values: np.ndarray) -> Block:
    """The same rows with other values."""
    if isinstance(block, DenseBlock):
        return DenseBlock(values.reshape(block.val.shape))
    return block._replace(val=values)


def finite(name: str, values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """The values, or an error that names the row in which one is no longer finite."""
    if not all_finite(values):
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        raise BadValue(f"row {row}: after {name} a value is no longer finite; clip the values before", row=row)
    return values


def padded(array: np.ndarray, size: int) -> np.ndarray:
    return np.concatenate((array, np.zeros(max(0, size - array.size))))[:size]


def distinct(numbers: np.ndarray, width: int) -> np.ndarray:
    """The different numbers, all below the width: marked where they are many, sorted where they are few."""
    if 16 * numbers.size < width:
        return np.unique(numbers)
    marked = np.zeros(width, bool)
    marked[numbers] = True
    return np.flatnonzero(marked)
