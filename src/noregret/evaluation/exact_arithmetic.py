"""Exact arithmetic with rational numbers: what a solver found with floats is checked without rounding."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

MOST_ROWS = 120  # of a combination that is computed exactly; the cost grows with the fourth power


def exact_row(Z: Any, row: int) -> dict[int, Fraction]:
    """A row of a sparse matrix, as rational numbers by column."""
    start, stop = int(Z.indptr[row]), int(Z.indptr[row + 1])
    return {int(j): Fraction(float(x)) for j, x in zip(Z.indices[start:stop], Z.data[start:stop], strict=True) if x}


def combine_exactly(Z: Any, rows: Sequence[int], weights: Sequence[Fraction]) -> dict[int, Fraction]:
    """The sum of weights times rows; columns whose sum is 0 are left out."""
    total: dict[int, Fraction] = {}
    for row, weight in zip(rows, weights, strict=True):
        for column, value in exact_row(Z, row).items():
            total[column] = total.get(column, Fraction(0)) + weight * value
    return {column: value for column, value in total.items() if value}


def is_zero_combination(Z: Any, rows: Sequence[int], weights: Sequence[Fraction]) -> bool:
    """Whether these weights are positive and the weighted sum of the rows is exactly 0: then no u has all u.z > 0."""
    return len(rows) > 0 and all(weight > 0 for weight in weights) and not combine_exactly(Z, rows, weights)


def norm_above(vector: dict[int, Fraction]) -> float:
    """An upper bound on the Euclidean norm, exact but for the last digits."""
    square = sum((value * value for value in vector.values()), Fraction(0))
    if square == 0:
        return 0.0
    scale = max(math.frexp(float(abs(value)))[1] for value in vector.values())  # so that squares do not underflow
    return math.ldexp(math.sqrt(float(square / Fraction(4) ** scale)) * (1.0 + 1e-12), scale)


def exact_dot(Z: Any, row: int, w: NDArray[np.float64]) -> Fraction:
    """The exact product of a row and weights."""
    return sum((value * Fraction(float(w[column])) for column, value in exact_row(Z, row).items()), Fraction(0))


def find_zero_combination(Z: Any, rows: Sequence[int]) -> list[Fraction] | None:
    """Positive weights, summing to 1, with which these rows sum to exactly 0; None where these rows have none.

    The rows should be affinely independent, so that the weights are the only solution of a linear system. Of its
    equations, one for each column, as many as there are rows are chosen with floats and solved exactly; all are
    checked.
    """
    if not 0 < len(rows) <= MOST_ROWS:
        return None
    columns: dict[int, list[float]] = {}
    for place, row in enumerate(rows):
        for column, value in exact_row(Z, row).items():
            columns.setdefault(column, [0.0] * len(rows))[place] = float(value)
    equations = np.array([[1.0] * len(rows), *columns.values()])
    if len(equations) < len(rows):
        return None
    sizes = np.abs(equations).max(axis=1, keepdims=True)
    chosen = qr(np.transpose(equations / sizes), mode="r", pivoting=True)[1][: len(rows)]
    weights = solve_exactly(equations[chosen], [Fraction(int(place == 0)) for place in chosen])
    return weights if weights is not None and is_zero_combination(Z, rows, weights) else None


def solve_exactly(matrix: NDArray[np.float64], right: Sequence[Fraction]) -> list[Fraction] | None:
    """The exact solution of as many equations as unknowns; None where it is not unique.

    Fraction-free elimination (Bareiss, Mathematics of Computation 22, 1968): all numbers stay integers.
    """
    size = len(matrix)
    table = np.empty((size, size + 1), object)
    for place, (row, target) in enumerate(zip(matrix.tolist(), right, strict=True)):
        values = [*map(Fraction, row), target]
        unit = math.lcm(*(value.denominator for value in values))
        table[place] = [int(value * unit) for value in values]
    before = 1
    for at in range(size):
        pivot = next((place for place in range(at, size) if table[place, at]), None)
        if pivot is None:
            return None
        table[[at, pivot]] = table[[pivot, at]]
        below = table[at + 1 :]
        table[at + 1 :] = (below * table[at, at] - below[:, at : at + 1] * table[at]) // before
        before = table[at, at]
    solution = [Fraction(0)] * size
    for at in reversed(range(size)):
        known = sum((table[at, other] * solution[other] for other in range(at + 1, size)), Fraction(0))
        solution[at] = (table[at, size] - known) / Fraction(table[at, at])
    return solution
