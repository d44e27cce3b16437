"""A lesson: rounds that can be taught in any order, and how well they were learned."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from noregret.data.blocks import Rows, check_weights
from noregret.data.labels import as_array, targets
from noregret.errors import BadValue, shown
from noregret.features.frames import convert_frame
from noregret.learner.rule_learner import RuleLearner
from noregret.tasks.regression import Regression


class Lesson:
    """Rows, labels and perhaps weights, each with its number among those a user handed over."""

    def __init__(self, X: Any, y: Any, weight: Any = None, of: str = "") -> None:
        self.of, self.X, self.y = of, indexable(X), y if isinstance(y, (list, np.ndarray)) else listed(y)
        rows = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        if rows != len(self.y):
            raise BadValue(f"{of}X has {rows} rows and y has {len(self.y)} labels; they must match")
        if rows == 0:
            raise BadValue(f"{of}X has no rows; there is nothing to learn from")
        self.weight = check_weights(weight, rows)
        self.numbers = np.arange(rows)

    def __len__(self) -> int:
        return len(self.numbers)

    def picked(self, order: np.ndarray) -> "Lesson":
        """The rounds of these numbers, in this order."""
        return self.chosen(taken(self.X, order), taken(self.y, order), order)

    def part(self, start: int, stop: int) -> "Lesson":
        """The rounds from start to before stop."""
        return self.chosen(self.X[start:stop], self.y[start:stop], slice(start, stop))

    def chosen(self, X: Any, y: Any, some: Any) -> "Lesson":
        new = object.__new__(Lesson)
        new.of, new.X, new.y, new.numbers = self.of, X, y, self.numbers[some]
        new.weight = None if self.weight is None else self.weight[some]
        return new

    def teach(self, learner: RuleLearner) -> RuleLearner:
        """Have a learner learn every round; an error names the row as it was handed over."""
        try:
            return learner.learn(self.X, self.y, self.weight)
        except BadValue as error:
            raise self.placed(error) from None

    def updates_of(self, learner: RuleLearner) -> np.ndarray:
        """The same, and which rounds were updates."""
        try:
            return learner.play(self.X, self.y, self.weight).updated
        except BadValue as error:
            raise self.placed(error) from None

    def error_of(self, learner: RuleLearner) -> float:
        """The share of rows predicted wrongly; in regression the mean loss."""
        try:
            found = learner.predict(self.X)
            task = learner.model.task
            if isinstance(task, Regression):
                counters = None if learner.model.arrays is None else learner.model.arrays.n
                return task.mean_loss(found - targets(self.y), counters)
        except BadValue as error:
            raise self.placed(error) from None
        truth = self.y if isinstance(self.y, np.ndarray) else as_array(self.y)
        return float((found.astype(object) != truth.astype(object)).mean())

    def placed(self, error: BadValue) -> BadValue:
        if error.row is None:
            return BadValue(f"{self.of}{error}")
        row = int(self.numbers[error.row])
        return BadValue(self.of + str(error).replace(f"row {error.row}", f"row {row}", 1), row)


def validated(validation: Any) -> Lesson | None:
    """The rows to validate on, where some are given."""
    if validation is None:
        return None
    if not isinstance(validation, tuple) or len(validation) != 2:
        raise BadValue(f"validation must be a pair (X, y), not {shown(validation)}")
    return Lesson(*validation, of="validation: ")


def indexable(X: Any) -> Any:
    """Rows as something that can be indexed: dicts, rows of a stream or a frame, a sparse matrix or an array."""
    X = convert_frame(X, allow_missing=True)
    if hasattr(X, "tocsr"):
        return X.tocsr()
    if isinstance(X, Rows) or (isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], Mapping)):
        return X if isinstance(X, Rows) else list(X)
    try:
        table = np.asarray(X)
    except ValueError:
        raise BadValue("the rows of X have different lengths; give a matrix, a sparse matrix or dicts") from None
    if table.ndim == 0:
        raise BadValue(f"X must be a matrix of numbers, a sparse matrix or a list of dicts, not {shown(X)}")
    return table


def listed(y: Any) -> Any:
    if isinstance(y, tuple):
        return list(y)
    if hasattr(y, "__array__") and getattr(y, "ndim", 1) == 1:
        return np.asarray(y)
    raise BadValue(f"y must be a list or an array of labels, not {shown(y)}")


def taken(values: Any, order: np.ndarray) -> Any:
    if isinstance(values, list):
        return [values[at] for at in order]
    return rows_taken(values, order) if isinstance(values, Rows) else values[order]


def rows_taken(rows: Rows, order: np.ndarray) -> Rows:
    block = rows.block
    lengths = np.diff(block.indptr)[order]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    at = np.repeat(block.indptr[:-1][order] - indptr[:-1], lengths) + np.arange(indptr[-1])
    return replace(rows, block=block._replace(indptr=indptr, idx=block.idx[at], val=block.val[at]))


def whole(name: str, value: Any, least: int) -> int:
    """A whole number that is at least so large, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise BadValue(f"{name} must be a whole number of at least {least}, not {shown(value)}")
    return int(value)


def is_learner(learner: Any, what: str) -> None:
    if not isinstance(learner, RuleLearner):
        raise BadValue(f"{what} needs a learner made by make(), not {shown(learner)}")
    if learner.model.task.needs_query and what in ("online_to_batch", "epochs"):
        raise BadValue(
            f"{what} takes rows one by one, and ranking learns from lists; call learn(X, y, query=q) yourself"
        )
