"""What all estimators share: their parameters, the learner they make of them, the order of the rounds, the weights."""

import functools
import inspect
import numbers
import types
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from noregret.errors import BadValue
from noregret.interop.family import Family
from noregret.learner.factory import make
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.rule_card import RuleCard

READABLE = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}
UNITS = 256  # unit rows scored in one go: a learner of dense rows fills each of them with zeros


class Weighable:
    """A method with `sample_weight` among its arguments only where the rule can weigh rounds."""

    def __init__(self, weighed: Callable[..., Any]) -> None:
        whole = inspect.signature(weighed)
        signature = whole.replace(parameters=[p for name, p in whole.parameters.items() if name != "sample_weight"])

        @functools.wraps(weighed)
        def plain(*args: Any, **given: Any) -> Any:
            bound = signature.bind(*args, **given)
            return weighed(*bound.args, **bound.kwargs)

        plain.__signature__ = signature  # type: ignore[attr-defined]
        self.weighed, self.plain = weighed, plain

    def __get__(self, estimator: Any, owner: Any) -> Any:
        """An estimator asks the card of its variant; a class may take what any of its variants takes."""
        if estimator is None:
            family: Family | None = getattr(owner, "_family", None)
            return self.weighed if family is None or any(card.supports_weights for card in family.cards) else self.plain
        return types.MethodType(self.weighed if estimator._member.supports_weights else self.plain, estimator)


class Online(BaseEstimator):
    """Parameters, the learner, and the order of the rounds."""

    _family: ClassVar[Family]
    learner_: RuleLearner
    n_iter_: int

    @property
    def _member(self) -> RuleCard:
        """The card of the variant; an unknown one keeps the parameters of the last until `fit` refuses it."""
        last = getattr(self, "_last_variant", None)
        return self._family.member(getattr(self, "variant", None), self._family.member(last))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; without class_weight where the variant cannot weigh rounds."""
        params: dict[str, Any] = super().get_params(deep)
        if not self._member.supports_weights:
            params.pop("class_weight", None)
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name; they are looked at when the estimator is fitted."""
        if "variant" in params:  # first, because it decides which others there are
            self._last_variant = self._member.name
            super().set_params(variant=params.pop("variant"))
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _swings(self) -> bool:
        """After one pass the weights of a rule swing with the last rows still; a covariance or a mean damps them."""
        damped = self._member.final is not None or self._member.keeps_covariance
        return not damped and self.passes == 1

    def _make(self, **more: Any) -> RuleLearner:
        """A fresh learner; a parameter outside its limits is found here."""
        family = self._family
        card = family.card(self.variant) if len(family.cards) > 1 else family.lead
        told = {name: getattr(self, name) for name in card.params} | more
        if card.keeps_covariance:
            told["covariance"] = self.covariance
        if card.keeps_groups:
            told["groups"] = self.groups
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise BadValue(f"{family.name}: fit_intercept must be True or False, not {self.fit_intercept!r}")
        return make(card, **told, bias=bool(self.fit_intercept))

    def _fit_all(self, learner: RuleLearner, X: Any, y: np.ndarray, weight: np.ndarray | None) -> None:
        """All passes over the rows, each in an order of its own."""
        passes, shuffle = self.passes, self.shuffle
        if isinstance(passes, bool) or not isinstance(passes, numbers.Integral) or passes < 1:
            raise BadValue(f"{self._family.name}: passes must be a whole number, at least 1, not {passes!r}")
        if not isinstance(shuffle, bool | np.bool_):
            raise BadValue(f"{self._family.name}: shuffle must be True or False, not {shuffle!r}")
        chance = check_random_state(self.random_state)
        for _ in range(int(passes)):
            if shuffle:
                order = chance.permutation(len(y))
                learner.learn(X[order], y[order], None if weight is None else weight[order])
            else:
                learner.learn(X, y, weight)
        self.learner_, self.n_iter_ = learner, int(passes)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "learner_")
        return validate_data(self, X, reset=False, **READABLE)

    @property
    def t_(self) -> int:
        """How many rounds were learned."""
        check_is_fitted(self, "learner_")
        return self.learner_.rounds

    def _scores(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def _affine(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and constant, one row a score: what unit rows add to the score of a row of zeros."""
        check_is_fitted(self, "learner_")
        nonlinear = AttributeError(f"{self._family.name} has no coef_: its score is not a weighted sum of the features")
        if self.learner_.card.score is not None or self.learner_.algebra == "kernel":
            raise nonlinear
        size = self.n_features_in_
        constant = np.atleast_1d(self._scores(sparse.csr_array((1, size)))[0])
        units = sparse.eye_array(size, format="csr")
        columns = [self._scores(units[start : start + UNITS]) for start in range(0, size, UNITS)]
        scores = np.concatenate(columns).reshape(size, -1).T
        seen = np.isfinite(constant)[:, None]
        coefficients = np.subtract(scores, constant[:, None], where=seen, out=np.zeros_like(scores))
        together = np.atleast_1d(self._scores(sparse.csr_array(np.ones((1, size))))[0])
        near = 1e-9 * (1.0 + np.abs(coefficients).sum())
        if not np.allclose(coefficients.sum(axis=1) + constant, together, rtol=0.0, atol=near):
            raise nonlinear
        return coefficients, constant
