"""The fast path: one round in one call of a compiled function, `jit.dict_reader.read_dict`.

It serves compiled learners that know their classes: here those that learn dicts of named or numbered features;
`hashed_path` and `dense_path` serve hashed names and rows of numbers. A row that the compiled function does not take,
such as one with values of other number types, is converted here; anything unusual (a new class, a bad value) is left
to the general path, which grows the learner or raises an error.
"""

import math
import operator
import struct
from collections.abc import Callable, Iterable, Mapping
from itertools import filterfalse, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, Error
from noregret.jit import dict_reader
from noregret.jit.dict_reader import AT
from noregret.jit.layout import Table, address, fill, fill_named
from noregret.learner.change import Change
from noregret.learner.engine import Loops
from noregret.learner.model import Model
from noregret.learner.prepared_round import TRUTH_IS_CODE
from noregret.learner.row_reader import NO_COUNTS, Row, RowReader
from noregret.state.growth import allow_folding, memory, whole_memory
from noregret.state.guarded_round import LARGEST, NEVER, ROUND, ROUNDS, SIGN, UNDO, RoundSlots
from noregret.state.slots import count_slots
from noregret.tasks.multiclass import Multiclass
from noregret.tasks.regression import Regression

UNFIT = (struct.error, KeyError, TypeError, AttributeError, ValueError, OverflowError, BadValue)
PLAIN_NAMES = frozenset({str})
FEATURES = 64  # room for a row at first
LARGEST_COPY = 1 << 16  # the most words that are copied in each round where a round may change all of them
LARGEST_LOG = 1 << 23  # a row that touches more cells is learned by the general path, which copies the state if need be


