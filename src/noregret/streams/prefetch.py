"""Reading ahead: other threads make the next batches while the caller works on this one."""

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Worker = TypeVar("Worker")
DEPTH = 2  # how many items may wait
PATIENCE = 0.5  # seconds; how long a thread that may be waiting for a pipe is waited for


def ahead(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
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


def in_order(
    workers: Sequence[Worker],
    take: Callable[[Worker], Any],
    work: Callable[[Worker, Any], Item],
    close: Callable[[], None],
) -> Generator[Item, None, None]:
    """What the workers, each in a thread of its own, make of the tasks, in the order the tasks were taken.

    One takes at a time, until there is no task; what follows the taking goes on side by side. At most one task more
    than there are workers is under way, or done and not yet asked for.
    """
    waiting: queue.Queue[tuple[str, Any]] = queue.Queue()
    line = Line(len(workers) + 1)
    arguments = [(worker, take, work, line, waiting) for worker in workers]
    threads = [threading.Thread(target=labour, args=some, name="reading ahead", daemon=True) for some in arguments]
    for thread in threads:
        thread.start()
    early: dict[int, tuple[str, Any]] = {}
    following = 0
    try:
        while True:
            while following not in early:
                kind, (number, item) = patiently(waiting)
                early[number] = (kind, item)
            kind, item = early.pop(following)
            if kind == "end":
                return
            if kind == "error":
                raise item
            yield item
            del item  # not held while the next one is waited for
            following += 1
            line.room.release()
    finally:
        line.stop(len(workers))
        for thread in threads:
            thread.join(PATIENCE)
        if not any(thread.is_alive() for thread in threads):
            close()


class Line:
    """Where workers wait for their next task."""

    def __init__(self, room: int) -> None:
        self.room = threading.Semaphore(room)
        self.turn = threading.Lock()
        self.taken = 0
        self.over = False

    def stop(self, workers: int) -> None:
        self.over = True
        self.room.release(workers)


def labour(worker: Any, take: Any, work: Any, line: Line, waiting: "queue.Queue[tuple[str, Any]]") -> None:
    while True:
        line.room.acquire()
        with line.turn:
            if line.over:
                return
            number = line.taken
            line.taken += 1
            try:
                task = take(worker)
                if task is None:  # never back to False: whoever reads may want no more by now
                    line.over = True
            except BaseException as error:
                line.over = True
                waiting.put(("error", (number, error)))
                return
        try:
            told = ("end", (number, None)) if task is None else ("item", (number, work(worker, task)))
        except BaseException as error:
            told = ("error", (number, error))
        waiting.put(told)
        del task, told
