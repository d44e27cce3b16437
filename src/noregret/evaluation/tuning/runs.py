"""Candidates side by side over one source: all of them to the end, or fewer and fewer (successive halving)."""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.data.query_groups import group_offsets
from noregret.errors import BadValue
from noregret.evaluation.leaderboard import Entry
from noregret.evaluation.race import Observer, Race
from noregret.evaluation.tuning.candidates import Candidate
from noregret.evaluation.tuning.measures import require_metric
from noregret.evaluation.tuning.result import Result, Tuning
from noregret.learner.protocol import Learner
from noregret.metrics.basic import CurvePoint
from noregret.streams import Source

SUMS = {"rate": "mistakes", "mean_loss": "loss"}  # metrics that are sums over rounds, by the sum


class TuneObserver:
    """Follows a search while it runs; this one does nothing."""

    def begin(self, learners: Sequence[Learner], batch: Batch) -> None:
        """Called with the first batch, before any learner sees it."""

    def progress(self, standings: Callable[[], Tuning] | None, rounds: int, done: float | None) -> None:
        """Called after every batch; `standings()` is the result so far, where candidates can be compared already.

        `rounds` is how many were played, and `done` the share of the work that is done, where it is known.
        """


class SideBySide(Race):
    """All candidates play every batch before the next one is read (progressive validation)."""

    method = "progressive"
    metric: str | None = None  # what candidates are compared by; None: what the task names

    def __init__(self, candidates: Sequence[Candidate], source: Source, observer: TuneObserver) -> None:
        super().__init__([candidate.make_learner() for candidate in candidates], source, Observer())
        self.candidates, self.watch = candidates, observer
        self.dropped: dict[int, int] = {}  # after how many rounds, by the number of the candidate
        self.rounds = 0

    def find_running(self) -> list[int]:
        return [number for number in super().find_running() if number not in self.dropped]

    def tune(self, threads: int) -> Tuning:
        """Play all rounds; returns the candidates, best first."""
        with ThreadPoolExecutor(max_workers=max(1, min(threads, len(self.runs)))) as pool:
            for turn, batch in enumerate(self.source):
                if turn == 0:
                    require_metric(self.metric, Entry.of(self.runs[0]))
                    self.watch.begin(self.learners, batch)
                for part in self.cut(batch):
                    self.advance(pool, part)
                    self.rounds += part.rows
                    self.compare()
                self.watch.progress(self.standings, self.rounds, batch.progress)
        if not self.rounds:
            raise BadValue(f"{self.source.name}: holds no rows, so that candidates cannot be compared")
        return self.standings()

    def cut(self, batch: Batch) -> Iterator[Batch]:
        """The parts of a batch after which candidates are compared."""
        yield batch

    def compare(self) -> None:
        """Called after every part of a batch."""

    def find_results(self) -> list[Result]:
        """What every candidate has done so far."""
        return [
            Result(
                candidate,
                Entry.of(run, stopped=self.stopped.get(number)),
                dropped=self.dropped.get(number),
                metric=self.metric,
            )
            for number, (candidate, run) in enumerate(zip(self.candidates, self.runs, strict=True))
        ]

    def standings(self) -> Tuning:
        """The candidates so far, best first."""
        results = self.find_results()
        best: Any = min(results, key=lambda result: result.sort_key).entry.learner
        return Tuning(results, best, self.method, self.source, self.baselines.report())


class Halving(SideBySide):
    """Successive halving: after some numbers of rounds, only the best 1/factor of the candidates go on.

    The last of these numbers is 1/factor of all rounds, the one before 1/factor of that, and so on, as many as leave at
    least two candidates to the end. A candidate is compared by the later half of its rounds so far, where what counts
    is a sum over rounds: at first all candidates make mistakes, and the quick ones need not be the good ones.
    """

    method = "halving"

    def __init__(
        self, candidates: Sequence[Candidate], source: Source, observer: TuneObserver, total: int, factor: float
    ) -> None:
        super().__init__(candidates, source, observer)
        self.due = plan_halving(len(candidates), total, factor)

    def cut(self, batch: Batch) -> Iterator[Batch]:
        """Parts that end where a comparison is due; the rows of a query stay together."""
        ends = group_offsets(batch.query) if self.source.lists else np.arange(batch.rows + 1)
        start, first = 0, self.rounds
        while start < batch.rows:
            stop = batch.rows
            if self.due and self.due[0][0] - first < batch.rows:
                wanted = max(self.due[0][0] - first, start + 1)
                stop = int(ends[np.searchsorted(ends, wanted)])
            yield batch.cut(start, stop)
            start = stop

    def compare(self) -> None:
        """Drop the worst candidates where a comparison is due; of equals, the first goes on."""
        while self.due and self.rounds >= self.due[0][0]:
            _, keep = self.due.pop(0)
            results = self.find_results()
            ranked = sorted(self.find_running(), key=lambda number: recent_key(results[number]))
            self.dropped |= dict.fromkeys(ranked[keep:], self.rounds)


def recent_key(result: Result) -> tuple[float, ...]:
    """What a candidate is sorted by on the way: sums over the later half of its rounds, or all that was measured."""
    entry = result.entry
    names = entry.task.sort_keys if result.metric is None else (SUMS.get(result.metric, result.metric),)
    if entry.costs is not None or entry.stopped is not None or not set(names) <= {"mistakes", "loss"}:
        return result.sort_key
    earlier = [point for point in entry.curve if 2 * point.rounds <= entry.rounds]
    before, now = earlier[-1] if earlier else CurvePoint(0, 0, 0.0, 0), entry.curve[-1]
    return (*result.sort_key[:2], *(float(getattr(now, name) - getattr(before, name)) for name in names))


def plan_halving(candidates: int, total: int, factor: float) -> list[tuple[int, int]]:
    """After how many rounds candidates are compared, and how many of them go on."""
    comparisons = 0
    while candidates > factor ** (comparisons + 1):
        comparisons += 1
    return [
        (math.ceil(total / factor ** (comparisons - number)), math.ceil(candidates / factor ** (number + 1)))
        for number in range(comparisons)
    ]


def count_rounds(source: Source) -> int:
    """How many rows a source has, where needed by reading it once."""
    if source.rows is not None:
        return source.rows
    check_readable_again(source, "halving needs the number of rows before it begins")
    return sum(batch.rows for batch in source)


def check_ends(source: Source, method: str) -> None:
    """Refuse a stream without an end, unless only so many of its rows are read."""
    limit = getattr(getattr(source, "options", None), "limit", None)
    if limit is None and any(one.kind == "synthetic" and one.rows is None for one in find_parts(source)):
        raise BadValue(f"{source.name}: the stream has no end, and method={method!r} needs one; limit the rows to read")


def find_parts(source: Source) -> Sequence[Source]:
    """The sources that a source reads one after another."""
    parts: Sequence[Source] = getattr(source, "sources", [source])
    return parts


def check_readable_again(source: Source, why: str) -> None:
    """Refuse sources that can be read only once."""
    for part in find_parts(source):
        rounds: Any = getattr(part, "rounds", None)
        if part.path == "-" or (rounds is not None and iter(rounds) is rounds):
            raise BadValue(f"{source.name}: {why}, and these can be read only once; put them into a file or a list")
