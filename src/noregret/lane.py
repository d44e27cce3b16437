"""The fast lane: one round from a dict in one foreign call.

It serves sparse learners that are compiled and know their classes and features; anything unusual (a new feature, a new
class, a bad value) is left to the general path, which grows the learner or says what is wrong.
"""

import ctypes
import math
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret import guard
from noregret.errors import BadValue
from noregret.layout import address, fill
from noregret.state import memory

if TYPE_CHECKING:
    from noregret.learner import Learner

HEAD = 32  # bytes before the values: y, h, and the two offsets of one row


class Lane:
    """A table of its own, a buffer for one row, and a journal to undo a round that overflows."""

    @classmethod
    def beside(cls, learner: "Learner") -> "Lane | None":
        engine = learner.engine
        fits = engine.native and learner.algebra == "sparse" and not learner.keeps_full and engine.layout is not None
        return cls(learner) if fits and learner.settings.class_weight is None else None

    def __init__(self, learner: "Learner", features: int = 64) -> None:
        self.learner = learner
        engine, space = learner.engine, learner.space
        assert space is not None
        self.known = learner.names.known
        self.by_column = learner.names.mode == "columns"
        self.from_zero = all(field.start == 0.0 for field in learner.card.state.values() if field.kind == "vector")
        self.used, self.room = space.features, space.room
        self.classes = len(learner.labels)
        self.multiclass, self.regression = learner.game == "multiclass", learner.game == "regression"
        self.sides = (None, None) if self.regression else learner.labels.sides(self.classes)
        self.labels = learner.labels.order
        self.truth = self.truths()
        self.table = engine.table.copy()
        self.at = address(self.table)
        self.mode = ctypes.c_int64.from_address(self.at)
        self.call, self.result, self.exception = engine.entry.call, engine.entry.result, engine.entry.exception
        self.out = (ctypes.c_double * max(self.classes, 1))()
        self.moved = ctypes.c_uint8()
        self.found = np.zeros(1, np.int64)
        self.packers: dict[int, tuple[Any, int]] = {}
        self.make_room(features)

    def make_room(self, features: int) -> None:
        """A buffer for rows of so many features, and a journal for the cells they touch."""
        from noregret.native import guarded

        learner, first = self.learner, self.learner.engine.layout.first
        self.features = features
        self.buffer = ctypes.create_string_buffer(HEAD + 12 * features + 8)
        raw = np.frombuffer(memoryview(self.buffer), np.uint8)
        indices = raw[HEAD : HEAD + 4 * features].view(np.uint32)
        scores = np.frombuffer(memoryview(self.out))
        stride, class_room = learner.space.stride, learner.space.class_room  # type: ignore[union-attr]
        values = np.zeros(0)  # where the values stand depends on how many there are
        fill(self.table, first["rows"], (raw[16:32].view(np.int64), indices, values, stride, 0, self.found))
        self.values_at = ctypes.c_int64.from_address(self.at + 8 * (first["rows"] + 4))
        ctypes.c_int64.from_address(self.at + 8 * (first["rows"] + 5)).value = features
        self.packed = address(raw)
        self.packers.clear()
        fill(self.table, first["y"], raw[:8].view(np.float64))
        fill(self.table, first["h"], raw[8:16].view(np.float64))
        fill(self.table, first["out"], scores.reshape(1, -1) if self.multiclass else scores[:1])
        fill(self.table, first["moved"], np.frombuffer(memoryview(self.moved), np.uint8))

        arrays = memory(learner.state)
        self.saved = np.zeros(features * class_room * len(arrays))
        self.journal = np.zeros(guard.FIRST + 2 * len(arrays), np.int64)
        journal = (indices.view(np.int32), self.saved, class_room, len(arrays), *arrays)
        fill(self.journal, guard.TOUCHED, journal)
        self.touched = ctypes.c_int64.from_address(address(self.journal) + 8 * (guard.TOUCHED + 1))
        counters = np.frombuffer(learner.state.n.base.data)
        self.round = np.zeros(guard.JOURNAL + 1, np.int64)
        parts = (learner.engine.entry.address, self.at, scores, counters, address(self.journal))
        fill(self.round, guard.LOOP, parts)
        self.round_at = address(self.round)
        self.failed = ctypes.c_int64.from_address(self.round_at)
        self.play = guarded().call

    def truths(self) -> dict[Any, float]:
        labels = self.learner.labels
        if self.regression:
            return {}
        if self.multiclass:
            return {label: float(code) for label, code in labels.code.items()}
        return dict(zip(labels.order, labels.signs(self.classes).tolist(), strict=True))

    def pack(self, x: dict[Any, Any], y: float, h: float, lookup: Any) -> bool:
        """Write one row into the buffer; False when it is not for this lane."""
        n = len(x)
        values = x.values()
        if not math.isfinite(sum(values)):
            return False
        if n > self.features:
            self.make_room(2 * n)
        pack, self.values_at.value = self.packers.get(n) or self.packer(n)
        try:
            if not self.by_column:
                pack(self.buffer, 0, y, h, 0, n, *map(lookup, x), *values)
            elif n == 0 or (min(x) >= 0 and max(x) < self.used):
                pack(self.buffer, 0, y, h, 0, n, *x, *values)
            else:
                return False
        except (struct.error, TypeError, BadValue):
            return False
        return True

    def packer(self, n: int) -> tuple[Any, int]:
        """What writes y, h, 0, n, then n indices and n values; and the address of the values."""
        gap = 4 * (n % 2)
        made = struct.Struct(f"=ddqq{n}i{gap}x{n}d").pack_into, self.packed + HEAD + 4 * n + gap
        self.packers[n] = made
        return made

    def score(self, x: Any) -> Any:
        """The score of a row, or None when it is not for this lane."""
        if type(x) is not dict:
            return None
        try:
            if not self.pack(x, 0.0, 0.0, self.known.get) and not self.pack_known(x):
                return None
        except (TypeError, OverflowError):
            return None
        self.mode.value = 0
        if self.call(self.result, self.exception, self.at):
            return None
        return self.out[:] if self.multiclass else self.out[0]

    def pack_known(self, x: dict[Any, Any]) -> bool:
        """Write a row without the features never seen, where those have no say."""
        if self.by_column or not self.from_zero or not math.isfinite(sum(x.values())):
            return False
        known = {name: value for name, value in x.items() if name in self.known}
        strings = all(isinstance(name, str) for name in x)
        return strings and len(known) < len(x) and self.pack(known, 0.0, 0.0, self.known.get)

    def learn(self, x: Any, y: Any, weight: Any) -> bool:
        """Learn a round; False, with nothing changed, when it is not for this lane."""
        if type(x) is not dict or weight is not None:
            return False
        before = self.used
        try:
            truth = y + 0.0 if self.regression else self.truth.get(y, math.nan)
            if not math.isfinite(truth):
                return False
            fits = self.pack(x, truth, 1.0, self.known.__getitem__) and self.admits_new()
        except (TypeError, ValueError, OverflowError):
            fits = False
        if fits:
            self.touched.value = len(x)
            self.mode.value = 1
            self.moved.value = 0
            self.play(self.result, self.exception, self.round_at)
        if not fits or self.failed.value:
            self.forget(before)
            return False
        learner = self.learner
        learner.rounds += 1
        learner.updates += self.moved.value
        if not self.regression:
            learner.mistakes += self.missed(truth)
        return True

    def admits_new(self) -> bool:
        """Names met for the first time stay in this lane while the state has room for them."""
        size = len(self.known)
        if self.by_column or size == self.used:
            return True
        if size > self.room:
            return False
        self.uses(size)
        return True

    def uses(self, size: int) -> None:
        learner = self.learner
        assert learner.space is not None
        learner.space = replace(learner.space, features=size)
        self.used = size

    def forget(self, size: int) -> None:
        """Undo what a round that is not for this lane added."""
        if not self.by_column:
            self.learner.names.forget_from(size)
            self.uses(size)

    def missed(self, truth: float) -> bool:
        if self.multiclass:
            scores = self.out[:]
            return scores.index(max(scores)) != truth
        if self.classes == 1 and self.sides[0] == self.sides[1]:
            return False
        return (self.out[0] >= 0.0) != (truth > 0.0)
