"""Transforms in front of learners made of learners go to the learners inside, or are refused with a hint."""

import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.support import refusal, small_stream

X, Y = small_stream(rows=30)


def rule() -> nr.RuleLearner:
    return nr.make("pa1", native=False)


def test_transforms_before_an_adapter_are_those_of_the_learner_inside() -> None:
    for outside, inside in (
        (
            nr.clip(1.0) | nr.scale() | nr.delayed(rule(), room=3),
            nr.delayed(nr.clip(1.0) | nr.scale() | rule(), room=3),
        ),
        (nr.scale() | nr.self_training(rule(), 0.1, 1.0), nr.self_training(nr.scale() | rule(), 0.1, 1.0)),
        (nr.scale() | nr.delayed(nr.self_training(rule())), nr.delayed(nr.self_training(nr.scale() | rule()))),
    ):
        assert pack(outside.learn(X, Y)) == pack(inside.learn(X, Y))


def test_a_row_that_waits_is_scaled_by_what_was_known_when_it_is_learned() -> None:
    late = nr.scale() | nr.delayed(rule())
    late.ask("a", X[0])
    late.learn(X[1:], Y[1:])
    late.tell("a", int(Y[0]))
    order = [*range(1, 30), 0]
    assert pack(late.learner) == pack((nr.scale() | rule()).learn(X[order], Y[order]))


def test_where_they_make_no_sense_they_are_refused() -> None:
    source = rule().learn(X, Y)
    assert "before the learners it is made of" in refusal(lambda: nr.scale() | nr.transfer(source, rule()))
    joint = nr.Joint(rule(), lambda x, label: {str(label): float(x)}, [0, 1])
    assert "before the learners it is made of" in refusal(lambda: nr.scale() | joint)
    assert "trained learner" in refusal(lambda: nr.scale() | nr.delayed(source))
    with pytest.raises(nr.BadValue, match="before a learner comes a transform"):
        "scale" | nr.delayed(rule())  # type: ignore[operator]
