"""Explain a score: each feature's share, by name; and count the features that have a weight."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import DenseBlock, as_block, to_sparse, verify
from noregret.data.inputs import RowLike
from noregret.errors import BadValue
from noregret.features.frames import row_to_dict
from noregret.learner.columns import check_columns
from noregret.learner.encode import one_row
from noregret.learner.engine import Loops
from noregret.learner.model import Model
from noregret.learner.weights import UNITS, score_rows
from noregret.state.growth import nonzero_weights
from noregret.tasks.regression import Regression

Scores = Callable[[Any], NDArray[np.float64]]


def explain_one(model: Model, scores: Scores, x: RowLike, label: Any) -> dict[Any, float]:
    """What each feature of a row adds to its score, the largest first."""
    features = features_of(model, x)
    if not features:
        return {}
    column = choose_column(model, scores, features, label)
    rows = [features, {}]
    rows += [{name: value} for name, value in features.items()]
    rows += [{other: value for other, value in features.items() if other != name} for name in features]
    found = scores(rows)
    found = found if column is None else found[:, column]
    whole, nothing, count = found[0], found[1], len(features)
    alone = found[2 : 2 + count] - nothing
    with np.errstate(over="ignore", invalid="ignore"):  # the score of a huge row may be infinite
        adds_up = abs(alone.sum() + nothing - whole) <= 1e-9 * (1.0 + np.abs(alone).sum() + abs(nothing))
    shares = alone if adds_up or not np.isfinite(found).all() else whole - found[2 + count :]
    return dict(sorted(zip(features, shares.tolist(), strict=True), key=lambda pair: -abs(pair[1])))


def features_of(model: Model, x: RowLike) -> dict[Any, Any]:
    """The features of a row by name or number."""
    x = row_to_dict(x)
    if isinstance(x, Mapping):
        return dict(x)
    missing = model.config.allows_missing
    block = as_block(one_row(x, missing), missing)
    check_columns(model, block, learn=False)
    if isinstance(block, DenseBlock) and model.transforms:  # what they make of a zero need not be one
        return dict(enumerate(block.val[0].tolist()))
    block = to_sparse(block if missing else verify(block))
    return dict(zip(block.idx.tolist(), block.val.tolist(), strict=True))


def choose_column(model: Model, scores: Scores, features: Mapping[Any, Any], label: Any) -> int | None:
    """The column of the scores that a label, or the prediction, stands for."""
    if not model.task.many:
        if label is not None:
            raise BadValue("label can be given only where there are more than two classes")
        return None
    if label is None:
        return int(np.argmax(scores([features])[0]))
    if label not in model.labels.order:
        raise BadValue(f"{label!r} is not a class this learner has seen: {model.labels.order}")
    return model.labels.code[label]


def count_nonzeros(model: Model) -> int:
    """How many features have a weight that is not zero for some class; of a kernel learner, its supports."""
    if model.arrays is None:
        return 0
    if model.algebra == "kernel":
        return int(model.bank.n[0])
    size = model.known_space.features
    if model.card.weight is None:
        return int(np.count_nonzero(nonzero_weights(model.arrays, model.known_space).any(axis=0)))
    model = model.copy()
    if isinstance(model.task, Regression) and model.task.scales_targets:  # scores are then weights, not targets
        model.arrays.n.target_mean, model.arrays.n.target_squares = 0.0, model.arrays.n.target_count
    loops = Loops()
    loops.bind(model)
    return sum(count_scored(model, loops, first) for first in range(0, size, UNITS))


def count_scored(model: Model, loops: Loops, first: int) -> int:
    """How many unit rows from a feature on have a score: where weights are a formula, only a score shows them."""
    count = min(UNITS, model.known_space.features - first)
    return int(
        np.count_nonzero(score_rows(model, loops, np.arange(first, first + count), np.arange(count + 1)).any(axis=1))
    )
