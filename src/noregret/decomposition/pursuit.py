"""Orthogonal matching pursuit: rows as sums of few atoms, chosen one after the other (Pati and others 1993).

Each step takes the atom that has the largest product with what is left of the row, and projects the row on all atoms
chosen so far.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.matrix_rows import SMALLEST_SQUARE, row_dots, row_products, slices

Floats = NDArray[np.float64]
SLICE = 256  # rows that are in memory together
ROUNDING = 1e-20  # a step that lowers squared errors by a smaller share of the largest removes rounding errors
DEPENDENT = 1e-7  # an atom of length 1 with less than this outside of the others adds only rounding errors


@dataclass
class Pursuit:
    """Rows and the atoms chosen for each; no row depends on those beside it, if products with atoms do not."""

    rest: Floats  # what is left of the rows
    directions: Floats  # rows x steps x features: orthonormal, 0 where a step added nothing
    chosen: NDArray[np.intp]  # rows x steps: the number of the atom
    triangles: Floats  # rows x steps x steps: the chosen atoms along the directions, upper triangular
    along: Floats  # rows x steps: the row along the directions
    left: Floats  # rows x steps: the square of what was left of the row before the step
    steps: int = 0

    @classmethod
    def start(cls, rows: Floats, steps: int) -> Self:
        n, d = rows.shape
        return cls(rows, np.zeros((n, steps, d)), np.zeros((n, steps), np.intp), np.zeros((n, steps, steps)),
                   np.zeros((n, steps)), np.zeros((n, steps)))  # fmt: skip

    def step(self, atoms: Floats, products: Floats) -> None:
        """Take the atoms that have the largest products with what is left of the rows."""
        at, before = self.steps, self.directions[:, : self.steps]
        self.chosen[:, at] = np.argmax(np.abs(products), axis=1)
        shares, outside = remove(before, atoms[self.chosen[:, at]])
        _, outside = remove(before, outside)  # again, because of rounding
        lengths = np.sqrt(row_dots(outside, outside))
        new = lengths > DEPENDENT
        self.directions[new, at] = outside[new] / lengths[new, None]
        direction = self.directions[:, at]
        self.triangles[:, :at, at], self.triangles[:, at, at] = shares, np.where(new, lengths, 1.0)
        self.left[:, at], self.along[:, at] = row_dots(self.rest, self.rest), row_dots(direction, self.rest)
        self.rest = self.rest - self.along[:, at, None] * direction
        self.steps += 1

    def codes(self, atoms: int) -> Floats:
        """The weights of all atoms; steps that only removed rounding errors are not taken."""
        taken = (self.left > ROUNDING * self.left[:, :1]) & (self.along != 0.0)
        weights = np.linalg.solve(self.triangles, np.where(taken, self.along, 0.0)[:, :, None])[:, :, 0]
        found, (rows, steps) = np.zeros((len(self.left), atoms)), np.nonzero(taken)
        found[rows, self.chosen[rows, steps]] = weights[rows, steps]
        return found


def find_sparse_codes(rows: Floats, atoms: Floats, most: int) -> Floats:
    """Codes of rows by at most so many atoms, which may have any lengths; no row depends on those beside it."""
    squares = row_dots(atoms, atoms)
    used = np.flatnonzero(squares > SMALLEST_SQUARE)
    lengths = np.sqrt(squares[used])
    unit, found = atoms[used] / lengths[:, None], np.zeros((len(rows), len(atoms)))
    columns, steps = np.ascontiguousarray(unit.T), min(most, *unit.shape)
    if not steps:
        return found
    exponents = np.frexp(np.abs(rows).max(axis=1))[1][:, None]  # squares of very large or small rows stay numbers
    for first, stop in slices(len(rows)):
        pursuit = Pursuit.start(np.ldexp(rows[first:stop], -exponents[first:stop]), steps)
        for _ in range(steps):
            pursuit.step(unit, row_products(pursuit.rest, columns))
        found[first:stop, used] = np.ldexp(pursuit.codes(used.size) / lengths, exponents[first:stop])
    return found


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
    pursuit = Pursuit.start(rows, steps)
    yield pursuit.rest
    for _ in range(steps):
        pursuit.step(atoms, pursuit.rest @ atoms.T)
        yield pursuit.rest


def remove(directions: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Each row along its own directions, which are orthonormal, and what is left of it outside of them."""
    along = np.matmul(directions, rows[:, :, None])
    return along[:, :, 0], np.asarray(rows - np.matmul(along.transpose(0, 2, 1), directions)[:, 0])


def share_steps(left: Floats, most: int) -> NDArray[np.int64]:
    """How many steps each row takes of so many in all: those that lower the error most, in order for each row."""
    return np.bincount(rank_steps(left)[:most], minlength=len(left)).astype(np.int64)


def rank_steps(left: Floats) -> NDArray[np.int64]:
    """The numbers of the rows whose steps lower the error most, the largest first; a row has its steps in order."""
    gains = np.minimum.accumulate(left[:, :-1] - left[:, 1:], axis=1)
    chosen = np.argsort(-gains, axis=None, kind="stable")
    chosen = chosen[gains.ravel()[chosen] > ROUNDING * left.max(initial=0.0)]
    return np.asarray(chosen // gains.shape[1], np.int64)
