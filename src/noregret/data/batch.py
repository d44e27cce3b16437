"""The batch: a few thousand rounds as a source hands them to a learner."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Position = Mapping[str, Any]  # where a source can resume; its keys belong to the source


class Batch(NamedTuple):
    """Rounds in order: rows X and labels y, with what the source knows about them.

    `lines` holds the line of the file each row came from, `progress` the share of the source read so far, `weight` the
    importance of each round where they differ, `position` where the source can resume after this batch, and `query`
    the query each row belongs to in ranking. `kept` holds columns of a table that are wanted beside the predictions.
    """

    X: Any  # Rows, an array, a sparse matrix, a frame or a list of dicts
    y: Any
    lines: NDArray[np.int64] | None = None
    progress: float | None = None
    weight: NDArray[np.float64] | None = None
    position: Position | None = None
    query: NDArray[Any] | None = None
    kept: Mapping[str, Sequence[Any]] | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)

    def cut(self, start: int, stop: int) -> "Batch":
        """Return rows start to stop; `position` is kept only if the last row is among them."""
        if (start, stop) == (0, self.rows):
            return self
        part = slice(start, stop)
        position = self.position if stop == self.rows else None
        parallel: tuple[Any, ...] = (self.y, self.lines, self.weight, self.query)
        y, lines, weight, query = (None if values is None else values[part] for values in parallel)
        kept = None if self.kept is None else {name: values[part] for name, values in self.kept.items()}
        return Batch(self.X[part], y, lines, self.progress, weight, position, query, kept)
