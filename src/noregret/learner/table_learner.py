"""A rule learner that takes rows of a table as they are: numbers, truth values, categories and texts by column.

A learner is made so by `make(..., reads="table")`. One that was learned from a table on the command line becomes one
when it is loaded, and reads rows as those it was learned from.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.features.frames import is_frame, row_to_dict
from noregret.features.hashing import HashedNames
from noregret.features.table_rows import TableReading, is_table
from noregret.learner.config import Config
from noregret.learner.model import Model
from noregret.learner.model_file import Arrays, Header
from noregret.learner.rule_learner import RuleLearner
from noregret.tasks.outcome import Outcome


class TableLearner(RuleLearner):
    """Learns and predicts rows of a table. Rows that are encoded already, and matrices, are taken as they are."""

    reading: TableReading
    asked_for = True  # whether it was made so; otherwise its source says how rows are read

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.reading = TableReading(options={"keep_missing": config.allows_missing})

    @classmethod
    def of(cls, model: Model) -> Self:
        new = super().of(model)
        new.reading = TableReading(options={"keep_missing": model.config.allows_missing})
        return new

    @classmethod
    def around(cls, learner: RuleLearner, reading: TableReading) -> "TableLearner":
        """The same learner, reading rows so."""
        new = cls.of(learner.model)
        new.source, new.reading = learner.source, reading
        new.asked_for = isinstance(learner, TableLearner) and learner.asked_for
        return new

    # ---- rows ----------------------------------------------------------------------------------------------------

    def _read(self, X: RowsLike, found: dict[str, str] | None = None) -> RowsLike:
        """Rows of a table as rows of features; anything else as it is. See `TableReading.read_row` for `found`."""
        if is_frame(X):
            return self.reading.read_frame(X, found)
        return self.reading.read_rows(X, found) if is_table(X) else X

    def _read_one(self, x: RowLike) -> RowLike:
        """One row as a dict of features, all numbers."""
        x = row_to_dict(x)
        if not isinstance(x, Mapping):
            return x
        return self._sorted(*self.reading.read_row(x))

    def _sorted(self, numbers: dict[str, float], marks: dict[str, float]) -> dict[str, float]:
        """The features of a row in the order in which rows of many are learned, so that sums have the same bits."""
        row, names = {**numbers, **marks}, self.model.names
        if isinstance(names, HashedNames) or names.mode != "names":
            return row
        known, last = names.known, len(names.known)
        return dict(sorted(row.items(), key=lambda item: known.get(item[0], last)))

    def _play(self, X: RowsLike, y: LabelsLike, weight: WeightsLike, keep: bool = True) -> list[Outcome]:
        found: dict[str, str] = {}
        outcomes = super()._play(self._read(X, found), y, weight, keep)
        self.reading.learn(found)
        return outcomes

    def _encode(self, X: RowsLike, include_unknown: bool = False) -> Any:
        return super()._encode(self._read(X), include_unknown)

    def learn_one(self, x: RowLike, y: LabelsLike = None, weight: float | None = None) -> Self:
        x = row_to_dict(x)
        if not isinstance(x, Mapping):
            return super().learn_one(x, y, weight)
        found: dict[str, str] = {}
        numbers, marks = self.reading.read_row(x, found)
        if self._has_new(marks):  # transforms must see that these are no numbers
            with self._lock:
                self._change.settle()
                self._play([x], [y], weight, keep=False)
            return self
        super().learn_one(self._sorted(numbers, marks), y, weight)
        self.reading.learn(found)
        return self

    def _has_new(self, marks: Mapping[str, float]) -> bool:
        """Whether some category or word has not been seen by the transforms."""
        if not marks or not self.model.transforms:
            return False
        names = self.model.names
        return isinstance(names, HashedNames) or names.mode is None or any(name not in names.known for name in marks)

    def predict_one(self, x: RowLike) -> Any:
        return super().predict_one(self._read_one(x))

    def scores_one(self, x: RowLike) -> Any:
        return super().scores_one(self._read_one(x))

    def scores(self, X: RowsLike) -> NDArray[np.float64]:
        return super().scores(self._read(X))

    def explain_one(self, x: RowLike, label: Any = None) -> dict[Any, float]:
        return super().explain_one(self._read_one(x), label)

    # ---- keeping -------------------------------------------------------------------------------------------------

    def _copy(self) -> Self:
        new = super()._copy()
        new.reading, new.asked_for = self.reading.copy(), self.asked_for
        return new

    def merge(self, other: RuleLearner) -> Self:
        new = super().merge(other)
        new.reading, new.asked_for = self.reading.copy(), self.asked_for
        if isinstance(other, TableLearner):
            new.reading.kinds = {**other.reading.kinds, **self.reading.kinds}
        return new

    def dump(self) -> tuple[Header, Arrays]:
        header, arrays = super().dump()
        if not self.asked_for:
            return header, arrays
        kinds = {"kinds": dict(self.reading.kinds)} if self.reading.kinds else {}
        return {**header, "reads": "table", **kinds}, arrays

    def __repr__(self) -> str:
        return super().__repr__().replace(f": {self.task}, ", f", reads='table': {self.task}, ", 1)
