"""Fitted transforms: keep statistics of every feature, updated row by row and rolled back when a call fails."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, DenseBlock, SparseBlock, all_finite, verify
from noregret.errors import BadValue
from noregret.features.feature_selectors import FeatureSelectors, SelectorParam, selected_names
from noregret.rules.parameters import Choice, Param

INDICATOR = -1.0  # the count of an indicator feature (0 or 1), which is not transformed
LEARN = 0  # the slot of a loop's table that says whether to learn; the slots of its arrays follow
NOTHING = np.zeros(0, np.int32)

Arrays = tuple[NDArray[Any], ...]
Floats = NDArray[np.float64]
Table = NDArray[np.int64]  # what a compiled loop is called with: numbers, and addresses of arrays
Entries = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]  # offsets, feature numbers, values
Groups = NDArray[np.int64] | None  # for each entry, a bit mask of the selector groups its feature belongs to


class Loop(NamedTuple):
    """A compiled loop: the function, the entry that reads its arrays from a table, and the arrays' types by name.

    The function is called as `plain(learn, inputs, out, statistics)`.
    """

    plain: Callable[..., None]
    entry: Callable[..., int]
    arrays: Mapping[str, Any]
    inputs: int = 3  # how many of the arrays are inputs; the next one is the output, the rest are statistics


class PipelineRows(NamedTuple):
    """Rows between two transforms, with the numbers of the indicator features (0 or 1) and the selector groups."""

    block: Block
    indicators: NDArray[Any]
    groups: Groups = None


Options = Mapping[str, Param | Choice | SelectorParam]
Runner = Callable[[Loop, bool, Arrays], None]
VALUES = {"indptr": np.int64, "idx": np.int32, "val": np.float64, "out": np.float64}


def value_loop(plain: Callable[..., None], entry: Callable[..., int], *statistics: str) -> Loop:
    """Describe a loop over the values of rows and the named arrays of statistics."""
    return Loop(plain, entry, VALUES | dict.fromkeys(statistics, np.float64))


def run_interpreted(loop: Loop, learn: bool, arrays: Arrays) -> None:
    """Run a loop as plain Python."""
    with np.errstate(all="ignore"):
        loop.plain(learn, arrays[: loop.inputs], arrays[loop.inputs], arrays[loop.inputs + 1 :])


class FittedTransform:
    """A transform in use: transforms each row by statistics of the earlier rows, then updates these with the row."""

    name: ClassVar[str]
    params: ClassVar[Options] = {"only": SelectorParam()}
    loop: ClassVar[Loop]
    fields: ClassVar[tuple[str, ...]] = ()  # statistics with one cell per feature
    counters: ClassVar[tuple[str, ...]] = ()  # statistics that are single numbers
    indicator_field: ClassVar[str | None] = None  # the field whose value INDICATOR marks features to leave unchanged
    accepts_missing: ClassVar[bool] = False  # whether values may be missing
    passes_missing = False  # whether missing values stay missing, for a learner that handles them itself
    merges: ClassVar[bool] = False  # whether the statistics of two of them can be put together, by `absorb`

    def __init__(self, options: Mapping[str, Any], run: Runner, selectors: FeatureSelectors | None = None) -> None:
        self.options, self.run = options, run
        self.bits = {} if selectors is None else {name: selectors.bits[name] for name in selected_names(options)}
        self.only = sum(self.bits[name] for name in options.get("only", ()))  # the selected groups; 0 selects all
        self.arrays = {name: np.zeros(0) for name in self.fields} | {name: np.zeros(1) for name in self.counters}
        self.width = 0  # features learned so far; the arrays may be longer
        self.savepoint: Any = None

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> str | None:
        """Return what is wrong with options that are valid one by one, or None."""
        return None

    @property
    def has_state(self) -> bool:
        """Whether it keeps statistics of the rows learned."""
        return bool(self.arrays)

    @property
    def capacity(self) -> int:
        """The number of features the arrays have cells for."""
        return min((self.arrays[name].size for name in self.fields), default=0)

    def absorb(self, other: "FittedTransform", order: NDArray[np.int64]) -> None:
        """Add the statistics of another; its feature j is feature order[j] here."""
        raise BadValue(f"learners that transform by {self.name} cannot be merged: each goes by what it saw")

    def row_loops(self) -> tuple[Loop, ...] | None:
        """Return the loops that transform a single row of finite values; None if more than that has to be done."""
        own = type(self)
        simple = own.apply is FittedTransform.apply and own.transform_values is FittedTransform.transform_values
        return (self.loop,) if simple else None

    def extra_arrays(self) -> Arrays:
        """Return the arrays that the loop needs besides rows and statistics: its options."""
        return ()

    def check(self, block: Block) -> Block:
        """Return the block with all checks made."""
        if not self.passes_missing:
            return verify(block)
        from noregret.features.missing import check_except_missing

        block = check_except_missing(block)
        return block if self.output_width() is None else refuse_missing(self.name, block)

    def select(self, groups: Groups) -> NDArray[np.bool_] | None:
        """Mark the entries this transform applies to; None if it applies to all."""
        return None if not self.only or groups is None else (groups & self.only) != 0

    def apply(self, rows: PipelineRows, learn: bool, include_unknown: bool) -> PipelineRows:
        """Transform rows, and with `learn` update the statistics.

        With `include_unknown`, features not learned yet get numbers of their own; otherwise they may share one number
        past the known ones.
        """
        block = self.check(rows.block)
        self.reserve(block.width)
        selected = self.select(expand_groups(rows.groups, block))
        given = entries(block)
        if self.passes_missing and (missing := np.isnan(given[2])).any():
            selected = ~missing if selected is None else selected & ~missing
        if selected is None:
            values = self.transform_values(given, learn, rows.indicators, block.width)
            return rows._replace(block=replace_values(block, values))
        out = given[2].copy()
        out[selected] = self.transform_values(select_entries(given, selected), learn, rows.indicators, block.width)
        return rows._replace(block=replace_values(block, out))

    def transform_values(self, rows: Entries, learn: bool, indicators: NDArray[Any], width: int) -> NDArray[np.float64]:
        """Return the transformed values of the entries, and with `learn` update the statistics."""
        touched = self.save_touched(rows[1], indicators, width) if learn and rows[0].size > 1 else NOTHING
        marks = None if self.indicator_field is None else self.arrays[self.indicator_field]
        new = NOTHING if marks is None else indicators[marks[indicators] == 0.0]
        out = np.empty(rows[1].size)
        try:
            if marks is not None:
                marks[new] = INDICATOR
            self.run(self.loop, learn, (*rows, out, *self.arrays.values(), *self.extra_arrays()))
        finally:
            if marks is not None and not learn:  # only learning decides whether a feature is an indicator
                marks[new] = 0.0
        if not all(all_finite(self.arrays[name][touched]) for name in self.fields):
            raise BadValue(self.overflow_message())
        return check_finite(self.name, out, rows[0])

    def overflow_message(self) -> str:
        """Return the error message for values too large for the statistics."""
        return f"{self.name} cannot handle values this large; leave it out"

    def reserve(self, width: int) -> None:
        """Grow the arrays to hold at least `width` features."""
        for name in self.fields:
            array = self.arrays[name]
            if width > array.size:
                more = np.zeros(max(width - array.size, array.size))
                self.arrays[name] = np.concatenate((array, more))

    def save_touched(self, idx: NDArray[Any], indicators: NDArray[Any], width: int) -> NDArray[Any]:
        """Save the cells that learning these features will change, for a rollback; return the features' numbers."""
        touched = unique_below(np.concatenate((idx, indicators)), width) if self.fields else NOTHING
        cells = {name: self.arrays[name][touched] for name in self.fields}
        counters = {name: self.arrays[name].copy() for name in self.counters}
        self.savepoint = (self.width, touched, cells, counters)
        self.width = max(self.width, width)
        return touched

    def commit(self) -> None:
        """Keep what was learned: drop the savepoint."""
        self.savepoint = None

    def rollback(self) -> None:
        """Undo what was learned since the last commit."""
        if self.savepoint is None:
            return
        self.width, touched, cells, counters = self.savepoint
        for name, old in cells.items():
            self.arrays[name][touched] = old
        for name, old in counters.items():
            self.arrays[name][:] = old
        self.savepoint = None

    def namer(self, before: Callable[[int], Any]) -> Callable[[int], Any]:
        """Return the function that names features after this transform, given the one for features before it."""
        return before

    # ---- in a model file ------------------------------------------------------------------------------------------

    def dump(self, width: int | None = None) -> dict[str, NDArray[Any]]:
        """Return the arrays for a model file, cut to the features learned."""
        width = self.width if width is None else width
        cut = {name: pad(self.arrays[name], width) for name in self.fields}
        return cut | {name: self.arrays[name].copy() for name in self.counters}

    def restore(self, saved: Mapping[str, NDArray[Any]], width: int | None = None) -> bool:
        """Load the arrays of a model file, for `width` features if known; False if they are not valid."""
        sizes = {saved[name].shape for name in self.fields} | (
            {(width,)} if width is not None and self.fields else set()
        )
        sound = len(sizes) <= 1 and all(len(size) == 1 for size in sizes)
        sound = sound and all(saved[name].shape == (1,) for name in self.counters)
        names = (*self.fields, *self.counters)
        sound = sound and all(saved[name].dtype == np.float64 and all_finite(saved[name]) for name in names)
        if sound and self.is_valid(saved):
            self.arrays = {name: saved[name].copy() for name in names}
            self.width = next(iter(sizes))[0] if sizes else 0
            return True
        return False

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        """Return whether finite arrays of the right sizes can be the statistics of this transform."""
        return True

    def output_width(self) -> int | None:
        """Return the number of output features, or None if they are the input features."""
        return None


