"""Rows of one kind, without labels; where some are told to be of another kind, they are judged and not learned."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.errors import BadValue, shown
from noregret.tasks.task import Outcome, Segment, Task

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner


class OneClass(Task):
    """A score is how far a row lies outside the ball; up to 0 it is inside, which is +1 among the labels."""

    labelled = False

    def unlabelled(self, rows: int) -> Any:
        return np.ones(rows, np.int64)

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        return sides(y), [Segment(0, rows, 0)] if rows else []

    def decided(self, learner: "Learner", scores: np.ndarray) -> np.ndarray:
        return np.where(scores <= 0.0, 1, -1)

    def mistaken(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        return np.asarray((outcome.scores <= 0.0) != (outcome.truth > 0.0))

    def margins(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        return np.where(outcome.truth > 0.0, 1.0 - outcome.scores, np.inf)


def sides(y: Any) -> np.ndarray:
    """+1 for rows inside and -1 for those outside; a row without a label is inside."""
    labels = np.asarray(y)
    if labels.dtype.kind == "b":
        return np.where(labels, 1.0, -1.0)
    if labels.dtype.kind in "iuf" and labels.ndim == 1 and bool(np.isin(labels, (-1, 1)).all()):
        return labels.astype(np.float64)
    return np.array([side(label, row) for row, label in enumerate(labels.tolist() if labels.ndim == 1 else [y])])


def side(label: Any, row: int) -> float:
    if label is None or label is True or (isinstance(label, float) and label != label):
        return 1.0
    if label is False:
        return -1.0
    if isinstance(label, (int, float)) and label in (-1, 1):
        return float(label)
    told = f"1 or True for a row inside, -1 or False for one outside, not {shown(label)}"
    raise BadValue(f"row {row}: the labels of one-class are {told}; leave y out to learn all rows", row=row)
