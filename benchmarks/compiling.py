"""CPU-seconds to the first compiled loop of a learner: a new process, an empty cache, the compiler not yet imported."""

import os
import subprocess
import sys
import tempfile

from benchmarks.measure import Row

TITLE = "Compiling one loop: a new process with an empty cache"
NOTE = "CPU-seconds of the first `learn`, with the import of the compiler; the smallest of five runs."
REPEATS = 5

PROGRAM = """
import time
import numpy, scipy.sparse, noregret
X = scipy.sparse.csr_array(numpy.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]))
learner = noregret.make({name!r}, task={task!r})
before = time.process_time()
learner.learn(X, {labels})
print(time.process_time() - before)
"""
LOOPS = (
    ("arow", "binary", "[1, -1]"),
    ("pa1", "binary", "[1, -1]"),
    ("ogd", "binary", "[1, -1]"),
    ("ftrl", "binary", "[1, -1]"),
    ("pa1", "multiclass", "[1, 2]"),
    ("pa1", "regression", "[1.0, 2.0]"),
    ("pa1", "ranking", "[1.0, 0.0], query=[1, 1]"),
)


def first_loop(name: str, task: str, labels: str) -> float:
    """CPU-seconds of the first `learn` of a process that finds no compiled loop."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(name=name, task=task, labels=labels)],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "NOREGRET_CACHE": cache, "NOREGRET_PREBUILT": "0"},
        )
    return float(done.stdout)


def run() -> list[Row]:
    times: dict[tuple[str, str], list[float]] = {(name, task): [] for name, task, _ in LOOPS}
    for _ in range(REPEATS):
        for name, task, labels in LOOPS:
            times[name, task].append(first_loop(name, task, labels))
    rows = []
    for (name, task), seconds in times.items():
        work = f"{name}, {task}"
        rows.append(Row(work, f"{min(seconds):.2f} s", "", min(seconds), "s", at_most=1.5, seconds={work: seconds}))
    return rows
