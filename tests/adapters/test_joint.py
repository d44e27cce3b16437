"""Joint features: blocks of them are many classes, and whatever classes share they learn together."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.conformance.plays import by_appearance, near
from tests.naive import streams

CLASSES = [0, 1, 2]


def blocks(x: dict[str, float], label: Any) -> dict[str, float]:
    return {f"{label}:{name}": value for name, value in x.items()}


def made(name: str = "pa1", **told: Any) -> nr.Joint:
    return nr.Joint(nr.make(name, task="ranking", pairs="worst", native=False, **told), blocks, CLASSES)


def rounds() -> tuple[list[dict[str, float]], list[int]]:
    X, _ = streams.sparse(60, 8, density=0.4, seed=3)
    U = np.random.default_rng(3).normal(size=(3, 8))
    y = by_appearance(streams.relabel(np.argmax(X @ U.T, axis=1), 3, rate=0.2, seed=3))
    return [{f"f{j}": float(x[j]) for j in np.flatnonzero(x)} for x in X], y.tolist()


@pytest.mark.parametrize("name", ["perceptron", "pa1", "pa2", "arow"])
def test_a_block_for_every_class_is_the_task_of_many_classes(name: str) -> None:
    X, y = rounds()
    joint, many = made(name), nr.make(name, task="multiclass", classes=CLASSES, native=False)
    for x, label in zip(X, y, strict=True):
        if joint.learner.rounds:
            near(list(joint.scores_one(x).values()), list(many.scores_one(x).values()))
            assert joint.predict_one(x) == many.predict_one(x)
        joint.learn_one(x, label)
        many.learn_one(x, label)
    assert joint.learner.updates == many.updates
    at_once = made(name).learn(X, y)
    assert [at_once.scores_one(x) for x in X] == [joint.scores_one(x) for x in X]


def test_what_classes_share_is_learned_once() -> None:
    """Prices: dearer or cheaper, by one feature that both have."""
    joint = nr.Joint(
        nr.make("pa", task="ranking", pairs="worst", native=False),
        lambda x, label: {"distance": -abs(x - label)},
        [10, 20, 30, 40],
    )
    assert joint.predict_one(12) is None
    joint.learn([12, 37, 22], [10, 40, 20])
    assert joint.predict([11, 19, 33, 90]) == [10, 20, 30, 40]


def test_bad_input_is_refused_and_changes_nothing() -> None:
    X, y = rounds()
    joint = made().learn(X[:20], y[:20])
    before = joint.scores_one(X[0])
    with pytest.raises(nr.BadValue, match="the label 7 is not one of the classes"):
        joint.learn_one(X[0], 7)
    with pytest.raises(nr.BadValue, match="the label 7 is not one of the classes"):
        joint.learn(X[:2], [0, 7])
    with pytest.raises(nr.BadValue, match="2 rows and y has 1 labels"):
        joint.learn(X[:2], [0])
    with pytest.raises(nr.BadValue, match="features must return a dict"):
        nr.Joint(joint.learner, lambda x, label: [1.0], CLASSES).learn_one(X[0], 0)
    with pytest.raises(nr.BadValue, match='task="ranking"'):
        nr.Joint(nr.make("pa1"), blocks, CLASSES)
    with pytest.raises(nr.BadValue, match='pairs="worst"'):
        nr.Joint(nr.make("pa1", task="ranking", pairs="all"), blocks, CLASSES)
    with pytest.raises(nr.BadValue, match="at least two"):
        nr.Joint(nr.make("pa1", task="ranking", pairs="worst"), blocks, [1, 1])
    assert joint.scores_one(X[0]) == before
    assert joint.learner.rounds == 20
