"""Processes that share a cache folder compile each function once; a lock that cannot be had stops nobody."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from noregret.jit import lock, objects
from noregret.learner.precompile import precompile
from tests.support.cover import only_in_test_all
from tests.support.processes import Told, in_a_process

LEARNING = """
import noregret as nr
learner = nr.make("pa1", algebra="sparse").learn(sp.csr_array(X), Y)
learner.learn_one({0: 1.0}, 1)
said = learner.scores(X).tolist()
"""
HOLDING = """
import sys
from noregret.jit.lock import exclusive
with exclusive("loop") as held:
    print(held, flush=True)
    sys.stdin.read()
"""


def hold() -> "subprocess.Popen[str]":
    """A process that has the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


class Shared(NamedTuple):
    """A cache folder that two processes filled at the same time."""

    folder: Path
    one: Told
    other: Told


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    folder = tmp_path_factory.mktemp("shared")
    with ThreadPoolExecutor(2) as pool:
        return Shared(folder, *pool.map(lambda _: in_a_process(LEARNING, cache=folder), range(2)))


@only_in_test_all
@pytest.mark.skipif(not objects.supported(), reason="the compiler keeps its own cache here")
def test_two_processes_at_once_compile_each_function_once_and_compute_the_same(shared: Shared) -> None:
    compiled = [*shared.one.compiled, *shared.other.compiled]
    assert "binary_pa1_sparse_loss" in compiled
    assert len(compiled) == len(set(compiled))
    assert shared.one.said == shared.other.said


def release_later(holder: "subprocess.Popen[str]") -> None:
    time.sleep(0.2)
    holder.communicate()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NOREGRET_CACHE", str(tmp_path))
    return tmp_path


def test_a_lock_is_held_by_one_process_for_each_name(folder: Path) -> None:
    with hold() as holder:
        with lock.exclusive("loop", patience=0.1) as held:
            assert not held
        with lock.exclusive("another loop", patience=0.1) as held:
            assert held
        holder.communicate()
    with lock.exclusive("loop", patience=0.1) as held:
        assert held


def test_a_process_that_is_killed_releases_its_lock(folder: Path) -> None:
    with hold() as holder:
        holder.kill()
    with lock.exclusive("loop", patience=5.0) as held:
        assert held


def test_who_waits_goes_on_when_the_lock_is_released(folder: Path) -> None:
    with ThreadPoolExecutor(1) as pool, hold() as holder:
        began = time.monotonic()
        pool.submit(release_later, holder)
        with lock.exclusive("loop", patience=60.0) as held:
            assert held
        assert 0.1 < time.monotonic() - began < 30.0


def test_a_lock_that_is_never_released_stops_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "PATIENCE", 0.05)
    with hold() as holder:
        with lock.exclusive("loop") as held:
            assert not held
        holder.communicate()


def test_where_nothing_can_be_locked_work_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOREGRET_CACHE", str(tmp_path / "missing"))
    with lock.exclusive("loop") as held:
        assert not held
    monkeypatch.setenv("NOREGRET_CACHE", str(tmp_path))
    monkeypatch.setattr(lock, "LOCK_BYTE", None)
    with lock.exclusive("loop") as held:
        assert not held


def test_an_error_while_the_lock_is_held_releases_it(folder: Path) -> None:
    with pytest.raises(ValueError, match="inside"), lock.exclusive("loop"):
        raise ValueError("inside")
    with hold() as holder:
        holder.communicate()


# ---- ahead of time ------------------------------------------------------------------------------------------------


@only_in_test_all
def test_loops_are_made_ready_ahead_once(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOREGRET_CACHE", str(shared.folder))
    loops: list[tuple[str, dict[str, Any]]] = [
        ("pa1", {"algebra": "sparse"}),
        ("pa1", {"algebra": "sparse", "C": 0.5}),
    ]  # one loop: a number is no code
    ready: list[tuple[int, int]] = []
    assert precompile(loops, processes=2, progress=lambda *counts: ready.append(counts)) == 1
    assert ready == [(1, 1)]
    assert precompile(loops) == 0
    assert in_a_process(LEARNING, cache=shared.folder).log == []
