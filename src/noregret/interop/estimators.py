"""Classifiers and regressors: they check their input as scikit-learn does, then give the rounds to a learner."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels
from sklearn.utils.validation import validate_data

from noregret.data.blocks import check_weights
from noregret.errors import BadValue
from noregret.interop.base_estimator import READABLE, Floats, OnlineEstimator, OptionalWeights
from noregret.interop.family import has_trait
from noregret.interop.label_codes import LabelCodes
from noregret.learner.protocol import Learner
from noregret.rules.losses import LOSSES
from noregret.rules.parameters import Param
from noregret.rules.rule_card import RuleCard

NOT_NEGATIVE = Param(1.0, at_least=0.0)


def has_probabilities(estimator: Any) -> bool:
    """Whether its learner has probabilities: all rules have, a method of one's own may."""
    return isinstance(estimator._member, RuleCard) or hasattr(getattr(estimator, "learner_", None), "predict_proba")


class OnlineClassifier(ClassifierMixin, OnlineEstimator):
    """A learner as a classifier; any call of `partial_fit` may bring new classes."""

    coding_: LabelCodes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Weights that are never negative cannot separate centred data.
        tags.classifier_tags.poor_score = has_trait(self._member, "nonnegative") or self._unstable
        tags.classifier_tags.multi_class = self._multiclass
        return tags

    @property
    def _multiclass(self) -> bool:
        return "multiclass" in self._member.tasks

    def _check_labels(self, y: Any) -> None:
        """Refuse targets that are not classes, and more than two classes where the learner is binary."""
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary" and not self._multiclass:
            raise BadValue(f"Only binary classification is supported. The type of the target is {kind}.")

    @OptionalWeights
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Start afresh and learn every row `passes` times; rows of weight 0 are not learned."""
        X, y = validate_data(self, X, y, **READABLE)
        self._check_labels(y)
        coding = LabelCodes(np.unique(y))
        weight = self._weight(coding, y, sample_weight, whole=True)
        self._fit_all(self._make(), X, coding.encode(y), weight)
        self._keep(coding)
        return self

    @OptionalWeights
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn every row once, in order, with the parameters of the first call.

        New classes may come at any time; `classes` announces them in advance.
        """
        first = not hasattr(self, "learner_")
        X, y = validate_data(self, X, y, reset=first, **READABLE)
        self._check_labels(y)
        coding = LabelCodes(np.zeros(0)) if first else self.coding_
        coding = coding.extend(np.unique(y) if classes is None else unique_labels(classes, y))
        learner = self._make() if first else self.learner_
        learner.learn(X, coding.encode(y), self._weight(coding, y, sample_weight, whole=False))
        self.learner_ = learner
        self._keep(coding)
        return self

    def _keep(self, coding: LabelCodes) -> None:
        self.coding_, self.classes_ = coding, coding.classes

    def _weight(self, coding: LabelCodes, y: NDArray[Any], given: Any, whole: bool) -> Floats | None:
        """The importance weight of each row: its own times that of its class."""
        weight = check_weights(given, len(y))
        if whole:
            check_any_weight(weight)
        by_class = getattr(self, "class_weight", None)
        if by_class is None:
            return weight
        name = f"{self._family.name}: class_weight"
        if not self._member.supports_weights:
            raise BadValue(f"{name} must be None: {self._member.name} does not support weights")
        codes = coding.encode(y)
        if isinstance(by_class, Mapping):
            each = [NOT_NEGATIVE.check(name, repr(one), by_class.get(one, 1.0)) for one in coding.labels.tolist()]
        elif not isinstance(by_class, str) or by_class != "balanced":
            raise BadValue(f'{name} must be a dict of weights by label, "balanced" or None, not {by_class!r}')
        elif not whole:
            raise BadValue(f'{name}="balanced" needs all rows: give partial_fit a dict of weights instead')
        else:
            each = (len(y) / (len(coding.labels) * np.bincount(codes))).tolist()
        return np.asarray(np.array(each)[codes] * (1.0 if weight is None else weight))

    def _scores(self, X: Any) -> NDArray[Any]:
        return self.coding_.decide(self.learner_, X)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The score of each class; for two classes one score per row, positive for `classes_[1]`."""
        return self._scores(self._check_rows(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of every row."""
        X = self._check_rows(X)
        return self.coding_.predict(self.learner_, X)

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability of every class for every row, in the order of `classes_`; it agrees with `predict`."""
        X = self._check_rows(X)
        return self.coding_.probabilities(self.learner_, X)

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights: (1, features) for two classes, (classes, features) for more."""
        return self._affine()[0]

    @property
    def intercept_(self) -> NDArray[Any]:
        """The constant of each score."""
        return self._affine()[1]


class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """A learner as a regressor."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self._unstable
        return tags

    @OptionalWeights
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Start afresh and learn every row `passes` times; rows of weight 0 are not learned."""
        X, y = validate_data(self, X, y, y_numeric=True, **READABLE)
        weight = check_weights(sample_weight, len(y))
        check_any_weight(weight)
        self._fit_all(self._make_regressor(), X, y, weight)
        return self

    @OptionalWeights
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn every row once, in order, with the parameters of the first call."""
        first = not hasattr(self, "learner_")
        X, y = validate_data(self, X, y, reset=first, y_numeric=True, **READABLE)
        learner = self._make_regressor() if first else self.learner_
        learner.learn(X, y, check_weights(sample_weight, len(y)))
        self.learner_ = learner
        return self

    def _make_regressor(self) -> Learner:
        """A fresh learner of real targets; eps only for losses that have it."""
        if not isinstance(self._member, RuleCard):
            return self._make(task=self._family.task.name)
        loss = getattr(self, "loss", None)
        without_eps = isinstance(loss, str) and loss in LOSSES and not LOSSES[loss].insensitive
        NOT_NEGATIVE.check(type(self).__name__, "eps", self.eps)
        options = {"scale_target": self.scale_target} | ({} if without_eps else {"eps": self.eps})
        return self._make(task=self._family.task.name, **options)

    def _scores(self, X: Any) -> NDArray[Any]:
        return self.learner_.predict(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The target of every row."""
        return self._scores(self._check_rows(X))

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights, one per feature."""
        return np.ravel(self._affine()[0])

    @property
    def intercept_(self) -> NDArray[Any]:
        """The constant."""
        return self._affine()[1]


def check_any_weight(weight: Floats | None) -> None:
    """Refuse weights that are all zero."""
    if weight is not None and not weight.any():
        raise BadValue("the sample weights are all zero: there is nothing to learn")
