"""Whatever a user does, and in whatever order, the compiled learner stays bit for bit with the interpreted one."""

import random
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.conformance.loops import EVERYDAY
from tests.conformance.plays import FEW, NAMES
from tests.support.cover import ALL

BUILT_IN = [nr.learners().rules[name] for name in dict.fromkeys([*FEW, *EVERYDAY])]
# Few loops are compiled for other tasks than the first.
TASKS = {} if ALL else {name: EVERYDAY.get(name, ["binary"]) for name in NAMES}
LABELS: list[list[Any]] = [[-1, 1], [0, 1], ["a", "b"], ["a", "b", "c", "d"], [1, 2], [3, 1, 2, 0], [True, False]]
TWO = [labels for labels in LABELS if len(labels) == 2]
BAD: list[dict[Any, Any]] = [{"v0": float("nan"), "new": 1.0}, {"v1": "x"}, {"v2": 1.0, 5: 1.0}]


class Sequence:
    """A seeded user: rows of dicts with new, known and unknown names, empty rows, labels of any kind."""

    def __init__(self, seed: int, card: nr.RuleCard) -> None:
        self.rng = random.Random(seed)
        tasks = [None, *(task for task in ("multiclass", "regression") if task in TASKS.get(card.name, card.tasks))]
        self.task = self.rng.choice(tasks)
        told: dict[str, Any] = {} if self.task is None else {"task": self.task}
        self.compiled, self.plain = nr.make(card, **told), nr.make(card, native=False, **told)
        self.names = [f"v{i}" for i in range(self.rng.choice([3, 30, 300]))]
        self.labels = self.rng.choice(LABELS if "multiclass" in TASKS.get(card.name, card.tasks) else TWO)

    def row(self) -> dict[str, float]:
        size = min(self.rng.choice([0, 1, 3, 5, 20, 90]), len(self.names))
        chosen = self.rng.sample(self.names, size)
        return {name: self.rng.choice([0.0, 1.0, -2.5, self.rng.gauss(0, 1)]) for name in chosen}

    def label(self) -> Any:
        return self.rng.gauss(0, 1) if self.task == "regression" else self.rng.choice(self.labels)

    def learn_one(self) -> None:
        x, y = self.row(), self.label()
        self.compiled.learn_one(x, y)
        self.plain.learn_one(x, y)

    def play(self) -> None:
        X = [self.row() for _ in range(self.rng.choice([1, 2, 7]))]
        y = [self.label() for _ in X]
        compiled, plain = self.compiled.play(X, y), self.plain.play(X, y)
        np.testing.assert_array_equal(compiled.scores, plain.scores)
        np.testing.assert_array_equal(compiled.mistakes, plain.mistakes)
        np.testing.assert_array_equal(compiled.updated, plain.updated)

    def predict_one(self) -> None:
        x = {**self.row(), **{f"unknown{self.rng.randrange(9)}": 1.0 for _ in range(self.rng.choice([0, 1, 2]))}}
        found, expected = self.compiled.predict_one(x), self.plain.predict_one(x)
        assert (found, type(found)) == (expected, type(expected))
        if self.plain.rounds:
            assert self.compiled.scores_one(x) == self.plain.scores_one(x)

    def copy(self) -> None:
        self.compiled = self.compiled.copy()

    def refuse(self) -> None:
        before = pack(self.compiled)
        for x in BAD:
            with pytest.raises(nr.Error):
                self.compiled.learn_one(x, self.label())
            assert pack(self.compiled) == before


@pytest.mark.thinned(6)
@pytest.mark.parametrize("card", BUILT_IN, ids=lambda card: card.name)
def test_compiled_and_interpreted_learners_never_part(card: nr.RuleCard) -> None:
    for seed in range(12 if ALL else 6):
        user = Sequence(seed, card)
        acts = [user.learn_one] * 3 + [user.play] + [user.predict_one] * 2 + [user.copy, user.refuse]
        for _ in range(30):
            user.rng.choice(acts)()
        assert user.compiled.model.totals.tolist() == user.plain.model.totals.tolist()
        assert user.compiled.classes == user.plain.classes


def test_a_class_that_comes_without_new_features_is_predicted_by_the_fast_lane() -> None:
    learner = nr.make("perceptron")
    learner.learn_one({"a": 1.0}, 1)
    assert learner.predict_one({"a": 1.0}) == 1
    learner.learn_one({"a": -3.0}, 0)
    learner.learn_one({"a": -3.0}, 0)
    assert learner.predict_one({"a": -1.0}) == 0
