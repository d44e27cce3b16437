"""The fast path: one round from a dict in one call of a compiled function, `jit.dict_reader.read_dict`.

It serves compiled sparse learners that know their classes. A row that the compiled function does not take, such as one
with values of other number types, is converted here; anything unusual (a new class, a bad value) is left
to the general path, which grows the learner or raises an error.
"""

import struct
from collections.abc import Callable, Iterable, Mapping
from itertools import filterfalse, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, Error
from noregret.jit import dict_reader
from noregret.jit.dict_reader import AT
from noregret.jit.layout import Table, address, fill, fill_named
from noregret.learner.change import Change
from noregret.learner.engine import Loops
from noregret.learner.model import Model
from noregret.state.growth import allow_folding, memory
from noregret.state.guarded_round import LARGEST, NEVER, ROUND, ROUNDS, SIGN, UNDO, RoundSlots
from noregret.state.slots import count_slots
from noregret.tasks.binary import Binary
from noregret.tasks.multiclass import Multiclass
from noregret.tasks.regression import Regression

SERVED = (Binary, Multiclass, Regression)  # the tasks whose labels and scores a fast path understands
UNFIT = (struct.error, KeyError, TypeError, AttributeError, ValueError, OverflowError, BadValue)
PLAIN_NAMES = frozenset({str})
FEATURES = 64  # room for a row at first
LARGEST_LOG = 1 << 23  # a row that touches more cells is learned by the general path, which copies the state if need be


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
        row = make_row(features)
        loop, loop_table = path.loop, path.make_loop_table(row, learn)
        buffers: tuple[object, ...] = (*row, path.known, path.arrays, path.out, loop_table)
        undo_log, unknown = 0, path.unknown_cell()
        if learn:
            round_table, *others = path.make_round_table(row, loop_table)
            buffers += (round_table, *others)
            loop, loop_table, undo_log = path.guarded_round, round_table, int(round_table[ROUND.undo_log])
            unknown = dict_reader.NEW
        self.table = dict_reader.make_table(
            buffers,
            names=0 if path.by_column else id(path.known), limit=path.used if path.by_column else path.room,
            unknown=unknown, learns=int(learn), loop=loop, loop_table=address(loop_table), undo_log=undo_log,
            compare=LARGEST if path.multiclass else SIGN,
            idx=row.idx, val=row.val, ends=row.ends, truth=row.truth, importance=row.importance, scores=path.out,
        )  # fmt: skip
        self.words = self.table.data
        self.call = dict_reader.make_function(self.table)


