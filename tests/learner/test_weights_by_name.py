"""The weights by feature add up to the score, or there are none."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.conformance.plays import Play, few, plays, rows_of, stream

PLAYS = few(plays(algebras=["sparse", "dense"]))
BENT = {"narow", "sop"}  # they predict with a covariance that has seen the row


@pytest.mark.parametrize("play", PLAYS, ids=str)
def test_weights_add_up_to_the_score(play: Play) -> None:
    X, y = stream(play.task, dense=play.algebra == "dense", seed=5)
    rows = rows_of(X)
    learner = play.make().learn(rows, y)
    if play.name in BENT:
        with pytest.raises(nr.BadValue, match="not a weighted sum"):
            _ = learner.weights
        return
    weights, scores, nothing = learner.weights, learner.scores(rows), learner.scores([{}])[0]
    per_class: list[dict[Any, float]] = list(weights.values()) if learner.model.task.many else [weights]
    found = [[sum(w.get(name, 0.0) * value for name, value in row.items()) for w in per_class] for row in rows]
    expected = (scores - nothing).reshape(len(rows), -1)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(scores).max())
    for one in per_class:
        sizes = np.abs(list(one.values()))
        assert (np.diff(sizes) <= 0.0).all()
        assert (sizes > 0.0).all()


def test_the_constant_and_what_transforms_make_have_weights_too() -> None:
    learner = nr.make("pa1", C=1.0, bias=True, native=False).learn([{"a": 1.0}, {"b": 1.0}], [1, -1])
    assert learner.weights == {"a": 0.5, "b": -0.75, "(constant)": -0.25}
    learner = nr.make("pa1", transforms=nr.squares(), native=False).learn([{"a": 3.0}], [1])
    assert len(learner.weights) == 2


def test_what_has_learned_nothing_has_no_weights() -> None:
    with pytest.raises(nr.NotLearned):
        _ = nr.make("pa1").weights
    with pytest.raises(nr.BadValue, match="supports"):
        _ = nr.make("perceptron", algebra="kernel", native=False).learn([{"a": 1.0}], [1]).weights


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("count", [0, 1, 3, 7, 99])
def test_the_largest_weights_are_the_first_of_all(classes: int, count: int) -> None:
    rng = np.random.default_rng(classes)
    rows = rng.integers(-1, 2, size=(40, 9)).astype(float)  # weights of equal size, too
    learner = nr.make("perceptron", native=False).learn(rows, rng.integers(classes, size=40))
    found, whole = learner.largest_weights(count), learner.weights
    for one, every in zip(found.values(), whole.values(), strict=True) if classes > 2 else [(found, whole)]:
        assert list(one.items()) == list(every.items())[:count]
