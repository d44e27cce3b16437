"""Metrics: they see the batches and transcripts of a run and report on it; they never touch a learner."""

from collections.abc import Callable

from noregret.metrics.adwin import Adwin
from noregret.metrics.auc import Auc
from noregret.metrics.baselines import LabelBaselines, TargetBaselines
from noregret.metrics.basic import LabelChanges, LearningCurve, Loss, Mistakes, Runtime, Totals, Updates
from noregret.metrics.comparison import (
    MeanRanks,
    PairedMistakes,
    compute_mcnemar,
    mean_ranks,
    sliding_difference,
)
from noregret.metrics.confusion import Confusion
from noregret.metrics.ddm import Ddm
from noregret.metrics.detector import Detector
from noregret.metrics.drift import DETECTORS, DriftAlarms
from noregret.metrics.metric import MergeableMetric, Metric
from noregret.metrics.multilabel import Multilabel
from noregret.metrics.page_hinkley import PageHinkley
from noregret.metrics.ranking import InputOrder, Ranking
from noregret.metrics.reliability import Reliability
from noregret.metrics.row_sizes import RowSizes
from noregret.metrics.target_errors import TargetErrors

METRICS: dict[str, Callable[[], Metric]] = {
    "multilabel": Multilabel,
    "ranking": Ranking,
    "target_errors": TargetErrors,
}
"""The metrics that a task can name beside those of every run."""

__all__ = [
    "DETECTORS", "METRICS", "Adwin", "Auc", "Confusion", "Ddm", "Detector", "DriftAlarms", "InputOrder",
    "LabelBaselines", "LabelChanges", "LearningCurve", "Loss", "MeanRanks", "MergeableMetric", "Metric", "Mistakes",
    "Multilabel", "PageHinkley", "PairedMistakes", "Ranking", "Reliability", "RowSizes", "Runtime", "TargetBaselines",
    "TargetErrors", "Totals", "Updates", "compute_mcnemar", "mean_ranks", "sliding_difference",
]  # fmt: skip
