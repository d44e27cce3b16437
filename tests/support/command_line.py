"""The command line: run in this process for speed, or in a process of its own where that is what is tested."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from noregret.cli import learner_names, main
from noregret.cli.interrupts import SIGNALS
from noregret.learner.factory import learners
from noregret.rules.registry import REGISTRY

SAMPLE = "".join(f"{1 if k % 3 else -1} 1:{k % 3} 2:{(7 * k) % 5} {k % 11 + 3}:1\n" for k in range(200))
OWN_RULE = (Path(__file__).parents[2] / "examples" / "my_rule.py").read_text()
HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)  # by default, in a process

RETIRED: deque[int] = deque()

Done = subprocess.CompletedProcess[str]


def noregret(*words: str, cwd: Path, stdin: str | bytes | None = None, **environment: str) -> Done:
    """Run `noregret WORDS` in a folder, by calling `main` in this process."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with standard_streams(given, out.fileno(), err.fileno()), surroundings(cwd, environment):
            code = main(words)
        texts = [file.read().decode("utf-8", "replace") for file in (out, err) if file.seek(0) == 0]
    return Done(["noregret", *words], code, *texts)


def noregret_process(*words: str, cwd: Path, stdin: str | bytes | None = None, **environment: str) -> Done:
    """Run `noregret WORDS` in a folder, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "noregret", *words],
        cwd=cwd,
        env={**os.environ, **environment},
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=120,
    )
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return Done(done.args, done.returncode, out, err)


@contextlib.contextmanager
def standard_streams(given: bytes | None, out: int, err: int) -> Iterator[None]:
    """Standard input is a pipe, or empty; standard output and standard error go to these files."""
    before = sys.stdin, sys.stdout, sys.stderr
    if given is None:
        reading = os.open(os.devnull, os.O_RDONLY)
    else:
        reading, writing = os.pipe()
        threading.Thread(target=feed, args=(writing, given), daemon=True).start()
    sys.stdin = os.fdopen(reading, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(os.dup(file), "w", encoding="utf-8") for file in (out, err))
    try:
        yield
    finally:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            stream.close()
        sys.stdin, sys.stdout, sys.stderr = before
        retire(reading)


def retire(reading: int) -> None:
    """Leave nothing to read at this number; close it only later, since a thread that reads ahead may still use it."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, reading)
    os.close(nothing)
    RETIRED.append(reading)
    if len(RETIRED) > 50:
        os.close(RETIRED.popleft())


def feed(writing: int, given: bytes) -> None:
    """Write to a pipe that the reader may close at any time."""
    with contextlib.suppress(BrokenPipeError), open(writing, "wb") as pipe:
        pipe.write(given)


@contextlib.contextmanager
def surroundings(cwd: Path, environment: dict[str, str]) -> Iterator[None]:
    """What a fresh process would start with; whatever the command changes is put back."""
    folder, variables = Path.cwd(), dict(os.environ)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    learners()  # so that the built-in ones are registered before
    registered, modules = dict(REGISTRY), set(sys.modules)
    os.chdir(cwd)
    os.environ.update(environment)
    try:
        with warnings.catch_warnings():
            warnings.resetwarnings()
            for kind in HIDDEN:
                warnings.simplefilter("ignore", kind)
            yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        REGISTRY.clear()
        REGISTRY.update(registered)
        for path in learner_names._imported:
            if path.stem not in modules:
                sys.modules.pop(path.stem, None)
        learner_names._imported.clear()


def refused(done: Done, *parts: str) -> None:
    """Exit code 2, and one or two lines on standard error that say these things and show no traceback."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    lines = [line for line in done.stderr.splitlines() if line.startswith("noregret: ")]
    assert lines, done.stderr
    complaint = done.stderr[done.stderr.index(lines[0]) :]
    assert complaint.count("\n") <= 2, done.stderr
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    for part in parts:
        assert part in complaint, (part, done.stderr)


def succeeded(done: Done) -> Done:
    """The same, when the exit code is 0."""
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done
