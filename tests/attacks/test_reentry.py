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
from tests.attacks.cut_off import NEW, ROWS, Y, is_sound, learned
from tests.support.cover import ALL

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
