"""Composed sources: several sources in turn, with rows skipped, limited, repeated or shuffled."""

import contextlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from noregret.data.batch import Batch, Position
from noregret.errors import BadValue
from noregret.streams.grouping import GroupedBatches, whole_groups
from noregret.streams.holdout import Holdout
from noregret.streams.read_options import ReadOptions
from noregret.streams.shuffling import shuffle
from noregret.streams.source import Source, read_position


class ComposedSource(Source):
    """The rows of several sources in turn: without the first `skip`, at most `limit`, `passes` times, shuffled.

    With `lists`, the rows of a query stay together: a query that does not lie wholly between skip and limit is left
    out.
    """

    def __init__(self, sources: Sequence[Source], options: ReadOptions) -> None:
        super().__init__()
        self.sources, self.options, self.lists = sources, options, options.lists
        self.grouped = [GroupedBatches(source, options.lenient) for source in sources]
        more = f" and {len(sources) - 1} more" if len(sources) > 1 else ""
        self.name = sources[0].name + more
        self.path, self.kind, self.learner_defaults = sources[0].path, sources[0].kind, sources[0].learner_defaults
        self.holdout = Holdout(options.holdout, options.holdout_seed, options.lists) if options.holdout else None
        known = [source.rows for source in sources if source.rows is not None]
        if len(known) == len(sources):
            left = max(sum(known) - options.skip, 0)
            left = left if options.limit is None else min(left, options.limit)
            held_out = 0 if self.holdout is None else min(left, self.holdout.count(left))
            self.rows = options.passes * (left - held_out)
        self.update_from(sources[0])

    def update_from(self, source: Source) -> None:
        """Copy what is known about the source being read."""
        self.current = source
        before, now = self.columns or {}, source.columns or {}
        changed = [name for name, kind in now.items() if before.get(name, kind) != kind]
        notes = [f"column {name!r} holds {now[name]} in {source.name}, and {before[name]} in the file before; "
                 f"categorical={[name]!r} would read both alike" for name in changed]  # fmt: skip
        self.label, self.columns, self.zero_based = source.label, source.columns, source.zero_based
        self.left_out = source.left_out
        self.skipped = sum(one.skipped for one in self.sources) + sum(one.single_rows for one in self.grouped)
        self.notes += [note for note in (*source.notes, *notes) if note not in self.notes]

    @property
    def where(self) -> str:
        return self.current.where

    def needs_compiling(self) -> bool:
        return any(source.needs_compiling() for source in self.sources)

    def __iter__(self) -> Iterator[Batch]:
        self.notes, self.held_out = [], ()
        begin, self.start = self.start, None
        first = read_position(begin, "pass")
        rows = 0
        for number in range(first, self.options.passes):
            at = begin if number == first else None
            with contextlib.closing(self.read_pass(number, at)) as batches:
                ordered: Iterable[Batch] = batches
                if self.holdout is not None:
                    before = max(read_position(at, "rows") - self.options.skip, 0)
                    ordered = self.holdout.split(batches, before)
                if self.options.shuffle is not None:
                    ordered = shuffle(ordered, np.random.default_rng([self.options.shuffle, number]), self.lists)
                for batch in ordered:
                    rows += batch.rows
                    yield batch
        if self.holdout is not None:
            self.held_out = self.holdout.batches
        if begin is None and self.options.limit != 0:
            if not rows and self.held_out:
                held_out = sum(batch.rows for batch in self.held_out)
                raise BadValue(f"{self.name}: holdout leaves no rows to learn; it has only {held_out:,} rows")
            self.check_not_empty(rows)

    def read_pass(self, number: int, begin: Position | None) -> Generator[Batch, None, None]:
        """Yield the rows of all sources once; `begin` is the position of a batch of this pass."""
        seen, first = read_position(begin, "rows"), read_position(begin, "file")
        start, stop = self.options.skip, None
        if self.options.limit is not None:
            stop = start + self.options.limit
        for file in range(first, len(self.sources)):
            source = self.sources[file]
            at = begin.get("at") if begin is not None and file == first else None
            with contextlib.closing(self.batches(file, at)) as batches:
                for batch in batches:
                    self.update_from(source)
                    before, seen = seen, seen + batch.rows
                    last = seen if stop is None else min(seen, stop)
                    if start < last and before < last:
                        rows = max(start - before, 0), last - before
                        part = whole_groups(batch, *rows) if self.lists else rows
                        if part[0] < part[1]:
                            yield self.locate(batch, number, file, seen).cut(*part)
                    if stop is not None and seen >= stop:
                        return
            self.update_from(source)

    def batches(self, file: int, at: Position | None) -> Any:
        """Yield the batches of a source from a position on."""
        if self.lists:
            return self.grouped[file].batches(at)
        self.sources[file].start = at
        return iter(self.sources[file])

    def locate(self, batch: Batch, number: int, file: int, seen: int) -> Batch:
        """Return the batch with its position and progress in the composed source."""
        position = batch.position
        if position is not None:
            position = {"pass": number, "file": file, "rows": seen, "at": dict(position)}
        if self.options.shuffle is not None:
            position = None
        progress = batch.progress
        if progress is not None:
            progress = (number + (file + progress) / len(self.sources)) / self.options.passes
        if self.options.limit:
            rows = min(max(seen - self.options.skip, 0), self.options.limit)
            progress = max(progress or 0.0, (number + rows / self.options.limit) / self.options.passes)
        return batch._replace(position=position, progress=progress)

    def describe(self) -> dict[str, Any]:
        several = {"files": [source.name for source in self.sources]} if len(self.sources) > 1 else {}
        return {**super().describe(), **several}


class Cursor:
    """How far a source was read: the last position it gave, and the number of rows since."""

    def __init__(self, at: Position | None = None, past: int = 0) -> None:
        self.at, self.past = at, past

    def advance(self, batch: Batch) -> None:
        """Move the cursor behind a batch."""
        if batch.position is None:
            self.past += batch.rows
        else:
            self.at, self.past = dict(batch.position), 0

    def dump(self) -> dict[str, Any]:
        """Return the entries for a model file."""
        return {"at": None if self.at is None else dict(self.at), "past": self.past}

    def resume(self, source: Source) -> Iterator[Batch]:
        """Yield the batches of a source from the cursor on; this does not move the cursor."""
        source.start, past = self.at, self.past
        for batch in source:
            skip = min(past, batch.rows)
            past -= skip
            if skip < batch.rows:
                yield batch.cut(skip, batch.rows)
