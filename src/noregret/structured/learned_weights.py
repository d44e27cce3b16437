"""The weights of a rule learner as decoders see them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from noregret.data.blocks import flatten_dicts
from noregret.errors import BadValue, shown
from noregret.learner.rule_learner import RuleLearner
from noregret.structured.decoder import Features, Floats


class LearnedWeights:
    """The weights that predict or, where these are others (an average), the weights that are trained.

    They are 0 before anything was learned. One object belongs to one round: it remembers weights that were asked for.
    """

    def __init__(self, learner: RuleLearner, training: bool = False) -> None:
        self.learner, self.training = learner, training
        self.known: dict[Any, float] = {}

    def dots(self, rows: Sequence[Features]) -> Floats:
        """The scores of several dicts of features, in one call."""
        rows = list(rows)
        wrong: list[object] = [row for row in rows if not hasattr(row, "keys")]
        if wrong:
            raise BadValue(f"expected a dict of features, not {shown(wrong[0])}")
        if self.learner.model.arrays is None or not rows:
            flatten_dicts(rows)  # which refuses what is no dict of numbers
            return np.zeros(len(rows))
        return self.learner.training_scores(rows) if self.training else self.learner.scores(rows)

    def dot(self, features: Features) -> float:
        """The score of a dict of features."""
        return float(self.dots([features])[0])

    def __getitem__(self, name: Any) -> float:
        """The weight of one feature."""
        if name not in self.known:
            self.known[name] = self.dot({name: 1.0})
        return self.known[name]