class FastPath:
    """The readers of one model: one that scores, one that learns; and the bookkeeping of new names."""

    @classmethod
    def open(cls, model: Model, loops: Loops, change: Change) -> "FastPath | None":
        """The fast path of a model; None where it has none."""
        engine = loops.engine
        fits = engine.native and model.algebra == "sparse" and not model.full_covariance and engine.layout is not None
        config = model.config
        settled = model.names.mode in ("names", "columns") and config.class_weight is None
        settled = settled and isinstance(model.task, SERVED) and not model.task.queries_labels
        as_given = not model.transforms and not config.bias and config.touches == "row"
        return cls(model, loops, change) if fits and settled and as_given and dict_reader.is_enabled() else None

    def __init__(self, model: Model, loops: Loops, change: Change) -> None:
        from noregret.jit.compiled import get_guarded_round

        engine, space = loops.engine, model.known_space
        assert engine.layout is not None
        self.model, self.loops, self.change, self.arrays, self.totals = (
            model,
            loops,
            change,
            model.arrays,
            model.totals.data,
        )
        self.known, self.closed = model.names.known, False
        self.by_column = model.names.mode == "columns"
        self.from_zero = not model.scores_unknown
        self.used, self.room = space.features, space.room
        self.stride, self.class_room = space.stride, space.class_room
        self.classes = len(model.labels)
        self.multiclass, self.regression = isinstance(model.task, Multiclass), isinstance(model.task, Regression)
        self.two_classes = not (self.multiclass or self.regression)
        self.sides = (None, None) if self.regression else model.labels.sides(self.classes)
        never_wrong = self.regression or (self.classes == 1 and self.sides[0] == self.sides[1])
        self.compare = NEVER if never_wrong else LARGEST if self.multiclass else SIGN
        self.labels = model.labels.order
        self.truth = self.code_labels()
        engine.fill_table()
        self.layout, self.table = engine.layout, engine.table.copy()
        self.loop, self.guarded_round = engine.entry.address, get_guarded_round().address
        self.out = np.zeros(self.classes if self.multiclass else 1)
        allow_folding(model.arrays, False)
        self.scorer, self.trainer = RowReader(self, FEATURES, False), RowReader(self, FEATURES, True)
        self.score_row: Callable[..., Any] = self.scorer.call
        self.learn_row: Callable[..., Any] = self.trainer.call

    def code_labels(self) -> Mapping[Any, float]:
        """The truth that the loop is given, by label."""
        labels = self.model.labels
        if self.regression:
            return {}
        if self.multiclass:
            return {label: float(code) for label, code in labels.code.items()}
        return dict(zip(labels.order, labels.signs(self.classes).tolist(), strict=True))

    def make_loop_table(self, row: Row, learn: bool) -> Table:
        """The table of the loop, with this row in it."""
        table, first = self.table.copy(), self.layout.first
        table[0] = learn
        fill(table, first["rows"], (row.ends, row.idx.view(np.uint32), row.val, self.stride, 0, row.checked))
        out = self.out.reshape(1, -1) if self.multiclass else self.out
        parts = {"y": row.truth, "h": row.importance, "out": out, "updated": row.updated, "aux": row.aux}
        for name, part in parts.items():
            fill(table, first[name], part)
        return table

    def make_round_table(self, row: Row, loop_table: Table) -> tuple[Table, Any, Any, Any]:
        """The table of a guarded round, and what must live as long: the undo log, its saved cells, the counters."""
        arrays = memory(self.arrays)
        saved = np.zeros(row.idx.size * self.class_room * len(arrays))
        undo_log = np.zeros(UNDO.first + 2 * len(arrays), np.int64)
        fill_named(undo_log, UNDO, touched=row.idx, saved=saved, cells=self.class_room, vectors=len(arrays))
        fill(undo_log, UNDO.first, tuple(arrays))
        counters, totals = np.frombuffer(self.arrays.n.base.data), np.asarray(self.totals)
        table = np.zeros(count_slots(RoundSlots), np.int64)
        fill_named(
            table, ROUND, loop=self.loop, loop_table=address(loop_table), scores=self.out, counters=counters,
            undo_log=address(undo_log), truth=row.truth, updated=row.updated, totals=totals, compare=self.compare,
        )  # fmt: skip
        return table, undo_log, (saved, loop_table, totals), counters

    # ---- scoring and learning ------------------------------------------------------------------------------------

    def score(self, x: Any) -> Any:
        """The score of a row, of many classes the number of the best; None when the general path must score it."""
        found = self.score_row(x)
        return self.score_bytes(x) if found is None else found

    def score_bytes(self, x: Any) -> Any:
        """Score a row that the compiled reader did not take as it is."""
        try:
            row = x.copy() if type(x) is dict else snapshot(x)
            if type(x) is not dict and (found := self.score_row(row)) is not None:
                return found
            size = len(row)
            values = struct.pack(f"{size}d", *row.values())
            numbers = struct.pack(f"{size}q", *self.find_numbers(row))
        except UNFIT:
            return None
        if self.closed:  # the code of a value called the learner, which has changed
            return None
        if size > self.scorer.features:
            self.scorer = RowReader(self, 2 * size, False)
            self.score_row = self.scorer.call
        return self.scorer.call(numbers, values)

    def find_numbers(self, row: dict[Any, Any]) -> Iterable[int]:
        """The numbers of features that are only scored; unknown names share a cell that no feature owns."""
        known, unknown = self.known, self.unknown_cell()
        if self.by_column or row.keys() <= known.keys():
            return row if self.by_column else map(known.__getitem__, row)
        if unknown < 0 or not all(name in known or isinstance(name, str) for name in row):
            raise KeyError
        return map(known.get, row, repeat(unknown))

    def learn(self, x: Any, y: Any, weight: Any) -> bool:
        """Learn a round; False, with nothing changed, when the general path must learn it."""
        if weight is not None:
            return False
        try:
            truth = as_target(y) if self.regression else self.truth[y]
            learned = self.learn_row(x, truth)
            if learned is True:
                return True
            return self.learn_names(x.copy(), truth) if learned is False else self.learn_bytes(x, truth)
        except UNFIT:
            return False

    def learn_bytes(self, x: Any, truth: float) -> bool:
        """Learn a row that the compiled reader did not take as it is."""
        if self.closed:  # the code of a label called the learner, which has changed
            return False
        self.refuse_reentry()
        row = x.copy() if type(x) is dict else snapshot(x)
        if type(x) is not dict and (learned := self.learn_row(row, truth)) is not None:
            return learned or self.learn_names(row, truth)
        size = len(row)
        values = struct.pack(f"{size}d", *row.values())
        if self.closed:  # the code of a value called the learner, which has changed
            return False
        if size > self.trainer.features:
            if 2 * size * self.class_room * len(memory(self.arrays)) > LARGEST_LOG:
                return False
            self.trainer = RowReader(self, max(size, min(2 * size, self.room)), True)
            self.learn_row = self.trainer.call
        if not self.by_column:
            return self.learn_names(row, truth, values)
        return self.trainer.call(struct.pack(f"{size}q", *row), values, truth) is True

    def learn_names(self, row: dict[Any, Any], truth: float, values: bytes | None = None) -> bool:
        """Learn a row with names that may be new; with its values, where the compiled reader cannot take them.

        The names are added before the round, so that the round completes the change; they are removed if it fails.
        """
        known, room = self.known, self.room - self.used
        if len(row) > room and sum(name not in known for name in row) > room:
            return False
        if self.closed:  # the code of a name called the learner, which has changed
            return False
        used, rounds = self.used, self.totals[ROUNDS]

        def learn() -> bool:
            new = list(filterfalse(known.__contains__, row))
            if not (set(map(type, new)) <= PLAIN_NAMES or all(isinstance(name, str) for name in new)):
                return False
            if new:
                known.update(zip(new, range(used, used + len(new)), strict=True))
                self.use_features(len(known))
            if values is None:
                learned = self.trainer.call(row, truth) is True
            else:
                numbers = struct.pack(f"{len(row)}q", *map(known.__getitem__, row))
                learned = self.trainer.call(numbers, values, truth) is True
            if not learned:
                forget()
            return learned

        def forget() -> None:
            if self.totals[ROUNDS] == rounds:
                self.model.names.truncate(used)
                self.use_features(used)

        self.loops.hide_fast_path()
        learned = self.change.run(learn, forget)
        self.loops.show_fast_path()
        return learned

    def close(self) -> None:
        """Take no more rows: the model has changed around the tables."""
        self.closed = True
        self.trainer.words[AT.busy] = self.scorer.words[AT.busy] = 1

    def use_features(self, used: int) -> None:
        """Count so many features as learned."""
        if used == self.room or self.used == self.room:
            self.scorer.words[AT.unknown] = self.unknown_cell(used)
        self.used = used
        self.model.space = self.model.space.with_features(used)  # type: ignore[union-attr]

    def unknown_cell(self, used: int | None = None) -> int:
        """The cell that unknown names are scored with: one that no feature owns yet, if there is one."""
        used = self.used if used is None else used
        return self.room - 1 if self.from_zero and used < self.room else dict_reader.UNFIT

    def refuse_reentry(self) -> None:
        """Raise an error when the names of a row that is being learned call their learner again."""
        if self.trainer.words[AT.busy]:
            raise Error("learning a row called this learner again, while it compared names; it can learn one at a time")


def snapshot(x: Any) -> dict[Any, Any]:
    """A copy of a row: as many names as values, whatever happens to the row meanwhile."""
    if not isinstance(x, Mapping):
        raise TypeError
    return dict(x)


def as_target(y: Any) -> float:
    """A real target as a float; anything else is for the general path."""
    target = float(y + 0.0)
    if target - target != 0.0:
        raise ValueError
    return target
