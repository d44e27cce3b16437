"""Scores of blocks of rows; sparse rows of a caller are checked as they are read."""

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, verify
from noregret.errors import is_quit
from noregret.learner.diagnose import locate_error
from noregret.learner.engine import Loops, Unchecked
from noregret.learner.model import Model
from noregret.learner.transaction import SLICE


def score_block(model: Model, loops: Loops, block: Block) -> NDArray[np.float64] | None:
    """The scores of all rows; None where the rule raised an error in compiled code."""
    try:
        out = score_slices(model, loops, verify(block) if model.algebra == "kernel" else block)
    except Unchecked:  # some row is not sorted, or not sound
        return score_slices(model, loops, verify(block))
    with np.errstate(over="ignore", invalid="ignore"):
        if out is not None and not np.isfinite(out.sum()):
            verify(block)  # a value may not be finite, which is an error of its own
    return out


def score_slices(model: Model, loops: Loops, block: Block) -> NDArray[np.float64] | None:
    out = model.task.make_scores(block.rows, len(model.labels))
    for start in range(0, block.rows, SLICE):
        stop = min(start + SLICE, block.rows)
        try:
            if not loops.score(block, out[start:stop], start, stop):
                return None
        except Unchecked:
            raise
        except Exception as error:
            if is_quit(error):
                raise
            raise locate_error(model, error, model.rounds + 1) from error
    return out
