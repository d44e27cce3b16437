"""The cells of a row, side by side: loops over coordinates that take roots and divide run on copies of them.

Compiled code copies the cells of some coordinates from every vector of the state to one place, where the loop over them
takes several at a time, and writes them back. That changes no bits: each coordinate is computed as before. States with
vectors that are not plain, and code that is not compiled, use the cells where they are.
"""

from typing import Any

import numpy as np

from noregret.algebra.internal_verbs import place

CELLS = 64  # how many cells of a vector are copied at a time


def make_cells(s: Any) -> Any:
    """A state like s whose vectors are CELLS long; s itself where its cells are not copied."""
    return s


def read_cells(s: Any, cells: Any, q: Any, first: Any, n: Any) -> None:
    """Copy the cells of n coordinates."""


def write_cells(s: Any, cells: Any, q: Any, first: Any, n: Any) -> None:
    """Copy them back."""


def cell_place(s: Any, q: Any, first: Any, k: Any) -> Any:
    """Where the cell of coordinate first + k is."""
    return place(q, first + k)


def make_numbers() -> Any:
    """Room for a number for each of CELLS coordinates."""
    return np.empty(CELLS)
