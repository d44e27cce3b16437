"""The fast lane: one round from a dict in one foreign call.

It serves sparse learners that are compiled and know their classes and features; anything unusual (a new feature, a new
class, a bad value) is left to the general path, which grows the learner or says what is wrong.
"""

import ctypes
import struct
from itertools import repeat
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret import guard
from noregret.errors import BadValue
from noregret.layout import address, fill
from noregret.state import allow_folding, memory

if TYPE_CHECKING:
    from noregret.learner import Learner

HEAD = 32  # bytes before the row: y, h, and the two offsets of one row
SERVED = ("binary", "multiclass", "regression")  # the games whose labels and scores a lane understands
UNFIT = (struct.error, KeyError, TypeError, AttributeError, ValueError, OverflowError, BadValue)
KEPT = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)  # too short to let go


class Lane:
    """Tables of its own, a buffer for one row, and a journal to undo a round that overflows."""

    @classmethod
    def beside(cls, learner: "Learner") -> "Lane | None":
        engine = learner.engine
        fits = engine.native and learner.algebra == "sparse" and not learner.keeps_full and engine.layout is not None
        settings = learner.settings
        settled = learner.names.mode in ("names", "columns") and settings.class_weight is None
        settled = settled and learner.game in SERVED and not settings.asks
        as_given = not learner.transforms and not settings.bias and settings.touches == "row"
        return cls(learner) if fits and settled and as_given else None

    def __init__(self, learner: "Learner", features: int = 64) -> None:
        self.learner = learner
        engine, space = learner.engine, learner.space
        assert space is not None
        self.known = learner.names.known
        self.by_column = learner.names.mode == "columns"
        self.from_zero = not learner.heeds_new
        self.used, self.room = space.features, space.room
        self.classes = len(learner.labels)
        self.multiclass, self.regression = learner.game == "multiclass", learner.game == "regression"
        self.two_classes = not (self.multiclass or self.regression)
        self.sides = (None, None) if self.regression else learner.labels.sides(self.classes)
        self.never_wrong = self.regression or (self.classes == 1 and self.sides[0] == self.sides[1])
        self.labels = learner.labels.order
        self.truth = self.truths()
        self.entry = engine.entry
        self.result, self.exception = self.entry.result, self.entry.exception
        self.judge = KEPT(self.entry.address)
        engine.seat()
        self.judging, self.playing = engine.table.copy(), engine.table.copy()
        self.judging[0], self.playing[0] = 0, 1
        self.judging_at = address(self.judging)
        self.out = (ctypes.c_double * max(self.classes, 1))()
        self.moved = ctypes.c_uint8()
        self.found, self.note = np.zeros(1, np.int64), np.zeros(1)
        self.packers: dict[int, tuple[Any, int]] = {}
        self.make_room(features)

    def make_room(self, features: int) -> None:
        """A buffer for rows of so many features, and a journal for the cells they touch."""
        from noregret.compiled import guarded

        learner, first, space = self.learner, self.learner.engine.layout.first, self.learner.space
        assert space is not None
        self.features = features
        self.buffer = ctypes.create_string_buffer(HEAD + 12 * features + 8)
        raw = np.frombuffer(memoryview(self.buffer), np.uint8)
        indices = raw[HEAD : HEAD + 4 * features].view(np.uint32)
        values = np.zeros(features)  # stands for the values: where they are depends on how many there are
        scores = np.frombuffer(memoryview(self.out))[: self.classes if self.multiclass else 1]
        self.values_at = []
        for table in (self.judging, self.playing):
            fill(table, first["rows"], (raw[16:32].view(np.int64), indices, values, space.stride, 0, self.found))
            fill(table, first["y"], raw[:8].view(np.float64))
            fill(table, first["h"], raw[8:16].view(np.float64))
            fill(table, first["out"], scores.reshape(1, -1) if self.multiclass else scores)
            fill(table, first["moved"], np.frombuffer(memoryview(self.moved), np.uint8))
            fill(table, first["note"], self.note)
            self.values_at.append(ctypes.c_int64.from_address(address(table) + 8 * (first["rows"] + 4)))
        self.packed = address(raw)
        self.packers.clear()
        self.size = -1

        arrays = memory(learner.state)
        allow_folding(learner.state, False)
        self.saved = np.zeros(features * space.class_room * len(arrays))
        self.journal = np.zeros(guard.FIRST + 2 * len(arrays), np.int64)
        journal = (indices.view(np.int32), self.saved, space.class_room, len(arrays), *arrays)
        fill(self.journal, guard.TOUCHED, journal)
        self.touched = ctypes.c_int64.from_address(address(self.journal) + 8 * (guard.TOUCHED + 1))
        counters = np.frombuffer(learner.state.n.base.data)
        self.round = np.zeros(guard.WRONG_BY + 1, np.int64)
        written = scores if self.multiclass else scores[:1]
        parts = (self.entry.address, address(self.playing), written, counters, address(self.journal))
        wrong_by = guard.NEVER if self.never_wrong else guard.LARGEST if self.multiclass else guard.SIGN
        truth, moved = raw[:8].view(np.float64), np.frombuffer(memoryview(self.moved), np.uint8)
        fill(self.round, guard.LOOP, (*parts, truth, moved, learner.tally, wrong_by))
        self.round_at = address(self.round)
        self.play = KEPT(guarded().address)

    def truths(self) -> dict[Any, float]:
        labels = self.learner.labels
        if self.regression:
            return {}
        if self.multiclass:
            return {label: float(code) for label, code in labels.code.items()}
        return dict(zip(labels.order, labels.signs(self.classes).tolist(), strict=True))

    def packer(self, n: int) -> Any:
        """What writes y, h, 0, n, then n indices and n values into the buffer; the values' address is made known."""
        if n > self.features:
            self.make_room(2 * n)
        if n not in self.packers:
            gap = 4 * (n % 2)
            self.packers[n] = struct.Struct(f"@ddqq{n}i{gap}x{n}d").pack_into, self.packed + HEAD + 4 * n + gap
        pack, where = self.packers[n]
        for slot in self.values_at:
            slot.value = where
        self.touched.value = n
        self.pack, self.size = pack, n
        return pack

    def numbers(self, x: Any) -> Any:
        """The column numbers of a row, if all are known."""
        if len(x) and not (min(x) >= 0 and max(x) < self.used):
            raise KeyError
        return x

    def score(self, x: Any) -> Any:
        """The score of a row, or None when it is not for this lane."""
        try:
            n = len(x)
            pack = self.pack if n == self.size else self.packer(n)
            numbers = self.numbers(x) if self.by_column else map(self.known.get, x)
            pack(self.buffer, 0, 0.0, 0.0, 0, n, *numbers, *x.values())
        except UNFIT:
            if not self.pack_known(x):
                return None
        if self.judge(self.result, self.exception, self.judging_at):
            return None
        if self.multiclass:
            scores = self.out[:]
            return scores if isfinite(sum(scores)) else None
        score = self.out[0]
        return score if isfinite(score) else None

    def pack_known(self, x: Any) -> bool:
        """Write a row whose new features, which have no say, look at a cell that no feature owns yet."""
        try:
            if self.by_column or not self.from_zero or self.used == self.room:
                return False
            if not all(isinstance(name, str) for name in x if name not in self.known):
                return False
            n = len(x)
            numbers = map(self.known.get, x, repeat(self.room - 1))
            self.packer(n)(self.buffer, 0, 0.0, 0.0, 0, n, *numbers, *x.values())
        except UNFIT:
            return False
        return True

    def learn(self, x: Any, y: Any, weight: Any) -> bool:
        """Learn a round; False, with nothing changed, when it is not for this lane."""
        if weight is not None:
            return False
        before = self.used
        try:
            truth = target(y) if self.regression else self.truth[y]
            n = len(x)
            pack = self.pack if n == self.size else self.packer(n)
            numbers = self.numbers(x) if self.by_column else map(self.known.get, x)
            try:
                pack(self.buffer, 0, truth, 1.0, 0, n, *numbers, *x.values())
            except struct.error:
                if self.by_column:
                    return False
                pack(self.buffer, 0, truth, 1.0, 0, n, *map(self.known.__getitem__, x), *x.values())
                if not self.admits_new():
                    self.forget(before)
                    return False
        except UNFIT:
            self.forget(before)
            return False
        if self.play(self.result, self.exception, self.round_at):
            self.forget(before)
            return False
        return True

    def admits_new(self) -> bool:
        """Names met for the first time stay in this lane while the state has room for them."""
        size = len(self.known)
        if size <= self.room:
            self.used = size
        return size <= self.room

    def forget(self, size: int) -> None:
        """Undo what a round that is not for this lane added."""
        if not self.by_column and len(self.known) > size:
            self.learner.names.forget_from(size)
            self.used = size


def target(y: Any) -> Any:
    """A real target as a float; anything else is not for this lane."""
    truth = y + 0.0
    if truth - truth != 0.0:
        raise ValueError
    return truth
