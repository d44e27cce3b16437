"""The cells of a row, side by side: loops over coordinates that take roots and divide run on copies of them.

Compiled code copies the cells of some coordinates from every vector of the state to one place, where the loop over them
takes several at a time, and writes them back. That changes no bits: each coordinate is computed as before. States with
vectors that are not plain, and code that is not compiled, use the cells where they are.
"""

from typing import Any

import numpy as np

from noregret.algebra.internal_verbs import place, value

CELLS = 64  # how many cells of a vector are copied at a time
LANES = 8  # numbers of the longest vectors of a processor, for which there is room after the last cell


def make_cells(s: Any) -> Any:
    """A state like s whose vectors are CELLS long; s itself where its cells are not copied."""
    return s


def read_cells(s: Any, cells: Any, values: Any, q: Any, first: Any, n: Any) -> Any:
    """Copy the cells of n coordinates; returns how many the loop over them takes.

    Compiled code copies the values of a sparse row, too, and takes some more coordinates, so that all are parts of
    whole vectors: copies of the first one with the value 0.
    """
    return n


def cell_value(s: Any, values: Any, q: Any, first: Any, k: Any) -> Any:
    """The value of coordinate first + k."""
    return value(q, first + k)


def write_cells(s: Any, cells: Any, q: Any, first: Any, n: Any) -> None:
    """Copy them back."""


def cell_place(s: Any, q: Any, first: Any, k: Any) -> Any:
    """Where the cell of coordinate first + k is."""
    return place(q, first + k)


def make_numbers() -> Any:
    """Room for a number for each of CELLS coordinates."""
    return np.empty(CELLS + LANES)


def fill_lanes(numbers: Any, first: Any, a: float) -> None:
    """Write a number into LANES places."""
    numbers[first : first + LANES] = a


def add_terms(sums: Any, terms: Any, n: Any) -> Any:
    """Four sums with n numbers added: the place of a number decides to which; zeros follow the last."""
    c, d, e, f = sums
    for k in range(0, n, 4):
        c += terms[k]
        d += terms[k + 1]
        e += terms[k + 2]
        f += terms[k + 3]
    return c, d, e, f
