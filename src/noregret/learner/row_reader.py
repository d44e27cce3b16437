"""Compiled readers of single rows: the room for a row, the tables that lead to it, and the function over them."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.class_weights import ROOT
from noregret.features import canonicalize
from noregret.features.fitted import LEARN, FittedTransform, Loop
from noregret.jit import dict_reader
from noregret.jit.compiled import get_function, vectors
from noregret.jit.layout import address, fill, fill_named
from noregret.learner.prepared_round import (
    PREPARED,
    PREPARED_ARRAYS,
    WORDS_EACH,
    PreparedSlots,
    prepared_round,
)
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
        row = given = make_row(features + path.bias)
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


class PreparedRound:
    """The table of `prepared_round` for one reader, and all that it leads to."""

    def __init__(self, path: "FastPath", row: Row, given: Row, learn: bool) -> None:
        model, size = path.model, given.idx.size
        steps = [(one, loop) for one in model.transforms for loop in one.row_loops() or ()]
        self.table = np.zeros(count_slots(PreparedSlots) + WORDS_EACH * len(steps), np.int64)
        self.loop = get_function(prepared_round, vectors(PREPARED_ARRAYS)).address
        self.kept: list[object] = [row, given]
        self.saved = np.zeros(sum(size * len(one.fields) + len(one.counters) for one, _ in steps))
        values = given.val
        for at, (one, loop) in enumerate(steps):
            values = self.add(PREPARED.first + WORDS_EACH * at, one, loop, given._replace(val=values), learn)
        row.val[:1] = path.constant
        fill_named(
            self.table, PREPARED, learns=int(learn), given_idx=given.idx, given_val=given.val, given_ends=given.ends,
            idx=row.idx, val=row.val, ends=row.ends, bias=path.bias, saved=self.saved, counts=path.counts,
            root=int(model.config.class_weight == ROOT), positive=path.positive, truth=row.truth,
            importance=row.importance, transforms=len(steps), hashed=path.hashed_cells,
        )  # fmt: skip
        if path.hashed_cells:
            self.add_sort(given)

    def add(self, first: int, transform: FittedTransform, loop: Loop, given: Row, learn: bool) -> NDArray[np.float64]:
        """Write the words of a transform from a slot on; returns where its values will be."""
        places = place_arrays(loop)
        table, out = np.zeros(LEARN + 1 + 2 * len(places), np.int64), np.zeros(given.val.size)
        table[LEARN] = learn
        arrays = (given.ends, given.idx, given.val, out, *transform.arrays.values(), *transform.extra_arrays())
        for (slot, _), array in zip(places.values(), arrays, strict=True):
            fill(table, slot, array)
        where = get_function(loop.entry, places).address
        fields, counters = len(transform.fields), len(transform.counters)
        self.table[first : first + WORDS_EACH] = (where, address(table), fields, counters)
        self.kept += [table, arrays]
        return out

    def add_sort(self, given: Row) -> None:
        """The compiled sort of a row of hashed features."""
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
