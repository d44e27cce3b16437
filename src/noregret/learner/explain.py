"""Why a row has the score it has: each feature's share, by name."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.data.blocks import DenseBlock, SparseBlock, as_block, to_dense, to_sparse, verify
from noregret.errors import BadValue
from noregret.features.frames import row_to_dict
from noregret.learner.encode import one_row
from noregret.state.growth import at_rest, parts
from noregret.tasks.regression import scales

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner

UNITS = 256


def explain_one(learner: "Learner", x: Any, label: Any) -> dict[Any, float]:
    x = row_to_dict(x)
    if isinstance(x, Mapping):
        features = dict(x)
    else:
        gaps = learner.settings.accepts_missing
        block = as_block(one_row(x, gaps), gaps)
        if isinstance(block, DenseBlock) and learner.transforms:  # what they make of a zero need not be one
            features = dict(enumerate(block.val[0].tolist()))
        else:
            block = to_sparse(block if gaps else verify(block))
            features = dict(zip(block.idx.tolist(), block.val.tolist(), strict=True))
    if not features:
        return {}
    column = which_column(learner, features, label)
    rows = [features, {}]
    rows += [{name: value} for name, value in features.items()]
    rows += [{other: value for other, value in features.items() if other != name} for name in features]
    scores = learner.scores(rows)
    scores = scores if column is None else scores[:, column]
    whole, nothing, count = scores[0], scores[1], len(features)
    alone = scores[2 : 2 + count] - nothing
    with np.errstate(over="ignore", invalid="ignore"):  # the score of a huge row may be infinite
        adds_up = abs(alone.sum() + nothing - whole) <= 1e-9 * (1.0 + np.abs(alone).sum() + abs(nothing))
    shares = alone if adds_up or not np.isfinite(scores).all() else whole - scores[2 + count :]
    pairs = sorted(zip(features, shares.tolist(), strict=True), key=lambda pair: -abs(pair[1]))
    return dict(pairs)


def nonzeros(learner: "Learner") -> int:
    """How many features have a say: a weight that is not zero for some class; of a kernel learner, its supports."""
    if learner.state is None:
        return 0
    if learner.algebra == "kernel":
        return int(learner.bank.n[0])
    assert learner.space is not None
    size = learner.space.features
    if learner.card.weight is None:
        late = any(field.kind.startswith("lazy") for field in learner.shape.fields.values())
        rest = learner.copy() if late else learner
        found = parts(learner.shape, at_rest(rest.state) if rest is not learner else rest.state, learner.space)
        cells = next(array for _, field, array in found if field.kind != "covariance")
        return int(np.count_nonzero(cells[: learner.space.classes, :size].any(axis=0)))
    if scales(learner):  # scores are then weights, not targets
        learner = learner.copy()
        learner.state.n.target_mean, learner.state.n.target_squares = 0.0, learner.state.n.target_count
    return sum(unit_scores(learner, first) for first in range(0, size, UNITS))


def unit_scores(learner: "Learner", first: int) -> int:
    """How many unit rows from a feature on have a score: where weights are a formula, only a score shows them."""
    assert learner.space is not None
    count = min(UNITS, learner.space.features - first)
    units = SparseBlock(np.arange(count + 1), np.arange(first, first + count, dtype=np.int32), np.ones(count),
                        learner.space.features)  # fmt: skip
    block = units if learner.algebra == "sparse" else to_dense(units)
    out = learner.task_object.room(count, len(learner.labels))
    learner.engine.score(learner.engine.rows(block, 0, count), out)
    return int(np.count_nonzero(out.reshape(count, -1).any(axis=1)))


def which_column(learner: "Learner", features: Mapping[Any, Any], label: Any) -> int | None:
    if not learner.task_object.many:
        if label is not None:
            raise BadValue("label can be told only where there are more than two classes")
        return None
    if label is None:
        return int(np.argmax(learner.scores([features])[0]))
    if label not in learner.labels.order:
        raise BadValue(f"{label!r} is not a class this learner has seen: {learner.labels.order}")
    return learner.labels.code[label]
