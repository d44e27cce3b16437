"""The scores of the last rounds with their labels: what probabilities are calibrated on.

Every score was computed before its label was learned, so that calibration never sees the round it is applied to. The
window is one array, which compiled rounds write, too (`state.guarded_round.remember`): its first cell counts the rounds
recorded so far, then come rows of a truth and its scores; a new one takes the place of the oldest.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.labels import Labels
from noregret.tasks.classes import find_classified
from noregret.tasks.outcome import Outcome
from noregret.tasks.task import Task

Floats = NDArray[np.float64]
MOST, LEAST = 1024, 64  # rounds that are remembered
CELLS = 1 << 12  # scores that are remembered, where that are fewer rounds
UNSEEN = -float(np.finfo(np.float64).max)  # the score of a class that a round did not know; a model keeps no infinity
PARTS = 8  # the fit of a calibration is renewed when so many parts of the window are new


def capacity(columns: int) -> int:
    """How many rounds are remembered when a round has so many scores."""
    return max(LEAST, min(MOST, CELLS // columns))


class RecentScores:
    """A window over the last rounds of a classifier. `lost` is set where rounds were learned that it does not know."""

    def __init__(self, columns: int = 0, lost: bool = False) -> None:
        self.columns, self.lost = columns, lost
        self.cells = np.zeros(0)
        if columns:
            self.cells = np.zeros(1 + capacity(columns) * (1 + columns))

    @property
    def count(self) -> int:
        """How many rounds were recorded, those included that are forgotten."""
        return int(self.cells[0]) if self.columns else 0

    @property
    def forgot(self) -> bool:
        """Whether rounds were learned, and none of them is recorded."""
        return self.lost and not self.count

    @property
    def table(self) -> Floats:
        """The rows of the window, each a truth and its scores."""
        return self.cells[1:].reshape(-1, 1 + self.columns)

    def rows(self, first: int, last: int) -> Floats:
        """Some of the rounds recorded, by their number."""
        return self.table[np.arange(first, last) % len(self.table)]

    def remembered(self) -> Floats:
        """All rounds that are remembered, the oldest first."""
        if not self.columns:
            return np.zeros((0, 1))
        return self.rows(max(0, self.count - len(self.table)), self.count)

    @property
    def fitted_at(self) -> int:
        """How many rounds had been recorded when a calibration was last fitted: a fit serves many predictions."""
        count, step = self.count, self.step
        return count if count < step else count - count % step

    @property
    def step(self) -> int:
        """After how many rounds a calibration is fitted anew."""
        return capacity(self.columns) // PARTS

    def to_fit(self) -> Floats:
        """The rounds that a calibration is fitted to."""
        at = self.fitted_at
        return self.rows(max(0, at - len(self.table) + self.step), at)

    def add(self, truth: Floats, scores: Floats, count: int) -> None:
        """Record rounds, of which the last are given: as many as there were, or as are remembered."""
        before, size = self.count, len(self.table)
        kept = min(count, size)
        new = np.empty((kept, 1 + self.columns))
        new[:, 0] = truth[len(truth) - kept :]
        new[:, 1:] = scores[len(scores) - kept :].reshape(kept, self.columns)
        first = (before + count - kept) % size
        table, until_end = self.table, min(kept, size - first)
        table[first : first + until_end], table[: kept - until_end] = new[:until_end], new[until_end:]
        self.cells[0] = before + count

    def resize(self, columns: int, labels: Labels) -> None:
        """Make a column for each of more classes; two classes become many as their weights do."""
        old = self.remembered()
        rows = np.full((len(old), 1 + columns), UNSEEN)
        if self.columns == 1 and columns > 1:
            signs = labels.signs(2)
            rows[:, 0] = np.where(old[:, 0] == signs[0], 0.0, 1.0)
            rows[:, 1:3] = 0.5 * signs * old[:, 1:]
        else:
            rows[:, : old.shape[1]] = old
        new = RecentScores(columns)
        new.place(rows, self.count)
        self.columns, self.cells = columns, new.cells

    def place(self, rows: Floats, count: int) -> None:
        """Remember the last of these rows, which are those before the round of this number."""
        kept = min(len(rows), len(self.table))
        self.table[np.arange(count - kept, count) % len(self.table)] = rows[len(rows) - kept :]
        self.cells[0] = count

    def prepare(self, task: Task, labels: Labels, known: int | None = None) -> None:
        """Make room for the scores of the classes known now; there is nothing to record of a single class."""
        known = len(labels) if known is None else known
        if known >= 2 and task.blocks(known) != self.columns:
            self.resize(task.blocks(known), labels)

    def record(self, outcome: Outcome, h: Floats | None, labels: Labels) -> None:
        """Record a slice of rounds: those with a weight and a class that was known before."""
        known = outcome.segment.known
        if known < 2:
            return
        self.prepare(outcome.task, labels, known)
        first = 1 if outcome.known_at_first < known else 0
        truth, scores = outcome.truth[first:], outcome.scores[first:]
        usable = find_classified(truth, outcome.task.many)
        if h is not None:
            weighted = h[first:] > 0.0
            usable = weighted if usable is None else usable & weighted
        if usable is None:
            self.add(truth, scores, len(truth))
            return
        last = np.flatnonzero(usable)
        kept = last[-len(self.table) :]
        self.add(truth[kept], scores[kept], len(last))

    # ---- keeping -------------------------------------------------------------------------------------------------

    def copy(self) -> "RecentScores":
        new = RecentScores(lost=self.lost)
        new.columns, new.cells = self.columns, self.cells.copy()
        return new

    def restore(self, saved: "RecentScores", cells: Floats) -> None:
        """Go back to a copy, in the memory that it is a copy of."""
        self.columns, self.lost, self.cells = saved.columns, saved.lost, cells
        self.cells[...] = saved.cells


def is_window(rows: Any, count: Any, columns: int, many: bool) -> bool:
    """Whether what a file says can be the rounds remembered of so many."""
    if type(count) is not int or not 0 <= count < 1 << 53:
        return False
    if rows is None:
        return count == 0
    size = min(count, capacity(columns)) if columns else 0
    if rows.dtype != np.float64 or rows.shape != (size, 1 + columns) or not size or not np.isfinite(rows).all():
        return False
    truth, scores = rows[:, 0], rows[:, 1:]
    if not many:
        return bool((np.abs(truth) == 1.0).all())
    unseen = scores == UNSEEN
    if not ((truth >= 0.0) & (truth < columns) & (truth == np.floor(truth))).all():
        return False
    own = unseen[np.arange(size), truth.astype(np.int64)]
    return not bool(own.any() or (unseen.sum(axis=1) > columns - 2).any())
