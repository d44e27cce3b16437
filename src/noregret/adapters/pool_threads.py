"""The threads that the entries of a pool play in: compiled rounds of several entries run at the same time."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Self, TypeVar

Result = TypeVar("Result")
Item = TypeVar("Item")


class Workers:
    """So many threads, of which the caller is one; with fewer than two, it does everything by itself."""

    def __init__(self, threads: int) -> None:
        self.others = threads - 1
        self.pool = ThreadPoolExecutor(self.others) if self.others else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.pool is not None:
            self.pool.shutdown(wait=True)

    def map(self, act: Callable[[Item], Result], items: Sequence[Item], seconds: dict[Item, float]) -> list[Result]:
        """The results of an act for some items. Where one fails, or the caller is interrupted, no other goes on.

        `seconds` keeps how long each took: those that took longest come first, so that all threads end together.
        """
        if self.pool is None or len(items) < 2:
            return [act(item) for item in items]
        todo = deque(sorted(items, key=lambda item: -seconds.get(item, 0.0)))
        found: dict[Item, Result] = {}

        def work() -> None:
            while todo:
                try:
                    item = todo.popleft()
                except IndexError:  # another thread has taken the last one
                    return
                began = time.thread_time()
                found[item] = act(item)
                seconds[item] = time.thread_time() - began

        futures = [self.pool.submit(work) for _ in range(self.others)]
        try:
            work()
            finish(futures)
        except BaseException:
            todo.clear()
            wait(futures)
            raise
        return [found[item] for item in items]

    def start(self, act: Callable[[], Result]) -> Callable[[], Result]:
        """Start an act beside what the caller does next; returns how to wait for its result."""
        if self.pool is None:
            result = act()
            return lambda: result
        future = self.pool.submit(act)
        return lambda: finish([future])[0]


def finish(futures: Sequence[Future[Any]]) -> list[Any]:
    """Wait for results; where one fails, or the caller is interrupted, none goes on."""
    try:
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        wait(futures)
        raise
