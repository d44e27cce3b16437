"""Rows held out of a stream, to be predicted when all others are learned: the last ones, or a random share."""

import math
from collections import deque
from collections.abc import Generator, Iterable

import numpy as np

from noregret.data.batch import Batch
from noregret.data.query_groups import group_offsets
from noregret.errors import BadValue, shown
from noregret.streams.shuffling import take_rows


def check_holdout(size: object, seed: object) -> None:
    """Refuse what is neither a share below 1 nor a number of rows."""
    share = type(size) is float and 0.0 < size < 1.0
    if not share and not (type(size) is int and size >= 0):
        raise BadValue(f"holdout must be a share between 0 and 1, or a number of rows, not {shown(size)}")
    if seed is not None and (type(seed) is not int or seed < 0):
        raise BadValue(f"holdout_seed must be a whole number that is not negative, not {shown(seed)}")
    if seed is not None and not share:
        raise BadValue("holdout_seed chooses a random share of the rows; give holdout as a share, as in 0.2")


class Holdout:
    """Splits the rows of a pass: most are yielded, the others are collected in `batches`.

    The last rows are known only at the end, so as many rows as may be held out are kept back while reading. The rows of
    a query are held out together.
    """

    def __init__(self, size: float, seed: int | None, lists: bool) -> None:
        self.size, self.seed, self.lists = size, seed, lists
        self.batches: list[Batch] = []

    def split(self, batches: Iterable[Batch], read: int) -> Generator[Batch, None, None]:
        """Yield the rows to be learned; `read` is how many rows of the pass were read before these."""
        self.batches = []
        yield from self.split_last(batches, read) if self.seed is None else self.split_random(batches, read)

    def count(self, read: int) -> int:
        """How many of so many rows are held out."""
        return math.ceil(self.size * read) if self.size < 1.0 else int(self.size)

    def split_last(self, batches: Iterable[Batch], read: int) -> Generator[Batch, None, None]:
        waiting: deque[Batch] = deque()
        rows = 0
        for batch in batches:
            waiting.append(batch)
            rows, read = rows + batch.rows, read + batch.rows
            while waiting and rows - waiting[0].rows >= self.count(read):
                rows -= waiting[0].rows
                yield waiting.popleft()
        free = rows - self.count(read)
        if waiting and free > 0:
            first = waiting.popleft()
            cut = self.find_cut(first, min(free, first.rows))
            if cut:
                yield first.cut(0, cut)
            if cut < first.rows:
                waiting.appendleft(first.cut(cut, first.rows))
        self.batches = list(waiting)

    def find_cut(self, batch: Batch, row: int) -> int:
        """The row, or the start of its query, where queries stay whole."""
        if not self.lists:
            return row
        starts = group_offsets(batch.query)
        return int(starts[np.searchsorted(starts, row, "right") - 1])

    def split_random(self, batches: Iterable[Batch], read: int) -> Generator[Batch, None, None]:
        draws = np.random.PCG64(self.seed)
        draws.advance(read)
        random = np.random.Generator(draws)
        for batch in batches:
            drawn = random.random(batch.rows)
            if self.lists:
                starts = group_offsets(batch.query)
                drawn = np.repeat(drawn[starts[:-1]], np.diff(starts))
            kept = np.flatnonzero(drawn >= self.size)
            if len(kept) < batch.rows:
                self.batches.append(take_rows(batch, np.flatnonzero(drawn < self.size)))
            if len(kept):
                yield take_rows(batch, kept)._replace(position=batch.position)
