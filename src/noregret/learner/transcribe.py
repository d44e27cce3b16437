"""From what the loops left behind to a transcript: scores, predictions, losses, mistakes, for every round."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.data.transcript import Transcript
from noregret.tasks.task import Outcome, joined

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner


def transcribe(learner: "Learner", outcomes: list[Outcome], y: Any, seconds: float) -> Transcript:
    """All that a user may want to know of the rounds just played."""
    if y is None:  # a task that needs no labels has said what it takes rows for
        y = np.concatenate([outcome.truth for outcome in outcomes]).astype(np.int64) if outcomes else []
    truth, lists = learner.task_object.shown(learner, y), learner.task_object.lists(y)
    if not outcomes:
        nothing = np.zeros(0)
        return Transcript(nothing, nothing, nothing, np.zeros(0, bool), np.zeros(0, bool), truth, seconds, lists=lists)
    with np.errstate(over="ignore"):  # scores are finite, but their difference or its square may not be
        losses = [outcome.task.losses(learner, outcome) for outcome in outcomes]
    return Transcript(
        scores=learner.task_object.scores(learner, outcomes),
        predictions=joined([outcome.task.predicted(learner, outcome) for outcome in outcomes]),
        losses=np.concatenate(losses),
        mistakes=np.concatenate([outcome.task.mistaken(learner, outcome) for outcome in outcomes]),
        updated=np.concatenate([outcome.task.updated(outcome) for outcome in outcomes]),
        truth=truth,
        seconds=seconds,
        relevant=learner.task_object.relevance(learner, outcomes),
        lists=lists,
    )
