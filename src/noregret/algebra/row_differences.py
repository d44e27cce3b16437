"""The difference of two rows as one example; features with equal values cancel.

It is written into arrays of the task, and valid until the next one is.
"""

from typing import Any

from noregret.algebra.examples import Dense, Sparse, dense_squares, squares
from noregret.algebra.internal_verbs import row_difference
from noregret.algebra.reference import ReferenceExample


@row_difference.on(Sparse)
def row_difference_sparse(x: Any, other: Any, places: Any, values: Any) -> Any:
    """Merge two sorted rows."""
    i = j = n = 0
    while i < x.idx.size or j < other.idx.size:
        mine = j == other.idx.size or (i < x.idx.size and x.idx[i] <= other.idx[j])
        both = mine and j < other.idx.size and x.idx[i] == other.idx[j]
        places[n] = x.idx[i] if mine else other.idx[j]
        a = x.sign * x.val[i] if mine else 0.0
        if both or not mine:
            a -= other.sign * other.val[j]
            j += 1
        if mine:
            i += 1
        if a != 0.0:
            values[n] = a
            n += 1
    return Sparse(places[:n], values[:n], 1.0, squares(values[:n]))


@row_difference.on(Dense)
def row_difference_dense(x: Any, other: Any, places: Any, values: Any) -> Any:
    n = x.val.size
    for k in range(n):
        values[k] = x.sign * x.val[k] - other.sign * other.val[k]
    return Dense(values[:n], 1.0, dense_squares(values[:n]))


@row_difference.on(ReferenceExample)
def row_difference_reference(x: Any, other: Any, places: Any, values: Any) -> Any:
    v = x.v - other.v
    return ReferenceExample(v, x.stride, x.classes, float(v @ v))
