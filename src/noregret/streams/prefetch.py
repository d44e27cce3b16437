"""Prefetching: other threads prepare the next batches while the caller works on the current one."""

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Worker = TypeVar("Worker")

Message = tuple[str, Any]  # "item", "error" or "end", and what belongs to it
DEPTH = 2  # items that may wait in the queue
JOIN_TIMEOUT = 0.5  # seconds to wait for a thread that may itself be waiting for a pipe
THREAD_NAME = "noregret prefetch"


def prefetch(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
    """Yield the same items, or raise the same error, from another thread; the thread ends with the caller."""
    waiting: queue.Queue[Message] = queue.Queue(DEPTH)
    stop = threading.Event()
    thread = threading.Thread(target=produce, args=(items, waiting, stop), name=THREAD_NAME, daemon=True)
    thread.start()
    try:
        while True:
            kind, item = get_item(waiting)
            if kind == "end":
                return
            if kind == "error":
                raise item
            yield item
    finally:
        stop.set()
        thread.join(JOIN_TIMEOUT)


def produce(items: Generator[Any, None, None], waiting: "queue.Queue[Message]", stop: threading.Event) -> None:
    """Put all items into the queue, then the end or the error."""
    try:
        for item in items:
            if not put_item(waiting, ("item", item), stop):
                items.close()
                return
        put_item(waiting, ("end", None), stop)
    except BaseException as error:
        put_item(waiting, ("error", error), stop)


def put_item(waiting: "queue.Queue[Message]", item: Message, stop: threading.Event) -> bool:
    """Put an item into the queue; return False if the caller stopped before there was room."""
    while not stop.is_set():
        try:
            waiting.put(item, timeout=0.1)
            return True
        except queue.Full:
            continue
    return False


def get_item(waiting: "queue.Queue[Message]") -> Message:
    """Wait for the next item, with a timeout: on some systems an endless wait cannot be interrupted by Ctrl-C."""
    while True:
        try:
            return waiting.get(timeout=1.0)
        except queue.Empty:
            continue


def map_in_order(
    workers: Sequence[Worker],
    take: Callable[[Worker], Any],
    work: Callable[[Worker, Any], Item],
    close: Callable[[], None],
) -> Generator[Item, None, None]:
    """Run tasks on several workers, one thread each, and yield the results in the order of the tasks.

    `take` returns the next task, or None at the end; one worker takes at a time, `work` runs in parallel. At most one
    task more than there are workers is running, or finished and not yet yielded.
    """
    waiting: queue.Queue[Message] = queue.Queue()
    tasks = TaskQueue(len(workers) + 1)
    arguments = [(worker, take, work, tasks, waiting) for worker in workers]
    threads = [threading.Thread(target=run_worker, args=each, name=THREAD_NAME, daemon=True) for each in arguments]
    for thread in threads:
        thread.start()
    early: dict[int, Message] = {}
    following = 0
    try:
        while True:
            while following not in early:
                kind, (number, item) = get_item(waiting)
                early[number] = (kind, item)
            kind, item = early.pop(following)
            if kind == "end":
                return
            if kind == "error":
                raise item
            yield item
            del item  # free it while waiting for the next one
            following += 1
            tasks.room.release()
    finally:
        tasks.stop(len(workers))
        for thread in threads:
            thread.join(JOIN_TIMEOUT)
        if not any(thread.is_alive() for thread in threads):
            close()


class TaskQueue:
    """Hands out task numbers to workers, one at a time, while there is room."""

    def __init__(self, room: int) -> None:
        self.room = threading.Semaphore(room)
        self.lock = threading.Lock()
        self.count = 0
        self.over = False

    def stop(self, workers: int) -> None:
        """Let all workers end."""
        self.over = True
        self.room.release(workers)


def run_worker(worker: Any, take: Any, work: Any, tasks: TaskQueue, waiting: "queue.Queue[Message]") -> None:
    """Take tasks and put their results into the queue until there are no more tasks."""
    while True:
        tasks.room.acquire()
        with tasks.lock:
            if tasks.over:
                return
            number = tasks.count
            tasks.count += 1
            try:
                task = take(worker)
                if task is None:  # never reset to False: the caller may have stopped meanwhile
                    tasks.over = True
            except BaseException as error:
                tasks.over = True
                waiting.put(("error", (number, error)))
                return
        try:
            message = ("end", (number, None)) if task is None else ("item", (number, work(worker, task)))
        except BaseException as error:
            message = ("error", (number, error))
        waiting.put(message)
        del task, message
