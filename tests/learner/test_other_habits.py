"""What users of scikit-learn and River try on a learner is answered with what it is called here."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import noregret as nr


@pytest.mark.parametrize(("name", "tried", "here"), [
    ("svd", "fit", "learn(X, y)"),
    ("svd", "fit_transform", "learn(X).transform(X)"),
    ("svd", "components_", "components"),
    ("svd", "singular_values_", "singular_values"),
    ("kmeans", "cluster_centers_", "centres"),
    ("kmeans", "labels_", "predict(X)"),
    ("gaussian", "score_samples", "log_density(X)"),
    ("mixture", "means_", "means"),
    ("arow", "partial_fit", "learn(X, y)"),
    ("arow", "coef_", "weights"),
])  # fmt: skip
def test_attributes_of_other_libraries_are_translated(name: str, tried: str, here: str) -> None:
    with pytest.raises(AttributeError, match="has no attribute") as caught:
        getattr(nr.make(name), tried)
    assert str(caught.value).endswith(f"; here it is {here}")
    assert caught.value.name == tried


@pytest.mark.parametrize(("name", "tried"), [("svd", "zzz"), ("svd", "fit_"), ("svd", "labels"), ("svd", "coef_")])
def test_what_has_no_other_name_here_is_only_missing(name: str, tried: str) -> None:
    learner = nr.make(name)
    assert not hasattr(learner, tried)
    with pytest.raises(AttributeError, match=f"no attribute '{tried}'$"):
        getattr(learner, tried)


def test_learners_are_still_copied_and_pickled() -> None:
    learner: Any = nr.make("svd", rank=2).learn(np.eye(3))
    for other in (copy.copy(learner), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert other.singular_values.tolist() == learner.singular_values.tolist()
