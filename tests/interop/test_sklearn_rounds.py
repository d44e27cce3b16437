"""An estimator is its learner: the same rounds leave the same weights, whole or in parts, dense or sparse."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

import noregret as nr
from noregret.sklearn import AROWClassifier, OGDRegressor, PerceptronClassifier
from tests.interop.estimators import adds_up, every, stream


@pytest.mark.thinned(2)
@every
@pytest.mark.parametrize("classes", [2, 4])
def test_fit_in_order_is_the_learner_itself(estimator: Any, classes: int) -> None:
    X, y = stream(classes)
    estimator = clone(estimator).set_params(shuffle=False, passes=2)
    fitted = estimator.fit(X, y)
    told = {"task": "regression"} if is_regressor(estimator) else {}
    learner = nr.make(fitted.learner_.card, bias=True, **told).learn(X, y).learn(X, y)
    np.testing.assert_array_equal(fitted.predict(X), learner.predict(X))
    assert (fitted.t_, fitted.n_iter_) == (2 * len(y), 2) == (learner.rounds, 2)
    if is_classifier(estimator):
        order = np.argsort(learner.classes)
        scores = learner.scores(X)
        scores = scores[:, order] if scores.ndim > 1 else scores
        if classes == 2 and scores.ndim > 1:
            scores = scores[:, 1] - scores[:, 0]
        np.testing.assert_array_equal(fitted.decision_function(X), scores)


@every
def test_parts_are_the_whole(estimator: Any) -> None:
    X, y = stream(3)
    whole = clone(estimator).set_params(shuffle=False).fit(X, y)
    parts = clone(estimator)
    for start in range(0, len(y), 25):
        if is_classifier(estimator):
            parts.partial_fit(X[start : start + 25], y[start : start + 25], classes=[0, 1, 2])
        else:
            parts.partial_fit(X[start : start + 25], y[start : start + 25])
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    assert parts.t_ == whole.t_


@pytest.mark.thinned(4)
@every
@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_rows_are_the_same_rows(estimator: Any, classes: int) -> None:
    X, y = stream(classes)
    told = {"random_state": 3}
    dense = clone(estimator).set_params(**told).fit(X, y)
    kept = clone(estimator).set_params(**told).fit(sparse.csr_array(X), y)
    if isinstance(dense.learner_.card, nr.RuleCard):  # a pool has several algebras, and kernel maps make dense rows
        remembers = dense.learner_.card.algebras == ("kernel",)
        algebras = ("kernel", "kernel") if remembers else ("dense", "sparse")
        assert (dense.learner_.algebra, kept.learner_.algebra) == algebras
    if dense.learner_.card.name in ("mlp", "hbp"):  # they scale features by the values that rows have
        np.testing.assert_array_equal(kept.predict(sparse.csc_matrix(X)), kept.predict(X))
        np.testing.assert_array_equal(dense.predict(sparse.csr_array(X)), dense.predict(X))
        return
    np.testing.assert_allclose(kept.predict(sparse.csc_matrix(X)), dense.predict(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kept.predict(X), dense.predict(sparse.csr_array(X)), rtol=1e-9, atol=1e-9)


@every
def test_rows_of_weight_zero_are_not_learned(estimator: Any) -> None:
    if not has_fit_parameter(estimator, "sample_weight"):
        return
    X, y = stream(3)
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    weight[:6] = 1.0
    estimator = clone(estimator).set_params(shuffle=False)
    some = clone(estimator).fit(X, y, sample_weight=weight)
    if not isinstance(some.learner_.card, nr.RuleCard):
        return  # kernel maps look at every row, and `auto` weighs its entries by every round
    np.testing.assert_array_equal(some.predict(X), estimator.fit(X[weight > 0], y[weight > 0]).predict(X))


def test_the_weight_of_a_class_is_the_weight_of_its_rows() -> None:
    X, y = stream(3)
    names = np.array(["a", "b", "c"])[y]
    by_class = AROWClassifier(class_weight={"a": 0.5, "c": 2.0}, shuffle=False).fit(X, names)
    by_row = AROWClassifier(shuffle=False).fit(X, names, sample_weight=np.array([0.5, 1.0, 2.0])[y])
    np.testing.assert_array_equal(by_class.decision_function(X), by_row.decision_function(X))
    counts = np.bincount(y)
    balanced = AROWClassifier(class_weight="balanced", shuffle=False).fit(X, names)
    by_row.fit(X, names, sample_weight=(len(y) / (3 * counts))[y])
    np.testing.assert_array_equal(balanced.decision_function(X), by_row.decision_function(X))


def test_the_order_of_a_pass_comes_from_the_random_state() -> None:
    X, y = stream()
    scores = [PerceptronClassifier(random_state=seed).fit(X, y).decision_function(X) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


@every
def test_weights_and_constant_make_the_score_where_it_is_a_sum(estimator: Any) -> None:
    for classes in (2, 3):
        X, y = stream(classes)
        fitted = clone(estimator).set_params(random_state=0).fit(X, y)
        if not adds_up(fitted):
            assert not hasattr(fitted, "coef_")
            continue
        if is_regressor(fitted):
            assert fitted.coef_.shape == (X.shape[1],)
            np.testing.assert_allclose(X @ fitted.coef_ + fitted.intercept_, fitted.predict(X), rtol=1e-9, atol=1e-9)
        else:
            assert fitted.coef_.shape == (1 if classes == 2 else 3, X.shape[1])
            found = X @ fitted.coef_.T + fitted.intercept_
            np.testing.assert_allclose(np.squeeze(found), fitted.decision_function(X), rtol=1e-9, atol=1e-9)


def test_without_an_intercept_a_row_of_zeros_has_no_score() -> None:
    X, y = stream()
    assert AROWClassifier(fit_intercept=False).fit(X, y).decision_function(0 * X[:1]) == 0.0
    assert AROWClassifier().fit(X, y).decision_function(0 * X[:1]) != 0.0


def test_eps_is_left_to_the_losses_that_know_it() -> None:
    X, y = stream()
    assert OGDRegressor(loss="squared", eta0=0.01).fit(X, y).learner_.params["eps"] == 0.0
    assert OGDRegressor(eps=0.3).fit(X, y).learner_.params["eps"] == 0.3
