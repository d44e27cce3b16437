"""Raising an error at every line of some code, as an interrupt or a lack of memory would."""

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeVar

import noregret as nr

Subject = TypeVar("Subject")


class LineTracer:
    """Raises an error at the n-th line of a file that is reached."""

    def __init__(self, file: str, n: int, error: type[BaseException]) -> None:
        self.file, self.n, self.error = file, n, error
        self.lines = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> "LineTracer | None":
        if not frame.f_code.co_filename.endswith(self.file):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.n:
                raise self.error
        return self


def interrupted_at_every_line(
    prepare: Callable[[], tuple[Subject, Callable[[], Any]]], file: str, error: type[BaseException]
) -> Iterator[Subject]:
    """Prepare a subject and an act on it, again and again; the n-th time raise an error at the n-th line of the file.

    Yields every subject after its act was cut short, until an act comes to its end.
    """
    before, n = sys.gettrace(), 0
    while True:
        subject, act = prepare()
        n += 1
        tracer = LineTracer(file, n, error)
        sys.settrace(tracer)
        try:
            act()
        except error:
            pass
        except nr.Error as told:  # a lack of memory may be told in words
            if error is not MemoryError or "memory" not in str(told):
                raise
        finally:
            sys.settrace(before)
        if tracer.lines < n:
            return
        yield subject
