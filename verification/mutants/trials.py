"""Trials: tests are collected once; then for every mutant a forked process breaks the library and runs them.

Everything is interpreted, never compiled: a test that would play too many rounds that way is left out. The parent never
runs a test, so every fork starts from the same clean state, and no file is changed.
"""

import io
import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from noregret.adapters import detector_loops, pool_probabilities
from noregret.decomposition import document_loops, lasso_loops, rating_one, rating_table, stick_loops, topic_words
from noregret.experts import rounds
from noregret.experts.portfolio import days, hindsight
from noregret.learner.engine import Engine
from noregret.neural import run as networks
from verification.mutants.plain_loops import PlainLoops

MOST_ROUNDS = 2500  # interpreted, in one test
SECONDS = 4.0  # of processor time that a test may take beside ten times what it takes unbroken
PATIENCE = 300  # seconds by the clock, for a test that waits for something
ROOM = 6 << 30  # bytes

Place = tuple[str, int]


@dataclass(frozen=True)
class Passed:
    """A test as it runs unbroken: how long, and the functions it enters, by file and line."""

    name: str
    seconds: float
    entered: frozenset[Place]


@dataclass(frozen=True)
class Fault:
    """Why a test does not count: it failed, or was skipped."""

    name: str
    outcome: str
    words: str


class Interpreted:
    """Replaces the compiler: loops are interpreted, and a test is skipped when it plays too many rounds.

    Detectors whose loops are not known as compiled ones run as plain Python, as do loops over ratings; a test that
    compiles the loop of experts, portfolios, probabilities, codes or topics, which others play as plain Python, is
    skipped.
    """

    def __init__(self) -> None:
        self.rounds = 0

    def count(self, rounds: int) -> None:
        self.rounds += rounds
        if self.rounds > MOST_ROUNDS:
            pytest.skip("too many rounds to be interpreted")

    def install(self) -> None:
        start, play = Engine.__init__, Engine.play

        def interpreted(engine: Engine, plan: Any, params: Any, native: bool) -> None:
            start(engine, plan, params, False)

        def counted(engine: Engine, rows: Any, y: Any, *rest: Any) -> bool:
            self.count(len(y))
            return play(engine, rows, y, *rest)

        def refuse(*_: Any) -> Any:
            pytest.skip("a compiled loop")

        setattr(detector_loops, "ENTRIES", {})  # noqa: B010
        setattr(rounds, "compile_rounds", refuse)  # noqa: B010
        setattr(days, "compile_entry", refuse)  # noqa: B010
        setattr(hindsight, "compile_entry", refuse)  # noqa: B010
        setattr(networks, "compile_loop", refuse)  # noqa: B010
        setattr(pool_probabilities, "compile_function", refuse)  # noqa: B010
        for loops in (lasso_loops, document_loops, stick_loops, topic_words):
            setattr(loops, "compile_function", refuse)  # noqa: B010
        PlainLoops(self.count, (Trace,)).install((rating_table, rating_one))
        setattr(Engine, "__init__", interpreted)  # noqa: B010
        setattr(Engine, "play", counted)  # noqa: B010


class Trace:
    """Records which functions of some files are entered."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.files = {str(file) for file in files}
        self.entered: set[Place] = set()

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        if frame.f_code.co_filename in self.files:
            self.entered.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))


class Collector:
    """A pytest plugin that hands the collected tests to a function, in place of running them."""

    def __init__(self, act: Callable[[dict[str, pytest.Item]], None]) -> None:
        self.act = act

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.items = {item.nodeid: item for item in items}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.act(self.items)
        return True


def collect(root: Path, files: Sequence[str], act: Callable[[dict[str, pytest.Item]], None]) -> int:
    """Collect the tests of some files, then act on them inside the session of pytest."""
    quiet = [
        "-o",
        "addopts=",
        "--import-mode=importlib",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:terminal",
    ]
    with suppress(ImportError):
        import hypothesis

        hypothesis.settings.register_profile("mutants", database=None, derandomize=True)
        hypothesis.settings.load_profile("mutants")
    named = [str(root / file) for file in files]
    return int(pytest.main([*quiet, "-s", "--assert=plain", f"--rootdir={root}", *named], plugins=[Collector(act)]))


def run_one(item: pytest.Item, following: pytest.Item | None) -> Fault | None:
    """Run a test; what kept it from passing, if anything did."""
    for report in runtestprotocol(item, log=False, nextitem=following):
        if report.outcome != "passed" and not hasattr(report, "wasxfail"):
            return Fault(item.nodeid, report.outcome, str(report.longreprtext).strip().splitlines()[-1:][0][:200])
    return None


def limit(seconds: float) -> None:
    """End this process, and so the mutant, when the next test takes too long."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(PATIENCE)


