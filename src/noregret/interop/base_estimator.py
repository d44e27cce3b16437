"""What all estimators share: parameters, the learner made of them, the order of the rounds, the coefficients."""

import functools
import inspect
import numbers
import types
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from noregret.errors import BadValue
from noregret.evaluation.capabilities import is_linear
from noregret.interop.family import Family, has_trait, takes_option
from noregret.learner.factory import make
from noregret.learner.protocol import Learner
from noregret.rules.card import Card

Floats = NDArray[np.float64]
READABLE = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}
UNITS = 256  # unit rows scored in one call: a learner of dense rows fills each of them with zeros


class OptionalWeights:
    """A method that takes `sample_weight` only where the learner supports importance weights."""

    def __init__(self, weighted: Callable[..., Any]) -> None:
        whole = inspect.signature(weighted)
        signature = whole.replace(parameters=[p for name, p in whole.parameters.items() if name != "sample_weight"])

        @functools.wraps(weighted)
        def unweighted(*args: Any, **given: Any) -> Any:
            bound = signature.bind(*args, **given)
            return weighted(*bound.args, **bound.kwargs)

        unweighted.__signature__ = signature  # type: ignore[attr-defined]
        self.weighted, self.unweighted = weighted, unweighted

    def __get__(self, estimator: Any, owner: Any) -> Any:
        """For an estimator by the card of its variant; for a class by those of all variants."""
        if estimator is None:
            family: Family | None = getattr(owner, "_family", None)
            supported = family is None or any(card.supports_weights for card in family.cards)
            return self.weighted if supported else self.unweighted
        supported = estimator._member.supports_weights
        return types.MethodType(self.weighted if supported else self.unweighted, estimator)


class OnlineEstimator(BaseEstimator):
    """Parameters, the learner, and the order of the rounds."""

    _family: ClassVar[Family]
    learner_: Learner
    n_iter_: int

    @property
    def _member(self) -> Card:
        """The card of the variant; an unknown one keeps the parameters of the last until `fit` refuses it."""
        last = getattr(self, "_last_variant", None)
        return self._family.member(getattr(self, "variant", None), self._family.member(last))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; without class_weight where the variant has no importance weights."""
        params: dict[str, Any] = super().get_params(deep)
        if not self._member.supports_weights:
            params.pop("class_weight", None)
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name; they are checked when the estimator is fitted."""
        if "variant" in params:  # first, because it decides which others there are
            self._last_variant = self._member.name
            super().set_params(variant=params.pop("variant"))
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _unstable(self) -> bool:
        """Whether the weights still depend on the last rows: after one pass, without a covariance or an average."""
        stable = has_trait(self._member, "final") or has_trait(self._member, "keeps_covariance")
        return not stable and self.passes == 1

    def _make(self, **more: Any) -> Learner:
        """A fresh learner; a parameter outside its limits is refused here."""
        family = self._family
        card = family.card(self.variant) if len(family.cards) > 1 else family.default_card
        options = {name: getattr(self, name) for name in card.params} | more
        for name in ("covariance", "groups"):
            if has_trait(card, f"keeps_{name}"):
                options[name] = getattr(self, name)
        if takes_option(card, "bias"):
            if not isinstance(self.fit_intercept, bool | np.bool_):
                raise BadValue(f"{family.name}: fit_intercept must be True or False, not {self.fit_intercept!r}")
            options["bias"] = bool(self.fit_intercept)
        try:
            return make(card, **options)
        except BadValue as error:
            raise BadValue(f"{family.name}: {str(error).removeprefix(f'{card.name}: ')}") from None

    def _fit_all(self, learner: Learner, X: Any, y: NDArray[Any], weight: Floats | None) -> None:
        """All passes over the rows, each in an order of its own."""
        passes, shuffle = self.passes, self.shuffle
        if isinstance(passes, bool) or not isinstance(passes, numbers.Integral) or passes < 1:
            raise BadValue(f"{self._family.name}: passes must be a whole number, at least 1, not {passes!r}")
        if not isinstance(shuffle, bool | np.bool_):
            raise BadValue(f"{self._family.name}: shuffle must be True or False, not {shuffle!r}")
        random = check_random_state(self.random_state)
        for _ in range(int(passes)):
            if shuffle:
                order = random.permutation(len(y))
                learner.learn(X[order], y[order], None if weight is None else weight[order])
            else:
                learner.learn(X, y, weight)
        self.learner_, self.n_iter_ = learner, int(passes)

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self, "learner_")
        return validate_data(self, X, reset=False, **READABLE)

    @property
    def t_(self) -> int:
        """How many rounds were learned."""
        check_is_fitted(self, "learner_")
        return self.learner_.rounds

    def _scores(self, X: Any) -> Floats:
        raise NotImplementedError

    def _affine(self) -> tuple[Floats, Floats]:
        """Coefficients and constant of each score: what unit rows add to the score of a row of zeros."""
        check_is_fitted(self, "learner_")
        nonlinear = AttributeError(f"{self._family.name} has no coef_: its score is not a weighted sum of the features")
        if not is_linear(self.learner_):
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
