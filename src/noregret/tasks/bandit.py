"""One class of those named beforehand is played in every round, and is right or wrong."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.data.labels import as_array
from noregret.tasks.loops.bandit import CHANCE, LOSS, PLAYED, TRUTH
from noregret.tasks.task import Outcome, Segment, Task

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner


class Told:
    """What became of classes that were played: the columns that the task is told, a row for every round."""

    def __init__(self, columns: np.ndarray) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, some: slice) -> "Told":
        return Told(self.columns[some])


class Played(Task):
    """Scores are those of all classes; the prediction is what was played, its loss 0 or 1 or what was told."""

    def arrays(self, learner: "Learner") -> list[np.ndarray]:
        assert learner.space is not None
        room = learner.space.class_room
        return [np.zeros(room), np.zeros(room)]

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        segments = [Segment(0, rows, len(learner.labels))] if rows else []
        if isinstance(y, Told):
            return y.columns, segments
        columns = np.full((rows, 4), -1.0)
        columns[:, TRUTH] = codes = learner.labels.encode(y)
        learner.labels.refuse_new(learner.classes_before, codes)
        return columns, segments

    def decided(self, learner: "Learner", scores: np.ndarray) -> np.ndarray:
        return np.asarray(as_array(learner.labels.order)[np.argmax(scores, axis=1)])

    def predicted(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        return np.asarray(as_array(learner.labels.order)[outcome.aux.astype(int)])

    def mistaken(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        return np.asarray(self.losses(learner, outcome) > 0.0)

    def losses(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        told = outcome.truth
        return np.where(told[:, PLAYED] >= 0.0, told[:, LOSS], (outcome.aux != told[:, TRUTH]).astype(float))


def told_of_plays(played: np.ndarray, chance: np.ndarray, loss: np.ndarray) -> Told:
    """Rounds whose class was chosen before."""
    columns = np.full((len(played), 4), -1.0)
    columns[:, PLAYED], columns[:, CHANCE], columns[:, LOSS] = played, chance, loss
    return Told(columns)
