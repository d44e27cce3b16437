"""The link function of the p-norm: what turns a sum of examples into weights."""

import math
from typing import Any

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.internal_verbs import blocks, count, factor, part, place, raw, value
from noregret.algebra.log_weights import LogWeights
from noregret.algebra.scaled import Scaled
from noregret.algebra.verbs import dot, helper, link_dot, norm, power

LEAST_POWER = 1e-250  # below it, a sum of powers may be rounding errors alone


@helper
def link_sum(v: Any, x: Any, a: Any) -> Any:
    """The sum of sign(v_j) |v_j|^a x_j."""
    total = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        part_sum = 0.0
        for k in range(count(q)):
            cell = v[place(q, k)]
            part_sum += math.copysign(power(abs(cell), a), cell) * raw(q, k)
        total += factor(q) * part_sum
    return total


@helper
def apply_link(v: Any, x: Any, p: float, size: Any) -> Any:
    """The link function of v, whose p-norm is size, times x.

    Where powers underflow, all of v is read and divided by its largest cell.
    """
    if power(size, p) > LEAST_POWER:
        return link_sum(v, x, p - 1.0) / power(size, p - 2.0)
    largest = 0.0
    for j in range(v.size):
        largest = max(largest, abs(v[j]))
    if largest == 0.0:
        return 0.0
    total = 0.0
    for j in range(v.size):
        total += power(abs(v[j]) / largest, p)
    result = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        for k in range(count(q)):
            cell = v[place(q, k)]
            result += math.copysign(power(abs(cell) / largest, p - 1.0), cell) * value(q, k)
    return largest * result / total ** ((p - 2.0) / p)


@link_dot.on(Scaled, Sparse)
@link_dot.on(Scaled, SparseBlocks)
@link_dot.on(Scaled, Dense)
@link_dot.on(Scaled, DenseBlocks)
def link_dot_scaled(w: Any, x: Any, p: float) -> Any:
    """The link function is homogeneous: that of c v is c times that of v."""
    if p == 2.0:
        return dot(w, x)
    return w.n[0] * apply_link(w.v, x, p, norm(w, p) / abs(w.n[0]))


@link_dot.on(LogWeights)
def link_dot_log_weights(w: Any, x: Any, p: float) -> Any:
    if p == 2.0:
        return dot(w, x)
    return apply_link(w.v, x, p, norm(w, p))
