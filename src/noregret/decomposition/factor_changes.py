"""Changes of a matrix that is known by its factors: rank-one updates (Brand 2006), new columns, means taken out."""

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.factors import Factors, longest_column, orthonormalize, remove_projection
from noregret.decomposition.row_factors import RowFactors

Floats = NDArray[np.float64]
CANCELLED = 1e-13  # a difference of two numbers that is a smaller share of them has only rounding errors left


def kept_rows(factors: Factors) -> RowFactors:
    """V; whoever changes single rows must have kept it."""
    assert factors.left is not None
    return factors.left


def add_rank_one(factors: Factors, features: Floats, rows: Floats) -> None:
    """X + rows features': one number for every row of X times one for every feature."""
    whole = kept_rows(factors).whole(factors.rank)
    along, rest = remove_projection(whole, rows[:, None])
    direction, length = orthonormalize(rest, factors.limits.least(longest_column(rows[:, None])))
    rotation = change_middle(factors, features, np.concatenate((along, length))[:, 0])
    new = np.concatenate((whole, direction), axis=1) @ rotation
    kept_rows(factors).replace(new)
    factors.sums = new.sum(axis=0)


def change_middle(factors: Factors, features: Floats, along: Floats) -> Floats:
    """Add features along' to the middle; `along` has coordinates in V and, where it is longer, in one more column."""
    inside, new, outside = factors.split(features[:, None])
    k, r = factors.turn.shape
    small = np.zeros((k + new.shape[1], along.size))
    small[:k, :r] = factors.turn * factors.values
    small += np.concatenate((inside, outside)) * along
    return factors.diagonalize(small, new)


def rebuild_row(factors: Factors, row: int) -> Floats:
    """Row number `row` of X, as far as the rank allows."""
    coordinates = kept_rows(factors).whole(factors.rank)[row] * factors.values
    return np.asarray(factors.basis @ (factors.turn @ coordinates))


def revise_row(factors: Factors, row: int, values: Floats) -> None:
    """Replace a row."""
    unit = np.zeros(factors.rows)
    unit[row] = 1.0
    add_rank_one(factors, values - rebuild_row(factors, row), unit)


def remove_row(factors: Factors, row: int) -> None:
    """Downdate: make a row zero, then take it out of V."""
    revise_row(factors, row, np.zeros(factors.features))
    left = kept_rows(factors)
    left.replace(np.delete(left.whole(factors.rank), row, axis=0))
    factors.rows -= 1


def recenter(factors: Factors) -> None:
    """Take the mean of all rows out of every row: X - 1 mean'. V need not be kept: the sum of its rows is enough."""
    mean, sums = factors.mean, factors.sums
    if factors.left is not None:
        add_rank_one(factors, -mean, np.ones(factors.rows))
        return
    square = factors.rows - float(sums @ sums)  # of the length of 1 outside of the columns of V
    along = np.append(sums, np.sqrt(square)) if square > CANCELLED * factors.rows else sums
    factors.sums = change_middle(factors, -mean, along).T @ along


def append_columns(factors: Factors, columns: Floats) -> None:
    """New features with a value in every row so far: [X columns]."""
    whole, right = kept_rows(factors).whole(factors.rank), factors.right
    inside, rest = remove_projection(whole, columns)
    new, outside = orthonormalize(rest, factors.limits.least(factors.find_largest(columns)))
    r, count = factors.rank, columns.shape[1]
    small = np.zeros((r + new.shape[1], r + count))
    small[:r, :r] = np.diag(factors.values)
    small[:r, r:], small[r:, r:] = inside, outside
    left, values, other = np.linalg.svd(small, full_matrices=False)
    kept = factors.limits.count(values)
    both = np.zeros((factors.features + count, r + count))
    both[: factors.features, :r] = right
    both[factors.features :, r:] = np.eye(count)
    factors.basis, factors.turn = np.asfortranarray(both @ other[:kept].T), np.eye(kept)
    factors.values = values[:kept]
    factors.turn_frame(other[:kept, :r], factors.frame)
    kept_rows(factors).replace(np.concatenate((whole, new), axis=1) @ left[:, :kept])
    factors.sums = kept_rows(factors).whole(kept).sum(axis=0)
