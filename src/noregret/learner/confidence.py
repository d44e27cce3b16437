"""How sure a second-order learner is: the probability that weights drawn from its Gaussian agree with it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, SparseBlock, verify
from noregret.data.inputs import LabelsLike
from noregret.errors import BadValue
from noregret.learner.model import Model
from noregret.state.growth import parts
from noregret.state.stores.covariance import symmetrize

Floats = NDArray[np.float64]


def confidence(model: Model, scores: Floats, block: Block, y: LabelsLike = None) -> Floats:
    """The probability that the margin is positive: of the predicted label, or of those given."""
    from scipy.special import ndtr

    labels, variances = model.labels, row_variances(model, verify(block))
    if model.task.many:
        own = np.argmax(scores, axis=1) if y is None else known_codes(model, y, len(scores))
        rows = np.arange(len(scores))
        others = scores.copy()
        others[rows, own] = -np.inf
        rival = np.argmax(others, axis=1)
        margin = scores[rows, own] - scores[rows, rival]
        variance = variances[rows, own] + variances[rows, rival]
    else:
        sign = None if y is None else labels.signs(len(labels))[known_codes(model, y, len(scores))]
        margin = np.abs(scores) if sign is None else sign * scores
        variance = variances[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.where(variance > 0.0, margin / np.sqrt(variance), np.sign(margin) * np.inf)
    return np.asarray(ndtr(np.where(margin == 0.0, 0.0, deviations)))


def check_confidence(model: Model) -> None:
    """Refuse where there is no Gaussian, or no label it could be about."""
    if not model.card.keeps_covariance:
        raise BadValue(f"{model.card.name} keeps no covariance, so it has no confidence; use arow, cw, scw1 ...")
    if not (model.task.one_label and model.task.signed_examples):
        raise BadValue(f"confidence is about labels, one for every row; {model.task.name} has none")


def known_codes(model: Model, y: LabelsLike, rows: int) -> NDArray[np.int64]:
    """The class number of each label, every one of which must be known."""
    labels = y.tolist() if hasattr(y, "tolist") else list(y)
    if len(labels) != rows:
        raise BadValue(f"X has {rows} rows and y has {len(labels)} labels; they must match")
    unknown = next((label for label in labels if label not in model.labels.order), None)
    if unknown is not None:
        raise BadValue(f"{unknown!r} is not a class this learner has seen: {model.labels.order}")
    return np.array([model.labels.code[label] for label in labels], dtype=np.int64)


def row_variances(model: Model, block: Block) -> Floats:
    """x' Sigma x for every row and class; a feature never seen has the variance that all begin with."""
    name, sigma = next(
        (name, array)
        for name, field, array in parts(model.shape, model.arrays, model.known_space)
        if field.kind == "covariance"
    )
    classes = model.task.blocks(len(model.labels))
    grown = f"{name}_scale"
    factor = float(model.arrays.n[grown]) if grown in model.arrays.n.dtype.names else 1.0
    if isinstance(block, SparseBlock):
        from scipy.sparse import csr_array

        rows: Any = csr_array((block.val, block.idx, block.indptr), shape=(block.rows, block.width))
    else:
        rows = block.val
    if sigma.ndim == 2:
        return np.asarray(factor * ((rows * rows) @ sigma[:classes, : block.width].T))
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    matrices = symmetrize(sigma[:classes, : block.width, : block.width])
    return np.asarray(factor * np.einsum("ni,cij,nj->nc", dense, matrices, dense, optimize=True))
