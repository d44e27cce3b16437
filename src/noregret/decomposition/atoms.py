"""A dictionary of atoms, and what codes and rows so far say of it: sums of products, and the step they ask for."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.decomposition.kept import Kept, keep
from noregret.decomposition.matrix_rows import SMALLEST_SQUARE, row_dots

Floats = NDArray[np.float64]
UNUSED = 1e-10  # an atom whose sum of squared codes is below this share of the largest is not used


class Products(NamedTuple):
    """What codes are found by: products of atoms with each other, and atoms as columns, for those with rows."""

    gram: Floats  # atoms x atoms
    columns: Floats  # features x atoms

    @classmethod
    def of(cls, atoms: Floats) -> Self:
        return cls(atoms @ atoms.T, np.ascontiguousarray(atoms.T))


@dataclass
class Atoms:
    """Atoms d_j of length at most 1, one in each row; A = sum a a' and B = sum a x', where old rows count less."""

    atoms: Floats
    among_codes: Floats  # A: atoms x atoms
    with_rows: Floats  # B: atoms x features
    steps: int = 0
    kept: Kept[Products] | None = None

    @classmethod
    def start(cls, atoms: int, features: int) -> Self:
        return cls(np.zeros((atoms, features)), np.zeros((atoms, atoms)), np.zeros((atoms, features)))

    @property
    def features(self) -> int:
        return int(self.atoms.shape[1])

    def grow(self, features: int) -> None:
        more = np.zeros((len(self.atoms), features - self.features))
        self.atoms, self.with_rows = np.hstack((self.atoms, more)), np.hstack((self.with_rows, more))

    def copy(self) -> Self:
        return type(self)(self.atoms.copy(), self.among_codes.copy(), self.with_rows.copy(), self.steps)

    def is_finite(self) -> bool:
        return all(all_finite(part) for part in (self.atoms, self.among_codes, self.with_rows))

    def products(self) -> Products:
        """The products of these atoms, found once for each state."""
        self.kept = keep(self.kept, lambda: Products.of(self.atoms), self.atoms)
        return self.kept.value

    def fill(self, rows: Floats, random: np.random.Generator, unused: NDArray[np.bool_]) -> None:
        """Make atoms that are not used of different rows, drawn at random, in their direction."""
        squares = row_dots(rows, rows)
        lengths, drawn = np.sqrt(squares), random.permutation(np.flatnonzero(squares > SMALLEST_SQUARE))
        places = np.flatnonzero(unused).tolist()
        taken = set[bytes]()
        self.kept = None
        for at in drawn.tolist():
            if not places:
                return
            atom = rows[at] / lengths[at]
            if atom.tobytes() not in taken:
                taken.add(atom.tobytes())
                place = places.pop(0)
                self.atoms[place] = atom
                self.among_codes[place] = self.among_codes[:, place] = self.with_rows[place] = 0.0

    def add(self, codes: Floats, rows: Floats, decay: float) -> None:
        """A = decay A + sum a a', B = decay B + sum a x'."""
        self.among_codes = decay * self.among_codes + codes.T @ codes
        self.with_rows = decay * self.with_rows + codes.T @ rows

    def unused(self) -> NDArray[np.bool_]:
        squares = np.diag(self.among_codes)
        return np.asarray(squares <= UNUSED * squares.max(initial=0.0))

    def step(self) -> None:
        """Block coordinate descent: each atom in turn minimises the surrogate, given all others."""
        unused, self.kept = self.unused(), None
        for j in np.flatnonzero(~unused).tolist():
            atom = self.atoms[j] + (self.with_rows[j] - self.among_codes[j] @ self.atoms) / self.among_codes[j, j]
            self.atoms[j] = atom / max(float(np.sqrt(atom @ atom)), 1.0)

    def surrogate(self) -> float:
        """1/2 tr(D'D A) - tr(D'B): what the sums say of the loss of all rows so far, up to a constant."""
        return float(0.5 * np.sum((self.among_codes @ self.atoms) * self.atoms) - np.sum(self.atoms * self.with_rows))
