"""Labels that are all different: memory grows with the number of classes, not with its square."""

import weakref
from typing import Any

import pytest

import noregret as nr
from noregret.learner import transaction
from noregret.learner.transaction import Transaction
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.task import SCORES


def test_what_the_rounds_of_every_new_class_leave_behind_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[Outcome]] = []
    most = 0
    play = Transaction.play

    def watched(self: Transaction, *arguments: Any) -> Outcome:
        nonlocal most
        most = max(most, sum(one() is not None for one in made))
        outcome = play(self, *arguments)
        made.append(weakref.ref(outcome))
        return outcome

    monkeypatch.setattr(Transaction, "play", watched)
    nr.make("perceptron", native=False).learn([{"a": 1.0}] * 60, list(range(60)))
    assert len(made) == 60
    assert most <= 2


def test_slices_have_fewer_rounds_where_there_are_more_classes() -> None:
    task = nr.make("perceptron", task="multiclass").model.task
    few, many = (list(task.slices(Segment(0, 100_000, known), [0] * 100_000, 1 << 16)) for known in (3, 100_000))
    assert few == [(0, 1 << 16), (1 << 16, 100_000)]
    assert max(stop - start for start, stop in many) * 100_000 <= SCORES
    assert [start for start, _ in many[1:]] == [stop for _, stop in many[:-1]]


def test_a_transcript_that_does_not_fit_in_memory_is_refused_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transaction, "MANY_CLASSES", 10)
    monkeypatch.setattr(transaction, "physical_memory", lambda: 1000)
    learner = nr.make("perceptron", native=False).learn([{"a": 1.0}], [0])
    with pytest.raises(nr.BadValue, match="20 rounds with 20 classes: their scores do not fit in memory"):
        learner.play([{"a": 1.0}] * 20, list(range(20)))
    assert (learner.rounds, learner.classes) == (1, [0])
    assert learner.learn([{"a": 1.0}] * 20, list(range(20))).rounds == 21
