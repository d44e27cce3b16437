"""How sure a second-order learner is: weights drawn from its Gaussian say the same with this probability."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.data.blocks import SparseBlock, verify
from noregret.errors import BadValue
from noregret.learner.merge import symmetric
from noregret.state.growth import parts
from noregret.tasks.classes import Classes

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner


def confidence(learner: "Learner", X: Any, y: Any = None) -> np.ndarray:
    """The probability that the margin is positive: of the predicted label, or of those given."""
    if not learner.card.keeps_covariance:
        raise BadValue(f"{learner.card.name} keeps no covariance, so it has no confidence; use arow, cw, scw1 ...")
    if not isinstance(learner.task_object, Classes):
        raise BadValue(f"confidence is about labels, one for every row; {learner.task} has none")
    from scipy.special import ndtr

    scores, variances = learner.scores(X), spread(learner, X)
    if learner.task_object.many:
        own = np.argmax(scores, axis=1) if y is None else codes(learner, y, len(scores))
        rows = np.arange(len(scores))
        others = scores.copy()
        others[rows, own] = -np.inf
        rival = np.argmax(others, axis=1)
        margin = scores[rows, own] - scores[rows, rival]
        variance = variances[rows, own] + variances[rows, rival]
    else:
        told = None if y is None else learner.labels.signs(len(learner.labels))[codes(learner, y, len(scores))]
        margin = np.abs(scores) if told is None else told * scores
        variance = variances[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.where(variance > 0.0, margin / np.sqrt(variance), np.sign(margin) * np.inf)
    return np.asarray(ndtr(np.where(margin == 0.0, 0.0, deviations)))


def codes(learner: "Learner", y: Any, rows: int) -> np.ndarray:
    """The class number of each label, every one of which must be known."""
    labels = y.tolist() if hasattr(y, "tolist") else list(y)
    if len(labels) != rows:
        raise BadValue(f"X has {rows} rows and y has {len(labels)} labels; they must match")
    unknown = next((label for label in labels if label not in learner.labels.order), None)
    if unknown is not None:
        raise BadValue(f"{unknown!r} is not a class this learner has seen: {learner.labels.order}")
    return np.array([learner.labels.code[label] for label in labels], dtype=np.int64)


def spread(learner: "Learner", X: Any) -> np.ndarray:
    """x' Sigma x for every row and class; a feature never seen has the variance that all begin with."""
    block = verify(learner.block(X, grow=False, include_unknown=True))
    assert learner.space is not None
    name, sigma = next(
        (name, array)
        for name, field, array in parts(learner.shape, learner.state, learner.space)
        if field.kind == "covariance"
    )
    classes = learner.task_object.blocks(len(learner.labels))
    grown = f"{name}_scale"
    factor = float(learner.state.n[grown]) if grown in learner.state.n.dtype.names else 1.0
    if isinstance(block, SparseBlock):
        from scipy.sparse import csr_array

        rows: Any = csr_array((block.val, block.idx, block.indptr), shape=(block.rows, block.width))
    else:
        rows = block.val
    if sigma.ndim == 2:
        return np.asarray(factor * ((rows * rows) @ sigma[:classes, : block.width].T))
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    matrices = symmetric(sigma[:classes, : block.width, : block.width])
    return np.asarray(factor * np.einsum("ni,cij,nj->nc", dense, matrices, dense, optimize=True))
