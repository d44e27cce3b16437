"""Why a row has the score it has: each feature's share, by name."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.chunk import as_block, to_sparse, verified
from noregret.errors import BadValue
from noregret.learner import one_row

if TYPE_CHECKING:
    from noregret.learner import Learner


def explain_one(learner: "Learner", x: Any, label: Any) -> dict[Any, float]:
    if isinstance(x, Mapping):
        features = dict(x)
    else:
        block = to_sparse(verified(as_block(one_row(x))))
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
    adds_up = abs(alone.sum() + nothing - whole) <= 1e-9 * (1.0 + np.abs(alone).sum() + abs(nothing))
    shares = alone if adds_up else whole - scores[2 + count :]
    pairs = sorted(zip(features, shares.tolist(), strict=True), key=lambda pair: -abs(pair[1]))
    return dict(pairs)


def which_column(learner: "Learner", features: Mapping[Any, Any], label: Any) -> int | None:
    if learner.game != "multiclass":
        if label is not None:
            raise BadValue("label can be told only where there are more than two classes")
        return None
    if label is None:
        return int(np.argmax(learner.scores([features])[0]))
    if label not in learner.labels.order:
        raise BadValue(f"{label!r} is not a class this learner has seen: {learner.labels.order}")
    return learner.labels.code[label]
