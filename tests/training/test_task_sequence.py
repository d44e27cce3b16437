"""Accuracies on tasks after each was learned, and what forgetting and backward transfer make of them."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.support import refusal, small_stream
from tests.support.cover import only_in_test_all

X, Y = small_stream(rows=60)
SAME = [(X[:20], Y[:20]), (X[20:40], Y[20:40]), (X[40:], Y[40:])]
MATRIX = nr.AccuracyMatrix(np.array([[0.6, 0.5, 0.1], [0.9, 0.7, 0.2], [0.5, 0.8, 1.0]]))


def plain() -> Any:
    return nr.make("pa1", native=False)


def test_each_line_is_the_accuracy_on_all_tasks_after_one_more() -> None:
    found, alone = nr.learn_tasks(plain(), SAME).values, plain()
    for at, (rows, labels) in enumerate(SAME):
        alone.learn(rows, labels)
        assert found[at].tolist() == [float(np.mean(alone.predict(one) == truth)) for one, truth in SAME]


def test_rows_of_their_own_are_tested_and_further_passes_are_shuffled() -> None:
    learner, alone = plain(), plain()
    tests = [(X[::3], Y[::3]), (X[:1], Y[:1])]
    called = list[int]()
    found = nr.learn_tasks(learner, SAME[:2], tests, passes=3, seed=5, after_task=lambda one: called.append(one.rounds))
    for rows, labels in SAME[:2]:
        alone.learn(rows, labels)
        for number in (1, 2):
            order = np.random.default_rng(5 + number).permutation(20)
            alone.learn(rows[order], labels[order])
    assert pack(learner) == pack(alone)
    assert called == [60, 120]
    assert found.values[-1].tolist() == [np.mean(alone.predict(one) == truth) for one, truth in tests]


def test_measures_of_a_matrix_are_those_of_the_papers() -> None:
    """Forgetting: the best before the end less the end. Backward transfer: the end less when it was learned."""
    assert MATRIX.accuracy == pytest.approx((0.5 + 0.8 + 1.0) / 3)
    assert MATRIX.forgotten == pytest.approx([0.4, -0.1])
    assert MATRIX.forgetting == pytest.approx(0.15)
    assert MATRIX.backward_transfer == pytest.approx((-0.1 + 0.1) / 2)
    one = nr.AccuracyMatrix(np.array([[0.75]]))
    assert (one.accuracy, one.forgetting, one.backward_transfer) == (0.75, 0.0, 0.0)


def test_a_matrix_is_printed_in_percent() -> None:
    lines = str(MATRIX).splitlines()
    assert lines[0].split() == ["learned", "task", "1", "task", "2", "task", "3"]
    assert lines[3].split() == ["task", "2", "90.0", "70.0", "20.0"]
    assert lines[-1] == "accuracy 76.7, forgetting 15.0, backward transfer 0.0"
    worse = str(nr.AccuracyMatrix(np.array([[0.9, 0.4], [0.2, 0.8]]))).splitlines()
    assert worse[-1] == "accuracy 50.0, forgetting 70.0, backward transfer -70.0"


def test_a_task_that_contradicts_an_earlier_one_makes_it_forgotten() -> None:
    found = nr.learn_tasks(plain(), [(X, Y), (X, -Y)], passes=2)
    assert found.forgetting > 0.5
    assert found.backward_transfer == -found.forgetting


def test_what_cannot_be_measured_is_refused_and_named() -> None:
    def refused(*given: Any, **options: Any) -> str:
        return refusal(lambda: nr.learn_tasks(*given, **options))

    assert "regression" in refused(nr.make("pa1", task="regression"), SAME)
    assert "empty" in refused(plain(), [])
    for given in (3, "ab", {"a": 1}):
        assert "tasks must be a list of pairs (X, y)" in refused(plain(), given)
    for pair in ("ab", (*SAME[1], Y), [X]):
        assert "task 2 must be a pair" in refused(plain(), [SAME[0], pair])
    assert "lists" in refused(nr.make("pa1", task="ranking"), SAME)
    assert "seed" in refused(plain(), SAME, seed=-1)
    assert "task 2 must be a pair" in refused(plain(), [SAME[0], X])
    assert "task 1: X has 20 rows and y has 19" in refused(plain(), [(X[:20], Y[:19])])
    assert "tests of 1" in refused(plain(), SAME, SAME[:1])
    assert "passes" in refused(plain(), SAME, passes=0)
    wrong = X[20:40].copy()
    wrong[3, 1] = np.nan
    learner = plain()
    assert "task 2: row 3" in refused(learner, [SAME[0], (wrong, Y[:20])])
    assert learner.rounds == 20


@only_in_test_all
def test_torch_modules_are_taught_tasks_and_an_anchor_keeps_the_first() -> None:
    torch: Any = pytest.importorskip("torch")

    def forgetting(anchor: float) -> float:
        torch.manual_seed(0)
        online = nr.torch.Online(torch.nn.Linear(4, 1), optimizer="adam", eta=0.05, task="binary", anchor=anchor)
        after = (lambda learner: learner.consolidate()) if anchor else None
        return nr.learn_tasks(online, [(X, Y), (X, -Y)], after_task=after).forgetting

    assert forgetting(0.0) > 0.3
    assert abs(forgetting(1000.0)) < 0.1
