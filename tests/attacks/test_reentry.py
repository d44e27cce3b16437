"""Code of the caller that runs inside a call (signal handlers, values, names) cannot tear the learner."""

import contextlib
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.attacks.cut_off import (
    NETWORKS,
    NEW,
    ROWS,
    UNLABELLED,
    Y,
    called_at_lines,
    is_sound,
    learned,
    maker,
    outcome,
)
from tests.support.cover import ALL

NEW_ROWS, NEW_LABELS = [*(dict.fromkeys(row, 1.0) for row in ROWS), NEW], [*Y, 1]
CALLS: dict[str, Callable[[Any], object]] = {
    "learn": lambda m: m.learn(ROWS, Y),
    "learn_one": lambda m: m.learn_one(NEW, 1),
    "predict_one": lambda m: m.predict_one(NEW),
    "scores": lambda m: m.scores(ROWS),
    "copy": lambda m: m.copy(),
    "pack": pack,
    "play": lambda m: m.play(ROWS, Y),
    "features": lambda m: m.features,
    "nonzeros": lambda m: m.nonzeros,
}


class Calling(float):
    """A number whose conversion calls the learner."""

    def __new__(cls, value: float, call: Any) -> "Calling":
        made = super().__new__(cls, value)
        made.call = call
        return made

    call: Any

    def __float__(self) -> float:
        self.call()
        return 1.0


class Named(str):
    """A name whose comparison calls the learner."""

    call: Any = None

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if self.call is not None:
            self.call()
        return str.__eq__(self, other)


class Odd:
    """No number, but it can be made one."""

    def __init__(self, call: Any) -> None:
        self.call = call

    def __float__(self) -> float:
        self.call()
        return 1.0


@pytest.mark.thinned(2)
@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("how", ["learn", "learn_one", "predict_one"])
def test_a_value_that_calls_its_learner_is_refused_or_sees_the_state_before(how: str, name: str, native: bool) -> None:
    learner, said = learned("arow", native=native), []

    def call() -> None:
        try:
            CALLS[name](learner)
            said.append("answered")
        except nr.Error as error:
            said.append(str(error))
            raise

    row = {"a": Odd(call), "never seen": 2.0}
    acts = {
        "learn": lambda: learner.learn([ROWS[0], row], [0, 1]),
        "learn_one": lambda: learner.learn_one(row, 1),
        "predict_one": lambda: learner.predict_one(row),
    }
    with contextlib.suppress(nr.Error):
        acts[how]()
    assert said
    assert all(text == "answered" or "called" in text for text in said)
    assert is_sound(learner, (bytes(pack(learner)),))


@pytest.mark.parametrize("name", ["pack", "copy", "predict_one", "features", "learn"])
@pytest.mark.parametrize("kind", [*UNLABELLED, *NETWORKS])
@pytest.mark.thinned(4)
def test_a_value_that_calls_a_learner_without_labels_or_a_network(kind: str, name: str) -> None:
    make, rows = maker(kind)
    learner, said = make(), []
    before = bytes(pack(learner))

    def call() -> None:
        try:
            answer = ANSWERS[name](learner)
            assert not isinstance(answer, bytes) or answer == before
            said.append("answered")
        except nr.Error as error:
            said.append(str(error))
            raise

    with contextlib.suppress(nr.Error):
        learner.learn([rows[0], {"a": Odd(call), "never seen": 2.0}], [0, 1])
    assert said
    assert all(text == "answered" or "called again" in text for text in said)
    assert is_sound(learner, (bytes(pack(learner)),), rows)


@pytest.mark.parametrize("how", ["learn", "learn_one"])
@pytest.mark.parametrize("name", ["learn", "learn_one", "pack", "scores"])
def test_a_name_that_calls_its_learner_is_refused_or_sees_the_state_before(how: str, name: str) -> None:
    learner = learned("arow")
    odd = Named("a")
    odd.call = lambda: CALLS[name](learner)
    row: dict[Any, float] = {odd: 1.0, "never seen": 2.0}
    with contextlib.suppress(nr.Error):
        learner.learn([row], [1]) if how == "learn" else learner.learn_one(row, 1)
    assert is_sound(learner, (bytes(pack(learner)),))


STEPS = (7, 31) if ALL else (307, 2003)  # lines of learners without labels, and of networks, whose loops have more
ANSWERS: dict[str, Callable[[Any], object]] = {
    "pack": lambda m: bytes(pack(m)),
    "copy": lambda m: bytes(pack(m.copy())),
    "predict_one": lambda m: m.predict_one(NEW),
    "features": lambda m: m.features,
    "describe": lambda m: m.describe_results(),
    "learn": lambda m: m.learn(NEW_ROWS, NEW_LABELS),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("kind", [*UNLABELLED, *NETWORKS])
@pytest.mark.thinned(10)
def test_a_call_at_any_line_of_another_is_refused_or_sees_the_state_before_or_after(kind: str, name: str) -> None:
    if kind in NETWORKS and name == "describe":
        return
    make, rows = maker(kind)
    before, after = outcome(make, learn := ANSWERS["learn"])
    learn(twice := learn(make()))
    allowed = (after, bytes(pack(twice))) if name == "learn" else (after,)
    first = 1 + random.Random(f"{kind} {name}").randrange(40)
    for learner, answer in called_at_lines(make, learn, ANSWERS[name], first, STEPS[kind in NETWORKS]):
        assert not isinstance(answer, nr.Error) or "called again" in str(answer)
        assert not isinstance(answer, bytes) or answer in (before, after)
        assert is_sound(learner, allowed, rows)


@pytest.mark.parametrize("kind", ["lda", "hdp", "dictionary"])
def test_another_learner_that_is_used_at_any_line_of_a_call_changes_nothing(kind: str) -> None:
    make, rows = maker(kind)
    other, learn = make().learn(rows, Y), ANSWERS["learn"]
    after = outcome(make, learn)[1]
    for learner, _ in called_at_lines(make, learn, lambda m: learn(other.copy()), 1, 7 if ALL else 41):
        assert bytes(pack(learner)) == after


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_a_signal_handler_that_saves_writes_files_that_load(native: bool, tmp_path: Path) -> None:
    learner, path, saved = learned("arow", native=native), tmp_path / "m.nr", []
    rng = random.Random(5)

    def handler(number: int, frame: Any) -> None:
        try:
            learner.save(path)
            saved.append(nr.load(path).rounds)
        except nr.Error as error:
            saved.append(str(error))

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for number in range(1000 if ALL else 60):
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(5e-6, 8e-4))
            learner.learn([{**row, f"n{number}": 1.0} for row in ROWS], Y)
            learner.learn_one({f"m{number}": 1.0}, number % 2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert saved
    assert all(isinstance(one, int) or "called again" in one for one in saved)
    assert is_sound(learner, (bytes(pack(learner)),))
