"""Factors in a model file: their arrays, and the checks of what is read."""

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.decomposition.factors import Factors
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header

Floats = NDArray[np.float64]


def dump_factors(factors: Factors) -> tuple[Header, Arrays]:
    arrays: Arrays = {"basis": np.ascontiguousarray(factors.basis), "turn": np.ascontiguousarray(factors.turn)}
    arrays["values"] = factors.values
    if factors.left is None:
        return {"blocks": 0}, arrays
    for number, (block, rotation) in enumerate(zip(factors.left.blocks, factors.left.rotations, strict=True)):
        arrays |= {f"rows.{number}": np.ascontiguousarray(block), f"rotation.{number}": np.ascontiguousarray(rotation)}
    return {"blocks": len(factors.left.blocks)}, arrays


def restore_factors(fresh: Factors, header: Header, arrays: Arrays) -> Factors:
    """Fill fresh factors with what `dump_factors` wrote; every array is checked."""
    values = read_array(arrays, "values", 1)
    r = values.size
    basis = read_array(arrays, "basis", 2)
    k = basis.shape[1]
    turn = read_array(arrays, "turn", 2)
    sizes = basis.shape[0] == fresh.features and turn.shape == (k, r) and r <= min(fresh.rank, k)
    if not sizes or k > fresh.rank + fresh.spare or (values < 0.0).any() or (np.diff(values) > 0.0).any():
        raise corrupt("the factors of its matrix do not fit together")
    fresh.basis, fresh.turn, fresh.values = np.asfortranarray(basis), turn, values
    blocks = read_count(header, "blocks", 64 if fresh.left is not None else 0)
    if fresh.left is not None:
        for number in range(blocks):
            rows, rotation = read_array(arrays, f"rows.{number}", 2), read_array(arrays, f"rotation.{number}", 2)
            if rotation.shape != (rows.shape[1], r):
                raise corrupt("the factors of its rows do not fit together")
            fresh.left.blocks.append(rows)
            fresh.left.rotations.append(rotation)
    return fresh


def read_array(arrays: Arrays, name: str, dimensions: int) -> Floats:
    """A finite array of floats."""
    found = arrays.get(name)
    if found is None or found.dtype != np.float64 or found.ndim != dimensions or not all_finite(found):
        raise corrupt(f"{name} must be an array of finite numbers")
    return np.asarray(found).copy()
