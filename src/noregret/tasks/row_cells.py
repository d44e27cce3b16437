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
    """Copy the cells and the values of n coordinates; returns how many the loop over them takes.

    Compiled code takes some more, so that all are parts of whole vectors: copies of the first one with the value 0.
    """
    for k in range(n):
        values[k] = value(q, first + k)
    return n


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
