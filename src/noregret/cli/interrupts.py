"""Ctrl-C, and the signals that ask a process to end: noticed even where a library swallows the exception they raise."""

import contextlib
import signal
from collections.abc import Iterator

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_received: list[int] = []
_deferring: list[bool] = []


def raise_interrupt(number: int, _: object) -> None:
    _received.append(number)
    if not _deferring:
        raise KeyboardInterrupt


@contextlib.contextmanager
def defer_interrupts() -> Iterator[None]:
    """Let what is short come to its end: a signal that comes meanwhile stops the command after it."""
    _deferring.append(True)
    try:
        yield
    finally:
        _deferring.pop()
    check_interrupt()


def handle_interrupts() -> None:
    """Remember every signal from now on; only the main thread can set a handler. What nohup ignores stays ignored."""
    _received.clear()
    with contextlib.suppress(ValueError):
        for number in SIGNALS:
            if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, raise_interrupt)


def check_interrupt() -> None:
    """Stop here if a signal came and its exception got lost on the way."""
    if _received:
        raise KeyboardInterrupt


def exit_code() -> int:
    """The exit code of a command that a signal ended: 128 and the number of the first one, as shells have it."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def was_interrupted() -> bool:
    return bool(_received)


@contextlib.contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore the signals for a while, as when a model is saved."""
    try:
        before = [(number, signal.signal(number, signal.SIG_IGN)) for number in SIGNALS]
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler or signal.SIG_DFL)
