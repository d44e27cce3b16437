"""Predict structured output with a rule learner: the best output of every group of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows
from noregret.data.group_truth import GroupTruth
from noregret.errors import BadValue
from noregret.learner.engine import Rounds, check_read
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.transaction import SLICE
from noregret.tasks.factored import Factored
from noregret.tasks.task import Outcome, Segment


def decode_rows(learner: RuleLearner, rows: Rows, truth: GroupTruth) -> NDArray[Any]:
    """The label of every row in the best output of its group: rounds that weigh nothing change nothing."""
    with learner._lock:
        learner._change.settle()
        learner._loops.refuse_reentry()
        model, task, engine = learner.model, learner.model.task, learner._loops.engine
        assert isinstance(task, Factored)
        block = learner._encode(rows)
        known = model.known_space.classes
        table = task.tabulate(truth, np.full(len(truth.at), -1, np.int64), known)
        segment, found = Segment(0, len(truth), known), []
        for start, stop in task.slices(segment, truth, SLICE):
            y, out = table[start:stop], task.make_scores(stop - start, known)
            updated, aux = np.zeros(stop - start, np.uint8), task.make_aux(y, out)
            given = Rounds(engine.rows(block, start, stop), y, np.zeros(stop - start))
            ended = engine.play(given, out, updated, aux)
            check_read(given.values[0])
            if not ended or not np.isfinite(out).all():
                raise BadValue("a score is not finite: the values are too large; scale the features")
            found.append(task.predictions(model.labels, Outcome(task, segment, start, out, updated, y, aux)))
        return np.concatenate(found) if found else np.zeros(0, object)
