"""The two kinds of estimator: they check as scikit-learn checks, then hand the rounds to a live learner."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels
from sklearn.utils.validation import validate_data

from noregret.data.blocks import check_weights
from noregret.errors import BadValue
from noregret.interop.coding import Coding
from noregret.interop.online import READABLE, Online, Weighable
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.losses import LOSSES
from noregret.rules.parameters import Param

NOT_NEGATIVE = Param(1.0, at_least=0.0)


class OnlineClassifier(ClassifierMixin, Online):
    """A rule as a classifier; the classes may become more with every call of `partial_fit`."""

    coding_: Coding

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Weights that stay positive can say only that a feature speaks for a class: centred data are out of reach.
        tags.classifier_tags.poor_score = self._member.nonnegative or self._swings
        tags.classifier_tags.multi_class = self._plays_many
        return tags

    @property
    def _plays_many(self) -> bool:
        return "multiclass" in self._member.tasks

    def _check_labels(self, y: Any) -> None:
        """Labels, and no more than two where the rule plays two."""
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary" and not self._plays_many:
            raise BadValue(f"Only binary classification is supported. The type of the target is {kind}.")

    @Weighable
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Forget all, then learn every row `passes` times; rows of weight 0 are not learned."""
        X, y = validate_data(self, X, y, **READABLE)
        self._check_labels(y)
        coding = Coding(np.unique(y))
        weight = self._weight(coding, y, sample_weight, whole=True)
        self._fit_all(self._make(), X, coding.codes(y), weight)
        self._keep(coding)
        return self

    @Weighable
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn every row once, in order, with the parameters of the first call.

        New classes may come at any time; `classes` announces them ahead.
        """
        first = not hasattr(self, "learner_")
        X, y = validate_data(self, X, y, reset=first, **READABLE)
        self._check_labels(y)
        coding = Coding(np.zeros(0)) if first else self.coding_
        coding = coding.extended(np.unique(y) if classes is None else unique_labels(classes, y))
        learner = self._make() if first else self.learner_
        learner.learn(X, coding.codes(y), self._weight(coding, y, sample_weight, whole=False))
        self.learner_ = learner
        self._keep(coding)
        return self

    def _keep(self, coding: Coding) -> None:
        self.coding_, self.classes_ = coding, coding.classes

    def _weight(self, coding: Coding, y: np.ndarray, given: Any, whole: bool) -> np.ndarray | None:
        """How much each row counts: its own weight times that of its class."""
        weight = some(check_weights(given, len(y)), whole)
        by_class = getattr(self, "class_weight", None)
        if by_class is None:
            return weight
        name = f"{self._family.name}: class_weight"
        if not self._member.supports_weights:
            raise BadValue(f"{name} must be None: {self._member.name} cannot weigh rounds")
        codes = coding.codes(y)
        if isinstance(by_class, Mapping):
            each = [NOT_NEGATIVE.check(name, repr(one), by_class.get(one, 1.0)) for one in coding.labels.tolist()]
        elif not isinstance(by_class, str) or by_class != "balanced":
            raise BadValue(f'{name} must be a dict of weights by label, "balanced" or None, not {by_class!r}')
        elif not whole:
            raise BadValue(f'{name}="balanced" needs all rows: give partial_fit a dict of weights instead')
        else:
            each = (len(y) / (len(coding.labels) * np.bincount(codes))).tolist()
        return np.asarray(np.array(each)[codes] * (1.0 if weight is None else weight))

    def _scores(self, X: Any) -> np.ndarray:
        return self.coding_.decisions(self.learner_, X)

    def decision_function(self, X: Any) -> np.ndarray:
        """How much speaks for each class; of two classes, one number a row, positive for `classes_[1]`."""
        return self._scores(self._checked(X))

    def predict(self, X: Any) -> np.ndarray:
        """The label of every row."""
        X = self._checked(X)
        return self.coding_.predictions(self.learner_, X)

    @property
    def coef_(self) -> np.ndarray:
        """The weights: (1, features) for two classes, (classes, features) for more."""
        return self._affine()[0]

    @property
    def intercept_(self) -> np.ndarray:
        """The constant of each score."""
        return self._affine()[1]


class OnlineRegressor(RegressorMixin, Online):
    """A rule as a regressor."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self._swings
        return tags

    @Weighable
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Forget all, then learn every row `passes` times; rows of weight 0 are not learned."""
        X, y = validate_data(self, X, y, y_numeric=True, **READABLE)
        self._fit_all(self._fresh(), X, y, some(check_weights(sample_weight, len(y)), whole=True))
        return self

    @Weighable
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn every row once, in order, with the parameters of the first call."""
        first = not hasattr(self, "learner_")
        X, y = validate_data(self, X, y, reset=first, y_numeric=True, **READABLE)
        learner = self._fresh() if first else self.learner_
        learner.learn(X, y, check_weights(sample_weight, len(y)))
        self.learner_ = learner
        return self

    def _fresh(self) -> RuleLearner:
        loss = getattr(self, "loss", None)
        sharp = isinstance(loss, str) and loss in LOSSES and not LOSSES[loss].insensitive
        NOT_NEGATIVE.check(type(self).__name__, "eps", self.eps)
        told = {"scale_target": self.scale_target} | ({} if sharp else {"eps": self.eps})
        return self._make(task="regression", **told)

    def _scores(self, X: Any) -> np.ndarray:
        return self.learner_.scores(X)

    def predict(self, X: Any) -> np.ndarray:
        """The target of every row."""
        return self._scores(self._checked(X))

    @property
    def coef_(self) -> np.ndarray:
        """The weights, one a feature."""
        return np.ravel(self._affine()[0])

    @property
    def intercept_(self) -> np.ndarray:
        """The constant."""
        return self._affine()[1]


def some(weight: np.ndarray | None, whole: bool) -> np.ndarray | None:
    """Where these are all rows there are, at least one must count."""
    if whole and weight is not None and not weight.any():
        raise BadValue("the sample weights are all zero: there is nothing to learn")
    return weight
