"""Calls of learners without labels and of networks that are cut off, or called again, at one point chosen at random."""

import contextlib
import random
from functools import cache
from typing import Any

import noregret as nr
from noregret.learner.model_file import pack
from tests.attacks.cut_off import (
    NETWORKS,
    UNLABELLED,
    Act,
    AtLines,
    acts,
    acts_without_labels,
    cut_by_timer,
    interrupt,
    is_sound,
    maker,
    outcome,
    traced,
)

KINDS = [*UNLABELLED, *NETWORKS]


@cache
def acts_of(kind: str) -> dict[str, Act]:
    return acts() if kind in NETWORKS else acts_without_labels(maker(kind)[1])


@cache
def prepared(kind: str, act: str) -> tuple[tuple[bytes, bytes], int]:
    """The learner before an act and after it, and how many lines the act takes."""
    make, does, tracer = maker(kind)[0], acts_of(kind)[act], AtLines(interrupt)
    with contextlib.suppress(nr.Error):
        traced(tracer, does, make())
    return outcome(make, does), tracer.lines


def choose(number: int) -> tuple[str, str, random.Random]:
    """A kind of learner and what is done to it."""
    rng, kind = random.Random(number), KINDS[number % len(KINDS)]
    return kind, rng.choice(list(acts_of(kind))), rng


def judge(learner: Any, kind: str, act: str, where: str) -> str:
    """Whether a learner is as before or as after, and goes on as it should."""
    allowed = prepared(kind, act)[0]
    assert is_sound(learner, allowed, maker(kind)[1]), f"{kind}, {act}: torn {where}"
    return "cut"


def cut(number: int) -> str:
    """Raise an interrupt at some line, and perhaps again while it is undone."""
    kind, act, rng = choose(number)
    line = 1 + rng.randrange(prepared(kind, act)[1])
    again = line + rng.choice((0, rng.randrange(60)))
    learner = maker(kind)[0]()
    with contextlib.suppress(KeyboardInterrupt, nr.Error):
        traced(AtLines(interrupt, line, again), acts_of(kind)[act], learner)
    return judge(learner, kind, act, f"at lines {line} and {again}")


def stop(number: int) -> str:
    """Let a timer interrupt at some moment."""
    kind, act, rng = choose(number)
    learner, seconds = maker(kind)[0](), 10.0 ** rng.uniform(-5.3, -2.3)
    cut_by_timer(learner, acts_of(kind)[act], seconds)
    return judge(learner, kind, act, f"after {seconds:.2g} seconds")


def call(number: int) -> str:
    """Call a learner again at some line of a call: it answers as before or as after, or refuses."""
    kind, act, rng = choose(number)
    (before, after), lines = prepared(kind, act)
    line, learner, answers = 1 + rng.randrange(lines), maker(kind)[0](), list[bytes]()
    said, copies = list[str](), rng.random() < 0.5

    def again() -> None:
        try:
            learner.predict_one({"a": 1.0})
            answers.append(bytes(pack(learner.copy() if copies else learner)))
        except nr.Error as error:
            said.append(str(error))

    with contextlib.suppress(nr.Error):
        traced(AtLines(again, line), acts_of(kind)[act], learner)
    assert all("called again" in text for text in said), f"{kind}, {act}: at line {line} it says {said}"
    assert set(answers) <= {before, after}, f"{kind}, {act}: at line {line} it shows a state between"
    judge(learner, kind, act, f"by a call at line {line}")
    return "answered" if answers else "refused"
