"""Metrics watch transcripts and keep score; they never touch a learner."""

from noregret.metrics.baselines import Baselines
from noregret.metrics.basic import Loss, Metric, Milestones, Mistakes, Runtime, Updates
from noregret.metrics.confusion import Confusion
from noregret.metrics.multilabel import Multilabel
from noregret.metrics.ranking import AsTheyCome, Orders

__all__ = [
    "AsTheyCome", "Baselines", "Confusion", "Loss", "Milestones", "Mistakes", "Multilabel", "Orders", "Metric",
    "Runtime", "Updates",
]  # fmt: skip
