"""The factors of rows, V: one row of numbers for every row of data, all rotated whenever a row is appended.

Rows are kept in blocks with the rotation that is still to be applied to each. Blocks of about equal size are joined, so
that a row is rotated O(log n) times, and an append multiplies O(log n) small matrices.
"""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass
class RowFactors:
    """Blocks of rows, the oldest first, each with its rotation; arrays are replaced, never changed."""

    blocks: list[Floats] = field(default_factory=list)
    rotations: list[Floats] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(len(block) for block in self.blocks)

    def copy(self) -> Self:
        return type(self)([*self.blocks], [*self.rotations])

    def append(self, rotation: Floats, rows: Floats) -> None:
        """Rotate all rows, then append some."""
        self.rotations = [one @ rotation for one in self.rotations]
        self.blocks.append(np.ascontiguousarray(rows))
        self.rotations.append(np.eye(rows.shape[1]))
        while len(self.blocks) > 1 and len(self.blocks[-2]) <= len(self.blocks[-1]):
            later = self.blocks.pop() @ self.rotations.pop()
            self.blocks[-1] = np.concatenate((self.blocks[-1] @ self.rotations[-1], later))
            self.rotations[-1] = np.eye(later.shape[1])

    def whole(self, columns: int) -> Floats:
        """All rows, rotated."""
        parts = [block @ rotation for block, rotation in zip(self.blocks, self.rotations, strict=True)]
        return np.concatenate((np.zeros((0, columns)), *parts))

    def replace(self, rows: Floats) -> None:
        """Take other rows in place of these."""
        self.blocks, self.rotations = [np.ascontiguousarray(rows)], [np.eye(rows.shape[1])]