# ---- rows --------------------------------------------------------------------------------------------------------


def entries(block: Block) -> Entries:
    """Return the offsets, feature numbers and values of rows; a row of a dense block has all features."""
    if isinstance(block, SparseBlock):
        used = int(block.indptr[-1])
        idx = np.ascontiguousarray(block.idx[:used], dtype=np.int32)
        return np.ascontiguousarray(block.indptr), idx, np.ascontiguousarray(block.val[:used])
    indptr = np.arange(block.rows + 1, dtype=np.int64) * block.width
    idx = np.tile(np.arange(block.width, dtype=np.int32), block.rows)
    return indptr, idx, np.ascontiguousarray(block.val).reshape(-1)


def select_entries(rows: Entries, selected: NDArray[np.bool_]) -> Entries:
    """Return only the selected entries of rows."""
    indptr, idx, val = rows
    return np.concatenate(([0], np.cumsum(selected)))[indptr], idx[selected], val[selected]


def expand_groups(groups: Groups, block: Block) -> Groups:
    """Return the groups of every entry that `entries` lists; for a matrix they are given per column."""
    return np.tile(groups, block.rows) if groups is not None and isinstance(block, DenseBlock) else groups


def replace_values(block: Block, values: NDArray[np.float64]) -> Block:
    """Return the rows with other values."""
    if isinstance(block, DenseBlock):
        return DenseBlock(values.reshape(block.val.shape))
    return block._replace(val=values)


def refuse_missing(name: str, block: Block) -> Block:
    """Return rows without missing values, from which features can be made."""
    missing = np.flatnonzero(np.isnan(entries(block)[2]))
    if missing.size:
        row = int(np.searchsorted(entries(block)[0], missing[0], side="right")) - 1
        raise BadValue(f"row {row}: a value is missing, and {name} makes features of values; put nr.missing() before "
                       f"it, or leave {name} out", row=row)  # fmt: skip
    return block


def check_finite(name: str, values: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the values, or raise an error that names the row in which one is not finite."""
    if not all_finite(values):
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        raise BadValue(f"row {row}: after {name} a value is no longer finite; clip the values first", row=row)
    return values


def pad(array: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Cut or zero-pad an array to a size."""
    return np.concatenate((array, np.zeros(max(0, size - array.size))))[:size]


def unique_below(numbers: NDArray[Any], width: int) -> NDArray[Any]:
    """Return the distinct numbers, sorted; all are below `width`. Many are found by marking, few by sorting."""
    if 16 * numbers.size < width:
        return np.unique(numbers)
    marked = np.zeros(width, bool)
    marked[numbers] = True
    return np.flatnonzero(marked)
