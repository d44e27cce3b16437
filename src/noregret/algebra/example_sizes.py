"""Sizes of examples: their norms, and the largest feature and class they have values for."""

import math
from typing import Any

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.internal_verbs import blocks, coordinate, count, part, value
from noregret.algebra.verbs import breadth, extent, helper, norm, peak, power, side, sqnorm, sqsource


@sqnorm.on(Sparse)
@sqnorm.on(Dense)
def sqnorm_one(z: Any) -> Any:
    return z.sq * (z.sign * z.sign)


@sqnorm.on(SparseBlocks)
@sqnorm.on(DenseBlocks)
def sqnorm_blocks(z: Any) -> Any:
    total = 0.0
    for b in range(len(z.signs)):
        total += z.signs[b] * z.signs[b]
    return z.sq * total


@sqsource.on(Sparse)
@sqsource.on(Dense)
def sqsource_one(g: Any) -> Any:
    return g.sq


@sqsource.on(SparseBlocks)
@sqsource.on(DenseBlocks)
def sqsource_blocks(g: Any) -> Any:
    return g.sq * len(g.signs)


@norm.on(Sparse)
@norm.on(SparseBlocks)
@norm.on(Dense)
@norm.on(DenseBlocks)
def norm_example(z: Any, p: float) -> Any:
    """Where powers overflow or underflow, values are divided by the largest first."""
    if p == 2.0:
        return math.sqrt(sqnorm(z))
    total = sum_of_powers(z, p, 1.0)
    if 1e-200 < total < 1e200:
        return total ** (1.0 / p)
    largest = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            largest = max(largest, abs(value(q, k)))
    return largest * sum_of_powers(z, p, 1.0 / largest) ** (1.0 / p) if largest > 0.0 else 0.0


@helper
def sum_of_powers(z: Any, p: float, a: float) -> Any:
    """The sum of |a z_j|^p."""
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            total += power(abs(a * value(q, k)), p)
    return total


@peak.on(Sparse)
@peak.on(SparseBlocks)
@peak.on(Dense)
@peak.on(DenseBlocks)
def peak_example(z: Any) -> Any:
    """All blocks hold the same row."""
    largest = 0.0
    q = part(z, 0)
    for k in range(count(q)):
        largest = max(largest, abs(value(q, k)))
    return largest


@side.on(Sparse)
@side.on(Dense)
def side_one(z: Any) -> Any:
    return z.sign


@extent.on(Sparse)
@extent.on(SparseBlocks)
@extent.on(Dense)
@extent.on(DenseBlocks)
def extent_example(z: Any) -> Any:
    largest = 0
    q = part(z, 0)
    for k in range(count(q)):
        reached = coordinate(q, k) + 1
        largest = max(largest, reached if value(q, k) != 0.0 else 0)
    return float(largest)


@breadth.on(Sparse)
@breadth.on(Dense)
def breadth_one(z: Any) -> Any:
    return 1.0


@breadth.on(SparseBlocks)
@breadth.on(DenseBlocks)
def breadth_many(z: Any) -> Any:
    largest = 0
    for b in range(len(z.classes)):
        largest = max(largest, z.classes[b])
    return largest + 1.0
