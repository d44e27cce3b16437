"""Edges at the doors: rows already learned, lines of errors, weights, labels in other orders, counts of non-zeros."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import noregret as nr
from noregret.sklearn import AROWClassifier, PassiveAggressiveClassifier
from noregret.streams import Batch
from noregret.streams.csv import Csv

X, y = load_iris(return_X_y=True)
CHANCE = np.random.default_rng(0).permutation(len(y))
X, y = X[CHANCE], y[CHANCE]


def taught(names: list[str]) -> Any:
    """Classes that come one after the other, under these names."""
    labels = np.array(names)[y]
    model = AROWClassifier()
    for first in (0, 1, 2):
        model.partial_fit(X[y <= first], labels[y <= first])
    return model


def test_classes_may_come_in_any_order_of_their_names() -> None:
    sorted_names, others = ["a", "b", "c"], ["b", "c", "a"]
    one, other = taught(sorted_names), taught(others)
    renamed = dict(zip(sorted_names, others, strict=True))
    assert [renamed[label] for label in one.predict(X)] == other.predict(X).tolist()
    columns = [other.classes_.tolist().index(renamed[label]) for label in one.classes_]
    assert np.array_equal(one.decision_function(X), other.decision_function(X)[:, columns])


def test_two_of_three_announced_classes_share_the_score() -> None:
    model = AROWClassifier().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    scores = model.learner_.scores(X)
    assert np.array_equal(model.decision_function(X)[:, :2], np.column_stack([-0.5 * scores, 0.5 * scores]))


def test_a_row_counts_its_own_weight_times_that_of_its_class() -> None:
    weight = np.linspace(0.5, 2.0, len(y))
    told: dict[str, Any] = {"shuffle": False, "C": 0.001}  # the cap is what a weight moves
    both = PassiveAggressiveClassifier(class_weight={0: 3.0}, **told).fit(X, y, sample_weight=weight)
    by_hand = PassiveAggressiveClassifier(**told).fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0) * weight)
    assert np.array_equal(both.decision_function(X), by_hand.decision_function(X))


def test_weights_that_cannot_be_are_refused() -> None:
    with pytest.raises(nr.BadValue, match="balanced"):
        PassiveAggressiveClassifier(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(nr.BadValue, match="all zero"):
        PassiveAggressiveClassifier().fit(X, y, sample_weight=np.zeros(len(y)))


def test_a_score_of_zero_is_positive() -> None:
    model = PassiveAggressiveClassifier(fit_intercept=False).fit(X[y < 2], y[y < 2])
    assert model.predict(np.zeros((1, 4))).tolist() == [1]


def test_a_quote_left_open_in_the_last_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text('a,b,y\n1,u,no\n2,v,"yes\n')
    with pytest.raises(nr.BadValue, match=r":3: a quote opens"):
        list(Csv(str(path)))


def test_an_error_names_the_line_of_the_row_and_not_its_place_in_the_batch() -> None:
    batch = Batch(np.ones((3, 1)), np.array([1.0, np.nan, 2.0]), np.array([10, 20, 30]))
    with pytest.raises(nr.BadValue, match=r"^rounds:20: the target is nan"):
        nr.play([batch], nr.make("ogd", task="regression"))


@pytest.mark.parametrize(
    "told", [{"rule": "perceptron"}, {"rule": "rda", "algebra": "sparse"}, {"rule": "pa1", "algebra": "dense"}]
)
def test_non_zeros_are_the_features_that_move_a_score(told: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    rows = (rng.random((60, 700)) < 0.01).astype(float)
    learner = nr.make(told["rule"], **{k: v for k, v in told.items() if k != "rule"}).learn(
        rows, rng.integers(3, size=60)
    )
    assert learner.nonzeros == np.count_nonzero(learner.scores(np.eye(700)).any(axis=1))


def test_the_non_zeros_of_a_kernel_learner_are_its_supports() -> None:
    learner = nr.make("perceptron", algebra="kernel").learn(X[y < 2], y[y < 2])
    assert learner.nonzeros == learner.updates