class FastPath:
    """The readers of one model: one that scores, one that learns; and the bookkeeping of new names."""

    by_column = False  # whether features are numbers
    missing = NO_COUNTS  # see `DerivedPath`
    hashed_cells = 0  # for hashed names, the number of cells
    saves_all = False  # whether a round may change every cell, not only those of the features of its row

    def __init__(self, model: Model, loops: Loops, change: Change) -> None:
        from noregret.jit.compiled import get_guarded_round

        engine, space, config = loops.engine, model.known_space, model.config
        assert engine.layout is not None
        self.model, self.loops, self.change, self.arrays, self.totals = (
            model,
            loops,
            change,
            model.arrays,
            model.totals.data,
        )
        self.closed = False
        self.bias = int(config.bias)
        self.constant = model.constant if config.bias_value is None else config.bias_value
        self.name_features(model)
        self.from_zero = not model.scores_unknown
        self.saves_all = self.saves_all or config.touches != "row"
        self.stride, self.class_room = space.stride, space.class_room
        self.classes = len(model.labels)
        self.multiclass, self.regression = isinstance(model.task, Multiclass), isinstance(model.task, Regression)
        self.two_classes = not (self.multiclass or self.regression)
        self.sides = (None, None) if self.regression else model.labels.sides(self.classes)
        never_wrong = self.regression or (self.classes == 1 and self.sides[0] == self.sides[1])
        self.compare = NEVER if never_wrong else LARGEST if self.multiclass else SIGN
        self.labels = model.labels.order
        self.truth = self.code_labels()
        self.weigh_classes()
        self.prepares = bool(self.bias or model.transforms or self.hashed_cells or self.counts.size)
        self.groups = self.find_groups() if model.selectors.bits else NO_COUNTS
        self.reserve_statistics()
        self.statistics = [array for one in model.transforms for array in one.arrays.values()]
        engine.fill_table()
        self.layout, self.table = engine.layout, engine.table.copy()
        self.loop, self.guarded_round = engine.entry.address, get_guarded_round().address
        self.out = np.zeros(self.classes if self.multiclass else 1)
        self.recent_scores = model.recent_cells(self.out.size)
        allow_folding(model.arrays, False)
        self.scorer, self.trainer = self.make_reader(FEATURES, False), self.make_reader(FEATURES, True)
        self.score_row: Callable[..., Any] = self.scorer.call
        self.learn_row: Callable[..., Any] = self.trainer.call

    @classmethod
    def suits(cls, model: Model) -> bool:
        """Whether the state can be undone as this path does it."""
        return model.config.touches == "row" or can_save_all(model, LARGEST_COPY)

    def name_features(self, model: Model) -> None:
        """See how features are named and how many there are, not counting the constant one."""
        space = model.known_space
        self.known: dict[Any, int] = model.names.known
        self.scored_names: dict[Any, int] = self.known
        self.by_column = model.names.mode == "columns"
        self.used, self.room = space.features - self.bias, space.room - self.bias
        self.limit = self.used if self.by_column else self.room

    @property
    def sorts_rows(self) -> bool:
        """Whether the features of a row are sorted first: hashed ones, and names that transforms select by."""
        return bool(self.hashed_cells or (self.model.selectors.bits and not self.by_column))

    def find_groups(self) -> NDArray[np.int64]:
        """The selector groups of every feature there is room for."""
        groups, selectors = np.zeros(max(self.room, 1), np.int64), self.model.selectors
        pairs = self.known.items() if not self.by_column else ((str(number), number) for number in range(self.room))
        for name, number in pairs:
            groups[number] = selectors.bits.get(name, 0) if self.by_column else selectors.groups_of_name(name)
        return groups

    def reserve_statistics(self) -> None:
        """See that transforms have room for every feature that this path may add."""
        for transform in self.model.transforms:
            transform.reserve(self.room)

    def count_derived(self, features: int) -> int:
        """How many features a row of so many may become."""
        return features

    def key_options(self, level: int, learn: bool) -> NDArray[np.int64]:
        """How derived features are numbered; here there are none."""
        raise NotImplementedError

    def make_reader(self, features: int, learn: bool) -> RowReader:
        return RowReader(self, features, learn)

    def weigh_classes(self) -> None:
        """What rounds weigh by their class: a number for each label, or by counting the rounds of every class."""
        weights, model = self.model.config.class_weight, self.model
        self.weights: dict[Any, float] | None = None
        self.counts, self.positive = NO_COUNTS, TRUTH_IS_CODE
        if isinstance(weights, str):
            model.class_counts = self.counts = np.array(model.class_counts, np.int64)
            if self.two_classes:
                self.positive = 0 if model.labels.signs(self.classes)[0] > 0.0 else 1
        elif weights is not None:
            self.weights = {label: float(weights.get(label, 1.0)) for label in self.labels}

    def is_current(self) -> bool:
        """Whether what the tables lead to still belongs to the model, after a call that took the general path."""
        model = self.model
        now = [array for one in model.transforms for array in one.arrays.values()]
        same = len(now) == len(self.statistics) and all(map(operator.is_, now, self.statistics))
        same = same and (self.counts is NO_COUNTS or self.counts is model.class_counts)
        return same and (not self.recent_scores.size or self.recent_scores is model.recent_cells(self.out.size))

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
        self.fill_rows(table, row)
        out = self.out.reshape(1, -1) if self.multiclass else self.out
        parts = {"y": row.truth, "h": row.importance, "out": out, "updated": row.updated, "aux": row.aux}
        for name, part in parts.items():
            fill(table, first[name], part)
        return table

    def fill_rows(self, table: Table, row: Row) -> None:
        """Have the loop read this row."""
        rows = (row.ends, row.idx.view(np.uint32), row.val, self.stride, 0, row.checked)
        fill(table, self.layout.first["rows"], rows)

    def told_sizes(self, round_table: Table) -> int:
        """The undo log that is told how many features each row has; 0 where it always saves the same cells."""
        return 0 if self.saves_all else int(round_table[ROUND.undo_log])

    def find_touched(self, row: Row) -> tuple[NDArray[np.int32], int]:
        """What a round may change: numbers, and for each so many cells of every vector."""
        if self.saves_all:
            return np.arange(self.model.known_space.room * self.class_room, dtype=np.int32), 1
        return row.idx, self.class_room

    def make_round_table(self, row: Row, loop_table: Table) -> tuple[Table, Any, Any, Any]:
        """The table of a guarded round, and what must live as long: the undo log, its saved cells, the counters."""
        every = self.model.config.touches != "row"
        arrays = whole_memory(self.arrays, every) if self.saves_all else memory(self.arrays)
        touched, cells = self.find_touched(row)
        saved = np.zeros(touched.size * cells * len(arrays))
        undo_log = np.zeros(UNDO.first + 2 * len(arrays), np.int64)
        fill_named(undo_log, UNDO, touched=touched, saved=saved, cells=cells, vectors=len(arrays))
        fill(undo_log, UNDO.first, tuple(arrays))
        counters, totals = np.frombuffer(self.arrays.n.base.data), np.asarray(self.totals)
        table = np.zeros(count_slots(RoundSlots), np.int64)
        fill_named(
            table, ROUND, loop=self.loop, loop_table=address(loop_table), scores=self.out, counters=counters,
            undo_log=address(undo_log), truth=row.truth, updated=row.updated, totals=totals, compare=self.compare,
            importance=row.importance, recent_scores=self.recent_scores,
        )  # fmt: skip
        return table, undo_log, (touched, saved, loop_table, totals, self.recent_scores), counters

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
            self.scorer = self.make_reader(2 * size, False)
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
        try:
            truth = as_target(y) if self.regression else self.truth[y]
            h = 1.0 if weight is self.weights else self.importance(y, weight)  # both are None
            learned = self.learn_row(x, truth, h)
            if learned is True:
                return True
            return self.learn_names(x.copy(), truth, h) if learned is False else self.learn_bytes(x, truth, h)
        except UNFIT:
            return False

    def importance(self, y: Any, weight: Any) -> float:
        """What a round weighs; an error where the general path must see to it."""
        by_class = 1.0 if self.weights is None else self.weights[y]
        if weight is None:
            return by_class
        if not self.model.card.supports_weights or not 0.0 <= weight < math.inf:
            raise ValueError
        return float(weight) * by_class

    def learn_bytes(self, x: Any, truth: float, h: float) -> bool:
        """Learn a row that the compiled reader did not take as it is."""
        if self.closed:  # the code of a label called the learner, which has changed
            return False
        self.refuse_reentry()
        row = x.copy() if type(x) is dict else snapshot(x)
        if type(x) is not dict and (learned := self.learn_row(row, truth, h)) is not None:
            return learned or self.learn_names(row, truth, h)
        size = len(row)
        values = struct.pack(f"{size}d", *row.values())
        if self.closed:  # the code of a value called the learner, which has changed
            return False
        if size > self.trainer.features:
            if 2 * self.count_derived(size) * self.class_room * len(memory(self.arrays)) > LARGEST_LOG:
                return False
            self.trainer = self.make_reader(max(size, min(2 * size, self.room)), True)
            self.learn_row = self.trainer.call
        if not self.by_column:
            return self.learn_names(row, truth, h, values)
        return self.trainer.call(struct.pack(f"{size}q", *row), values, truth, h) is True

    def learn_names(self, row: dict[Any, Any], truth: float, h: float, values: bytes | None = None) -> bool:
        """Learn a row with names that may be new; with its values, where the compiled reader cannot take them.

        The names are added before the round, so that the round completes the change; they are removed if it fails.
        """
        if self.closed or not self.has_room(row):  # closed: the code of a name called the learner, which has changed
            return False
        before: tuple[int, int] | None = None  # names and rounds; noted in the change, when no call can come any more

        def learn() -> bool:
            nonlocal before
            self.loops.hide_fast_path()
            if self.closed or not self.has_room(row):  # a signal handler has called the learner
                return False
            before = self.count_names(), self.totals[ROUNDS]
            if not self.add_names(row):
                return False
            if values is None:
                learned = self.trainer.call(row, truth, h) is True
            else:
                numbers = struct.pack(f"{len(row)}q", *map(self.known.__getitem__, row))
                learned = self.trainer.call(numbers, values, truth, h) is True
            if not learned:
                forget()
            return learned

        def forget() -> None:
            if before is not None and self.totals[ROUNDS] == before[1]:
                self.forget_names(before[0])

        learned = self.change.run(learn, forget)
        self.loops.show_fast_path(self)
        return learned

    def has_room(self, row: dict[Any, Any]) -> bool:
        """Whether there are cells for the new names of a row."""
        room = self.room - self.used
        return len(row) <= room or sum(name not in self.known for name in row) <= room

    def count_names(self) -> int:
        """What `forget_names` needs to know of the names before a round."""
        return self.used

    def add_names(self, row: dict[Any, Any]) -> bool:
        """Number the new names of a row; False where one is no string."""
        new = list(filterfalse(self.known.__contains__, row))
        if not (set(map(type, new)) <= PLAIN_NAMES or all(isinstance(name, str) for name in new)):
            return False
        if new:
            if self.groups.size:
                self.groups[self.used : self.used + len(new)] = list(map(self.model.selectors.groups_of_name, new))
            self.known.update(zip(new, range(self.used, self.used + len(new)), strict=True))
            self.use_features(len(self.known))
        return True

    def forget_names(self, before: int) -> None:
        """Remove the names that came since."""
        self.model.names.truncate(before)
        self.use_features(before)

    def close(self) -> None:
        """Take no more rows: the model has changed around the tables."""
        self.closed = True
        self.trainer.words[AT.busy] = self.scorer.words[AT.busy] = 1

    def use_features(self, used: int) -> None:
        """Count so many features as learned."""
        if used == self.room or self.used == self.room:
            self.scorer.words[AT.unknown] = self.unknown_cell(used)
        self.used = used
        self.model.space = self.model.space.with_features(used + self.bias)  # type: ignore[union-attr]
        for transform in self.model.transforms:
            transform.width = used

    def unknown_number(self, learn: bool) -> int:
        """What a reader takes a name for that it does not know."""
        return dict_reader.NEW if learn else self.unknown_cell()

    def unknown_cell(self, used: int | None = None) -> int:
        """The cell that unknown names are scored with: one that no feature owns yet, if there is one."""
        used = self.used if used is None else used
        if self.sorts_rows:  # what shares a number would be added up
            return dict_reader.UNFIT
        return self.room - 1 if self.from_zero and used < self.room else dict_reader.UNFIT

    def refuse_reentry(self) -> None:
        """Raise an error when the names of a row that is being learned call their learner again."""
        if self.trainer.words[AT.busy] and not self.closed:
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


def can_save_all(model: Model, most: int) -> bool:
    """Whether every array has a word for each cell of the state, and all together no more than so many."""
    space, arrays = model.known_space, whole_memory(model.arrays, model.config.touches != "row")
    cells = space.room * space.class_room
    return all(array.size == cells and array.itemsize == 8 for array in arrays) and cells * len(arrays) <= most
