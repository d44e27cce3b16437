"""Calls that are cut off: by an error at some line of the library, or by a timer."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import noregret as nr
from noregret.learner.model_file import pack

Act = Callable[[Any], object]
ROWS = [
    {"a": 0.5, "b": -1.0, "c": 2.0}, {"b": 1.5}, {"a": -0.7, "d": 0.2}, {"c": 1.0, "d": -0.3, "e": 0.9},
    {"e": -1.1, "a": 0.4}, {"b": 0.8, "c": -0.6}, {"a": 1.2, "f": 0.1}, {"f": -2.0, "g": 0.3},
]  # fmt: skip
Y = [0, 1, 0, 1, 1, 0, 1, 0]
NEW, WIDE = {f"new{i}": 1.0 for i in range(3)}, {f"wide{i}": 1.0 for i in range(40)}


class LineError:
    """Raises KeyboardInterrupt at the n-th line of the library that is reached, and perhaps once more soon after."""

    def __init__(self, *at: int) -> None:
        self.at, self.lines = set(at), 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> "LineError | None":
        file = frame.f_code.co_filename.replace("\\", "/")
        if "/noregret/" not in file or "/algebra/" in file:  # the lines of rules stand for those of what they call
            return None
        if event == "line":
            self.lines += 1
            if self.lines in self.at:
                raise KeyboardInterrupt
        return self


def acts() -> dict[str, Act]:
    """What is done to a learner of two classes and cut off."""
    return {
        "learn_one": lambda m: m.learn_one(ROWS[2], 1),
        "learn_one new names": lambda m: m.learn_one(NEW, 1),
        "learn_one many names": lambda m: m.learn_one(WIDE, 0),
        "learn": lambda m: m.learn([*ROWS, NEW], [*Y, 1]),
        "learn new class": lambda m: m.learn([*ROWS[:3], NEW], [0, 1, "c", 1]),
        "play": lambda m: m.play([*ROWS, WIDE], [*Y, 1]),
        "predict_one": lambda m: m.predict_one(WIDE),
        "scores": lambda m: m.scores([WIDE, NEW]),
        "copy": lambda m: m.copy(),
        "refused": lambda m: m.learn([*ROWS, {"a": float("nan")}], [*Y, 1]),
        "overflow": lambda m: m.learn([*ROWS, {"a": 1e200}, {"a": 1e200}], [*Y, 0, 1]),
    }


def learned(name: str, **options: Any) -> Any:
    """A learner that has learned some rows in several ways."""
    steps = options.pop("steps", None)
    learner = nr.make(name, **options)
    learner = learner if steps is None else steps | learner
    learner.learn(ROWS[:5], Y[:5])
    learner.predict_one(ROWS[0])
    return learner.learn_one(ROWS[1], 1)


def outcome(make: Callable[[], Any], act: Act) -> tuple[bytes, bytes]:
    """The learner as a file before an act and after it."""
    learner = make()
    before = bytes(pack(learner))
    with contextlib.suppress(nr.Error):
        act(learner)
    return before, bytes(pack(learner))


def is_sound(learner: Any, allowed: tuple[bytes, ...]) -> bool:
    """Whether a learner is as before or as after, can be loaded, and goes on as the loaded one does."""
    from noregret.learner.model_file import unpack

    now = bytes(pack(learner))
    if now not in allowed:
        return False
    again = unpack(now, "the file")
    learner.learn(ROWS, Y)
    again.learn(ROWS, Y)
    return bytes(pack(learner)) == bytes(pack(again))


def cut_at_lines(make: Callable[[], Any], act: Act, first: int, step: int, twice: int = 0) -> Iterator[Any]:
    """Learners whose act was cut off at every step-th line, and with `twice` again so many lines later."""
    n = first
    while True:
        learner, tracer = make(), LineError(n, n + twice) if twice else LineError(n)
        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            act(learner)
        except (KeyboardInterrupt, nr.Error):
            pass
        finally:
            sys.settrace(before)
        if tracer.lines < n:
            return
        yield learner
        n += step


def cut_by_timer(learner: Any, act: Act, seconds: float) -> None:
    """Act, interrupted by a signal after so many seconds if it has not ended by then."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        while frame is not None:  # not while the test itself tidies up
            if frame.f_code.co_filename.replace("\\", "/").endswith("learner/rule_learner.py"):
                raise KeyboardInterrupt
            frame = frame.f_back

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        act(learner)
    except (KeyboardInterrupt, nr.Error):
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
