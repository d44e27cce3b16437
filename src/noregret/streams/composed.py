"""Sources one after another, as often, as far and in the order asked for."""

import contextlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from noregret.data.batch import Batch, Position
from noregret.streams.grouping import Whole, within
from noregret.streams.read_options import Reading
from noregret.streams.shuffling import shuffled
from noregret.streams.source import Source, number_in


class Shaped(Source):
    """The rows of some sources in turn: without the first `skip`, at most `limit` of them, `passes` times, shuffled.

    Where rows come in lists these stay whole: a list that does not lie wholly between skip and limit is left out.
    """

    def __init__(self, sources: Sequence[Source], reading: Reading) -> None:
        super().__init__()
        self.sources, self.reading, self.lists = sources, reading, reading.lists
        self.whole = [Whole(one, reading.lenient) for one in sources]
        more = f" and {len(sources) - 1} more" if len(sources) > 1 else ""
        self.name = sources[0].name + more
        self.path, self.kind, self.suits = sources[0].path, sources[0].kind, sources[0].suits
        known = [one.rows for one in sources if one.rows is not None]
        if len(known) == len(sources):
            left = max(sum(known) - reading.skip, 0)
            self.rows = reading.passes * (left if reading.limit is None else min(left, reading.limit))
        self.follow(sources[0])

    def follow(self, source: Source) -> None:
        """Say of the whole what is known of the source that is read now."""
        self.current = source
        before, now = self.columns or {}, source.columns or {}
        turned = [name for name, kind in now.items() if before.get(name, kind) != kind]
        told = [f"column {name!r} holds {now[name]} in {source.name}, and {before[name]} in the file before; "
                f"categorical={[name]!r} would take both alike" for name in turned]  # fmt: skip
        self.label, self.columns, self.zero_based = source.label, source.columns, source.zero_based
        self.skipped = sum(one.skipped for one in self.sources) + sum(one.alone for one in self.whole)
        self.notes += [note for note in (*source.notes, *told) if note not in self.notes]

    @property
    def where(self) -> str:
        return self.current.where

    def needs_compiling(self) -> bool:
        return any(one.needs_compiling() for one in self.sources)

    def __iter__(self) -> Iterator[Batch]:
        self.notes = []
        begin, self.start = self.start, None
        first = number_in(begin, "pass")
        rows = 0
        for turn in range(first, self.reading.passes):
            with contextlib.closing(self.one_pass(turn, begin if turn == first else None)) as batches:
                ordered: Iterable[Batch] = batches
                if self.reading.shuffle is not None:
                    ordered = shuffled(batches, np.random.default_rng([self.reading.shuffle, turn]), self.lists)
                for batch in ordered:
                    rows += batch.rows
                    yield batch
        if begin is None and self.reading.limit != 0:
            self.must_hold(rows)

    def one_pass(self, turn: int, begin: Position | None) -> Generator[Batch, None, None]:
        """The rows of all sources once; `begin` is the place of a batch of this pass."""
        seen, first = number_in(begin, "rows"), number_in(begin, "file")
        begins, stops = self.reading.skip, None
        if self.reading.limit is not None:
            stops = begins + self.reading.limit
        for number in range(first, len(self.sources)):
            source = self.sources[number]
            at = begin.get("at") if begin is not None and number == first else None
            with contextlib.closing(self.batches(number, at)) as batches:
                for batch in batches:
                    self.follow(source)
                    before, seen = seen, seen + batch.rows
                    last = seen if stops is None else min(seen, stops)
                    if begins < last and before < last:
                        some = max(begins - before, 0), last - before
                        part = within(batch, *some) if self.lists else some
                        if part[0] < part[1]:
                            yield self.placed(batch, turn, number, seen).cut(*part)
                    if stops is not None and seen >= stops:
                        return
            self.follow(source)

    def batches(self, number: int, at: Position | None) -> Any:
        """The batches of a source from a place on."""
        if self.lists:
            return self.whole[number].batches(at)
        self.sources[number].start = at
        return iter(self.sources[number])

    def placed(self, batch: Batch, turn: int, number: int, seen: int) -> Batch:
        """The batch with its place and its share in the whole."""
        position = batch.position
        if position is not None:
            position = {"pass": turn, "file": number, "rows": seen, "at": dict(position)}
        if self.reading.shuffle is not None:
            position = None
        progress = batch.progress
        if progress is not None:
            progress = (turn + (number + progress) / len(self.sources)) / self.reading.passes
        return batch._replace(position=position, progress=progress)

    def about(self) -> dict[str, Any]:
        several = {"files": [one.name for one in self.sources]} if len(self.sources) > 1 else {}
        return {**super().about(), **several}


class ReadPosition:
    """How far a source was read: the last position it gave, and how many rows were read since then."""

    def __init__(self, at: Position | None = None, past: int = 0) -> None:
        self.at, self.past = at, past

    def advance(self, batch: Batch) -> None:
        """Move past a batch."""
        if batch.position is None:
            self.past += batch.rows
        else:
            self.at, self.past = dict(batch.position), 0

    def dump(self) -> dict[str, Any]:
        """The position as a model file stores it."""
        return {"at": None if self.at is None else dict(self.at), "past": self.past}

    def remaining(self, source: Source) -> Iterator[Batch]:
        """The batches of a source from here on; reading them does not move the position."""
        source.start, past = self.at, self.past
        for batch in source:
            skipped = min(past, batch.rows)
            past -= skipped
            if skipped < batch.rows:
                yield batch.cut(skipped, batch.rows)
