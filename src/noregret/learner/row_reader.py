"""Compiled readers of single rows: the room for a row, the tables that lead to it, and the function over them."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.class_weights import ROOT
from noregret.features import canonicalize
from noregret.features.derived import DerivedTransform
from noregret.features.fitted import LEARN, FittedTransform, Loop
from noregret.features.kernel_maps import KernelMap
from noregret.features.keys import Keys
from noregret.jit import dict_reader
from noregret.jit.compiled import get_function, vectors
from noregret.jit.layout import Table, address, fill, fill_named
from noregret.learner.prepared_round import (
    PREPARED,
    PREPARED_ARRAYS,
    WORDS_EACH,
    PreparedSlots,
    prepared_round,
)
from noregret.learner.row_stages import FIND_GROUPS, MERGE, PLACE_KEYS, REQUIRE_ROW, SELECT
from noregret.learner.transform_loops import place_arrays
from noregret.state.guarded_round import LARGEST, SIGN
from noregret.state.slots import count_slots

if TYPE_CHECKING:
    from noregret.learner.fast_path import FastPath

NO_COUNTS = np.zeros(0, np.int64)


class Row(NamedTuple):
    """Room for one row and for what the loop reads and writes beside it."""

    idx: NDArray[np.int32]
    val: NDArray[np.float64]
    ends: NDArray[np.int64]
    truth: NDArray[np.float64]
    importance: NDArray[np.float64]
    updated: NDArray[np.uint8]
    checked: NDArray[np.int64]
    aux: NDArray[np.float64]


def make_row(features: int) -> Row:
    idx, val, ends = np.zeros(features, np.int32), np.zeros(features), np.zeros(2, np.int64)
    return Row(idx, val, ends, np.zeros(1), np.ones(1), np.zeros(1, np.uint8), np.zeros(1, np.int64), np.zeros(1))


class RowReader:
    """A compiled reader for rows of at most so many features, built whole and never changed.

    A reader that learns has an undo log for the cells that a row touches; one that scores has none.
    """

    def __init__(self, path: "FastPath", features: int, learn: bool) -> None:
        self.features = features
        row = given = make_row(path.count_derived(features) + path.bias)
        loop, loop_table = path.loop, path.make_loop_table(row, learn)
        buffers: tuple[object, ...] = (*row, path.scored_names, path.known, path.arrays, path.out, loop_table)
        undo_log = 0
        if learn:
            round_table, *others = path.make_round_table(row, loop_table)
            buffers += (round_table, *others)
            loop, loop_table, undo_log = path.guarded_round, round_table, path.told_sizes(round_table)
        if path.prepares:
            given = row._replace(idx=np.zeros(features, np.int32), val=np.zeros(features), ends=np.zeros(2, np.int64))
            prepared = PreparedRound(path, row, given, learn)
            fill_named(prepared.table, PREPARED, loop=loop, loop_table=address(loop_table), undo_log=undo_log)
            buffers += (*given, loop_table, prepared)
            loop, loop_table, undo_log = prepared.loop, prepared.table, 0
        names = path.known if learn else path.scored_names
        self.table = dict_reader.make_table(
            buffers,
            names=0 if path.by_column else id(names), limit=path.limit, unknown=path.unknown_number(learn),
            learns=int(learn), loop=loop, loop_table=address(loop_table), undo_log=undo_log,
            compare=LARGEST if path.multiclass else SIGN,
            idx=given.idx, val=given.val, ends=given.ends, truth=row.truth, importance=row.importance, scores=path.out,
        )  # fmt: skip
        self.words = self.table.data
        self.call = dict_reader.make_function(self.table)


class StepRow(NamedTuple):
    """A row between two steps: where it ends, its features as the loops of transforms read them and as int64, values.

    `groups` are the selector groups of its entries.
    """

    ends: NDArray[np.int64]
    idx: NDArray[np.int32]
    numbers: NDArray[np.int64]
    val: NDArray[np.float64]
    groups: NDArray[np.int64]

    @classmethod
    def make(cls, size: int) -> "StepRow":
        return cls(np.zeros(2, np.int64), np.zeros(size, np.int32), np.zeros(size, np.int64), np.zeros(size),
                   np.zeros(size, np.int64))  # fmt: skip


class PreparedRound:
    """The table of `prepared_round` for one reader, and all that it leads to."""

    def __init__(self, path: "FastPath", row: Row, given: Row, learn: bool) -> None:
        model, size = path.model, given.idx.size
        self.path, self.learn, self.level = path, learn, 0
        self.table: Table
        self.loop = get_function(prepared_round, vectors(PREPARED_ARRAYS)).address
        self.kept: list[object] = [row, given]
        self.steps: list[list[int]] = []
        self.saved_words = 0
        start = StepRow(given.ends, given.idx, np.zeros(size, np.int64), given.val, np.zeros(size, np.int64))
        last = start
        if model.selectors.bits:
            self.add_stage(FIND_GROUPS, start, (start.ends, start.numbers, path.groups, start.groups))
        for transform in model.transforms:
            last = self.add_transform(transform, last)
        self.saved = np.zeros(self.saved_words)
        self.table = np.zeros(count_slots(PreparedSlots) + WORDS_EACH * len(self.steps), np.int64)
        self.table[PREPARED.first :] = np.array(self.steps, np.int64).reshape(-1)
        row.val[:1] = path.constant
        fill_named(
            self.table, PREPARED, learns=int(learn), given_idx=given.idx, given_val=given.val, given_ends=given.ends,
            idx=row.idx, val=row.val, ends=row.ends, bias=path.bias, saved=self.saved, counts=path.counts,
            root=int(model.config.class_weight == ROOT), positive=path.positive, truth=row.truth,
            importance=row.importance, steps=len(self.steps), hashed=path.hashed_cells, numbers=start.numbers,
            last_ends=address(last.ends), last_numbers=address(last.numbers), last_values=address(last.val),
        )  # fmt: skip
        self.kept += [start, last]
        if path.sorts_rows:
            self.add_sort(given)

    def add_transform(self, transform: FittedTransform, row: StepRow) -> StepRow:
        """Add the steps of a transform; returns the row that they leave."""
        if isinstance(transform, DerivedTransform):
            return self.add_derived(transform, row)
        if isinstance(transform, KernelMap):
            return self.add_map(transform, row)
        for loop in transform.row_loops() or ():
            if not transform.only or not self.path.model.selectors.bits:
                row = self.add_values(transform, loop, row)
                continue
            mask, part = np.array([transform.only], np.int64), StepRow.make(row.idx.size)
            self.add_stage(SELECT, row, (row.ends, row.numbers, row.val, row.groups, mask, part.ends, part.idx,
                                         part.numbers, part.val))  # fmt: skip
            done, out = self.add_values(transform, loop, part), np.zeros(row.val.size)
            self.add_stage(MERGE, row, (row.ends, row.groups, mask, row.val, done.val, out))
            row = row._replace(val=out)
        return row

    def add_values(self, transform: FittedTransform, loop: Loop, row: StepRow) -> StepRow:
        """Add the loop of a transform that gives features other values."""
        out = np.zeros(row.val.size)
        arrays: tuple[NDArray[Any], ...]
        arrays = (row.ends, row.idx, row.val, out, *transform.arrays.values(), *transform.extra_arrays())
        fields, counters = len(transform.fields), len(transform.counters)
        self.add_step(loop, row, arrays, (1, fields, counters))
        self.saved_words += fields * row.idx.size + counters
        return row._replace(val=out)

    def add_derived(self, transform: DerivedTransform, row: StepRow) -> StepRow:
        """Add the steps of a transform that makes features of others."""
        loop = transform.row_loop
        assert loop is not None
        made, path, keys = StepRow.make(transform.row_capacity(row.idx.size)), self.path, transform.keys
        assert isinstance(keys, Keys)
        first, second, size = np.zeros_like(made.numbers), np.zeros_like(made.numbers), np.zeros(1, np.int64)
        scratch = transform.row_scratch(row.idx.size, made.val)
        self.add_stage(loop, row, (row.ends, row.idx, row.val, made.val, first, second, row.groups, made.groups, size,
                                   transform.row_options(), *scratch))  # fmt: skip
        options = path.key_options(self.level, self.learn)
        self.add_stage(PLACE_KEYS, row, (first, second, size, *keys.known, options, path.missing, made.ends, made.idx,
                                         made.numbers))  # fmt: skip
        self.level += 1
        return made

    def add_map(self, transform: KernelMap, row: StepRow) -> StepRow:
        """Add the loop of a kernel map, which makes a row of a fixed number of features."""
        made = StepRow.make(transform.features)
        made.ends[1], made.idx[:], made.numbers[:] = (
            transform.features,
            np.arange(made.idx.size),
            np.arange(made.idx.size),
        )
        arrays: tuple[NDArray[Any], ...]
        arrays = (row.ends, row.idx, row.val, made.val, *transform.arrays.values(), *transform.extra_arrays())
        fields, counters = len(transform.fields), len(transform.counters)
        self.add_step(transform.loop, row, arrays, (0, fields, counters))
        self.saved_words += fields * row.idx.size + counters
        if transform.rows_done is not None:
            self.add_stage(REQUIRE_ROW, row, (transform.rows_done,))
        return made

    def add_stage(self, loop: Loop, row: StepRow, arrays: tuple[NDArray[Any], ...]) -> None:
        """Add a step without statistics."""
        self.add_step(loop, row, arrays, (0, 0, 0))

    def add_step(self, loop: Loop, row: StepRow, arrays: tuple[NDArray[Any], ...], rest: tuple[int, int, int]) -> None:
        """Add a step: its loop over these arrays, which reads a row; `rest` is sized, fields, counters."""
        places = place_arrays(loop)
        table = np.zeros(LEARN + 1 + 2 * len(places), np.int64)
        table[LEARN] = self.learn
        for (slot, _), array in zip(places.values(), arrays, strict=True):
            fill(table, slot, array)
        where = get_function(loop.entry, places).address
        self.steps.append([where, address(table), address(row.ends), address(row.numbers), *rest, self.saved_words])
        self.kept += [table, arrays, row]

    def add_sort(self, given: Row) -> None:
        """The compiled sort of a row."""
        longest = max(given.idx.size, 2 * canonicalize.RANKED + canonicalize.TOGETHER)
        buffers = (np.zeros(longest, np.int32), np.zeros(longest))
        places, table = canonicalize.slots(), np.zeros(canonicalize.SLOTS, np.int64)
        table[canonicalize.NEW_ONLY] = 1
        arrays = (np.zeros(0, np.int32), given.ends, given.idx, given.val, *buffers)
        for (slot, _), array in zip(places.values(), arrays, strict=True):
            fill(table, slot, array)
        where = get_function(canonicalize.entry, places).address
        fill_named(self.table, PREPARED, sort=where, sort_table=address(table))
        self.kept += [table, arrays]
