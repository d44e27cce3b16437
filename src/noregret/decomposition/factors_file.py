"""Factors in a model file: their arrays, and the checks of what is read."""

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.decomposition.factors import MOST_LOST, Factors
from noregret.learner.header_fields import corrupt, read_count, read_number
from noregret.learner.model_file import Arrays, Header

Floats = NDArray[np.float64]
UNEVEN = 1e-6  # how far columns may be from orthonormal
LONGEST = 1.0 + UNEVEN  # an entry of columns that are orthonormal
MOST_FREEDOM = 1e18  # more entries than can be observed
MOST_BLOCKS = 64  # of rows: each is larger than the one after it


def dump_factors(factors: Factors) -> tuple[Header, Arrays]:
    """The factors as they are, also what is still to be multiplied, so that whoever goes on gets the same bits."""
    arrays: Arrays = {"basis": np.ascontiguousarray(factors.basis), "turn": np.ascontiguousarray(factors.turn)}
    arrays |= {"values": factors.values, "sums": factors.sums}
    arrays |= {} if factors.frame is None else {"frame": np.ascontiguousarray(factors.frame)}
    left = factors.left
    blocks = [] if left is None else list(zip(left.blocks, left.rotations, strict=True))
    for number, (block, rotation) in enumerate(blocks):
        arrays |= {f"rows.{number}": np.ascontiguousarray(block), f"rotation.{number}": np.ascontiguousarray(rotation)}
    noise = {"lost": factors.lost, "freedom": factors.freedom} if factors.freedom else {}
    return {"rows": factors.rows, "blocks": len(blocks), **noise}, arrays


def restore_factors(fresh: Factors, header: Header, arrays: Arrays) -> Factors:
    """Fill fresh factors with what `dump_factors` wrote; every array is checked."""
    values, sums = read_array(arrays, "values", 1), read_array(arrays, "sums", 1)
    basis, turn = read_array(arrays, "basis", 2), read_array(arrays, "turn", 2)
    (features, k), r, limits = basis.shape, values.size, fresh.limits
    fits = features == fresh.features and turn.shape == (k, r) and sums.shape == (r,) and r <= limits.rank
    if not fits or k > limits.rank + limits.spare or (values <= 0.0).any() or (np.diff(values) > 0.0).any():
        raise corrupt("the factors of its matrix do not fit together")
    rows = read_count(header, "rows")
    if not are_orthonormal(basis) or not are_orthonormal(turn) or (np.abs(sums) > LONGEST * np.sqrt(rows)).any():
        raise corrupt("the factors of its matrix are not orthonormal")
    fresh.basis, fresh.turn, fresh.values, fresh.sums = np.asfortranarray(basis), turn, values, sums
    fresh.rows = rows
    if "lost" in header:
        fresh.lost, fresh.freedom = (read_number(header.get(name), name) for name in ("lost", "freedom"))
        if not 0.0 <= fresh.lost <= MOST_LOST or not 1.0 <= fresh.freedom <= MOST_FREEDOM:
            raise corrupt("what its matrix lost does not fit its rows")
    if "frame" in arrays:
        frame = read_array(arrays, "frame", 2)
        if frame.shape != (r, limits.rank) or not are_orthonormal(frame.T):
            raise corrupt("the frame of its components does not fit them")
        fresh.frame = frame
    blocks = read_count(header, "blocks", 0 if fresh.left is None else MOST_BLOCKS)
    if fresh.left is not None:
        for number in range(blocks):
            block, rotation = read_array(arrays, f"rows.{number}", 2), read_array(arrays, f"rotation.{number}", 2)
            if rotation.shape != (block.shape[1], r):
                raise corrupt("the factors of its rows do not fit together")
            fresh.left.blocks.append(block)
            fresh.left.rotations.append(rotation)
        if fresh.left.rows != fresh.rows:
            raise corrupt("the factors of its rows are not those of all rows")
        if (np.abs(fresh.left.whole(r)) > LONGEST).any():
            raise corrupt("the factors of its rows are too large")
    return fresh


def are_orthonormal(columns: Floats) -> bool:
    """Whether columns have the length 1 and are orthogonal to each other, up to what rounding may have changed."""
    with np.errstate(all="ignore"):
        return bool((np.abs(columns.T @ columns - np.eye(columns.shape[1])) <= UNEVEN).all())


def read_array(arrays: Arrays, name: str, dimensions: int) -> Floats:
    """A finite array of floats."""
    found = arrays.get(name)
    if found is None or found.dtype != np.float64 or found.ndim != dimensions or not all_finite(found):
        raise corrupt(f"{name} must be an array of finite numbers")
    return np.asarray(found).copy()
