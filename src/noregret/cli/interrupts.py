"""Ctrl-C: heard even where some library swallows the exception it raises."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

_asked = threading.Event()


def hear(*_: Any) -> None:
    _asked.set()
    raise KeyboardInterrupt


def listen() -> None:
    """Note every Ctrl-C from now on; outside the main thread the system lets nobody do that."""
    _asked.clear()
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, hear)


def heed() -> None:
    """Stop here if Ctrl-C was pressed and its exception got lost on the way."""
    if _asked.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def deaf() -> Iterator[None]:
    """Nothing is interrupted here: a model is being saved."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)
