"""Tasks that come one after the other: the accuracy on every task after each, forgetting and backward transfer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowsLike
from noregret.data.text_table import table
from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_integer, check_round_learner
from noregret.learner.labelled_rows import LabelledRows
from noregret.learner.protocol import Learner

Floats = NDArray[np.float64]
Tasks: TypeAlias = Sequence[tuple[RowsLike, LabelsLike]]
CLASSES = ("binary", "multiclass")


@dataclass(frozen=True)
class AccuracyMatrix:
    """`values[i, j]` is the accuracy on task j after tasks 0 to i have been learned."""

    values: Floats

    @property
    def accuracy(self) -> float:
        """The mean accuracy on all tasks at the end."""
        return float(self.values[-1].mean())

    @property
    def forgotten(self) -> Floats:
        """By task, all but the last: the best accuracy it ever had before the end, less that at the end."""
        return np.asarray(self.values[:-1, :-1].max(axis=0, initial=-np.inf) - self.values[-1, :-1])

    @property
    def forgetting(self) -> float:
        """The mean of `forgotten` (Chaudhry et al. 2018); 0 of a single task."""
        return mean(self.forgotten)

    @property
    def backward_transfer(self) -> float:
        """How much later tasks changed the accuracy that a task had when it was learned (Lopez-Paz and Ranzato 2017).

        Below 0 the learner forgets; above 0 later tasks teach it something about earlier ones.
        """
        return mean(self.values[-1, :-1] - np.diag(self.values)[:-1])

    def __str__(self) -> str:
        """The matrix in percent, with a line for every task that was learned."""
        tasks = range(1, len(self.values) + 1)
        head = ["learned", *(f"task {task}" for task in tasks)]
        rows = [[f"task {task}", *(f"{100.0 * value:.1f}" for value in self.values[task - 1])] for task in tasks]
        measures = f"accuracy {100.0 * self.accuracy:.1f}, forgetting {100.0 * self.forgetting:.1f}"
        return f"{table(head, rows)}\n{measures}, backward transfer {100.0 * self.backward_transfer:.1f}"


def learn_tasks(
    learner: Learner,
    tasks: Tasks,
    test: Tasks | None = None,
    *,
    passes: int = 1,
    seed: int = 0,
    after_task: Callable[[Any], object] | None = None,
) -> AccuracyMatrix:
    """Teach a classifier tasks, pairs (X, y), one after the other; measure its accuracy on all of them after each.

    Accuracies are measured on the rows of `test`, a pair for every task, or else on the rows of the tasks themselves.
    The first pass over a task takes its rows in order; each further one shuffles them, with seed + pass.
    `after_task` is called with the learner at the end of every task, as in after_task=lambda mlp: mlp.consolidate().
    If interrupted, the learner is in the state after the last whole pass.
    """
    check_round_learner(learner, "learn_tasks")
    if learner.task not in CLASSES:
        raise BadValue(f"learn_tasks measures accuracies of classifiers, and {shown(learner)} learns {learner.task}")
    check_integer("passes", passes, 1)
    check_integer("seed", seed, 0)
    taught = read_tasks(tasks, "task")
    tested = taught if test is None else read_tasks(test, "test of task")
    if len(tested) != len(taught):
        raise BadValue(f"there are {len(taught)} tasks and tests of {len(tested)}; give one pair (X, y) for each task")
    values = np.zeros((len(taught), len(taught)))
    for at, rows in enumerate(taught):
        for number in range(passes):
            order = np.random.default_rng(seed + number).permutation(len(rows)) if number else None
            (rows if order is None else rows.select(order)).teach(learner)
        if after_task is not None:
            after_task(learner)
        values[at] = [1.0 - one.measure_error(learner) for one in tested]
    return AccuracyMatrix(values)


def read_tasks(tasks: Any, named: str) -> list[LabelledRows]:
    """The rows of every task; errors name the task, counted from 1."""
    if isinstance(tasks, (str, bytes, dict)) or not hasattr(tasks, "__iter__"):
        raise BadValue(f"tasks must be a list of pairs (X, y), not {shown(tasks)}")
    read = []
    for number, pair in enumerate(tasks, 1):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise BadValue(f"{named} {number} must be a pair (X, y), not {shown(pair)}")
        X, y = pair
        read.append(LabelledRows(X, y, prefix=f"{named} {number}: ").require_rows())
    if not read:
        raise BadValue("tasks is empty; give a list of pairs (X, y)")
    return read


def mean(values: Floats) -> float:
    return float(values.mean()) if values.size else 0.0
