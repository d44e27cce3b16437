"""The fast path of learners of dense rows: one round from an array or a list of numbers."""

import struct
from typing import Any

import numpy as np

from noregret.jit.layout import Table, fill
from noregret.learner.fast_path import LARGEST_COPY, LARGEST_LOG, UNFIT, FastPath, as_target, can_save_all
from noregret.learner.model import Model
from noregret.learner.row_reader import Row, RowReader


class DensePath(FastPath):
    """Rows of as many numbers as the learner has features. A round saves every cell, since it reads every cell."""

    by_column = saves_all = True

    @classmethod
    def suits(cls, model: Model) -> bool:
        return can_save_all(model, LARGEST_LOG if model.config.touches == "row" else LARGEST_COPY)

    def name_features(self, model: Model) -> None:
        self.known = self.scored_names = {}
        self.set_width(model.known_space.features - self.bias)

    def set_width(self, width: int) -> None:
        """Take rows of so many numbers."""
        self.used = self.room = self.limit = self.width = width
        self.numbers = np.arange(width).tobytes()
        self.form = struct.Struct(f"{width}d")

    def make_reader(self, features: int, learn: bool) -> RowReader:
        return RowReader(self, self.width, learn)

    def fill_rows(self, table: Table, row: Row) -> None:
        fill(table, self.layout.first["rows"], (row.val.reshape(1, -1), self.stride))

    def to_bytes(self, x: Any) -> bytes:
        """The bytes of a row of numbers; an error where it is none, or of another width."""
        if type(x) is np.ndarray:  # others, such as masked arrays, may have bytes of their own
            if x.shape != (self.width,) or x.dtype.kind not in "fiub":
                raise ValueError
            return x.tobytes() if x.dtype == np.float64 else x.astype(np.float64).tobytes()
        if type(x) is list or type(x) is tuple:
            return self.form.pack(*x)
        raise TypeError

    def score(self, x: Any) -> Any:
        try:
            values = self.to_bytes(x)
        except UNFIT:
            return None
        return None if self.closed else self.scorer.call(self.numbers, values)

    def learn(self, x: Any, y: Any, weight: Any) -> bool:
        try:
            truth = as_target(y) if self.regression else self.truth[y]
            h = self.importance(y, weight)
            values = self.to_bytes(x)
        except UNFIT:
            return False
        if self.closed:
            return False
        return self.trainer.call(self.numbers, values, truth, h) is True
