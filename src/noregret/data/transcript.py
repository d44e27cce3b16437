"""The transcript: the record of what a learner predicted, lost and updated, round by round."""

import html
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

MaybeNone: TypeAlias = Any  # None is possible; a type checker need not insist, since the task decides it


@dataclass(frozen=True, repr=False)
class Transcript:
    """What happened in a block of rounds; every prediction was made before its label was seen.

    `scores`, `predictions` and `truth` are None where the task has none. `relevant` marks the labels of each row, one
    column per score, where a row may have several labels.
    All but `updated` and `margins` tells what `predict_one` would have said before the round: the average, the vote or
    the pocket, where a learner predicts with one. Then `margins` are those its rule was given, by the weights that it
    trains, if a round has one margin (binary, multiclass); None where the rule trains on the scores themselves.
    `probabilities` of the classes, a column for each, are there only where rows were predicted and not learned.
    In ranking a round is a list of rows: `losses`, `mistakes` and `updated` have one entry per list, all other arrays
    one per row, and `lists` holds the number of the list each row belongs to.
    """

    scores: NDArray[np.float64] | MaybeNone
    predictions: NDArray[Any] | MaybeNone
    losses: NDArray[np.float64]
    mistakes: NDArray[np.bool_]
    updated: NDArray[np.bool_]
    truth: NDArray[Any] | MaybeNone
    seconds: float = 0.0
    relevant: NDArray[np.bool_] | None = None
    lists: NDArray[np.int64] | None = None
    margins: NDArray[np.float64] | MaybeNone = None
    probabilities: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        wrong, updated = int(np.count_nonzero(self.mistakes)), int(np.count_nonzero(self.updated))
        what = f"{self.rounds:,} rounds, {wrong:,} mistakes, loss {float(np.sum(self.losses)):.6g}, {updated:,} updates"
        return f"<{type(self).__name__}: {what}>"

    @property
    def rounds(self) -> int:
        return len(self.losses)

    def _repr_html_(self) -> str:
        """A line for notebooks."""
        return f"<code>{html.escape(repr(self))}</code>"
