"""Batches that end only where a query ends, for ranking: the rows of a query stay together."""

import contextlib
from collections.abc import Generator

import numpy as np

from noregret.data.batch import Batch, Position
from noregret.data.query_groups import LONGEST, group_offsets
from noregret.errors import BadValue
from noregret.streams.libsvm_text import NO_QUERY
from noregret.streams.shuffling import concatenate_batches, take_rows
from noregret.streams.source import Source, read_position

HINT = "libsvm text gives it as qid:3 after the label, a table in a column named by --query"


class GroupedBatches:
    """The batches of a source, cut anew: rows of a query that may continue are held back until the next batch.

    Where rows that cannot be used are skipped, a query with a single row left is skipped, too.
    """

    def __init__(self, source: Source, lenient: bool) -> None:
        self.source, self.lenient, self.single_rows = source, lenient, 0

    def batches(self, begin: Position | None) -> Generator[Batch, None, None]:
        """Yield the batches, each with its position: the last one of the source, and the number of rows since.

        `begin` is such a position.
        """
        origin, since = None if begin is None else begin.get("at"), 0
        self.source.start, past = origin, read_position(begin, "past")
        pending: Batch | None = None
        with contextlib.closing(iter(self.source)) as batches:  # type: ignore[type-var]
            for batch in batches:
                rows, skip = batch.rows, min(past, batch.rows)
                past -= skip
                if skip < rows:
                    self.check_queries(batch)
                    before = 0 if pending is None else pending.rows
                    new = batch.cut(skip, rows)
                    pool = new if pending is None else concatenate_batches(pending, new)
                    end = int(group_offsets(pool.query)[-2])
                    if pool.rows - end > LONGEST:
                        location = self.location(pool, end)
                        raise BadValue(f"{location}the list that begins here has more than {LONGEST:,} rows")
                    if end:
                        position = {"at": origin, "past": since + skip + end - before}
                        complete = self.drop_single_rows(pool.cut(0, end))
                        yield complete._replace(position=position, progress=batch.progress)
                    pending = pool.cut(end, pool.rows)
                origin, since = (origin, since + rows) if batch.position is None else (dict(batch.position), 0)
        if pending is not None:
            yield self.drop_single_rows(pending)._replace(position={"at": origin, "past": since})

    def check_queries(self, batch: Batch) -> None:
        """Refuse rows without a query."""
        if batch.query is None:
            raise BadValue(f"{self.source.where}: no query says which list a row belongs to; {HINT}")
        lacking = np.flatnonzero(batch.query == NO_QUERY)
        if lacking.size and batch.query.dtype.kind == "i":
            raise BadValue(f"{self.location(batch, int(lacking[0]))}the row has no query; every row needs one")

    def location(self, batch: Batch, row: int) -> str:
        """Return file and line of a row, to begin an error message with."""
        return f"{self.source.where}: " if batch.lines is None else f"{self.source.where}:{int(batch.lines[row])}: "

    def drop_single_rows(self, batch: Batch) -> Batch:
        """Leave out queries with a single row, if rows may be skipped."""
        if not self.lenient:
            return batch
        lengths = np.diff(group_offsets(batch.query))
        keep = np.repeat(lengths > 1, lengths)
        self.single_rows += int(np.count_nonzero(~keep))
        return batch if keep.all() else take_rows(batch, np.flatnonzero(keep))


def whole_groups(batch: Batch, start: int, stop: int) -> tuple[int, int]:
    """Return the first and last row of the queries that lie wholly between two rows of a batch."""
    ends = group_offsets(batch.query)
    first, last = ends[np.searchsorted(ends, start)], ends[np.searchsorted(ends, stop, "right") - 1]
    return int(first), max(int(first), int(last))
