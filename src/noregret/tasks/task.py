"""A task is the side of a task that Python sees: how labels come in, and how scores are read."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.data.blocks import Block
from noregret.data.labels import as_array
from noregret.errors import BadValue
from noregret.rules.losses import LOSSES
from noregret.tasks.loops.table import SETTINGS, TASK_TABLE

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner


@dataclass(frozen=True)
class Segment:
    """Consecutive rounds with the same classes; `fresh` is how many of them the first of these rounds brings."""

    start: int
    stop: int
    known: int
    fresh: int = 0


@dataclass(frozen=True)
class Outcome:
    """What a slice of rounds left behind; `aux` is what the task says of each round beside its scores."""

    task: "Task"
    segment: Segment
    start: int
    scores: np.ndarray
    updated: np.ndarray
    truth: np.ndarray
    aux: np.ndarray

    @property
    def known_at_first(self) -> int:
        """How many classes were known when the first round of the slice was predicted."""
        first = self.start == self.segment.start
        return self.segment.known - self.segment.fresh if first else self.segment.known


class Task:
    """What every task says of its labels and scores. The labels it knows are those of the learner."""

    labelled = True  # whether labels are classes, numbered as they appear
    real = False  # whether a prediction is its score
    loss = "hinge"  # what is suffered by a rule that has no loss of its own
    ahead = 0  # blocks of weights before those of the classes, where there are many

    def __init__(self, task: str) -> None:
        self.task = task
        self.many = TASK_TABLE[task].many

    def setting(self, learner: "Learner") -> Any:
        """What the task is given: its numbers, and arrays for the classes known."""
        fields = [*learner.settings.setting_of(self.task).values(), *self.arrays(learner)]
        return SETTINGS[self.task](*fields or [0.0])

    def arrays(self, learner: "Learner") -> list[np.ndarray]:
        """The arrays that the loops of the task are given, in the order of its table."""
        return []

    # ---- in --------------------------------------------------------------------------------------------------

    def told(self, y: Any, query: Any) -> Any:
        """What a user says of the truth, in one."""
        if query is not None:
            raise BadValue(f'query is for task="ranking", where rows come in lists; {self.task} has none')
        return y

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        """The labels of a call as numbers, one for every row, and its rounds between appearances of new classes."""
        raise NotImplementedError

    def unlabelled(self, rows: int) -> Any:
        """The labels of rows that come without; None where they must have them."""
        return None

    def truth(self, learner: "Learner", segment: Segment, codes: Any) -> np.ndarray:
        """The truth of a segment as its task is told it."""
        return np.ascontiguousarray(codes[segment.start : segment.stop], dtype=np.float64)

    def arranged(self, block: Block) -> Block:
        """The rows of a call as the task needs them."""
        return block

    def weighed(self, h: np.ndarray, codes: Any) -> np.ndarray:
        """The weights of the rows of a call, or an error where they do not suit it."""
        return h

    def borders(self, y: Any) -> Sequence[int]:
        """Between which rows a call may be cut, its ends included."""
        return range(len(y) + 1)

    def slices(self, segment: Segment, y: Any, most: int) -> Iterator[tuple[int, int]]:
        """A segment in parts of so many rows, or of more where it may not be cut before."""
        borders = self.borders(y)
        start = segment.start
        while start < segment.stop:
            at = bisect_right(borders, min(start + most, segment.stop)) - 1
            stop = borders[at] if borders[at] > start else borders[at + 1]
            yield start, stop
            start = stop

    def blocks(self, known: int) -> int:
        """How many weights a feature has when so many classes are known."""
        return self.ahead + known if self.many else 1

    def room(self, rows: int, known: int) -> np.ndarray:
        """Where a task writes the scores of so many rows."""
        return np.zeros((rows, self.blocks(known)) if self.many else rows)

    def seal(self, outcome: Outcome) -> None:
        """Take back the scores of classes that were not known when a round was predicted."""

    def shown(self, learner: "Learner", y: Any) -> np.ndarray:
        """What was given as the truth, as a transcript tells it."""
        return y if isinstance(y, np.ndarray) else as_array(list(y))

    # ---- out -------------------------------------------------------------------------------------------------

    def decided(self, learner: "Learner", scores: np.ndarray) -> np.ndarray:
        """The label (or target) that each of these scores stands for."""
        raise NotImplementedError

    def scores(self, learner: "Learner", outcomes: list[Outcome]) -> np.ndarray:
        """The scores of all rounds in one array."""
        return np.concatenate([outcome.scores for outcome in outcomes])

    def predicted(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        """The labels (or targets) predicted in a slice."""
        return self.decided(learner, outcome.scores)

    def lists(self, y: Any) -> np.ndarray | None:
        """The number of the list of every row, where there are lists."""
        return None

    def updated(self, outcome: Outcome) -> np.ndarray:
        """On which rounds of a slice the rule updated: one entry for every round."""
        return outcome.updated.astype(bool)

    def mistaken(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        """Which rounds were predicted wrongly."""
        raise NotImplementedError

    def relevance(self, learner: "Learner", outcomes: list[Outcome]) -> np.ndarray | None:
        """Which labels each row has, by the columns of the scores; None where a row has one."""
        return None

    def margins(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        """What the loss is a function of: 1 when all is well, infinite where there was nothing to lose."""
        raise NotImplementedError

    def losses(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        """What was suffered, round by round."""
        return suffered(loss_value(learner), self.margins(learner, outcome))


def loss_value(learner: "Learner") -> Callable[[Any], Any]:
    """The loss of a learner as a function of margins."""
    return LOSSES[dict(learner.settings.choices).get("loss", learner.task_object.loss)].value


def suffered(loss: Callable[[Any], Any], margin: np.ndarray) -> np.ndarray:
    """The losses at these margins; where a class has no rival yet there is nothing to lose."""
    return np.where(np.isposinf(margin), 0.0, loss(margin))


def joined(pieces: list[np.ndarray]) -> np.ndarray:
    """Arrays of labels one after the other; of objects when they are mixed."""
    kinds = {piece.dtype.kind for piece in pieces}
    if len(pieces) == 1:
        return pieces[0]
    if len(kinds) == 1 or kinds <= set("fiu"):
        return np.concatenate(pieces)
    return as_array([label for piece in pieces for label in piece.tolist()])


def refuse_third(learner: "Learner") -> None:
    """Say that there are two classes only, where that was asked for."""
    if learner.task == "binary" and len(learner.labels) > 2 and not learner.settings.auto:
        raise BadValue(
            f"the binary task has two classes, and {learner.labels.order[2]!r} is a third; "
            'leave task out, or make the learner with task="multiclass"'
        )
