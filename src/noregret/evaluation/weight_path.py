"""The path of the weights through a run: the longest they ever were, for bounds that ask how far they went.

The run is played again, row by row, by a learner that is given the rows as the rule saw them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, SparseBlock, to_dense
from noregret.errors import BadValue, Error
from noregret.evaluation.encoded_rounds import EncodedRounds
from noregret.learner.config import Config, resolve
from noregret.learner.engine import Loops
from noregret.learner.model import Model
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.weights import weight_columns
from noregret.metrics.comparator_problem import Matrix, is_sparse

Floats = NDArray[np.float64]
ROUNDS, WEIGHTS = 20_000, 4096  # with more, the path is not computed
PREPARATION = ("bias", "scale", "transforms", "bits", "algebra", "reads")  # options that change rows


@dataclass(frozen=True)
class Path:
    """|w_t| and max over j of |w_tj|, before each round."""

    lengths: Floats
    largest: Floats

    def longest(self, rounds: int) -> tuple[float, float]:
        """The largest of each in the first rounds."""
        return float(self.lengths[:rounds].max(initial=0.0)), float(self.largest[:rounds].max(initial=0.0))


def follow_weights(config: Config, encoded: EncodedRounds, updated: NDArray[np.bool_]) -> Path | None:
    """The path of the weights; None where it would take too long, or where there are no weights to follow."""
    rounds, classes = len(updated), max(len(encoded.model.labels), 1)
    if rounds > ROUNDS or encoded.width * classes > WEIGHTS or not encoded.complete:
        return None
    given = {name: value for name, value in config.given.items() if name not in PREPARATION}
    X, labels = encoded.rows(), label_list(encoded)
    algebra = "sparse" if is_sparse(X) else "dense"
    learner = RuleLearner(resolve(config.card, {**given, "algebra": algebra, "bias": False, "scale": False}))
    lengths, largest, reader = np.zeros(rounds), np.zeros(rounds), WeightReader(learner.model)
    length = size = 0.0
    try:
        for t in range(rounds):
            lengths[t], largest[t] = length, size
            learner.learn_one(one_row(X, t), labels[t])
            if updated[t]:
                weights = reader.read()
                length, size = float(np.linalg.norm(weights)), float(np.abs(weights).max(initial=0.0))
    except Error:
        return None
    return Path(lengths, largest)


class WeightReader:
    """Reads the weights of a model again and again; its loops are bound anew only where the model has grown."""

    def __init__(self, model: Model) -> None:
        self.model, self.loops = model, Loops()
        self.arrays: Any = None
        self.size: tuple[Any, ...] = ()
        self.units: Block | None = None

    def read(self) -> Floats:
        """The weights, features in rows and outputs in columns; an error where scores are not sums of weights."""
        model = self.model
        features = model.known_space.features
        size = (features, len(model.labels), id(model.task))
        if model.arrays is not self.arrays or size != self.size or self.units is None:
            weight_columns(model)  # checks that scores are sums of weights
            self.loops.bind(model)
            starts = np.concatenate(([0], np.arange(features + 1)))  # the first row has no values
            units = SparseBlock(starts, np.arange(features, dtype=np.int32), np.ones(features), features)
            self.arrays, self.size = model.arrays, size
            self.units = units if model.algebra == "sparse" else to_dense(units)
        out = model.task.make_scores(features + 1, len(model.labels))
        if not self.loops.score(self.units, out, 0, features + 1):
            raise BadValue(f"{model.card.name}: its rule raised an error while a row of one feature was scored")
        scores = out.reshape(features + 1, -1)
        return np.asarray(scores[1:] - scores[0])


def label_list(encoded: EncodedRounds) -> list[Any]:
    """The labels, or targets, as the learner was given them."""
    truths = encoded.all_truths()
    order = encoded.model.labels.order
    return [order[code] for code in truths.tolist()] if encoded.model.task.labelled else truths.tolist()


def one_row(X: Matrix, t: int) -> Any:
    """A row, by the numbers of its features."""
    if not is_sparse(X):
        return X[t]
    start, stop = X.indptr[t], X.indptr[t + 1]
    return dict(zip(X.indices[start:stop].tolist(), X.data[start:stop].tolist(), strict=True))
