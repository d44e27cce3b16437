"""How large rows are: the loss of a decomposition that keeps nothing of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.data.blocks import Rows
from noregret.data.transcript import Transcript


class RowSizes:
    """The sum of squares of all values of the rows, as they are before any transform."""

    saved = ("total",)

    def __init__(self, total: float = 0.0) -> None:
        self.total = total

    def see(self, batch: Batch | None, transcript: Transcript) -> None:
        if batch is not None:
            self.total += sum_squares(batch.X)

    def merge(self, other: "RowSizes") -> "RowSizes":
        return RowSizes(self.total + other.total)

    def report(self) -> dict[str, float]:
        return {"row_sizes": self.total}


def sum_squares(X: Any) -> float:
    """The sum of the squares of all values; missing ones count as 0."""
    if isinstance(X, Rows):
        values = X.block.val[: int(X.block.indptr[-1])]
    elif hasattr(X, "tocsr"):
        values = X.data
    elif isinstance(X, (list, tuple)) and X and isinstance(X[0], Mapping):
        values = np.array([value for row in X for value in row.values() if value is not None], float)
    elif isinstance(X, (list, tuple)) and any(isinstance(row, str) for row in X):
        return 0.0  # texts have no values
    else:
        values = np.asarray(X, float).reshape(-1)
    return float(np.nansum(np.square(values, dtype=np.float64)))
