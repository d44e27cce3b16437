"""The truth of structured rounds: consecutive rows form a round, and its output is a code of some of these rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class GroupTruth:
    """Rounds of several rows each.

    `sizes` has the rows of every round, `lengths` its positions (tokens, words). `at` are the rows that have a label,
    over all rounds, and `labels` these labels; None where outputs are only predicted. `second` is a second label of the
    same rows, for outputs that need one.
    """

    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    at: NDArray[np.int64]
    labels: Sequence[Any] | None
    second: Sequence[Any] | None = None

    def __len__(self) -> int:
        return int(self.sizes.sum())

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where rounds begin, and where the last one ends."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self.sizes)))

    def __getitem__(self, rows: slice) -> "GroupTruth":
        """The rounds of some rows, which must be whole."""
        starts = self.starts
        start, stop, _ = rows.indices(int(starts[-1]))
        first, last = np.searchsorted(starts, (start, stop))
        some = slice(*np.searchsorted(self.at, (start, stop)))
        return GroupTruth(
            self.sizes[first:last],
            self.lengths[first:last],
            self.at[some] - start,
            None if self.labels is None else self.labels[some],
            None if self.second is None else self.second[some],
        )
