"""Properties that are computed once."""

import os
import signal
import threading
from typing import Any

import pytest

import noregret as nr
from noregret.cached_property import cached_property
from noregret.learner.config import Config

ROWS, Y = [{"a": 1.0}, {"b": -1.0}], [1, -1]


def learn() -> Any:
    return nr.make("arow", native=False).learn(ROWS, Y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_property_that_a_thread_computes_does_not_stop_the_child_of_a_fork(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config, computes, release = learn().config, threading.Event(), threading.Event()
    one: Any = vars(Config)["state_shape"]
    compute = one.func

    def slowly(subject: Any) -> Any:
        computes.set()
        release.wait(20)
        return compute(subject)

    monkeypatch.setattr(one, "func", slowly)
    vars(config).pop("state_shape")
    thread = threading.Thread(target=lambda: config.state_shape)
    thread.start()
    assert computes.wait(20)
    monkeypatch.undo()
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        learn()
        os._exit(7)
    release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    learn()


def test_threads_that_compute_a_property_at_once_get_the_same() -> None:
    meet = threading.Barrier(2, timeout=20)

    class Subject:
        @cached_property
        def value(self) -> object:
            """A new object."""
            meet.wait()
            return object()

    subject, found = Subject(), list[object]()
    threads = [threading.Thread(target=lambda: found.append(subject.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    assert found[0] is found[1] is subject.value
    assert Subject.value.__doc__ == "A new object."
