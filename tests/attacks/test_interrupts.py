"""An interrupt at any point leaves a learner as it was before the call, or as it is after it."""

import os
import random
import signal
import threading
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.attacks import cut_calls
from tests.attacks.cut_off import (
    COUNTS,
    NETWORKS,
    NEW,
    ROWS,
    UNLABELLED,
    Y,
    acts,
    acts_without_labels,
    cut_at_lines,
    cut_by_timer,
    is_sound,
    learned,
    maker,
    outcome,
)
from tests.support.cover import ALL

KINDS: dict[str, dict[str, Any]] = {
    "arow": {},
    "pa1": {"average": True},
    "ofs": {},
    "perceptron_pocket": {"reservoir": 5},
    "arow scaled": {"scale": True, "bias": True},
    "eg": {},
    "pa1 kernel": {"algebra": "kernel"},
    "arow full": {"covariance": "full"},
    "perceptron hashed": {"bits": 8},
    "pa1 pairs": {"steps": nr.pairs()},
    **NETWORKS,
}
COMPILED = ("arow",)  # their loops are compiled anyway
STEP = 31 if ALL else 977


def rule_maker(kind: str) -> Callable[[], Any]:
    native = kind in COMPILED
    return lambda: learned(kind.split()[0], native=native, **KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("act", acts())
@pytest.mark.thinned(6)
def test_cut_off_at_a_line_it_is_as_before_or_as_after(kind: str, act: str) -> None:
    make, does = rule_maker(kind), acts()[act]
    allowed = outcome(make, does)
    first = 1 + random.Random(f"{kind} {act}").randrange(60)
    for learner in cut_at_lines(make, does, first, STEP):
        assert is_sound(learner, allowed)


@pytest.mark.parametrize("kind", UNLABELLED)
@pytest.mark.parametrize("act", acts_without_labels(ROWS))
@pytest.mark.thinned(6)
def test_cut_off_without_labels_it_is_as_before_or_as_after(kind: str, act: str) -> None:
    make, rows = maker(kind)
    does, rng = acts_without_labels(rows)[act], random.Random(f"{kind} {act}")
    allowed = outcome(make, does)
    for twice in (0, 1 + rng.randrange(25)):
        for learner in cut_at_lines(make, does, 1 + rng.randrange(60), STEP, twice=twice):
            assert is_sound(learner, allowed, rows)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", ["arow", "ofs", "arow scaled"])
@pytest.mark.parametrize("act", ["learn_one new names", "learn", "learn new class", "refused", "scores"])
def test_cut_off_again_while_it_is_undone_it_is_as_before_or_as_after(kind: str, act: str) -> None:
    make, does = rule_maker(kind), acts()[act]
    allowed = outcome(make, does)
    rng = random.Random(f"{kind} {act}")
    for learner in cut_at_lines(make, does, 1 + rng.randrange(60), STEP // 4, twice=1 + rng.randrange(25)):
        assert is_sound(learner, allowed)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
@pytest.mark.parametrize("act", ["learn_one new names", "learn", "play", "refused"])
def test_a_timer_may_fire_at_any_moment(act: str) -> None:
    make, does, rng = rule_maker("arow"), acts()[act], random.Random(act)
    allowed = outcome(make, does)
    for _ in range(500 if ALL else 12):
        learner = make()
        cut_by_timer(learner, does, rng.uniform(5e-6, 4e-4))
        assert is_sound(learner, allowed)


@pytest.mark.thinned(2)
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
@pytest.mark.parametrize("kind", cut_calls.KINDS)
def test_a_timer_may_fire_at_any_moment_of_a_learner_without_labels_or_a_network(kind: str) -> None:
    first = cut_calls.KINDS.index(kind)
    for number in range(first, (100 if ALL else 3) * len(cut_calls.KINDS), len(cut_calls.KINDS)):
        assert cut_calls.stop(number) == "cut"


def test_dicts_that_another_thread_changes_are_learned_or_refused() -> None:
    changing, stopped = [dict(row) for row in COUNTS], threading.Event()

    def change() -> None:
        rng = random.Random(1)
        while not stopped.is_set():
            row = rng.choice(changing)
            row.pop(rng.choice("abcdefg"), None)
            row[rng.choice("abcdefg")] = float(rng.randrange(1, 4))

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for kind in cut_calls.KINDS:
            make, rows = maker(kind)
            learner = make()
            for _ in range(50 if ALL else 3):
                before = bytes(pack(learner))
                try:
                    learner.learn(changing, Y)
                except (nr.Error, RuntimeError):  # of Python: the dict changed size while it was iterated over
                    assert bytes(pack(learner)) == before
            assert is_sound(learner, (bytes(pack(learner)),), rows)
    finally:
        stopped.set()
        thread.join()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file that nobody could close
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_an_interrupted_save_leaves_the_old_file_or_the_new_one_and_nothing_else(tmp_path: Path) -> None:
    path, rng = tmp_path / "m.nr", random.Random(3)
    old, new = learned("arow"), learned("arow").learn([NEW], [1])
    for _ in range(400 if ALL else 15):
        old.save(path)
        cut_by_timer(new, lambda m: m.save(path), rng.uniform(5e-6, 1e-3))
        assert path.read_bytes() in (pack(old), pack(new))
        assert os.listdir(tmp_path) == ["m.nr"]


@pytest.mark.parametrize("name", ["arow", "svd", "mlp"])
def test_a_learner_that_another_thread_was_using_works_in_the_child_of_a_fork(name: str) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    learner, holds, release = learned(name), threading.Event(), threading.Event()

    class Slow:
        def __float__(self) -> float:
            holds.set()
            release.wait(20)
            return 1.0

    expected = bytes(pack(learner))
    thread = threading.Thread(target=lambda: learner.learn([{"z": Slow()}], [1]))
    thread.start()
    holds.wait(20)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        same = bytes(pack(learner)) == expected
        learner.learn(ROWS, Y)
        os._exit(7 if same else 8)
    release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_hashed_name_is_recorded_whole_or_not_at_all() -> None:
    class Cut(array):  # type: ignore[type-arg]
        def append(self, cell: int) -> None:
            raise KeyboardInterrupt

    learner, expected = (learned("perceptron", native=False, bits=8) for _ in range(2))
    names = learner.model.names
    names.log = Cut("i", names.log)
    with pytest.raises(KeyboardInterrupt):
        learner.learn([NEW], [1])
    names.log = array("i", names.log)
    for one in (learner, expected):
        one.learn([NEW], [1])
    assert pack(learner) == pack(expected)
