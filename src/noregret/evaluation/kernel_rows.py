"""Rows of a kernel learner as vectors with the same inner products, so that its comparator is one of weights.

The best fixed function of a reproducing kernel is a sum of kernel functions at the rows (representer theorem). With a
pivoted Cholesky factor F of their Gram matrix, K = F F', such a function has the scores F v and the norm |v|.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_array

from noregret.algebra.kernel_functions import KERNELS
from noregret.data.blocks import SparseBlock
from noregret.errors import BadValue
from noregret.learner.engine import Loops
from noregret.learner.model import Model

Floats = NDArray[np.float64]
MOST_ROUNDS = 2000  # of which all pairs are compared
SAME = 1e-6  # relative: how well scores must be those of a weighted sum


def gram_matrix(X: csr_array, model: Model) -> Floats:
    """k(x_s, x_t) of all rows."""
    config = model.config
    if config.kernel not in KERNELS:
        raise BadValue("the best function in hindsight is computed for the kernels that come with the library")
    gamma, coef0, degree = model.kernel_params
    if config.kernel == "laplacian":
        return np.exp(-gamma * cityblock_distances(X))
    products = np.asarray((X @ X.T).todense(), np.float64)
    if config.kernel == "linear":
        return products
    if config.kernel == "polynomial":
        return np.asarray((gamma * products + coef0) ** degree)
    if config.kernel == "sigmoid":
        return np.tanh(gamma * products + coef0)
    squares = np.diag(products)
    if config.kernel == "cosine":
        sizes = np.where(squares > 0.0, np.sqrt(squares), 1.0)
        return np.asarray(products / sizes[:, None] / sizes)
    return np.exp(-gamma * np.maximum(squares[:, None] + squares - 2.0 * products, 0.0))


def cityblock_distances(X: csr_array) -> Floats:
    """|x_s - x_t|_1 of all rows."""
    dense = np.asarray(X.todense(), np.float64)
    return np.array([np.abs(dense - row).sum(axis=1) for row in dense]).reshape(X.shape[0], X.shape[0])


def as_vectors(X: csr_array, model: Model) -> Floats:
    """A dense row for each row, with the inner products of the kernel."""
    if X.shape[0] > MOST_ROUNDS:
        raise BadValue(f"the best function of a kernel is found for at most {MOST_ROUNDS:,} rounds")
    K = gram_matrix(X, model)
    if not np.isfinite(K).all():
        raise BadValue("the kernel of two rows is too large a number, so no best function is computed")
    upper, pivots, rank, _ = dpstrf(K)
    lower = np.tril(upper.T)[:, :rank]
    found = np.empty_like(lower)
    found[pivots - 1] = lower
    return np.asarray(found, np.float64)


def learned_norm(model: Model, X: csr_array, vectors: Floats) -> float:
    """The norm of what was learned, from its scores on all rows: it is a sum of kernel functions at them."""
    loops = Loops()
    loops.bind(model)
    block = SparseBlock(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, model.known_space.features)
    out = model.task.make_scores(X.shape[0], len(model.labels))
    if not loops.score(block, out, 0, X.shape[0]):
        raise BadValue("its rule raised an error while rows were scored")
    scores = out.reshape(X.shape[0], -1)
    v = np.linalg.lstsq(vectors, scores, rcond=1e-10)[0]
    if np.abs(vectors @ v - scores).max(initial=0.0) > SAME * max(1.0, float(np.abs(scores).max(initial=0.0))):
        raise BadValue("its score is not a weighted sum of kernel functions at the rows")
    return float(np.linalg.norm(v))
