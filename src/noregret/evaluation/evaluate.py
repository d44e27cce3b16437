"""Evaluate a learner on rows that it does not learn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.inputs import RowsLike
from noregret.data.labels import as_array
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, Error, NotLearned, shown
from noregret.evaluation.capabilities import (
    class_sides,
    classes_of,
    costs_of,
    has_learned,
    is_learner,
    predict_and_score,
    probabilities_of,
    task_of,
)
from noregret.evaluation.play import collect_reports, open_for_tasks
from noregret.learner.protocol import Learner, SelfEvaluating
from noregret.metrics import METRICS, Auc, Confusion, Loss, Metric, Mistakes, Reliability
from noregret.streams import Source

Floats = NDArray[np.float64]
SEVERAL = (tuple, list, set, frozenset)  # a row may have several labels


def evaluate(
    source: object, learner: Learner, metrics: Sequence[Metric] | None = None, **reading: Any
) -> dict[str, float]:
    """Predict all rows of a source and report the metrics; the learner does not change.

    Options of `open_source`, such as label="price", say how the source is read.

    By default: the rows, the mistakes, those of always predicting the most frequent label, and what the task measures
    (mae, rmse and r2; micro_f1 ...; ndcg ...), where a round has one label also balanced accuracy, with two classes the
    area under the ROC curve (auc), and log loss, Brier score and calibration error of the probabilities.
    """
    if not is_learner(learner):
        raise BadValue(f"evaluate needs a learner, not {shown(learner)}")
    evaluation = Evaluation(learner, metrics)
    for batch in open_for_tasks(source, [task_of(learner)], reading):
        evaluation.see(batch)
    return evaluation.report()


def evaluate_held_out(learner: Learner, source: Source) -> dict[str, float] | None:
    """The report on the rows of a source that were held out; None where none has a label, or nothing was learned."""
    if not source.held_out or not has_learned(learner):
        return None
    if task_of(learner).needs_labels and any(batch.y is None for batch in source.held_out):
        return None
    evaluation = Evaluation(learner)
    for batch in source.held_out:
        evaluation.see(batch)
    return evaluation.report()


class Evaluation:
    """A learner and the metrics of its predictions so far."""

    def __init__(self, learner: Learner, metrics: Sequence[Metric] | None = None) -> None:
        if not has_learned(learner):
            raise NotLearned(f"{learner.card.name} has not learned a round yet, so that nothing can be evaluated")
        self.learner, self.task = learner, task_of(learner)
        self.confusion = Confusion(costs_of(learner)) if self.task.one_label else None
        self.reliability: Reliability | None = None
        self.rows = self.labelled = 0
        if metrics is not None:
            self.metrics = list(metrics)
            return
        counted: list[Metric] = [Mistakes()] if self.task.counts_mistakes else []
        if isinstance(learner, SelfEvaluating):
            counted.append(Loss())
        self.metrics = [*counted, *(METRICS[name]() for name in self.task.metrics)]
        if self.confusion is not None:
            self.reliability = Reliability(classes_of(learner))
            self.metrics += [self.confusion, *make_auc(learner), self.reliability]

    def see(self, batch: Batch) -> None:
        """Predict a batch and show it to the metrics."""
        transcript = predict_batch(self.learner, batch)
        self.rows += 0 if batch.y is None else len(batch.y)
        self.labelled += transcript.rounds if transcript.truth is None else len(transcript.truth)
        for metric in self.metrics:
            metric.see(batch, transcript)

    def report(self) -> dict[str, float]:
        """What the metrics report."""
        report = {"rows": self.labelled, **collect_reports(self.metrics)}
        if self.labelled < self.rows:
            report["rows_without_label"] = self.rows - self.labelled
        if self.confusion is not None and self.confusion.rounds.size:
            report["most_frequent_label_errs"] = int(self.confusion.rounds.sum() - self.confusion.rounds.max())
        return report


def make_auc(learner: Learner) -> list[Metric]:
    """The area under the ROC curve, of a learner that has two classes and one score for both."""
    return [Auc(class_sides(learner)[1])] if len(classes_of(learner)) == 2 else []


def predict_batch(learner: Learner, batch: Batch) -> Transcript:
    """The transcript of rows that are predicted and not learned; rows without a label are left out."""
    task = task_of(learner)
    if batch.y is None and (task.needs_labels or not isinstance(learner, SelfEvaluating)):
        raise BadValue("the rows have no labels, so that nothing can be evaluated; `predict` writes the predictions")
    if isinstance(learner, SelfEvaluating):
        return learner.evaluate(batch.X, batch.y)
    predictions, scores = predict_and_score(learner, batch.X)
    truth = batch.y if isinstance(batch.y, np.ndarray) else as_array(list(batch.y))
    known = np.array([has_truth(label) for label in truth.tolist()], bool)
    truth, predictions = truth[known], predictions[known]
    probabilities = find_probabilities(learner, batch.X, scores) if task.one_label else None
    scores = None if scores is None else scores[known]
    mistakes = find_mistakes(task.prediction, predictions, truth)
    return Transcript(
        scores=scores,
        predictions=predictions,
        losses=mistakes.astype(np.float64),
        mistakes=mistakes,
        updated=np.zeros(mistakes.size, bool),
        truth=truth if task.one_label or task.prediction == "label" else np.asarray(truth, np.float64),
        relevant=relevance(learner, truth) if task.many and not task.one_label else None,
        probabilities=None if probabilities is None else probabilities[known],
        lists=None if batch.query is None else np.unique(np.asarray(batch.query)[known], return_inverse=True)[1],
    )


def find_probabilities(learner: Learner, X: RowsLike, scores: Floats | None) -> Floats | None:
    """The probabilities of the classes, where the learner has any."""
    try:
        return probabilities_of(learner, X, scores)
    except Error:
        return None


def has_truth(label: Any) -> bool:
    """Whether a row has a label or a target."""
    return label is not None and label == label


def find_mistakes(prediction: str, predictions: NDArray[Any], truth: NDArray[Any]) -> NDArray[np.bool_]:
    """Which predicted labels differ from the truth; targets and scores are not right or wrong."""
    if prediction != "label":
        return np.zeros(len(truth), bool)
    if predictions.dtype != object and truth.dtype != object:
        return np.asarray(predictions != truth)
    pairs = zip(predictions.tolist(), truth.tolist(), strict=True)
    return np.array([not is_same(predicted, label) for predicted, label in pairs], bool)


def is_same(predicted: object, label: object) -> bool:
    """Whether a prediction is the truth; the order of several labels does not matter."""
    if isinstance(predicted, SEVERAL):
        return set(predicted) == set(label if isinstance(label, SEVERAL) else (label,))
    return bool(predicted == label)


def relevance(learner: Learner, truth: NDArray[Any]) -> NDArray[np.bool_]:
    """Which labels each row has, by the columns of the scores; labels never learned have no column."""
    column = {label: number for number, label in enumerate(classes_of(learner))}
    found = np.zeros((len(truth), len(column)), bool)
    for row, labels in enumerate(truth.tolist()):
        for label in labels if isinstance(labels, SEVERAL) else (labels,):
            if label in column:
                found[row, column[label]] = True
    return found
