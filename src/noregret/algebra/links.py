"""The link of the p-norm: what a vector that sums examples becomes before it is used."""

import math
from typing import Any

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.log_weights import LogWeights
from noregret.algebra.scaled import Scaled
from noregret.algebra.verbs import blocks, count, dot, factor, helper, linked, norm, part, place, power, raw, value

LEAST_POWER = 1e-250  # below it the sum of powers may be rounding alone


@helper
def leaning(v: Any, x: Any, a: Any) -> Any:
    """The sum of sign(v_j) |v_j|^a x_j."""
    total = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        found = 0.0
        for k in range(count(q)):
            cell = v[place(q, k)]
            found += math.copysign(power(abs(cell), a), cell) * raw(q, k)
        total += factor(q) * found
    return total


@helper
def through(v: Any, x: Any, p: Any, size: Any) -> Any:
    """The link of v, whose p-norm is size; where its powers are too small for floats, v is divided by its largest cell.

    That looks at all cells.
    """
    if power(size, p) > LEAST_POWER:
        return leaning(v, x, p - 1.0) / power(size, p - 2.0)
    largest = 0.0
    for j in range(v.size):
        largest = max(largest, abs(v[j]))
    if largest == 0.0:
        return 0.0
    total = 0.0
    for j in range(v.size):
        total += power(abs(v[j]) / largest, p)
    found = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        for k in range(count(q)):
            cell = v[place(q, k)]
            found += math.copysign(power(abs(cell) / largest, p - 1.0), cell) * value(q, k)
    return largest * found / total ** ((p - 2.0) / p)


@linked.on(Scaled, Sparse)
@linked.on(Scaled, SparseBlocks)
@linked.on(Scaled, Dense)
@linked.on(Scaled, DenseBlocks)
def linked_scaled(w: Any, x: Any, p: Any) -> Any:
    """The link keeps factors: that of w = c v is c times that of v."""
    if p == 2.0:
        return dot(w, x)
    return w.n[0] * through(w.v, x, p, norm(w, p) / abs(w.n[0]))


@linked.on(LogWeights)
def linked_exponents(w: Any, x: Any, p: Any) -> Any:
    if p == 2.0:
        return dot(w, x)
    return through(w.v, x, p, norm(w, p))
