"""Centres of clusters: squared distances to them, k-means++ seeding, and steps towards the rows nearest to each."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.kept import Kept, keep
from noregret.decomposition.matrix_rows import row_dots, row_products

Floats = NDArray[np.float64]
STARTS = 5  # runs of k-means, of which the best is taken
MOST_SEEDS = 400  # of all runs together: seeding takes most of the time
LOST = 1e-8  # a difference of squares that is a smaller share of them has too few digits left


class Placed(NamedTuple):
    """Centres as they are measured from their mean: near 0, differences of squares lose the fewest digits."""

    middle: Floats
    columns: Floats  # the centres, one in each column
    squares: Floats

    @classmethod
    def of(cls, centres: Floats) -> Self:
        middle = centres.mean(axis=0)
        moved = centres - middle
        return cls(middle, np.ascontiguousarray(moved.T), row_dots(moved, moved))


@dataclass
class Centres:
    """At most k centres, one in each row, and how many rows each has learned."""

    centres: Floats
    counts: NDArray[np.int64]
    steps: int = 0
    kept: Kept[Placed] | None = None

    @classmethod
    def start(cls, features: int) -> Self:
        return cls(np.zeros((0, features)), np.zeros(0, np.int64))

    @classmethod
    def find(cls, rows: Floats, k: int, random: np.random.Generator, iterations: int) -> Self:
        """At most k clusters of rows: of several runs of k-means from other seeds, the one with the smallest inertia.

        k-means cannot leave an optimum in which two groups of rows share a centre and a third has two.
        """
        found, least = cls.start(rows.shape[1]), np.inf
        for _ in range(max(1, min(STARTS, MOST_SEEDS // k))):
            made = cls.start(rows.shape[1])
            made.seed(rows, k, random)
            made.step(rows)
            made.refine(rows, iterations)
            inertia = float(made.distances(rows).min(axis=1).sum())
            if inertia < least:
                found, least = made, inertia
        return found

    @property
    def features(self) -> int:
        return int(self.centres.shape[1])

    def grow(self, features: int) -> None:
        wider = np.zeros((self.centres.shape[0], features))
        wider[:, : self.features] = self.centres
        self.centres = wider

    def copy(self) -> Self:
        return type(self)(self.centres.copy(), self.counts.copy(), self.steps)

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.centres).all())

    def seed(self, rows: Floats, k: int, random: np.random.Generator) -> None:
        """Add centres by k-means++ until there are k, or every row is one of them.

        Several rows are drawn for each centre, with probabilities proportional to the squared distance to the nearest
        centre, and the one that leaves the smallest sum of these distances is taken.
        """
        nearest = np.full(len(rows), np.inf)
        for centre in self.centres:
            nearest = np.minimum(nearest, squares_to(rows, centre))
        draws, found = 2 + int(np.log(k)), list(self.centres)
        while len(found) < k and nearest.any():
            if not found:
                candidates = random.integers(len(rows), size=1)
            else:
                sums = np.add.accumulate(nearest)
                candidates = np.searchsorted(sums, random.random(draws) * sums[-1], side="right")
                candidates = np.minimum(candidates, np.flatnonzero(nearest)[-1])
            options = [np.minimum(nearest, squares_to(rows, rows[at])) for at in candidates.tolist()]
            best = int(np.argmin([option.sum() for option in options]))
            nearest = options[best]
            found.append(rows[candidates[best]])
        new = len(found) - len(self.counts)
        self.centres = np.array(found).reshape(len(found), self.features)
        self.counts = np.concatenate((self.counts, np.zeros(new, np.int64)))

    def distances(self, rows: Floats) -> Floats:
        """Squared distances of rows to centres; no row depends on those beside it."""
        if not len(self.centres):
            return np.zeros((len(rows), 0))
        self.kept = keep(self.kept, lambda: Placed.of(self.centres), self.centres)
        middle, columns, squares = self.kept.value
        moved = rows - middle
        sizes = row_dots(moved, moved)[:, None] + squares
        found = sizes - 2.0 * row_products(moved, columns)
        lost = found < LOST * sizes
        for number in np.flatnonzero(lost.any(axis=0)).tolist():
            own = lost[:, number]
            found[own, number] = squares_to(rows[own], self.centres[number])
        return np.asarray(found)

    def assign(self, rows: Floats) -> NDArray[np.intp]:
        """The number of the centre nearest to each row, for rows that always come together: it is quicker."""
        middle = self.centres.mean(axis=0)
        moved, centres = rows - middle, self.centres - middle
        squares = row_dots(centres, centres)
        differences = squares - 2.0 * (moved @ centres.T)
        found = np.asarray(np.argmin(differences, axis=1))
        sizes = np.einsum("nd,nd->n", moved, moved)
        lost = sizes + differences[np.arange(len(rows)), found] < LOST * (sizes + squares[found])
        if lost.any():
            found[lost] = np.argmin(self.distances(rows[lost]), axis=1)
        return found

    def step(self, rows: Floats) -> None:
        """Move each centre to the mean of all rows it has learned, with those of these rows that are nearest to it.

        That is a step of size 1 / n for each of these rows, one after the other, towards it.
        """
        self.steps += 1
        assigned = self.assign(rows)
        order = np.argsort(assigned, kind="stable")
        new = np.bincount(assigned, minlength=len(self.counts))
        used = np.flatnonzero(new)
        begins = (np.cumsum(new) - new)[used]
        sums = np.add.reduceat(rows[order], begins, axis=0)
        self.counts = self.counts + new
        change = sums - new[used, None] * self.centres[used]
        self.kept = None
        self.centres[used] += change / self.counts[used, None]

    def refine(self, rows: Floats, iterations: int) -> None:
        """Iterations of k-means on the rows that were learned in the only step so far, until nothing changes."""
        for _ in range(iterations):
            before = self.centres
            self.centres, self.counts = before.copy(), np.zeros_like(self.counts)
            self.step(rows)
            if np.array_equal(before, self.centres):
                break
        self.steps = 1


def squares_to(rows: Floats, point: Floats) -> Floats:
    """The squared distance of every row to a point; exactly 0 where they are equal."""
    return row_dots(difference := rows - point, difference)
