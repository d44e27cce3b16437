"""Classes of an estimator: sorted, signed, announced ahead, and more of them with any batch."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import noregret.sklearn as face
from noregret.sklearn import AROWClassifier
from tests.interop.estimators import adds_up, every_classifier, stream


@pytest.mark.thinned(3)
@every_classifier
@pytest.mark.parametrize("first", [["b"], ["b", "d"], ["d", "b", "c"]])
def test_new_classes_may_come_with_any_batch(estimator: Any, first: list[str]) -> None:
    X, codes = stream(len(first))
    estimator = clone(estimator)
    estimator.partial_fit(X, np.array(first)[codes])
    assert estimator.classes_.tolist() == sorted(first)
    X, codes = stream(5)
    y = np.array(["long name", "a", "b", "d", "c"])[codes]
    estimator.partial_fit(X, y)
    assert estimator.classes_.tolist() == ["a", "b", "c", "d", "long name"]
    assert estimator.decision_function(X).shape == (len(y), 5)
    best = estimator.classes_[np.argmax(estimator.decision_function(X), axis=1)]
    np.testing.assert_array_equal(best, estimator.predict(X))


@every_classifier
def test_of_two_classes_the_greater_is_positive_whichever_is_seen_first(estimator: Any) -> None:
    X, codes = stream()
    y = np.array(["no", "yes"])[codes]
    backwards = clone(estimator).partial_fit(X[y == "yes"][:5], y[y == "yes"][:5]).partial_fit(X, y)
    forwards = clone(estimator).partial_fit(X, y)
    for fitted in (backwards, forwards):
        assert fitted.classes_.tolist() == ["no", "yes"]
        scores = fitted.decision_function(X)
        assert scores.shape == (len(y),)
        np.testing.assert_array_equal(np.where(scores > 0.0, "yes", "no"), fitted.predict(X))


@every_classifier
def test_the_names_of_classes_change_nothing(estimator: Any) -> None:
    X, codes = stream(3)
    plain = clone(estimator).set_params(random_state=0).fit(X, codes)
    for names in (["u", "v", "w"], [-5, 10, 11], [0.0, 7.0, 9.0]):
        named = clone(estimator).set_params(random_state=0).fit(X, np.array(names)[codes])
        np.testing.assert_array_equal(named.predict(X), np.array(names)[plain.predict(X)])


@every_classifier
def test_a_class_announced_and_never_seen_is_never_predicted(estimator: Any) -> None:
    X, codes = stream(3)
    for seen in (1, 2, 3):
        some = codes < seen
        y = codes[some] + 1
        fitted = clone(estimator).partial_fit(X[some], y, classes=[0, 1, 2, 3, 4])
        assert fitted.classes_.tolist() == [0, 1, 2, 3, 4]
        scores = fitted.decision_function(X)
        assert np.isneginf(scores).all(axis=0).tolist() == [label not in y for label in range(5)]
        assert set(fitted.predict(X)) <= set(y)
        if adds_up(fitted):
            assert not np.isnan(fitted.coef_).any()


def test_labels_of_two_kinds_are_refused_and_nothing_changes() -> None:
    X, y = stream()
    fitted = AROWClassifier().partial_fit(X, y)
    before = fitted.decision_function(X)
    with pytest.raises(ValueError, match="Mix of label"):
        fitted.partial_fit(X, np.array(["a", "b"])[y])
    with pytest.raises(ValueError, match="features"):
        fitted.partial_fit(X[:, 1:], y + 5)
    assert fitted.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(fitted.decision_function(X), before)


def test_a_rule_for_two_classes_says_so() -> None:
    X, y = stream(2)
    made = face.DuplicatedWinnowClassifier(alpha=1.5)
    assert not made.__sklearn_tags__().classifier_tags.multi_class
    assert set(made.fit(X, y).predict(X)) <= {0, 1}
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        made.fit(*stream(3))
