"""The fast path of learners whose transforms make features of others: squares, products, one-hot encoding.

A derived feature is found by its key in the hash table of its transform. A row with new keys is learned in a change, in
which the table may grow as far as there is room; where there is none, the general path makes some.
"""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.features.derived import DerivedTransform
from noregret.features.keys import Keys
from noregret.jit import dict_reader
from noregret.learner.change import Change
from noregret.learner.engine import Loops
from noregret.learner.fast_path import FEATURES, UNFIT, FastPath, as_target
from noregret.learner.model import Model
from noregret.learner.row_stages import CHAINED, GROW, LEARNS, LIMIT, UNKNOWN
from noregret.state.guarded_round import ROUNDS

LARGEST_ROW = 1 << 17  # the most features that a row may become; the room for them is made beforehand


def count_features(derived: Sequence[DerivedTransform], features: int) -> int:
    """Return how many features a row of so many may become."""
    for transform in derived:
        features = transform.row_capacity(features)
    return features


class DerivedPath(FastPath):
    """Rows of named features; `used` and `room` count the names, not the features that are made of them."""

    def __init__(self, model: Model, loops: Loops, change: Change) -> None:
        derived = [one for one in model.transforms if isinstance(one, DerivedTransform)]
        self.derived = derived
        self.keys = [one.keys for one in derived if isinstance(one.keys, Keys)]
        self.tables = [keys.known for keys in self.keys]
        self.missing = np.zeros(1, np.int64)  # 1: a row to be learned had a new key
        self.options: list[NDArray[np.int64]] = []  # of the reader that learns
        super().__init__(model, loops, change)

    @classmethod
    def serves(cls, model: Model) -> bool:
        """Whether single rows can be derived and numbered by compiled code."""
        marks = False
        for one in model.transforms:
            if isinstance(one, DerivedTransform):
                if not one.can_derive_rows() or not isinstance(one.keys, Keys) or not len(one.keys):
                    return False
                marks |= one.makes_indicators
            elif one.row_loops() is None or (marks and one.indicator_field is not None):
                return False  # the latter must be told which features are indicators
        derived = [one for one in model.transforms if isinstance(one, DerivedTransform)]
        return model.names.mode == "names" and count_features(derived, FEATURES) <= LARGEST_ROW

    def name_features(self, model: Model) -> None:
        self.known = self.scored_names = model.names.known
        self.used = len(self.known)
        self.room = self.limit = 2 * self.used + FEATURES
        rooms = [max(2 * len(keys), len(keys) + FEATURES) for keys in self.keys]
        self.rooms = [*rooms[:-1], model.known_space.room - self.bias]  # of the features after each derivation

    def reserve_statistics(self) -> None:
        room, level = self.room, 0
        for transform in self.model.transforms:
            transform.reserve(room)
            if isinstance(transform, DerivedTransform):
                room, level = self.rooms[level], level + 1

    def count_derived(self, features: int) -> int:
        return count_features(self.derived, features)

    def score_bytes(self, x: Any) -> Any:
        return super().score_bytes(x) if self.is_short(x) else None

    def learn_bytes(self, x: Any, truth: float, h: float) -> bool:
        return self.is_short(x) and super().learn_bytes(x, truth, h)

    def is_short(self, x: Any) -> bool:
        """Whether a row does not become so many features that it is left to the general path."""
        return hasattr(x, "__len__") and self.count_derived(2 * len(x)) <= LARGEST_ROW

    def key_options(self, level: int, learn: bool) -> NDArray[np.int64]:
        room, options = self.rooms[level], np.zeros(5, np.int64)
        spare = self.from_zero and len(self.keys[level]) < room
        options[LEARNS], options[LIMIT], options[UNKNOWN] = learn, room, room - 1 if spare else -1
        options[CHAINED] = self.derived[level].chains_keys
        if learn:
            self.options = [*self.options[:level], options]
        return options

    def unknown_cell(self, used: int | None = None) -> int:
        return self.room - 1 if self.from_zero and not self.sorts_rows else dict_reader.UNFIT

    def is_current(self) -> bool:
        same = all(
            now is then
            for keys, table in zip(self.keys, self.tables, strict=True)
            for now, then in zip(keys.known, table, strict=True)
        )
        return same and super().is_current()

    # ---- learning ------------------------------------------------------------------------------------------------

    def learn(self, x: Any, y: Any, weight: Any) -> bool:
        self.missing[0] = 0
        try:
            truth = as_target(y) if self.regression else self.truth[y]
            h = 1.0 if weight is self.weights else self.importance(y, weight)  # both are None
            learned = self.learn_row(x, truth, h)
            if learned is True:
                return True
            if learned is False or self.missing[0]:  # then it is a dict
                return self.learn_names(x.copy(), truth, h)
            return self.learn_bytes(x, truth, h)
        except UNFIT:
            return False

    def learn_names(self, row: dict[Any, Any], truth: float, h: float, values: bytes | None = None) -> bool:
        """Learn a row with names or keys that may be new, as in the base class."""
        if self.closed or not self.has_room(row) or not self.has_room_for_keys(len(row)):
            return False
        before: tuple[int, int, list[int]] | None = None  # names, rounds and keys; noted in the change

        def learn() -> bool:
            nonlocal before
            self.loops.hide_fast_path()
            if self.closed or not self.has_room(row) or not self.has_room_for_keys(len(row)):
                return False  # a signal handler has called the learner
            before = self.used, self.totals[ROUNDS], [len(keys) for keys in self.keys]
            if not self.add_names(row):
                return False
            self.let_grow(True)
            if values is None:
                learned = self.trainer.call(row, truth, h) is True
            else:
                numbers = struct.pack(f"{len(row)}q", *map(self.known.__getitem__, row))
                learned = self.trainer.call(numbers, values, truth, h) is True
            finish()
            return learned

        def finish() -> None:
            """Forget what is new if the round failed; count it if the round was learned."""
            if before is None:
                return
            self.let_grow(False)
            if self.totals[ROUNDS] == before[1]:
                self.model.names.truncate(before[0])
                for keys, size in zip(self.keys, before[2], strict=True):
                    keys.truncate(size)
            self.use_features(len(self.known))

        learned = self.change.run(learn, finish)
        self.loops.show_fast_path(self)
        return learned

    def let_grow(self, grow: bool) -> None:
        """Say whether new keys get numbers."""
        for options in self.options:
            options[GROW] = grow

    def has_room_for_keys(self, features: int) -> bool:
        """Whether there is room for all keys that a row of so many features may have."""
        for transform, keys, room in zip(self.derived, self.keys, self.rooms, strict=True):
            features = transform.row_capacity(features)
            slots, left, _, _ = keys.known
            if len(keys) + features > min(left.size, slots.size // 2, room - 1):
                return False  # the last number belongs to no feature, so that unknown ones can be scored
        return True

    def has_room(self, row: dict[Any, Any]) -> bool:
        room = self.room - 1 - self.used  # the last number belongs to no name
        return len(row) <= room or sum(name not in self.known for name in row) <= room

    def use_features(self, used: int) -> None:
        self.used, width, level = used, used, 0
        for transform in self.model.transforms:
            if isinstance(transform, DerivedTransform):
                width, level = len(self.keys[level]), level + 1
            else:
                transform.width = width
        self.model.space = self.model.space.with_features(width + self.bias)  # type: ignore[union-attr]
