"""Ctrl-C: noticed even where some library swallows the exception it raises."""

import contextlib
import signal
import threading
from collections.abc import Iterator

_pressed = threading.Event()


def raise_interrupt(*_: object) -> None:
    _pressed.set()
    raise KeyboardInterrupt


def handle_interrupts() -> None:
    """Remember every Ctrl-C from now on; only the main thread can set a signal handler."""
    _pressed.clear()
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, raise_interrupt)


def check_interrupt() -> None:
    """Stop here if Ctrl-C was pressed and its exception got lost on the way."""
    if _pressed.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C for a while, as when a model is saved."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)
