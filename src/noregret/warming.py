"""Warming: compile loops ahead of time, in parallel processes that share the cache folder."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from noregret.errors import Error
from noregret.layout import cache_folder
from noregret.making import learners, make

GAMES = ("binary", "multiclass")


def warm(
    names: Sequence[str] | None = None,
    games: Sequence[str] = GAMES,
    algebras: Sequence[str] = ("sparse",),
    processes: int | None = None,
) -> int:
    """Compile the loops of these learners (all by default) and keep them on disk; returns how many there are."""
    cards = learners()
    chosen = (
        [cards[name] for name in names]
        if names is not None
        else [card for card in cards if built_in(card.rule.__module__)]
    )
    jobs = [
        (card.name, game, algebra)
        for card in chosen
        for game in games
        for algebra in algebras
        if game in card.games and algebra in card.algebras
    ]
    done = marker(jobs)
    if done.exists():
        return len(jobs)
    workers = max(1, min(processes or os.cpu_count() or 1, len(jobs)))
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "noregret.warming", json.dumps(jobs[number::workers])],
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(workers)
    ]
    for process in running:
        _, said = process.communicate()
        if process.returncode:
            raise Error(f"warming failed: {said.strip().splitlines()[-1] if said.strip() else process.returncode}")
    with contextlib.suppress(OSError):
        done.touch()
    return len(jobs)


def marker(jobs: Sequence[Sequence[str]]) -> Path:
    """A file in the cache folder that says: these loops, of these texts, under these versions, are all there."""
    digest = hashlib.sha256(repr((jobs, sys.version, version("numba"), version("numpy"))).encode())
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return cache_folder() / f"warm-{digest.hexdigest()[:16]}"


def built_in(module: str) -> bool:
    return module.startswith("noregret.")


def compile_here(jobs: Sequence[Sequence[str]]) -> None:
    """Compile by use: every job learns two rounds and predicts one."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    for name, game, algebra in jobs:
        learner = make(name, game=game, algebra=algebra)
        learner.learn(X, np.array([0.0, 1.0, 1.0]))
        learner.predict_one({0: 1.0})
        learner.learn_one({0: 1.0}, 1.0)


if __name__ == "__main__":
    compile_here(json.loads(sys.argv[1]))
