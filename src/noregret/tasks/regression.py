"""A real target for every row."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.data.labels import targets
from noregret.rules.losses import LOSSES
from noregret.tasks.task import Outcome, Segment, Task

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner


class Targets(Task):
    """Scores are the predictions; there are no mistakes, only losses. The aux of a round is the deviation in it."""

    labelled = False
    real = True
    loss = "eps_insensitive"

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        return targets(y), [Segment(0, rows, 0)] if rows else []

    def decided(self, learner: "Learner", scores: np.ndarray) -> np.ndarray:
        return scores

    def mistaken(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        return np.zeros(len(outcome.truth), bool)

    def losses(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        return loss_of(learner, outcome.truth - outcome.scores, outcome.aux)


def loss_of(learner: "Learner", errors: np.ndarray, deviation: Any) -> np.ndarray:
    """What a regression learner suffers for predictions so far from their targets, while these deviate so much."""
    loss = LOSSES[dict(learner.settings.choices).get("loss", learner.task_object.loss)].of_errors
    assert loss is not None
    with np.errstate(over="ignore"):
        return np.asarray(loss(np.abs(errors), learner.settings.setting["eps"], deviation if scales(learner) else 1.0))


def scales(learner: "Learner") -> bool:
    """Whether a learner centres and scales its targets."""
    return dict(learner.settings.setup).get("scale_target") == "yes"


def deviation_of(learner: "Learner") -> float:
    """The deviation of the targets that a learner has seen; 1 where it takes them as they are."""
    if not scales(learner):
        return 1.0
    n = None if learner.state is None else learner.state.n
    return float(np.sqrt(n.target_squares / n.target_count)) if n is not None and n.target_count > 0.0 else 0.0
