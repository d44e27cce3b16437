"""Rows as a learner encodes them."""

from typing import Any

import noregret as nr
from noregret.data.blocks import Block
from noregret.learner.encode import encode_rows


def encoded(learner: nr.RuleLearner, X: Any, grow: bool = True, include_unknown: bool = False) -> Block:
    """The block that a learner makes of some rows."""
    return encode_rows(learner.model, X, grow, include_unknown or learner.model.scores_unknown)
