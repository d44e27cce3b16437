"""Rows and labels that are encoded once, for several rule learners that play the same rounds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, Rows, verify
from noregret.data.inputs import WeightsLike
from noregret.data.labels import Labels
from noregret.learner.engine import Rounds
from noregret.learner.model import Model
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.transaction import MANY_CLASSES, Transaction
from noregret.state.guarded_round import MISTAKES, ROUNDS, UPDATES
from noregret.tasks.outcome import Segment
from noregret.tasks.task import Task

Floats = NDArray[np.float64]
Codes = NDArray[np.int64] | NDArray[np.int8]


@dataclass(frozen=True)
class SharedRows:
    """Rounds that bring no new class: the rows, the codes of their labels, the truth that loops read, the weights."""

    block: Block
    y: Any
    codes: Any
    segment: Segment
    truth: Floats
    h: Floats
    weighted: bool
    rounds: dict[Any, Rounds] = field(default_factory=dict)  # what loops read of them, by space and slice


@dataclass(frozen=True)
class PlayedRounds:
    """What a learner predicted in rounds whose truth is known elsewhere; the part of a transcript that weighs it.

    `codes` are those of the labels predicted, -1 for one that is not known yet; in regression predictions are scores.
    """

    scores: Floats
    codes: Codes | None
    mistakes: NDArray[np.bool_]
    updated: NDArray[np.bool_]
    truth: NDArray[Any]
    relevant: None = None
    lists: None = None

    @property
    def rounds(self) -> int:
        return len(self.mistakes)

    @property
    def predictions(self) -> Floats:
        """The targets predicted in regression."""
        return self.scores


class Written(NamedTuple):
    """What learners write for rounds that they share, a row of each for every learner."""

    scores: Floats
    updated: NDArray[np.uint8]

    @classmethod
    def empty(cls, shared: SharedRows, task: Task, learners: int) -> "Written":
        """Room for the rounds of so many learners."""
        rounds, known = len(shared.truth), shared.segment.known
        one = task.make_scores(rounds, known)
        return cls(np.zeros((learners, *one.shape)), np.zeros((learners, rounds), np.uint8))

    def take(self, places: list[int]) -> "Written":
        """The rows of some learners."""
        return self if len(places) == len(self.scores) else Written(self.scores[places], self.updated[places])


def share_rows(learner: RuleLearner, X: Any, y: Any, weight: WeightsLike) -> SharedRows | None:
    """Encode rows and labels for all learners that may share them with this one; None where each must by itself.

    The learner may learn the names of features from them, but no label. What this changes is undone with its calls.
    """
    model, loops = learner.model, learner._loops
    with learner._lock:
        learner._change.settle()
        savepoint = model.savepoint()
        if loops.history is not None:
            loops.history.append(savepoint)
        loops.hide_fast_path()
        one = Transaction(model, loops, X, y, weight)
        try:
            one.encode(checked=True)
        except BaseException:
            loops.roll_back(savepoint)
            raise
        fresh = len(model.labels) > savepoint.labels
        if fresh or len(one.segments) != 1 or (model.task.labelled and one.codes.min() < 0):
            loops.roll_back(savepoint)
            return None
        loops.show_fast_path()
    truth = model.task.truth(model.labels, one.segments[0], one.codes)
    return SharedRows(verify(one.block), one.y, one.codes, one.segments[0], truth, one.h, one.weighted)


def may_encode(learner: Any) -> TypeGuard[RuleLearner]:
    """Whether a learner can encode rows for itself and others before it plays them."""
    if type(learner) is not RuleLearner:
        return False
    model, task = learner.model, learner.model.task
    plain = not model.transforms and model.config.class_weight is None and not model.card.ignores_features
    one_number = (task.one_label or task.prediction == "target") and not task.queries_labels
    return plain and one_number and model.arrays is not None and len(model.labels) <= MANY_CLASSES


def may_share(learner: Any, like: Model, X: Any, weighted: bool) -> TypeGuard[RuleLearner]:
    """Whether a learner plays encoded rows as they are, and knows the labels that another model knows."""
    sparse = isinstance(X, Rows)
    if not may_encode(learner) or not (sparse or isinstance(X, np.ndarray)):
        return False
    model, config = learner.model, learner.model.config
    return (
        model.algebra == ("sparse" if sparse else "dense")
        and (sparse or config.grows or model.learned_features == X.shape[1])
        and not config.bias
        and (model.card.supports_weights or not weighted)
        and model.labels.code == like.labels.code
        and type(model.task) is type(like.task)  # then equal scores give equal predictions and mistakes
    )


def read_outcomes(learners: Sequence[RuleLearner], shared: SharedRows, written: Written) -> list[PlayedRounds]:
    """What learners predicted in the same rounds; adds these to the totals of their models."""
    task, labels, rounds = learners[0].model.task, learners[0].model.labels, len(shared.truth)
    scores, updated = written.scores, written.updated.view(bool)
    codes = find_codes(scores, labels, shared.segment.known, task.many) if task.one_label else None
    mistakes = np.zeros(updated.shape, bool) if codes is None else codes != shared.codes.astype(codes.dtype)
    wrong, moved = ([np.count_nonzero(row) for row in rows] for rows in (mistakes, updated))
    truth = task.report_truth(labels, shared.y)
    found = []
    for number, learner in enumerate(learners):
        learner.model.totals[[ROUNDS, UPDATES, MISTAKES]] += np.array((rounds, moved[number], wrong[number]))
        own = None if codes is None else codes[number]
        found.append(PlayedRounds(scores[number], own, mistakes[number], updated[number], truth))
    return found


def find_codes(scores: Floats, labels: Labels, known: int, many: bool) -> Codes:
    """The codes of the labels that scores stand for, by learner and round; -1 for one that has not been seen.

    Those of two classes are bytes: there is one for every learner and round, and more memory takes longer.
    """
    if many:
        return np.asarray(np.argmax(scores, axis=2))
    negative, positive = (labels.code.get(side, -1) for side in labels.sides(known))
    codes = (scores >= 0.0).view(np.int8)
    codes *= positive - negative
    codes += negative
    return codes
