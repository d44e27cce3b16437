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
    """Fill in the smallest coordinates z, in units of the singular values, that explain the observed entries best.

    That is, the missing part of x is U_mis diag(s) pinv(U_obs diag(s)) x_obs. Directions of U_obs diag(s) that are
    rounding errors beside the largest singular value explain nothing: what is divided by them would be of any size.
    Where directions were dropped at the ceiling, observed entries have noise. With fill="ridge", z of a row that is not
    complete minimises |x_obs - U_obs diag(s) z|^2 + noise |z|^2: the most probable one (Tipping and Bishop 1999).
    """
    right, values, noise = factors.right, factors.values, factors.noise
    least = factors.limits.least(float(values.max(initial=0.0)))
    ridge = np.sqrt(noise) * np.eye(factors.rank)[: factors.rank if noise > least * least else 0]
    filled, components, errors = rows.copy(), np.zeros((len(rows), factors.rank)), np.zeros(len(rows))
    for number, there in enumerate(observed):
        penalty = ridge[:0] if there.all() else ridge
        explaining, wanted = np.concatenate((right[there] * values, penalty)), rows[number, there]
        components[number] = values * solve(explaining, np.append(wanted, np.zeros(len(penalty))), least)
        guess = right @ components[number]
        rest = filled[number, there] - guess[there]
        errors[number] = rest @ rest
        filled[number, ~there] = guess[~there]
    return Filled(filled, components, errors)


def solve(matrix: Floats, wanted: Floats, least: float) -> Floats:
    """The shortest z for which matrix @ z is nearest to what is wanted, without directions smaller than `least`."""
    found, _, rank, sizes = np.linalg.lstsq(matrix, wanted, rcond=None)
    if not rank or sizes[rank - 1] > least:
        return np.asarray(found)
    if sizes[0] <= least:
        return np.zeros(matrix.shape[1])
    return np.asarray(np.linalg.lstsq(matrix, wanted, rcond=least / sizes[0])[0])
