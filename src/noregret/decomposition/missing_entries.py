"""Rows with missing entries: what the factors of the rows so far say of them (Brand 2003)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import SparseBlock
from noregret.decomposition.factors import Factors
from noregret.decomposition.matrix_rows import MatrixRows

Floats = NDArray[np.float64]


class Filled(NamedTuple):
    """Rows whose missing entries are filled in, their components, and the squared error of the entries observed."""

    rows: Floats
    components: Floats
    errors: Floats


def find_observed(rows: MatrixRows, absent: bool) -> NDArray[np.bool_]:
    """Which entries are there: those that are not NaN and, where absent features are missing, that rows name."""
    if not absent or not isinstance(rows.block, SparseBlock):
        return ~np.isnan(rows.dense)
    found, block = np.zeros((rows.rows, rows.width), bool), rows.sparse
    numbers = np.repeat(np.arange(block.rows), np.diff(block.indptr))
    found[numbers, block.idx[: numbers.size]] = ~np.isnan(block.val[: numbers.size])
    return found


def fill_missing(factors: Factors, rows: Floats, observed: NDArray[np.bool_]) -> Filled:
    """Fill in the smallest coordinates, in units of the singular values, that explain the observed entries best.

    That is, the missing part of x is U_mis diag(s) pinv(U_obs diag(s)) x_obs.
    """
    right, values = factors.right, factors.values
    filled, components, errors = rows.copy(), np.zeros((len(rows), factors.rank)), np.zeros(len(rows))
    for number, there in enumerate(observed):
        components[number] = values * np.linalg.lstsq(right[there] * values, rows[number, there], rcond=None)[0]
        guess = right @ components[number]
        rest = filled[number, there] - guess[there]
        errors[number] = rest @ rest
        filled[number, ~there] = guess[~there]
    return Filled(filled, components, errors)
