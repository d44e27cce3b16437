"""Rows that wait for their mini-batch to be full, in a few parts, so that each is copied only a few times."""

from dataclasses import dataclass

from noregret.cached_property import cached_property
from noregret.decomposition.matrix_rows import MatrixRows, empty_rows, take_rows


@dataclass(frozen=True)
class WaitingRows:
    """Parts of rows, the oldest first and larger than those after it; never changed, so that copies share them."""

    parts: tuple[MatrixRows, ...] = ()

    @cached_property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def width(self) -> int:
        """How many features the rows have; what came later has no fewer."""
        return max((part.width for part in self.parts), default=0)

    def add(self, more: MatrixRows) -> "WaitingRows":
        """These and rows after them. Parts of about equal size are joined: a row is copied O(log rows) times."""
        parts = [*self.parts, more] if more.rows else [*self.parts]
        while len(parts) > 1 and parts[-2].rows <= parts[-1].rows:
            join_last(parts)
        return WaitingRows(tuple(parts))

    @cached_property
    def whole(self) -> MatrixRows:
        """All of them together."""
        parts = [*self.parts]
        while len(parts) > 1:
            join_last(parts)
        return parts[0] if parts else empty_rows()

    def between(self, start: int, stop: int) -> MatrixRows:
        """Rows start to stop, without the features after the last that is not 0 in all of them."""
        found, before = empty_rows(), 0
        for part in self.parts:
            first, last = max(start - before, 0), min(stop - before, part.rows)
            if first < last:
                found = found.add(take_rows(part.block, first, last, part.width))
            before += part.rows
        return found.cut(found.last_used + 1)


def join_last(parts: list[MatrixRows]) -> None:
    """Put the last part into the one before it."""
    later = parts.pop()
    parts[-1] = parts[-1].add(later)
