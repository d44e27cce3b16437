"""The base of learners of densities: the loss of a row is -log of its density before it is learned."""

from typing import ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import DenseBlock
from noregret.data.inputs import RowLike, RowsLike
from noregret.decomposition.base import Scored, State, UnsupervisedLearner
from noregret.decomposition.gaussian_scores import LOG_TWO_PI
from noregret.decomposition.matrix_rows import MatrixRows
from noregret.errors import NotLearned
from noregret.learner.encode import one_row
from noregret.rules.parameters import Param

Floats = NDArray[np.float64]


PRIOR = Param(1.0, above=0.0, at_most=1e12, search=(0.01, 100.0, "log"),
              about="how many rows the variance of the start counts for")  # fmt: skip
VARIANCE = Param(1.0, above=1e-100, at_most=1e100, search=(0.01, 100.0, "log"),
                 about="the variance of every feature at the start")  # fmt: skip
EARLY = 16  # rows of the first mini-batches


class Counting(State, Protocol):
    """A state that knows how many rows it has learned."""

    count: int


AnyCounting = TypeVar("AnyCounting", bound=Counting)


class DensityLearner(UnsupervisedLearner[AnyCounting]):
    """A learner of the density of rows; a feature that is not known yet has the variance of the start."""

    loss_measure = "minus log-densities"
    variance: float
    shows_distance: ClassVar[bool] = False  # whether the components of a row are a distance, put after its log-density

    def next_batch(self, state: AnyCounting | None, width: int) -> int:
        """Small mini-batches as long as rows are few: a quarter of those so far, which change the density little."""
        return min(self.batch, EARLY if state is None else max(EARLY, state.count // 4))

    def score_part(self, state: AnyCounting | None, rows: MatrixRows, start: int, widths: NDArray[np.int64]) -> Scored:
        """Scores of rows; features that are new and not 0 in a row have the density of the start."""
        components, losses = super().score_part(state, rows, start, widths)
        more = (
            0.5
            * (LOG_TWO_PI + float(np.log(self.variance)))
            * count_beyond(rows, 0 if state is None else state.features)
        )
        losses = losses + more
        return Scored(np.column_stack((-losses, components)) if self.shows_distance else components, losses)

    def column_titles(self, count: int) -> list[str]:
        """The log-density comes before the distance."""
        return ["log-density", "distance"] if self.shows_distance else super().column_titles(count)

    def log_density(self, X: RowsLike) -> Floats:
        """The log-density of every row."""
        return -self.score(X).losses

    def log_density_one(self, x: RowLike) -> float | None:
        """The same for one row; None before anything was learned."""
        try:
            found = self.log_density(one_row(x, self.row_config.allows_missing))
        except NotLearned:
            return None
        return float(found[0])


def count_beyond(rows: MatrixRows, known: int) -> Floats:
    """How many features from number `known` on are not 0, in each row."""
    if isinstance(rows.block, DenseBlock):
        return np.asarray(np.count_nonzero(rows.block.val[:, known:], axis=1), np.float64)
    block = rows.block
    size = int(block.indptr[-1])
    after = (block.idx[:size] >= known) & (block.val[:size] != 0.0)
    owner = np.repeat(np.arange(block.rows), np.diff(block.indptr))
    return np.bincount(owner[after], minlength=block.rows).astype(np.float64)
