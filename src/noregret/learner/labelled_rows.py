"""Labelled rows that can be learned in parts and in any order; errors name the row as the caller numbered it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows, check_weights
from noregret.data.labels import as_array, targets
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, shown
from noregret.features.frames import convert_frame
from noregret.learner.protocol import Learner, SelfEvaluating
from noregret.tasks.regression import Regression

AnyLearner = TypeVar("AnyLearner", bound=Learner)


class LabelledRows:
    """Rows, labels and perhaps importance weights; `numbers` holds the caller's number of each row."""

    def __init__(self, X: Any, y: Any, weight: Any = None, prefix: str = "", objects: bool = False) -> None:
        """`prefix` begins every error message; `objects` are inputs and outputs of any kind, not rows and labels."""
        self.prefix, self.X = prefix, as_list(X, f"{prefix}X") if objects else as_indexable(X)
        if objects:
            y = as_list(y, f"{prefix}y")
        self.y = y if isinstance(y, (list, np.ndarray)) else list_labels(y)
        rows = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        if rows != len(self.y):
            raise BadValue(f"{prefix}X has {rows} rows and y has {len(self.y)} labels; they must match")
        self.weight = check_weights(weight, rows)
        self.numbers = np.arange(rows)

    def __len__(self) -> int:
        return len(self.numbers)

    def require_rows(self) -> "LabelledRows":
        """Refuse to go on without any row."""
        if not len(self):
            raise BadValue(f"{self.prefix}X has no rows; there is nothing to learn from")
        return self

    def select(self, order: NDArray[np.int64]) -> "LabelledRows":
        """The rounds with these numbers, in this order."""
        return self._part(select_rows(self.X, order), select_rows(self.y, order), order)

    def slice(self, start: int, stop: int) -> "LabelledRows":
        """The rounds from start to before stop."""
        return self._part(self.X[start:stop], self.y[start:stop], slice(start, stop))

    def _part(self, X: Any, y: Any, numbers: Any) -> "LabelledRows":
        new = object.__new__(LabelledRows)
        new.prefix, new.X, new.y, new.numbers = self.prefix, X, y, self.numbers[numbers]
        new.weight = None if self.weight is None else self.weight[numbers]
        return new

    def teach(self, learner: AnyLearner) -> AnyLearner:
        """Have a learner learn every round."""
        try:
            return learner.learn(self.X, self.y, self.weight)
        except BadValue as error:
            raise self.locate(error) from None

    def play(self, learner: Learner) -> Transcript:
        """The same; returns the transcript."""
        try:
            return learner.play(self.X, self.y, self.weight)
        except BadValue as error:
            raise self.locate(error) from None

    def measure_error(self, learner: Learner) -> float:
        """The share of rows that a learner predicts wrongly; of targets and structured output the mean loss."""
        try:
            if isinstance(learner, SelfEvaluating):
                return float(learner.evaluate(self.X, self.y).losses.mean())
            predictions = learner.predict(self.X)
            if learner.task == Regression.name:
                return mean_loss(learner, predictions - targets(self.y))
        except BadValue as error:
            raise self.locate(error) from None
        truth = self.y if isinstance(self.y, np.ndarray) else as_array(self.y)
        return float((predictions.astype(object) != truth.astype(object)).mean())

    def locate(self, error: BadValue) -> BadValue:
        """The error with the caller's number of the row."""
        if error.row is None:
            return BadValue(f"{self.prefix}{error}")
        row = int(self.numbers[error.row])
        return BadValue(self.prefix + str(error).replace(f"row {error.row}", f"row {row}", 1), row)


def mean_loss(learner: Learner, errors: NDArray[np.float64]) -> float:
    """The mean loss of errors in regression: by the loss of a rule learner, by half the square for other learners."""
    model = getattr(learner, "model", None)
    if model is None or not isinstance(model.task, Regression):
        return float(0.5 * (errors**2).mean())
    return model.task.mean_loss(errors, None if model.arrays is None else model.arrays.n)


def check_validation(validation: Any, objects: bool = False) -> LabelledRows | None:
    """The rows to validate on, given as (X, y); None where none are given."""
    if validation is None:
        return None
    if not isinstance(validation, tuple) or len(validation) != 2:
        raise BadValue(f"validation must be a pair (X, y), not {shown(validation)}")
    return LabelledRows(*validation, prefix="validation: ", objects=objects).require_rows()


def as_indexable(X: Any) -> Any:
    """Rows as something that can be sliced: dicts, rows of a stream or a frame, a sparse matrix or an array."""
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


def as_list(given: Any, name: str) -> list[Any]:
    """Inputs or outputs of any kind, one for every round."""
    if given is None or isinstance(given, (str, bytes, dict)) or not hasattr(given, "__iter__"):
        raise BadValue(f"{name} must be a list with one entry for every round, not {shown(given)}")
    return list(given)


def list_labels(y: Any) -> Any:
    """Labels as a list or an array."""
    if isinstance(y, tuple):
        return list(y)
    if hasattr(y, "__array__") and getattr(y, "ndim", 1) == 1:
        return np.asarray(y)
    raise BadValue(f"y must be a list or an array of labels, not {shown(y)}")


def select_rows(values: Any, order: NDArray[np.int64]) -> Any:
    """Rows, or labels, in another order."""
    if isinstance(values, list):
        return [values[at] for at in order]
    return select_stream_rows(values, order) if isinstance(values, Rows) else values[order]


def select_stream_rows(rows: Rows, order: NDArray[np.int64]) -> Rows:
    block = rows.block
    lengths = np.diff(block.indptr)[order]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    at = np.repeat(block.indptr[:-1][order] - indptr[:-1], lengths) + np.arange(indptr[-1])
    return replace(rows, block=block._replace(indptr=indptr, idx=block.idx[at], val=block.val[at]))
