"""Rows that come in lists: a batch never ends inside one, whatever the blocks in which they were read."""

import contextlib
from collections.abc import Generator
from typing import Any

import numpy as np

from noregret.data.batch import Batch, Position
from noregret.data.query_groups import LONGEST, group_offsets
from noregret.errors import BadValue
from noregret.streams.libsvm_text import NO_QUERY
from noregret.streams.shuffling import joined, taken
from noregret.streams.source import Source, number_in

HINT = "libsvm text says it as qid:3 after the label, a table in a column named by --query"


class Whole:
    """The batches of a source, cut anew: the rows of a list that may go on are held back until the next batch.

    Where rows that cannot be used are skipped, so is a list of which one row is left.
    """

    def __init__(self, source: Source, lenient: bool) -> None:
        self.source, self.lenient, self.alone = source, lenient, 0

    def batches(self, begin: Position | None) -> Generator[Batch, None, None]:
        """Every batch with its place: the last one the source told, and the rows after it. `begin` is such a place."""
        origin, since = None if begin is None else begin.get("at"), 0
        self.source.start, past = origin, number_in(begin, "past")
        held: Batch | None = None
        with contextlib.closing(iter(self.source)) as batches:  # type: ignore[type-var]
            for batch in batches:
                rows, leave = batch.rows, min(past, batch.rows)
                past -= leave
                if leave < rows:
                    self.must_tell(batch)
                    before = 0 if held is None else held.rows
                    pool = batch.cut(leave, rows) if held is None else joined(held, batch.cut(leave, rows))
                    end = int(group_offsets(pool.query)[-2])
                    if pool.rows - end > LONGEST:
                        line = self.line(pool, end)
                        raise BadValue(f"{line}the list that begins here has more than {LONGEST:,} rows")
                    if end:
                        position = {"at": origin, "past": since + leave + end - before}
                        yield self.usable(pool.cut(0, end))._replace(position=position, progress=batch.progress)
                    held = pool.cut(end, pool.rows)
                origin, since = (origin, since + rows) if batch.position is None else (dict(batch.position), 0)
        if held is not None:
            yield self.usable(held)._replace(position={"at": origin, "past": since})

    def must_tell(self, batch: Batch) -> None:
        if batch.query is None:
            raise BadValue(f"{self.source.where}: no query says which list a row belongs to; {HINT}")
        lacking = np.flatnonzero(batch.query == NO_QUERY)
        if lacking.size and batch.query.dtype.kind == "i":
            raise BadValue(f"{self.line(batch, int(lacking[0]))}the row has no query; every row needs one")

    def line(self, batch: Batch, row: int) -> str:
        return f"{self.source.where}: " if batch.lines is None else f"{self.source.where}:{int(batch.lines[row])}: "

    def usable(self, batch: Batch) -> Batch:
        if not self.lenient:
            return batch
        lengths = np.diff(group_offsets(batch.query))
        keep = np.repeat(lengths > 1, lengths)
        self.alone += int(np.count_nonzero(~keep))
        return batch if keep.all() else taken(batch, np.flatnonzero(keep))


def within(batch: Batch, start: int, stop: int) -> tuple[int, int]:
    """The lists that lie wholly between two rows of a batch, as rows."""
    ends: Any = group_offsets(batch.query)
    first, last = ends[np.searchsorted(ends, start)], ends[np.searchsorted(ends, stop, "right") - 1]
    return int(first), max(int(first), int(last))
