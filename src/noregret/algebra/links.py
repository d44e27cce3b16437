"""The link of the p-norm: what a vector that sums examples becomes before it is used."""

import math
from typing import Any

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.exponents import Exponents
from noregret.algebra.scaled import Scaled
from noregret.algebra.verbs import blocks, count, dot, factor, helper, linked, norm, part, place, power, raw


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


@linked.on(Scaled, Sparse)
@linked.on(Scaled, SparseBlocks)
@linked.on(Scaled, Dense)
@linked.on(Scaled, DenseBlocks)
def linked_scaled(w: Any, x: Any, p: Any) -> Any:
    """The link keeps factors: that of w = c v is c times that of v."""
    if p == 2.0:
        return dot(w, x)
    size = norm(w, p) / abs(w.n[0])
    if size == 0.0:
        size = 1.0
    return w.n[0] * leaning(w.v, x, p - 1.0) / power(size, p - 2.0)


@linked.on(Exponents)
def linked_exponents(w: Any, x: Any, p: Any) -> Any:
    if p == 2.0:
        return dot(w, x)
    size = norm(w, p)
    if size == 0.0:
        size = 1.0
    return leaning(w.v, x, p - 1.0) / power(size, p - 2.0)
