"""The weights of a learner by the names of its features, where its score is a weighted sum of them."""

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import SparseBlock, to_dense
from noregret.errors import BadValue
from noregret.learner.change import Change
from noregret.learner.engine import Loops
from noregret.learner.model import Model
from noregret.learner.supports import CONSTANT, Support, read_supports

UNITS = 256  # rows scored at once
Floats = NDArray[np.float64]


class NamedWeights:
    """What linear learners have: their weights by name."""

    model: Model
    _lock: threading.RLock
    _change: Change

    @property
    def weights(self) -> dict[Any, Any]:
        """The weights that are not zero, by feature, the largest first; for many classes, a dict for each class.

        They belong to the features after all transforms; a constant feature is named "(constant)".
        """
        return self.largest_weights()

    def largest_weights(self, count: int | None = None) -> dict[Any, Any]:
        """The same with only so many features of each class, which is quick also where there are very many."""
        with self._lock:
            self._change.settle()
            self._must_have_learned()
            return named_weights(self.model, count)

    @property
    def supports(self) -> list[Support]:
        """The rows that a kernel learner keeps, with their coefficients, the largest first."""
        return self.largest_supports()

    def largest_supports(self, count: int | None = None) -> list[Support]:
        """The same, but only so many."""
        with self._lock:
            self._change.settle()
            self._must_have_learned()
            return read_supports(self.model, count)

    if TYPE_CHECKING:

        def _must_have_learned(self) -> None: ...


def named_weights(model: Model, count: int | None = None) -> dict[Any, Any]:
    """The weights that are not zero, by feature, the largest first; for many classes such a dict for each class."""
    columns = weight_columns(model)
    names = [CONSTANT] * model.config.bias + model.feature_names()
    if not model.task.many:
        return by_name(names, columns[:, 0], count)
    return {label: by_name(names, columns[:, c], count) for c, label in enumerate(model.labels.order)}


def by_name(names: list[Any], weights: Floats, count: int | None) -> dict[Any, float]:
    places = np.flatnonzero(weights)
    if count is not None and count < places.size:
        sizes = np.abs(weights[places])
        least = np.partition(sizes, sizes.size - count)[sizes.size - count] if count > 0 else np.inf
        places = places[sizes >= least]
    places = places[np.argsort(-np.abs(weights[places]), kind="stable")]
    return {names[place]: float(weights[place]) for place in places[:count].tolist()}


def weight_columns(model: Model) -> Floats:
    """What each feature adds to each score: features in rows, outputs in columns; the constant is feature 0."""
    if model.algebra == "kernel":
        raise BadValue(
            f"{model.card.name} has supports here, not weights: it was made with algebra='kernel'; see learner.supports"
        )
    loops, features = Loops(), model.known_space.features
    loops.bind(model)
    nothing = score_rows(model, loops, np.zeros(0, np.int64), np.zeros(2, np.int64))[0]
    columns = np.empty((features, nothing.size))
    for first in range(0, features, UNITS):
        count = min(UNITS, features - first)
        units = score_rows(model, loops, np.arange(first, first + count), np.arange(count + 1))
        columns[first : first + count] = units - nothing
    values: Floats = np.asarray(1.0 + np.arange(features) % 3, np.float64)
    whole = score_rows(model, loops, np.arange(features), np.array([0, features]), values)[0]
    error = np.abs(nothing + values @ columns - whole)
    if not (error <= 1e-6 * (np.abs(nothing) + values @ np.abs(columns) + 1e-300)).all():
        raise BadValue(f"{model.card.name}: its score is not a weighted sum of the features, so it has no weights")
    return columns


def score_rows(
    model: Model, loops: Loops, idx: NDArray[np.int64], indptr: NDArray[np.int64], values: Floats | None = None
) -> Floats:
    """The scores of rows with these values, or ones, at these features."""
    given = np.ones(idx.size) if values is None else values
    rows = SparseBlock(indptr, idx.astype(np.int32), given, model.known_space.features)
    out = model.task.make_scores(len(indptr) - 1, len(model.labels))
    if not loops.score(rows if model.algebra == "sparse" else to_dense(rows), out, 0, len(indptr) - 1):
        raise BadValue(f"{model.card.name}: its rule raised an error while a row of one feature was scored")
    return out.reshape(len(indptr) - 1, -1)
