"""Sums of rows in blocks of classes as one example: the features of an output that is made of parts.

It is written into arrays of the task, and valid until the next one is.
"""

from typing import Any

import numpy as np

from noregret.algebra.examples import Sparse, SparseRows, squares
from noregret.algebra.internal_verbs import collect, row
from noregret.algebra.reference import ReferenceExample, ReferenceRows
from noregret.algebra.verbs import helper


@helper
def take_out(places: Any, sums: Any, values: Any, n: Any) -> Any:
    """Move the sums of the cells listed to `values`, each once, and leave zeros; returns how many there are."""
    m = 0
    for k in range(n):
        cell = places[k]
        if sums[cell] != 0.0:
            values[m] = sums[cell]
            sums[cell] = 0.0
            places[m] = cell
            m += 1
    return m


@helper
def drop_repeated(places: Any, sums: Any, values: Any, n: Any) -> Any:
    """List every cell once; returns how many there are."""
    m = take_out(places, sums, values, n)
    for k in range(m):
        sums[places[k]] = values[k]
    return m


@collect.on(SparseRows)
def collect_sparse(X: Any, counts: Any, first: Any, size: Any, places: Any, sums: Any, values: Any) -> Any:
    """Cells are added up where they are and listed when they are first met; a cell may cancel and be listed again."""
    width, n = counts.size // size, 0
    for i in range(size):
        used = False
        for c in range(width):
            used = used or counts[i * width + c] != 0.0
        if used:
            x = row(X, first + i)
            for c in range(width):
                a = counts[i * width + c]
                if a != 0.0:
                    for k in range(x.idx.size):
                        cell = np.int64(x.idx[k]) * X.stride + c
                        if sums[cell] == 0.0:
                            if n == places.size:  # some are listed twice: there are no more cells than places
                                n = drop_repeated(places, sums, values, n)
                            places[n] = cell
                            n += 1
                        sums[cell] += a * x.val[k]
    m = take_out(places, sums, values, n)
    return Sparse(places[:m], values[:m], 1.0, squares(values[:m]))


@collect.on(ReferenceRows)
def collect_reference(X: Any, counts: Any, first: Any, size: Any, places: Any, sums: Any, values: Any) -> Any:
    width = counts.size // size
    z = np.zeros((X.classes, X.stride))
    for i in range(size):
        x = row(X, first + i)
        for c in range(width):
            z[c] += counts[i * width + c] * x.v
    v = z.ravel()
    return ReferenceExample(v, X.stride, X.classes, float(v @ v))
