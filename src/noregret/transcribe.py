"""From what the loops left behind to a transcript: scores, predictions, losses, mistakes, for every round."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.chunk import Transcript
from noregret.labels import as_array
from noregret.tasks.task import Outcome, joined

if TYPE_CHECKING:
    from noregret.learner import Learner


def transcribe(learner: "Learner", outcomes: list[Outcome], y: Any, seconds: float) -> Transcript:
    """All that a user may want to know of the rounds just played."""
    if y is None:  # a game that needs no labels has said what it takes rows for
        y = np.concatenate([outcome.truth for outcome in outcomes]).astype(np.int64) if outcomes else []
    truth = y if isinstance(y, np.ndarray) else as_array(list(y))
    if not outcomes:
        nothing = np.zeros(0)
        return Transcript(nothing, nothing, nothing, np.zeros(0, bool), np.zeros(0, bool), truth, seconds)
    with np.errstate(over="ignore"):  # scores are finite, but their difference or its square may not be
        losses = [outcome.task.losses(learner, outcome) for outcome in outcomes]
    return Transcript(
        scores=learner.task.scores(learner, outcomes),
        predictions=joined([outcome.task.predicted(learner, outcome) for outcome in outcomes]),
        losses=np.concatenate(losses),
        mistakes=np.concatenate([outcome.task.mistaken(learner, outcome) for outcome in outcomes]),
        updated=np.concatenate([outcome.moved for outcome in outcomes]).astype(bool),
        truth=truth,
        seconds=seconds,
    )
