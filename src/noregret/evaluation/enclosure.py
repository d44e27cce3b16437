"""A proof with floats that rows have a positive combination that is exactly 0: its weights, enclosed in intervals.

In general position as many rows as columns and one more have exactly one combination with weights that sum to 1. An
approximate inverse R of the linear system A x = b with |I - R A| < 1 shows that there is one solution, and encloses it:
|x - x'| <= |R (b - A x')| / (1 - |I - R A|) for any x' (Krawczyk, Computing 4, 1969; Rump, Acta Numerica 19, 2010). All
bounds include those on rounding errors.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

UNIT = 2.0**-53
MOST_ROWS = 3000
SAFE = 1.0 + 1e-6  # for the rounding of the bounds themselves


def encloses_zero(Z: Any, rows: Sequence[int]) -> bool:
    """Whether it is proved that some positive weights of these rows give exactly 0; False proves nothing."""
    chosen = Z[list(rows)]
    used = np.unique(chosen.indices[chosen.data != 0.0])
    count = len(rows)
    if not 1 < count <= MOST_ROWS or len(used) + 1 != count:
        return False
    dense = np.asarray(chosen[:, used].todense(), np.float64)
    sizes = np.abs(dense).max(axis=1, keepdims=True)
    if not (sizes > 0.0).all():
        return False
    dense = np.ldexp(dense, -np.frexp(sizes)[1])  # powers of two change no digit, and no sign of a weight
    A = np.vstack([dense.T, np.ones((1, count))])
    b = np.zeros(count)
    b[-1] = 1.0
    try:
        R = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return False
    if not np.isfinite(R).all():
        return False
    x = R @ b
    gamma = SAFE * (count + 2) * UNIT
    off = np.abs(np.eye(count) - R @ A) + gamma * (np.abs(R) @ np.abs(A) + np.eye(count))
    contraction = SAFE * float(off.sum(axis=1).max())
    if not contraction < 1.0:
        return False
    residual = np.abs(b - A @ x) + gamma * (np.abs(A) @ np.abs(x) + b)
    radius = SAFE * float((np.abs(R) @ residual).max()) / (1.0 - contraction)
    return bool(x.min() > radius)
