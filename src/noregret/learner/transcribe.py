"""From what the loops wrote to a transcript: scores, predictions, losses and mistakes of every round."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.labels import as_array
from noregret.data.transcript import Transcript
from noregret.learner.model import Model
from noregret.tasks.outcome import Outcome


def transcribe(model: Model, outcomes: list[Outcome], y: Any, seconds: float) -> Transcript:
    """The transcript of the rounds just played."""
    task, labels = model.task, model.labels
    if y is None:
        y = task.default_labels(sum(len(outcome.truth) for outcome in outcomes))
    truth, groups = task.report_truth(labels, y), task.groups(y)
    if not outcomes:
        nothing = np.zeros(0)
        return Transcript(nothing, nothing, nothing, np.zeros(0, bool), np.zeros(0, bool), truth, seconds, lists=groups)
    with np.errstate(over="ignore"):  # scores are finite, but their difference or its square may not be
        losses = [outcome.task.losses(labels, outcome) for outcome in outcomes]
    return Transcript(
        scores=task.scores(labels, outcomes),
        predictions=join_labels([outcome.task.predictions(labels, outcome) for outcome in outcomes]),
        losses=np.concatenate(losses),
        mistakes=np.concatenate([outcome.task.mistakes(labels, outcome) for outcome in outcomes]),
        updated=np.concatenate([outcome.task.updated(outcome) for outcome in outcomes]),
        truth=truth,
        seconds=seconds,
        relevant=task.relevance(outcomes),
        lists=groups,
        margins=training_margins(model, outcomes),
    )


def training_margins(model: Model, outcomes: list[Outcome]) -> NDArray[np.float64] | None:
    """The margins that the rule was given, where predictions use other weights than training does."""
    if model.card.final is None and model.config.average is None:
        return None
    found = [margins for outcome in outcomes if (margins := outcome.task.training_margins(outcome)) is not None]
    return np.concatenate(found) if len(found) == len(outcomes) else None


def join_labels(pieces: list[NDArray[Any]]) -> NDArray[Any]:
    """Arrays of labels one after the other; of objects when they are mixed."""
    kinds = {piece.dtype.kind for piece in pieces}
    if len(pieces) == 1:
        return pieces[0]
    if len(kinds) == 1 or kinds <= set("fiu"):
        return np.concatenate(pieces)
    return as_array([label for piece in pieces for label in piece.tolist()])
