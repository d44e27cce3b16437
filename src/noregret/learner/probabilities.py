"""Probabilities of classes: by the logistic function or softmax of scores that are log-odds, else by calibration."""

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowLike, RowsLike
from noregret.data.labels import Labels
from noregret.errors import BadValue, NotLearned
from noregret.learner.calibration import UNIT, Calibration, fit
from noregret.learner.change import Change
from noregret.learner.model import Model
from noregret.learner.recent_scores import UNSEEN

Floats = NDArray[np.float64]


class ClassProbabilities:
    """What classifiers add to a learner: `predict_proba`, and `confidence` where there is a covariance."""

    model: Model
    _lock: threading.RLock
    _change: Change
    _fitted: tuple[Any, Calibration] | None = None

    def predict_proba(self, X: RowsLike) -> Floats:
        """The probability of every class for every row, in the order of `classes`.

        Scores trained with the logistic loss (binary, or one class against the rest) are log-odds; with the softmax
        loss the probabilities are the softmax of the scores. Others are calibrated on the scores of the last rounds,
        each computed before its label was learned.
        """
        with self._lock:
            self._change.settle()
            self.check_probabilities()
            self._must_have_learned()
            return self.probabilities(self.scores(X))

    def predict_proba_one(self, x: RowLike) -> dict[Any, float]:
        """The probability of every class for one row, by label; empty before any label was seen."""
        with self._lock:
            self._change.settle()
            if self.model.arrays is None:
                self.check_probabilities()
                return {}
            found, labels = self.scores_one(x), self.model.labels
            self.check_probabilities()
            if len(labels) < 2:
                return dict.fromkeys(labels.order, 1.0)
            if self.model.task.scores_are_log_odds and self.model.task.one_vs_rest:
                scores = np.array([list(found.values())])
                return dict(zip(labels.order, self.probabilities(scores)[0].tolist(), strict=True))
            signs = [] if isinstance(found, dict) else labels.signs(2).tolist()
            each = [0.5 * found * sign for sign in signs] or list(found.values())
            fitted = UNIT if self.model.task.scores_are_log_odds else self.calibration
            return dict(zip(labels.order, fitted.apply_one(each), strict=True))

    def probabilities(self, scores: Floats, agree: bool = False) -> Floats:
        """The probability of every class, for rows with these scores.

        With `agree`, the most probable class is always the predicted one.
        """
        model = self.model
        self.check_probabilities()
        if len(model.labels) < 2:
            return np.ones((len(scores), len(model.labels)))
        columns = class_columns(model.labels, scores) if scores.ndim == 1 else scores
        if model.task.scores_are_log_odds:
            return log_odds_to_probabilities(columns, model.task.one_vs_rest)
        return (self.calibration.without_offsets() if agree else self.calibration).apply(columns)

    @property
    def calibration(self) -> Calibration:
        """The map from scores to probabilities, as fitted to the last rounds."""
        self.check_probabilities()
        recent, labels = self.model.recent, self.model.labels
        if recent is None or not recent.columns:
            return fit(np.zeros((0, 2)), np.zeros(0, np.int64))
        key = (recent.fitted_at, recent.columns, recent)
        if self._fitted is None or self._fitted[0] != key:
            rows = recent.to_fit()
            truth, scores = rows[:, 0], rows[:, 1:]
            if recent.columns == 1:
                codes = np.where(truth == labels.signs(2)[0], 0, 1)
                scores = class_columns(labels, scores[:, 0])
            else:
                codes = truth.astype(np.int64)
                scores = np.where(scores == UNSEEN, -np.inf, scores)
            self._fitted = key, fit(scores, codes)
        return self._fitted[1]

    def check_probabilities(self) -> None:
        """Refuse, with a reason, where scores are not turned into probabilities."""
        task, recent, name = self.model.task, self.model.recent, self.model.card.name
        if task.no_probabilities is not None:
            raise BadValue(f"{name} has no probabilities in {task.name}: {task.no_probabilities}")
        if task.queries_labels and not task.scores_are_log_odds:
            raise BadValue(
                f'{name} has no probabilities with labels="asked": the rounds whose labels are known are those it was '
                'not sure of. Use a rule with loss="logistic", or reveal all labels'
            )
        if recent is not None and recent.forgot and len(self.model.labels) > 1:
            raise NotLearned(
                f"{name} has no scores of past rounds to calibrate probabilities on: it was merged, or saved by an "
                "older noregret. Learn some more rounds first"
            )

    def confidence(self, X: RowsLike, y: LabelsLike = None) -> Floats:
        """How sure a learner with a covariance is of its weights; not the probability of a label (`predict_proba`).

        The probability that weights drawn from N(w, Sigma) give the prediction (or the labels) a positive margin. It
        says nothing about the noise of the labels: where 83 % of the predictions are right, it can be 0.99 on average.
        For many classes: the margin over the closest rival.
        """
        from noregret.learner.confidence import check_confidence, confidence

        with self._lock:
            self._change.settle()
            self._must_have_learned()
            check_confidence(self.model)
            return confidence(self.model, self.scores(X), self._encode(X, include_unknown=True), y)

    if TYPE_CHECKING:

        def scores(self, X: RowsLike) -> NDArray[np.float64]: ...

        def scores_one(self, x: RowLike) -> Any: ...

        def _must_have_learned(self) -> None: ...

        def _encode(self, X: RowsLike, include_unknown: bool = False) -> Any: ...


def class_columns(labels: Labels, scores: Floats) -> Floats:
    """The score of two classes as one of each: half of it, with the sign of the class."""
    return 0.5 * scores[:, None] * labels.signs(2)


def log_odds_to_probabilities(scores: Floats, one_vs_rest: bool) -> Floats:
    """The probabilities of classes whose scores are log-odds: of one to another, or of each against the rest."""
    if not one_vs_rest:
        return UNIT.apply(scores)
    each = 0.5 * (1.0 + np.tanh(0.5 * scores))
    total = each.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(each, total, out=np.full_like(each, 1.0 / each.shape[1]), where=total > 0.0))
