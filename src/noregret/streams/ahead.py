"""Reading ahead: a second thread makes the next batches while the caller works on this one."""

import queue
import threading
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")
DEPTH = 2  # how many items may wait
PATIENCE = 0.5  # seconds; how long a thread that may be waiting for a pipe is waited for


def ahead(items: Generator[Item, None, None]) -> Iterator[Item]:
    """The same items in the same order, and the same error; the thread ends when the caller does."""
    waiting: queue.Queue[tuple[str, Any]] = queue.Queue(DEPTH)
    stop = threading.Event()
    thread = threading.Thread(target=produce, args=(items, waiting, stop), name="reading ahead", daemon=True)
    thread.start()
    try:
        while True:
            kind, item = patiently(waiting)
            if kind == "end":
                return
            if kind == "error":
                raise item
            yield item
    finally:
        stop.set()
        thread.join(PATIENCE)


def produce(items: Generator[Any, None, None], waiting: "queue.Queue[tuple[str, Any]]", stop: threading.Event) -> None:
    try:
        for item in items:
            if not handed_over(waiting, ("item", item), stop):
                items.close()
                return
        handed_over(waiting, ("end", None), stop)
    except BaseException as error:
        handed_over(waiting, ("error", error), stop)


def handed_over(waiting: "queue.Queue[tuple[str, Any]]", item: tuple[str, Any], stop: threading.Event) -> bool:
    """Whether there was room before the caller wanted no more."""
    while not stop.is_set():
        try:
            waiting.put(item, timeout=0.1)
            return True
        except queue.Full:
            continue
    return False


def patiently(waiting: "queue.Queue[tuple[str, Any]]") -> tuple[str, Any]:
    """The next item. A wait without an end could not be interrupted from the keyboard on every system."""
    while True:
        try:
            return waiting.get(timeout=1.0)
        except queue.Empty:
            continue