def silence() -> None:
    """Discard what tests print, and limit the memory that a mutant can take."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


def run_unbroken(items: Sequence[pytest.Item], watched: Sequence[Path]) -> Iterator[Passed | Fault]:
    """Run tests as they are; meant for a forked process."""
    compiler = Interpreted()
    compiler.install()
    for item, following in zip(items, [*items[1:], None][: len(items)], strict=True):
        trace = Trace(watched)
        compiler.rounds = 0
        limit(60.0)
        sys.settrace(trace)
        start = time.process_time()
        fault = run_one(item, following)
        seconds = time.process_time() - start
        sys.settrace(None)
        yield fault or Passed(item.nodeid, seconds, frozenset(trace.entered))


def run_broken(
    items: Sequence[pytest.Item], seconds: Sequence[float], install: Callable[[], None]
) -> Iterator[str | Fault | int]:
    """Break the library, then run tests until one fails, or say how many did not; meant for a forked process.

    Each test is named before it runs, so that it is known which one did not end.
    """
    compiler = Interpreted()
    compiler.install()
    limit(SECONDS)
    install()
    for item, following, usual in zip(items, [*items[1:], None][: len(items)], seconds, strict=True):
        compiler.rounds = 0
        yield item.nodeid
        limit(SECONDS + 10.0 * usual)
        fault = run_one(item, following)
        if fault is not None and fault.outcome == "failed":
            yield fault
            return
    yield len(items)


Results = list[Any]


def run_all(works: Iterable[tuple[Any, Callable[[], Iterable[Any]]]], jobs: int) -> Iterator[tuple[Any, Results, int]]:
    """Each work in a process of its own, some at a time: (key, what it yielded, the signal that ended it or 0)."""
    waiting, selector = iter(works), DefaultSelector()
    running: dict[int, tuple[Any, int, bytearray]] = {}

    def start() -> bool:
        key, work = next(waiting, (None, None))
        if work is None:
            return False
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            act(work, writing)
        os.close(writing)
        running[reading] = (key, child, bytearray())
        selector.register(reading, EVENT_READ)
        return True

    while len(running) < jobs and start():
        pass
    while running:
        for ready, _ in selector.select():
            key, child, so_far = running[ready.fd]
            part = os.read(ready.fd, 1 << 16)
            so_far += part
            if part:
                continue
            selector.unregister(ready.fd)
            os.close(ready.fd)
            del running[ready.fd]
            _, status = os.waitpid(child, 0)
            yield key, unpickle(bytes(so_far)), os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            while len(running) < jobs and start():
                pass


def act(work: Callable[[], Iterable[Any]], writing: int) -> None:
    """What a forked process does."""
    silence()
    with os.fdopen(writing, "wb") as out:
        try:
            for result in work():
                pickle.dump(result, out)
                out.flush()
        except BaseException as error:
            pickle.dump(Fault("", "error", repr(error)), out)
            out.flush()
        os._exit(0)


def unpickle(data: bytes) -> Results:
    stream, found = io.BytesIO(data), []
    with suppress(EOFError, pickle.UnpicklingError):
        while True:
            found.append(pickle.load(stream))
    return found
