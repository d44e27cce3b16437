"""A real target for every row."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.labels import targets
from noregret.tasks.task import Outcome, Segment, Task, loss_value, suffered

if TYPE_CHECKING:
    from noregret.learner import Learner


class Targets(Task):
    """Scores are the predictions; there are no mistakes, only losses."""

    labelled = False
    loss = "eps_insensitive"

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        return targets(y), [Segment(0, rows, 0)] if rows else []

    def decided(self, learner: "Learner", scores: np.ndarray) -> np.ndarray:
        return scores

    def mistaken(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        return np.zeros(len(outcome.truth), bool)

    def margins(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        return closeness(learner, outcome.truth - outcome.scores)


def closeness(learner: "Learner", errors: np.ndarray) -> np.ndarray:
    """The margin that the game sees in an error."""
    return np.asarray(1.0 - np.abs(errors) + learner.settings.setting["eps"])


def loss_of(learner: "Learner", errors: np.ndarray) -> np.ndarray:
    """What a regression learner would suffer for predictions so far from their targets."""
    with np.errstate(over="ignore"):
        return suffered(loss_value(learner), closeness(learner, errors))
