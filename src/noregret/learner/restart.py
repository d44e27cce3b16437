"""Start a learner again: what it learned of the labels is forgotten, what it knows of the rows stays."""

import numpy as np

from noregret.learner.recent_scores import RecentScores
from noregret.learner.rule_learner import RuleLearner
from noregret.state.growth import make


def restart(learner: RuleLearner) -> RuleLearner:
    """A learner like this one whose state is that before its first round.

    It knows the same classes and features, and its transforms keep their statistics. So scores mean the same, and
    features stay scaled.
    """
    new = learner.copy()
    model = new.model
    if model.arrays is not None:
        model.arrays = make(model.shape, model.known_space)
    model.totals[:] = 0
    model.class_counts = np.zeros_like(model.class_counts)
    if model.recent is not None:
        model.recent = RecentScores()
        model.recent.prepare(model.task, model.labels)
    new._loops.bind(model)
    return new
