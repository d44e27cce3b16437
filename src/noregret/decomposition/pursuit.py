"""Orthogonal matching pursuit: rows as sums of few atoms, chosen one after the other (Pati and others 1993).

Each step takes the atom that has the largest product with what is left of the row, and projects the row on all atoms
chosen so far.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SLICE = 256  # rows that are in memory together
ROUNDING = 1e-20  # a step that lowers squared errors by a smaller share of the largest removes rounding errors
DEPENDENT = 1e-7  # an atom of length 1 with less than this outside of the others adds only rounding errors


def pursue(rows: Floats, atoms: Floats, steps: int, counted: NDArray[np.bool_]) -> Floats:
    """The squared error of each row after 0, 1, 2 ... steps, over the entries that are counted."""
    left = np.zeros((len(rows), steps + 1))
    for first in range(0, len(rows), SLICE):
        own = slice(first, first + SLICE)
        for step, rest in enumerate(walk(rows[own], atoms, steps)):
            left[own, step] = np.sum(rest * rest, axis=1, where=counted[own])
    return left


def approximate(rows: Floats, atoms: Floats, counts: NDArray[np.int64]) -> Floats:
    """The sum of atoms that is nearest to each row, after its own number of steps."""
    found = rows.copy()
    for first in range(0, len(rows), SLICE):
        own = slice(first, first + SLICE)
        for step, rest in enumerate(walk(rows[own], atoms, int(counts[own].max()))):
            ends = np.flatnonzero(counts[own] == step)
            found[first + ends] -= rest[ends]
    return found


def walk(rows: Floats, atoms: Floats, steps: int) -> Iterator[Floats]:
    """What is left of the rows after 0, 1, 2 ... steps."""
    rest = rows
    directions = np.zeros((len(rows), steps, rows.shape[1]))  # orthonormal, as many as there were steps
    yield rest
    for step in range(steps):
        chosen = atoms[np.argmax(np.abs(rest @ atoms.T), axis=1)]
        before = directions[:, :step]
        chosen = remove(before, remove(before, chosen))  # again, because of rounding
        lengths = np.sqrt(np.einsum("nd,nd->n", chosen, chosen))
        new = lengths > DEPENDENT
        directions[new, step] = chosen[new] / lengths[new, None]
        rest = rest - np.einsum("nd,nd->n", directions[:, step], rest)[:, None] * directions[:, step]
        yield rest


def remove(directions: Floats, rows: Floats) -> Floats:
    """What is left of each row outside of its own directions, which are orthonormal."""
    along = np.matmul(directions, rows[:, :, None])
    return np.asarray(rows - np.matmul(along.transpose(0, 2, 1), directions)[:, 0])


def share_steps(left: Floats, most: int) -> NDArray[np.int64]:
    """How many steps each row takes of so many in all: those that lower the error most, in order for each row."""
    gains = np.minimum.accumulate(left[:, :-1] - left[:, 1:], axis=1)
    chosen = np.argsort(-gains, axis=None, kind="stable")[:most]
    chosen = chosen[gains.ravel()[chosen] > ROUNDING * left.max(initial=0.0)]
    return np.bincount(chosen // gains.shape[1], minlength=len(left)).astype(np.int64)
