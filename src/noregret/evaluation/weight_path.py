"""The path of the weights through a run: the longest they ever were, for bounds that ask how far they went.

The run is played again, row by row, by a learner that is given the rows as the rule saw them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import Error
from noregret.evaluation.encoded_rounds import EncodedRounds
from noregret.learner.config import Config, resolve
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
    lengths, largest = np.zeros(rounds), np.zeros(rounds)
    length = size = 0.0
    try:
        for t in range(rounds):
            lengths[t], largest[t] = length, size
            learner.learn_one(one_row(X, t), labels[t])
            if updated[t]:
                weights = weight_columns(learner.model)
                length, size = float(np.linalg.norm(weights)), float(np.abs(weights).max(initial=0.0))
    except Error:
        return None
    return Path(lengths, largest)


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
