"""Predict structured output with a rule learner: the best output of every group of rows, or the odds of its parts."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, Rows, SparseBlock
from noregret.data.group_truth import GroupTruth
from noregret.errors import BadValue
from noregret.learner.engine import Rounds, Unchecked, check_read
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.transaction import SLICE
from noregret.tasks.decoders.layout import LOSS
from noregret.tasks.factored import Factored
from noregret.tasks.outcome import Outcome, Segment

CHANGED = "the encoded inputs do not fit together; were they changed? Encode them again"


def decode_rows(learner: RuleLearner, rows: Rows, truth: GroupTruth) -> NDArray[Any]:
    """The label of every row in the best output of its group."""
    found = [one.task.predictions(learner.model.labels, one) for one in run_groups(learner, rows, truth)]
    return np.concatenate(found) if found else np.zeros(0, object)


def find_marginals(learner: RuleLearner, rows: Rows, truth: GroupTruth) -> NDArray[np.float64]:
    """The probability of every part: of every row and class; an error where outputs have none."""
    if not learner.model.task.scores_are_log_odds:
        raise BadValue(f'{learner.card.name}: outputs have probabilities only with loss="crf"')
    found = [one.scores for one in run_groups(learner, rows, truth, marginals=True)]
    return np.concatenate(found) if found else np.zeros((0, len(learner.model.labels)))


def run_groups(learner: RuleLearner, rows: Rows, truth: GroupTruth, marginals: bool = False) -> Iterator[Outcome]:
    """Play the groups as rounds that weigh nothing, so that nothing changes; scores become marginals where asked."""
    with learner._lock:
        learner._change.settle()
        learner._loops.refuse_reentry()
        model, task = learner.model, learner.model.task
        assert isinstance(task, Factored)
        block = learner._encode(rows)  # may make room for unknown features, and bind the loops again
        check_block(block, len(truth), model.known_space.room)
        engine = learner._loops.engine
        known = model.known_space.classes
        table = task.tabulate(truth, np.full(len(truth.at), -1, np.int64), known)
        table[:, LOSS] = 1.0 if marginals else 0.0
        segment = Segment(0, len(truth), known)
        for start, stop in task.slices(segment, truth, SLICE):
            y, out = table[start:stop], task.make_scores(stop - start, known)
            updated, aux = np.zeros(stop - start, np.uint8), task.make_aux(y, out)
            given = Rounds(engine.rows(block, start, stop), y, np.zeros(stop - start))
            ended = engine.play(given, out, updated, aux)
            check_sound(given.values[0])
            if not ended or not np.isfinite(out).all():
                raise BadValue("a score is not finite: the values are too large; scale the features")
            yield Outcome(task, segment, start, out, updated, y, aux)


def check_block(block: Block, rows: int, room: int) -> None:
    """Refuse rows that are not those of the groups, or have features that there is no room for."""
    sound = block.rows == rows
    if sound and isinstance(block, SparseBlock) and block.ready:
        offsets, idx = block.indptr, block.idx
        sound = int(offsets[0]) >= 0 and int(offsets[-1]) <= idx.size == block.val.size
        sound = sound and not bool((np.diff(offsets) < 0).any())
        sound = sound and (not idx.size or (int(idx.min()) >= 0 and int(idx.max()) < room))
    if not sound:
        raise BadValue(CHANGED)


def check_sound(rows: Any) -> None:
    """Refuse rows that turned out not to be sound as they were read."""
    try:
        check_read(rows)
    except Unchecked:
        raise BadValue(CHANGED) from None
