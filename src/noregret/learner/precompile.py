"""Warming: compile loops ahead of time, in parallel processes that share the cache folder."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noregret.errors import Error
from noregret.jit.layout import cache_folder
from noregret.learner.factory import learners, make
from noregret.rules.card import built_in
from noregret.tasks import TASKS

if TYPE_CHECKING:
    from noregret.learner.config import Config

USUAL = ("binary", "multiclass")
Tell = Callable[[int, int], None]


class Job(NamedTuple):
    """A loop to compile: a learner, what is told to make it, and the kind of rows it is given."""

    name: str
    told: Mapping[str, Any]

    @property
    def key(self) -> str:
        return json.dumps([self.name, dict(sorted(self.told.items()))], sort_keys=True)

    @property
    def marker(self) -> Path:
        """A file in the cache folder that says: this loop, of these texts, under these versions, is there."""
        return cache_folder() / f"warm-{hashlib.sha256((texts() + self.key).encode()).hexdigest()[:16]}"


def warm(
    names: Sequence[str] | None = None,
    tasks: Sequence[str] = USUAL,
    algebras: Sequence[str] = ("sparse",),
    processes: int | None = None,
    tell: Tell | None = None,
) -> int:
    """Compile the loops of these learners (all by default) and keep them on disk; returns how many there are."""
    cards = learners()
    chosen = [cards[name] for name in names] if names is not None else [card for card in cards if built_in(card.rule)]
    needed = {task: {"classes": [0, 1]} if TASKS[task].needs_classes else {} for task in tasks}
    jobs = [
        job_of(make(card, task=task, **needed[task]).config, task, algebra)
        for card in chosen
        for task in tasks
        for algebra in algebras
        if task in card.tasks and algebra in card.algebras
    ]
    finish(missing(jobs), processes, tell)
    return len(jobs)


def job_of(config: "Config", task: str, algebra: str) -> Job:
    """The loop of a learner in a task and an algebra: its options are bound in, its numbers are not."""
    bound = {name: config.given[name] for name in ("covariance", "kernel") if name in config.given}
    if config.task.name == task and config.task.cost is None:
        usual = config.task.options
        bound |= {name: value for name, value in config.task.chosen.items() if value != usual[name].default}
    if TASKS[task].needs_classes or "labels" in bound:
        bound["classes"] = [0.0, 1.0]
    return Job(config.card.name, {**dict(config.choices), **bound, "task": task, "algebra": algebra})


def missing(jobs: Sequence[Job]) -> list[Job]:
    """The loops that are not known to be in the cache folder."""
    return [job for job in {job.key: job for job in jobs}.values() if not os.path.exists(job.marker)]


def finish(jobs: Sequence[Job], processes: int | None = None, tell: Tell | None = None) -> None:
    """Compile loops, dealt out to processes in turn; `tell` hears how many are ready, of how many."""
    if not jobs:
        return
    workers = max(1, min(processes or os.cpu_count() or 1, len(jobs)))
    ready, lock, complaints = 0, threading.Lock(), []

    def follow(process: "subprocess.Popen[str]", part: Sequence[Job]) -> None:
        nonlocal ready
        with process as running:
            for number, _ in enumerate(running.stdout or ()):
                with lock, contextlib.suppress(OSError, IndexError):
                    ready += 1
                    part[number].marker.touch()
                    if tell is not None:
                        tell(ready, len(jobs))
        if process.returncode:
            complaints.append(process.returncode)

    running, following = [], []
    try:
        for number in range(workers):
            part = jobs[number::workers]
            running.append(start(part))
            following.append(threading.Thread(target=follow, args=(running[-1], part)))
            following[-1].start()
        for thread in following:
            thread.join()
    finally:
        for process in running:
            process.kill()
    if complaints:
        raise Error(f"warming failed: a compiling process ended with {complaints[0]}; run `noregret warm` to see why")


def start(jobs: Sequence[Job]) -> "subprocess.Popen[str]":
    told = json.dumps([[job.name, dict(job.told)] for job in jobs])
    command = [
        sys.executable,
        "-P",
        "-m",
        "noregret.learner.precompile",
        told,
    ]  # -P: nothing beside the data is imported
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


@cache
def texts() -> str:
    """A digest of all that loops are made from."""
    digest = hashlib.sha256(repr((sys.version, version("numba"), version("numpy"))).encode())
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def compile_here(jobs: Sequence[Job]) -> None:
    """Compile by use: every job learns three rounds and predicts one; a line on standard output says it is ready."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    for name, told in jobs:
        learner = make(name, **told)
        task = learner.config.task
        learner.learn(
            X, np.array([0.0, 1.0, 1.0]) if task.needs_labels else None, query=np.zeros(3) if task.needs_query else None
        )
        if task.needs_labels and not task.needs_query:
            learner.learn_one({0: 1.0}, 1.0)
        learner.predict_one({0: 1.0})
        sys.stdout.write("ready\n")
        sys.stdout.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        compile_here([Job(*one) for one in json.loads(sys.argv[1])])
