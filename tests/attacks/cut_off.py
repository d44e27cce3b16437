"""Calls that are cut off: by an error at some line of the library, or by a timer."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

import noregret as nr
from noregret.learner.change import Change
from noregret.learner.model_file import pack
from tests.support.cover import ALL

Act = Callable[[Any], object]
ROWS = [
    {"a": 0.5, "b": -1.0, "c": 2.0}, {"b": 1.5}, {"a": -0.7, "d": 0.2}, {"c": 1.0, "d": -0.3, "e": 0.9},
    {"e": -1.1, "a": 0.4}, {"b": 0.8, "c": -0.6}, {"a": 1.2, "f": 0.1}, {"f": -2.0, "g": 0.3},
]  # fmt: skip
Y = [0, 1, 0, 1, 1, 0, 1, 0]
COUNTS = [{name: 1.0 + number % 3 for number, name in enumerate(row)} for row in ROWS]  # documents
LIBRARY = f"{Path(nr.__file__).parent.as_posix()}/"
NEW, WIDE = {f"new{i}": 1.0 for i in range(3)}, {f"wide{i}": 1.0 for i in range(40)}


class AtLines:
    """Does something at the n-th line of the library that is reached, and perhaps at others after it."""

    def __init__(self, does: Callable[[], object], *at: int) -> None:
        self.does, self.at, self.lines = does, set(at), 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> "AtLines | None":
        file = frame.f_code.co_filename.replace("\\", "/")
        if not file.startswith(LIBRARY) or "/algebra/" in file or file.endswith("_loops.py"):  # as if compiled
            return None
        if event == "line":
            self.lines += 1
            if self.lines in self.at:
                self.does()
        return self


class Begin(AtLines):
    """Notes the line at which a change of a learner begins."""

    def __init__(self, learner: Any) -> None:
        super().__init__(lambda: None)
        self.learner, self.begins = learner, 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> "AtLines | None":
        found = super().__call__(frame, event, argument)
        if not self.begins and frame.f_code is Change.run.__code__ and frame.f_locals["self"] is self.learner._change:
            self.begins = self.lines
        return found


def interrupt() -> None:
    raise KeyboardInterrupt


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


def acts_without_labels(rows: list[dict[str, float]]) -> dict[str, Act]:
    """What is done to a learner without labels and cut off."""
    return {
        "learn_one": lambda m: m.learn_one(rows[2]),
        "learn_one new names": lambda m: m.learn_one(NEW),
        "learn": lambda m: m.learn([*rows, NEW]),
        "play": lambda m: m.play([*rows, WIDE], [*Y, 1]),
        "flush": lambda m: m.flush(),
        "predict_one": lambda m: m.predict_one(WIDE),
        "transform": lambda m: m.transform([WIDE, *rows]),
        "describe": lambda m: m.describe_results(),
        "copy": lambda m: m.copy(),
        "refused": lambda m: m.learn([*rows, WIDE, {"a": float("nan")}]),
        "overflow": lambda m: m.learn([*rows, {"a": 1e200}, {"a": 1e200}, {"a": 1e200}]),
    }


def learned(name: str, rows: list[dict[str, float]] = ROWS, **options: Any) -> Any:
    """A learner that has learned some rows in several ways."""
    steps, first = options.pop("steps", None), options.pop("first", 5)
    learner = nr.make(name, **options)
    learner = learner if steps is None else steps | learner
    learner.learn((rows * 3)[:first], (Y * 3)[:first])
    learner.predict_one(rows[0])
    return learner.learn_one(rows[1], 1)


UNLABELLED: dict[str, dict[str, Any]] = {
    "svd": {"rank": 3, "batch": 4, "keep_rows": "yes"},
    "svd absent": {"rank": 2, "batch": 4, "missing": "absent"},
    "svd scaled": {"rank": 3, "batch": 4, "scale": True},
    "svd hashed": {"rank": 3, "batch": 4, "bits": 6},
    "svd waiting": {"rank": 2, "first": 20},
    "pca_incremental": {"rank": 2, "batch": 4},
    "oja": {"rank": 2},
    "pca": {"rank": 2, "batch": 4, "choose": "draw"},
    "kmeans": {"k": 2, "batch": 4, "start": 4},
    "dictionary": {"k": 3, "batch": 4, "sweeps": 9},
    "gaussian": {"batch": 4},
    "mixture": {"k": 2, "batch": 4, "start": 4},
    "kernel_density": {"budget": 3, "batch": 4},
    "mean_row": {},
    "unigram filtered": {"batch": 4, "least_documents": 2},
    "lda": {"k": 2, "batch": 4, "iterations": 5},
    "lda filtered": {"k": 2, "batch": 4, "iterations": 5, "least_documents": 2, "most_share": 0.9},
    "hdp": {"t": 4, "k": 2, "batch": 4, "iterations": 5},
}
NETWORKS: dict[str, dict[str, Any]] = {
    "mlp": {"layers": [2], "replay": 2, "optimizer": "adam", "batch": 2},
    "hbp": {"depth": 2, "units": 2},
}


def maker(kind: str) -> tuple[Callable[[], Any], list[dict[str, float]]]:
    """A way to make a learner without labels, or a network, and the rows for it."""
    name = kind.split()[0]
    rows, options = COUNTS if name in ("lda", "hdp", "unigram") else ROWS, {**UNLABELLED, **NETWORKS}[kind]
    return lambda: learned(name, rows, native=False, **options), rows


def outcome(make: Callable[[], Any], act: Act) -> tuple[bytes, bytes]:
    """The learner as a file before an act and after it."""
    learner = make()
    before = bytes(pack(learner))
    with contextlib.suppress(nr.Error):
        act(learner)
    return before, bytes(pack(learner))


def is_sound(learner: Any, allowed: tuple[bytes, ...], rows: list[dict[str, float]] = ROWS) -> bool:
    """Whether a learner is as before or as after, can be loaded, and goes on as the loaded one does."""
    from noregret.learner.model_file import unpack

    now = bytes(pack(learner))
    if now not in allowed:
        return False
    again = unpack(now, "the file")
    learner.learn(rows, Y)
    again.learn(rows, Y)
    return bytes(pack(learner)) == bytes(pack(again))


def cut_at_lines(make: Callable[[], Any], act: Act, first: int, step: int, twice: int = 0) -> Iterator[Any]:
    """Learners whose act was cut off at every step-th line, and with `twice` again so many lines later."""
    n = first
    while True:
        learner, tracer = make(), AtLines(interrupt, n, n + twice if twice else n)
        with contextlib.suppress(KeyboardInterrupt, nr.Error):
            traced(tracer, act, learner)
        if tracer.lines < n:
            return
        yield learner
        n += step


def called_at_lines(make: Callable[[], Any], act: Act, call: Act, first: int, step: int) -> Iterator[tuple[Any, Any]]:
    """Learners that were called again at every step-th line of an act, each with the answer or the error."""
    n, answers = first, list[Any]()

    def does() -> None:
        try:
            answers.append(call(learner))
        except nr.Error as error:
            answers.append(error)

    while True:
        learner, tracer = make(), AtLines(does, n)
        traced(tracer, act, learner)
        if tracer.lines < n:
            return
        yield learner, answers.pop()
        n += step


def check_calls_are_kept(make: Callable[[], Any], call: Act, act: Act, before: int = 3, after: int = 4) -> None:
    """Call a learner at the lines where a change begins: it is refused, or comes as a whole before the act or after it.

    Otherwise what the call learned is lost: undone with an act that fails, or overwritten by one that succeeds.
    """
    alone, both = outcome(make, act)[1], (outcome(make, then(act, call))[1], outcome(make, then(call, act))[1])
    assert alone not in both
    learner = make()
    traced(watch := Begin(learner), then(act), learner)
    assert watch.begins
    first, last = (1, watch.lines) if ALL else (max(watch.begins - before, 1), watch.begins + after)
    for learner, answer in islice(called_at_lines(make, then(act), call, first, 1), last + 1 - first):
        assert not isinstance(answer, nr.Error) or "called again" in str(answer)
        assert bytes(pack(learner)) in ((alone,) if isinstance(answer, nr.Error) else both)


def then(*acts: Act) -> Act:
    """One act after the other; each may be refused."""

    def do_all(learner: Any) -> None:
        for act in acts:
            with contextlib.suppress(nr.Error):
                act(learner)

    return do_all


def traced(tracer: AtLines, act: Act, learner: Any) -> None:
    """Act under a tracer."""
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        act(learner)
    finally:
        sys.settrace(before)


def cut_by_timer(learner: Any, act: Act, seconds: float) -> None:
    """Act, interrupted by a signal after so many seconds if it has not ended by then."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        while frame is not None:  # not while the test itself tidies up
            if frame.f_code.co_filename.replace("\\", "/").startswith(LIBRARY):
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
