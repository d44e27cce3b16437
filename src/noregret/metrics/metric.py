"""The Metric protocol: what watches a run and reports on it."""

from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.transcript import Transcript


@runtime_checkable
class Metric(Protocol):
    """Sees every batch of a run with its transcript, in order; can report at any time.

    A transcript has no truth, predictions or scores where the task has none: a metric that needs them skips it.
    """

    def see(self, batch: Batch, transcript: Transcript) -> None:
        """Count the rounds of one batch."""

    def report(self) -> dict[str, float]:
        """The results so far, by name."""


class MergeableMetric(Metric, Protocol):
    """A metric of which parts of a run can be counted separately and merged."""

    def merge(self, other: Self) -> Self:
        """A new metric that has counted the rounds of both."""


def add_losses(total: float, losses: NDArray[np.float64]) -> float:
    """Add losses to a total one after the other, so that the sum does not depend on the batches."""
    return float(add_up(total, losses)[-1])


def add_up(total: float, losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """The total, and what it is after each of the losses."""
    return np.cumsum(np.concatenate(([total], losses)))
