"""Baselines of a run, by what a prediction is: a label, a target, or a score of which only the order counts."""

from collections.abc import Mapping

from noregret.evaluation.capabilities import config_of, inner_learner, task_of
from noregret.evaluation.report import count_of
from noregret.learner.protocol import Learner
from noregret.metrics import InputOrder, LabelBaselines, Metric, RowSizes, TargetBaselines
from noregret.metrics.baselines import ErrorLoss, absolute_error

LABELS = {"guessing the majority label so far": "majority", "the last label": "last_label"}
LIKELIHOODS = {
    "minus log-probabilities of documents": ("unigram", "one distribution over words for all documents"),
    "minus log-densities": ("gaussian", "one Gaussian for all rows"),
}
"""Learners that are baselines for losses that are not squared distances, and what they are."""
TARGETS = {"the running mean": "mean", "the last target": "last_target"}


def make_baselines(learner: Learner) -> Metric:
    """The baselines to compare a learner with; targets are compared by its own loss, or by the absolute error."""
    prediction = task_of(learner).prediction
    if prediction == "target":
        return TargetBaselines(error_loss(learner))
    if prediction == "components":
        return RowSizes()
    return InputOrder() if prediction == "score" else LabelBaselines()


def loss_measure(learner: Learner) -> str:
    """What the losses of a learner without labels are; empty for other learners."""
    return str(getattr(inner_learner(learner), "loss_measure", ""))


def baseline_learner(learner: Learner) -> str | None:
    """The learner that is the baseline of learners like this one; None where baselines are numbers."""
    return LIKELIHOODS.get(loss_measure(learner), (None, ""))[0]


def error_loss(learner: Learner) -> ErrorLoss:
    """The loss of errors that a learner is scored by."""
    config = config_of(learner)
    return getattr(learner, "error_loss", absolute_error) if config is None else config.task.error_loss


def describe_baselines(learner: Learner, report: Mapping[str, float], rounds: int) -> str:
    """What the baselines did in so many rounds, in words."""
    rounds, prediction = max(rounds, 1), task_of(learner).prediction
    if prediction == "target":
        return ", ".join(f"{name} loses {report[key] / rounds:.4g}" for name, key in TARGETS.items())
    if prediction == "components":
        name, what = LIKELIHOODS.get(loss_measure(learner), ("", ""))
        size = report["row_sizes"] / rounds
        if name:
            return f"race {name}, too: {what}"
        return f"rows as they come have the mean square {size:.4g}, the loss of keeping nothing"
    if prediction == "score":
        right = 100 * report["pair_accuracy_as_they_come"]
        return f"the order in which the rows come has {right:.2f} % of pairs right"
    errs = {name: int(report[key]) for name, key in LABELS.items()}
    return ", ".join(
        f"{name} errs {count_of(count, 'time')} ({100 * count / rounds:.2f} %)" for name, count in errs.items()
    )
