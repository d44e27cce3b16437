"""Rows and labels that are encoded once, for several rule learners that play the same rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, SparseBlock
from noregret.data.inputs import WeightsLike
from noregret.learner.model import Model
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.transaction import MANY_CLASSES, Transaction
from noregret.tasks.task import Outcome, Segment

Floats = NDArray[np.float64]
NOTHING = np.zeros(0)


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


@dataclass(frozen=True)
class PlayedRounds:
    """What a learner predicted in rounds whose truth is known elsewhere; the part of a transcript that weighs it."""

    scores: Floats
    predictions: NDArray[Any]
    mistakes: NDArray[np.bool_]
    updated: NDArray[np.bool_]
    truth: NDArray[Any]
    relevant: NDArray[np.bool_] | None = None
    lists: NDArray[np.int64] | None = None

    @property
    def rounds(self) -> int:
        return len(self.mistakes)


def share_rows(learner: RuleLearner, X: Any, y: Any, weight: WeightsLike) -> SharedRows | None:
    """Encode rows of column numbers for all learners that may share them with this one; None without rounds."""
    model = learner.model
    one = Transaction(model, learner._loops, X, y, weight)
    one.encode(checked=True)
    if len(one.segments) != 1 or (model.task.labelled and one.codes.min() < 0):
        return None
    truth = model.task.truth(model.labels, one.segments[0], one.codes)
    return SharedRows(one.block, one.y, one.codes, one.segments[0], truth, one.h, one.weighted)


def may_share(learner: Any, like: Model, block: Block, weighted: bool) -> bool:
    """Whether a learner plays encoded rows as they are, and knows the labels that another model knows."""
    if type(learner) is not RuleLearner:
        return False
    model, config = learner.model, learner.model.config
    task = model.task
    return (
        model.arrays is not None
        and learner._loops.engine.native
        and model.algebra == ("sparse" if isinstance(block, SparseBlock) else "dense")
        and (isinstance(block, SparseBlock) or config.grows or model.learned_features == block.width)
        and not (model.transforms or config.bias or config.class_weight is not None or model.card.ignores_features)
        and (task.one_label or task.prediction == "target")
        and not task.queries_labels
        and (model.card.supports_weights or not weighted)
        and model.labels.code == like.labels.code
        and len(like.labels) <= MANY_CLASSES
        and type(task) is type(like.task)  # then equal scores give equal predictions and mistakes
    )


class SharedTransaction(Transaction):
    """The rounds of one learner on rows that were encoded before."""

    def __init__(self, learner: RuleLearner, shared: SharedRows) -> None:
        super().__init__(learner.model, learner._loops, shared.block, shared.y, None)
        self.shared = shared

    def encode(self, checked: bool) -> None:
        shared, model = self.shared, self.model
        self.block, self.codes, self.segments = shared.block, shared.codes, [shared.segment]
        self.h, self.weighted, self.class_counts = shared.h, shared.weighted, model.class_counts


def play_shared(learner: RuleLearner, shared: SharedRows) -> list[Outcome]:
    """Play all rounds with a learner; all, or none. What goes wrong is raised as `Overflow` or `RuleRaised`."""
    with learner._lock:
        learner._change.settle()
        return SharedTransaction(learner, shared).run(learner._change)


def read_outcomes(model: Model, shared: SharedRows, outcomes: Sequence[Sequence[Outcome]]) -> list[PlayedRounds]:
    """What learners predicted in the same rounds, from the scores of all of them at once."""
    size, rounds = len(outcomes), len(shared.truth)
    parts = [part for own in outcomes for part in own]
    task, labels, scores = model.task, model.labels, np.concatenate([part.scores for part in parts])
    updated = np.concatenate([part.updated for part in parts])
    together = Outcome(task, shared.segment, 0, scores, updated, np.tile(shared.truth, size), NOTHING)
    truth, scores = task.report_truth(labels, shared.y), scores.reshape(size, rounds, *scores.shape[1:])
    predictions, mistakes = task.predictions(labels, together), task.mistakes(labels, together)
    each = (found.reshape(size, rounds) for found in (predictions, mistakes, task.updated(together)))
    return [PlayedRounds(*own, truth) for own in zip(scores, *each, strict=True)]
