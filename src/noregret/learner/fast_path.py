"""The fast fast_path: one round from a dict in one call of a compiled function, `dict_reader.take_round`.

It serves sparse learners that are compiled and know their classes and features. What that function does not take, a
value of some other kind of number, say, is written into its place from here; anything unusual (a new class, a bad
value) is left to the general path, which grows the learner or says what is wrong.
"""

import ctypes
import struct
import sys
from collections import deque
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np

from noregret.errors import BadValue
from noregret.jit import dict_reader
from noregret.jit.layout import address, fill
from noregret.learner.engine import Loops
from noregret.learner.model import Model
from noregret.state import guarded_round as guard
from noregret.state.growth import allow_folding, memory
from noregret.tasks.binary import Binary
from noregret.tasks.multiclass import Multiclass
from noregret.tasks.regression import Regression

SERVED = (Binary, Multiclass, Regression)  # the tasks whose labels and scores a fast_path understands
UNFIT = (struct.error, KeyError, TypeError, AttributeError, ValueError, OverflowError, BadValue)


class FastPath:
    """Tables of its own, a buffer for one row, and a undo_log to undo a round that overflows."""

    @classmethod
    def beside(cls, model: Model, loops: Loops) -> "FastPath | None":
        engine = loops.engine
        fits = engine.native and model.algebra == "sparse" and not model.full_covariance and engine.layout is not None
        config = model.config
        settled = model.names.mode in ("names", "columns") and config.class_weight is None
        settled = settled and isinstance(model.task, SERVED) and not model.task.queries_labels
        as_given = not model.transforms and not config.bias and config.touches == "row"
        return cls(model, loops) if fits and settled and as_given and objects_are_as_known() else None

    def __init__(self, model: Model, loops: Loops, features: int = 64) -> None:
        self.model, self.loops = model, loops
        engine, space = loops.engine, model.known_space
        self.known = model.names.known
        self.by_column = model.names.mode == "columns"
        self.from_zero = not model.scores_unknown
        self.used, self.room = space.features, space.room
        self.classes = len(model.labels)
        self.multiclass, self.regression = isinstance(model.task, Multiclass), isinstance(model.task, Regression)
        self.two_classes = not (self.multiclass or self.regression)
        self.sides = (None, None) if self.regression else model.labels.sides(self.classes)
        self.never_wrong = self.regression or (self.classes == 1 and self.sides[0] == self.sides[1])
        self.labels = model.labels.order
        self.truth = self.truths()
        self.state = model.arrays  # held as long as the tables lead to it
        engine.fill_table()
        self.scoring, self.playing = engine.table.copy(), engine.table.copy()
        self.scoring[0], self.playing[0] = 0, 1
        self.out = np.zeros(self.classes if self.multiclass else 1)
        self.updated, self.found, self.aux = np.zeros(1, np.uint8), np.zeros(1, np.int64), np.zeros(1)
        self.buffers: list[Any] = []
        self.make_room(features)

    def make_room(self, features: int) -> None:
        """A buffer for rows of so many features, and a undo_log for the cells they touch."""
        from noregret.jit.compiled import built_in, dict_round, guarded

        model, space = self.model, self.model.known_space
        layout = self.loops.engine.layout
        assert layout is not None
        first = layout.first
        self.features = features
        idx, val, ends = np.zeros(features, np.int32), np.zeros(features), np.zeros(2, np.int64)
        truth, importance = np.zeros(1), np.ones(1)
        scores = self.out.reshape(1, -1) if self.multiclass else self.out
        for table in (self.scoring, self.playing):
            fill(table, first["rows"], (ends, idx.view(np.uint32), val, space.stride, 0, self.found))
            parts_of = {"y": truth, "h": importance, "out": scores, "updated": self.updated, "aux": self.aux}
            for name, part in parts_of.items():
                fill(table, first[name], part)

        arrays = memory(self.state)
        allow_folding(self.state, False)
        saved = np.zeros(features * space.class_room * len(arrays))
        undo_log = np.zeros(guard.FIRST + 2 * len(arrays), np.int64)
        fill(undo_log, guard.TOUCHED, (idx, saved, space.class_room, len(arrays), *arrays))
        counters = np.frombuffer(self.state.n.base.data)
        loop = self.loops.engine.entry.address
        by = guard.NEVER if self.never_wrong else guard.LARGEST if self.multiclass else guard.SIGN
        round_table = np.zeros(guard.WRONG_BY + 1, np.int64)
        parts = (loop, address(self.playing), self.out, counters, address(undo_log))
        fill(round_table, guard.LOOP, (*parts, truth, self.updated, model.totals, by))

        # All stay as long as the fast_path does: a round that is under way may still use what it began with.
        self.buffers += [idx, val, ends, truth, importance, saved, undo_log, counters, round_table]
        self.idx, self.val = idx.data, val.data
        row = (idx, val, ends, truth, importance, self.out)
        largest = guard.LARGEST if self.multiclass else guard.SIGN
        self.looks = self.table((0, loop, address(self.scoring), address(undo_log), largest), row)
        self.learns = self.table((1, guarded().address, address(round_table), address(undo_log), by), row)
        self.score_rows, self.round = (built_in(dict_round(), table) for table in (self.looks, self.learns))
        self.set_unknown_slot()

    def table(self, task: tuple[int, ...], row: tuple[np.ndarray, ...]) -> np.ndarray:
        """A table of `dict_reader.take_round`."""
        table = np.zeros(dict_reader.SLOTS, np.int64)
        fill(table, dict_reader.NEXT, python_addresses())
        fill(table, dict_reader.KNOWN, (0, self.used) if self.by_column else (id(self.known), self.room))
        fill(table, dict_reader.UNKNOWN_SLOT, dict_reader.NEW)
        fill(table, dict_reader.LEARNS, task)
        fill(table, dict_reader.IDX, row)
        return table

    def set_unknown_slot(self) -> None:
        """New features have no say in a score: they look at a cell that no feature owns yet, if there is one."""
        self.looks[dict_reader.UNKNOWN_SLOT] = (
            self.room - 1 if self.from_zero and self.used < self.room else dict_reader.UNFIT
        )

    def truths(self) -> dict[Any, float]:
        labels = self.model.labels
        if self.regression:
            return {}
        if self.multiclass:
            return {label: float(code) for label, code in labels.code.items()}
        return dict(zip(labels.order, labels.signs(self.classes).tolist(), strict=True))

    def score(self, x: Any) -> Any:
        """The score of a row, of many classes the number of the best; None when it is not for this fast_path."""
        found = self.score_rows(x)
        return self.score_rows() if found is None and self.written(x, learn=False) else found

    def learn(self, x: Any, y: Any, weight: Any) -> bool:
        """Learn a round; False, with nothing changed, when it is not for this fast_path."""
        if weight is not None:
            return False
        learned = None
        try:
            truth = target(y) if self.regression else self.truth[y]
            learned = self.round(x, truth)
            if learned is True:
                return True
            if learned is False:
                deque(map(self.known.__getitem__, x), 0)
                learned = self.round(x, truth)
            elif self.written(x, learn=True):
                learned = self.round(truth)
        except UNFIT:
            pass
        if not self.by_column and len(self.known) > self.used:
            if learned:
                self.used = len(self.known)
                self.model.space = self.model.known_space.with_features(self.used)
                self.set_unknown_slot()
            else:
                self.model.names.truncate(self.used)
        return bool(learned)

    def written(self, x: Any, learn: bool) -> bool:
        """Whether a row could be written into its place, whatever kind of names and numbers it is made of."""
        try:
            n = len(x)
            if n > self.features:
                self.make_room(2 * n)
            table = self.learns if learn else self.looks
            struct.pack_into(f"{n}i", self.idx, 0, *self.numbers(x, learn))
            struct.pack_into(f"{n}d", self.val, 0, *x.values())
        except UNFIT:
            return False
        table[dict_reader.SIZE] = n
        return len(self.known) <= self.room

    def numbers(self, x: Any, learn: bool) -> Any:
        """The numbers of features; those of new names are added where they are learned."""
        if self.by_column:
            if len(x) and not (min(x) >= 0 and max(x) < self.used):
                raise KeyError
            return x
        if learn:
            return map(self.known.__getitem__, x)
        unknown_slot = int(self.looks[dict_reader.UNKNOWN_SLOT])
        if not all(name in self.known or (isinstance(name, str) and unknown_slot >= 0) for name in x):
            raise KeyError
        return map(self.known.get, x, repeat(unknown_slot))


def target(y: Any) -> float:
    """A real target as a float; anything else is not for this fast_path."""
    truth = float(y + 0.0)
    if truth - truth != 0.0:
        raise ValueError
    return truth


@cache
def python_addresses() -> tuple[int, ...]:
    """The functions, types and objects of Python that `dict_reader.take_round` asks for, in the order of its slots."""
    functions = [
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in dict_reader.FUNCTIONS
    ]
    return (*functions, *map(id, (dict, str, int, bool, float, np.float64, None, True, False)))


@cache
def objects_are_as_known() -> bool:
    """Whether objects are laid out as in every Python so far that runs one thread at a time."""
    alone = getattr(sys, "_is_gil_enabled", lambda: True)()
    if not alone or sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    things: tuple[Any, ...] = ({}, "x", 1, True, 2.5, np.float64(2.5))
    typed = all(ctypes.c_int64.from_address(id(one) + dict_reader.TYPE).value == id(type(one)) for one in things)
    valued = all(ctypes.c_double.from_address(id(one) + dict_reader.CONTENT).value == 2.5 for one in things[-2:])
    array = np.zeros(1)
    return typed and valued and ctypes.c_int64.from_address(id(array) + dict_reader.CONTENT).value == address(array)
