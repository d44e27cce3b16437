"""Attacks in processes of their own, with a limit of memory and of time: a crash is counted and named."""

import importlib
import os
import resource
import signal
import subprocess
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

MEMORY = 6 << 30  # bytes of address space
SECONDS = 60.0  # of computing for one input, with what it compiles
WAITING = 10.0  # times as long, for one that waits, as on a busy machine
CHUNK = 250  # inputs to a process


@dataclass
class Report:
    """How many inputs had which outcome, and what went wrong."""

    name: str
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(self.outcomes.items()))
        return f"{self.name}: {sum(self.outcomes.values())} inputs, {counts}"


def run_attack(name: str, attack: str, inputs: int, first: int = 0) -> Report:
    """Try inputs one after another; after a crash, go on behind the input that caused it."""
    report = Report(name)
    at, end = first, first + inputs
    while at < end:
        stop = min(at + CHUNK, end)
        for number, outcome in try_inputs(attack, at, stop):
            at = number + 1
            kind, _, what = outcome.partition(" ")
            report.outcomes[kind] += 1
            if what:
                report.failures.append(what)
                print(f"  {what}", flush=True)
    return report


def try_inputs(attack: str, first: int, stop: int) -> Iterator[tuple[int, str]]:
    """The number and the outcome of every input that one process got to."""
    command = [sys.executable, "-m", "tests.attacks.workers", attack, str(first), str(stop)]
    at = first
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield at, line.rstrip("\n")
            at += 1
    if at < stop:
        code = process.returncode
        end = f"hangs or was killed by {signal.Signals(-code).name}" if code < 0 else f"ends the process with {code}"
        yield at, f"crashed {attack} {at} {end}"


def find(attack: str) -> Callable[[int], str]:
    """An attack by module and function: it returns a word for the outcome, or raises."""
    module, _, name = attack.partition(":")
    found: Callable[[int], str] = getattr(importlib.import_module(f"tests.attacks.{module}"), name)
    return found


def limit_time(seconds: float) -> None:
    """End this process after so many seconds of computing, or after many more of waiting; 0 takes the limit away."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING * seconds)


def work(attack: Callable[[int], str], first: int, stop: int) -> None:
    """Print the outcome of every input on a line; a timer that Python does not see ends a hang."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    for number in range(first, stop):
        limit_time(SECONDS)
        try:
            out.write(f"{attack(number)}\n")
        except AssertionError as error:
            out.write(f"failed {' '.join(str(error).split())[:500]}\n")
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {error} at {last.filename}:{last.lineno}"
            out.write(f"failed input {number}: {' '.join(what.split())[:500]}\n")
        limit_time(0.0)


if __name__ == "__main__":
    work(find(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
