"""Compile loops ahead of time, in parallel processes that share the cache folder."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noregret.errors import Error
from noregret.jit.cache import cache_folder, is_writable
from noregret.jit.objects import find_prebuilt
from noregret.learner.factory import card_of, learners, make
from noregret.learner.kernel_options import BUDGET_OPTIONS
from noregret.learner.variants import Variant, as_variant
from noregret.tasks import TASKS

if TYPE_CHECKING:
    from noregret.learner.config import Config

USUAL = ("binary", "multiclass")  # the tasks of `warm`
Progress = Callable[[int, int], None]  # is told how many loops are ready, of how many


class Job(NamedTuple):
    """A loop to compile: a learner, the options it is made with, and a hash of the loop's code."""

    name: str
    options: Mapping[str, Any]
    code: str

    @property
    def key(self) -> str:
        return json.dumps([self.name, dict(sorted(self.options.items())), self.code], sort_keys=True)

    @property
    def mark(self) -> str:
        """The name of an empty file in the cache folder: this loop was compiled there."""
        return f"warm-{hashlib.sha256(self.key.encode()).hexdigest()[:16]}"

    @property
    def marker(self) -> Path:
        return cache_folder() / self.mark

    @property
    def is_ready(self) -> bool:
        """Whether the loop is known to be in the cache folder, or in the package."""
        prebuilt = find_prebuilt()
        return os.path.exists(self.marker) or (prebuilt is not None and os.path.exists(prebuilt[0] / self.mark))


def warm(
    names: Sequence[str | Variant] | None = None,
    tasks: Sequence[str] = USUAL,
    algebras: Sequence[str] = ("sparse",),
    processes: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Compile the loops of these learners (all by default) and keep them on disk; returns how many there are.

    A name may have options: `pa1@rbf(gamma=0.01, budget=500)` is the loop of the kernel, whatever the algebras are.
    """
    if names is None:
        chosen = [Variant(card) for card in learners() if card.built_in]
    else:
        chosen = [with_algebra(as_variant(name, card_of)) for name in names]
    loops = [
        (str(one.card.name), options)
        for one in chosen
        for task in tasks
        for options in list_options(one, task, algebras)
    ]
    precompile(loops, processes, progress)
    return len(loops)


def with_algebra(variant: Variant) -> Variant:
    """A variant whose card has kernels only, as one that names them."""
    only = tuple(variant.card.algebras) == ("kernel",)
    return Variant(variant.card, {"algebra": "kernel", **variant.options}) if only else variant


def list_options(variant: Variant, task: str, algebras: Sequence[str]) -> list[dict[str, Any]]:
    """The options of `make` for each loop of a variant in a task; none where it does not play the task."""
    card, own = variant.card, variant.options
    if task not in card.tasks or task != own.get("task", task):
        return []
    usual = {"task": task, **({"classes": [0, 1]} if TASKS[task].needs_classes else {})}
    asked = [own["algebra"]] if "algebra" in own else algebras
    return [{**usual, **own, "algebra": algebra} for algebra in asked if algebra in card.algebras]


def precompile(
    loops: Iterable[tuple[str, Mapping[str, Any]]], processes: int | None = None, progress: Progress | None = None
) -> int:
    """Compile the loops of learners, each a name and the options of `make`, unless they are on disk already.

    The options must name an algebra other than "reference". Returns how many loops had to be compiled.
    """
    learners = [make(name, **options) for name, options in loops]
    jobs = find_missing([make_job(learner.config, learner.task, str(learner.algebra)) for learner in learners])
    compile_jobs(jobs, processes, progress)
    return len(jobs)


def make_job(config: "Config", task: str, algebra: str) -> Job:
    """The loop of a learner in a task and an algebra: its options are part of the code, its numbers are not."""
    from noregret.jit.compiled import fingerprint_plan

    names = ("covariance", "kernel", *BUDGET_OPTIONS)
    options = {name: config.given[name] for name in names if name in config.given}
    if config.task.name == task and config.task.cost is None:
        usual, asked = config.task.options, {name.removeprefix("task.") for name in config.given}
        chosen = config.task.chosen.items()  # also what the rule itself decides, which cannot be asked for
        options |= {name: value for name, value in chosen if name in asked and value != usual[name].default}
    if TASKS[task].needs_classes or "labels" in options:
        options["classes"] = [0.0, 1.0]
    options |= {**dict(config.choices), "task": task, "algebra": algebra}
    same = make(config.card, **options).config
    return Job(config.card.name, options, fingerprint_plan(same.plan(same.task, algebra)))


def find_missing(jobs: Sequence[Job]) -> list[Job]:
    """The loops that are not known to be on disk; none where other processes could not leave them there."""
    if not is_writable(cache_folder()):
        return []
    return [job for job in {job.key: job for job in jobs}.values() if not job.is_ready]


def compile_jobs(
    jobs: Sequence[Job], processes: int | None = None, progress: Progress | None = None, single_rows: bool = True
) -> None:
    """Compile loops, dealt out to processes in turn; with `single_rows`, also what learns one row at a time."""
    if not jobs:
        return
    workers = max(1, min(processes or os.cpu_count() or 1, len(jobs)))
    ready, lock, failures = 0, threading.Lock(), []

    def follow(process: "subprocess.Popen[str]", part: Sequence[Job]) -> None:
        nonlocal ready
        with process as running:
            for number, _ in enumerate(running.stdout or ()):
                with lock, contextlib.suppress(OSError, IndexError):
                    ready += 1
                    part[number].marker.touch()
                    if progress is not None:
                        progress(ready, len(jobs))
        if process.returncode:
            failures.append(process.returncode)

    running, following = [], []
    try:
        for number in range(workers):
            part = jobs[number::workers]
            running.append(start(part, single_rows))
            following.append(threading.Thread(target=follow, args=(running[-1], part)))
            following[-1].start()
        for thread in following:
            thread.join()
    finally:
        for process in running:
            process.kill()
    if failures:
        raise Error(f"a process that compiles loops ended with {failures[0]}; run `noregret warm` to see why")


def start(jobs: Sequence[Job], single_rows: bool) -> "subprocess.Popen[str]":
    """A process that compiles loops and prints a line when one is ready; -P: it imports nothing beside the data."""
    text = json.dumps([[job.name, dict(job.options), job.code] for job in jobs])
    command = [sys.executable, "-P", "-m", "noregret.learner.precompile", text, *["single rows"] * single_rows]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def compile_here(jobs: Sequence[Job], single_rows: bool) -> None:
    """Compile by use: every learner learns a few rounds and predicts one; a line on standard output says it is done."""
    from scipy.sparse import csr_array

    dense = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    sparse = csr_array((dense.ravel(), np.tile([0, 99], 3), np.arange(0, 7, 2)), shape=(3, 100))
    for name, options, _ in jobs:
        for X in (dense, sparse) if options["algebra"] == "kernel" else (dense,):  # rows decide how supports are kept
            learner = make(name, **options)
            task = learner.config.task
            y = np.array([0.0, 1.0, 1.0]) if task.needs_labels else None
            learner.learn(X, y, query=np.zeros(3) if task.needs_query else None)
            if single_rows and task.needs_labels and not task.needs_query:
                learner.learn_one({0: 1.0}, 1.0)
            if single_rows:
                learner.predict_one({0: 1.0})
        sys.stdout.write("ready\n")
        sys.stdout.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        compile_here([Job(*one) for one in json.loads(sys.argv[1])], single_rows=len(sys.argv) > 2)
