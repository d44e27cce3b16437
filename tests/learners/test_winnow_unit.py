"""Winnow and balanced Winnow on rows of any scale: values are divided by the largest one of their mistakes."""

import numpy as np
import pytest

import noregret as nr
from tests.learners.reading import bound_of
from tests.naive import streams


@pytest.mark.parametrize("name", ["winnow", "winnow_balanced"])
def test_after_a_first_mistake_rows_of_any_scale_are_learned_alike(name: str) -> None:
    X, y = streams.sparse(60, 8, density=0.4, seed=3)
    X = np.abs(X)
    said = []
    for scale in (2.0**-20, 3.0, 2.0**20):
        learner = nr.make(name, native=False, algebra="sparse")
        for label in (1, -1):  # one of them is a mistake, which sets the unit
            if not learner.mistakes:
                learner.learn(scale * X[:1], [label])
        assert (learner.mistakes, learner.updates) == (1, 0)
        said.append(learner.play(scale * X, y))
    assert said[0].updated.sum() > 5
    assert said[0].scores.tobytes() == said[2].scores.tobytes()
    assert said[0].updated.tolist() == said[1].updated.tolist() == said[2].updated.tolist()


@pytest.mark.parametrize("name", ["winnow", "winnow_balanced"])
def test_values_of_0_and_1_are_learned_as_they_are_whatever_the_unit(name: str) -> None:
    X, y, _ = streams.disjunction(80, 30, k=3, active=6, seed=1)
    scores = {unit: nr.make(name, unit=unit, native=False).play(X, y).scores for unit in ("largest", "one")}
    assert scores["largest"].tobytes() == scores["one"].tobytes()
    other = nr.make(name, unit="one", native=False).play(3.0 * X, y).scores
    assert not np.allclose(other, nr.make(name, unit="largest", native=False).play(3.0 * X, y).scores)


@pytest.mark.parametrize("name", ["winnow", "winnow_balanced(start=2)"])
def test_a_round_of_larger_values_than_all_before_only_sets_the_unit(name: str) -> None:
    learner = nr.make(name, native=False, algebra="dense").learn(np.array([[4.0, 1.0]]), [-1])
    assert (learner.updates, float(learner.model.arrays.n.unit)) == (0, 4.0)
    X, y = np.array([[4.0, 1.0], [4.0, 4.0]]), [1, -1]
    scores = nr.make(name, native=False, algebra="dense").play(X / 4.0, y).scores
    assert learner.play(X, y).scores.tolist() == scores.tolist()


def test_updates_of_balanced_winnow_keep_their_bound_while_the_unit_grows() -> None:
    rng = np.random.default_rng(4)
    X = rng.uniform(-1.0, 1.0, size=(400, 6)) * np.linspace(1.0, 10.0, 400)[:, None]
    u = np.array([0.5, -0.5, 0.0, 0.0, 0.0, 0.0])
    X = X[np.abs(X @ u) > 3.0]
    y = np.sign(X @ u)
    gamma = float((y * (X @ u)).min() / np.abs(X).max())
    learner = nr.make("winnow_balanced", alpha=1.2, native=False)
    for _ in range(30):
        learner.learn(X, y)
    assert 0 < learner.updates <= bound_of(learner, features=6, margin_1=gamma, largest_value=1.0)
