"""A validation split: candidates learn most rows, one or several times, and are compared on the others."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.data.query_groups import group_offsets
from noregret.errors import BadValue
from noregret.evaluation.capabilities import task_of
from noregret.evaluation.evaluate import Evaluation
from noregret.evaluation.play import Run, locate_error, play_batch
from noregret.evaluation.tuning.candidates import Candidate
from noregret.evaluation.tuning.measures import require_metric
from noregret.evaluation.tuning.result import Result, Tuning
from noregret.evaluation.tuning.runs import SideBySide, TuneObserver, check_readable_again
from noregret.streams import ReadOptions, Source
from noregret.streams.composed import ComposedSource
from noregret.streams.holdout import Holdout
from noregret.streams.shuffling import take_rows


@dataclass(frozen=True)
class SplitPlan:
    """How rows are split: the last ones are for validation; with a seed, a random share of each class."""

    size: float = 0.2
    seed: int | None = None
    passes: Sequence[int] = (1,)
    shuffle: int | None = None
    refit: bool = False


class SplitRuns(SideBySide):
    """All candidates learn the rows that are not for validation, and are measured after each number of passes."""

    method = "split"

    def __init__(
        self, candidates: Sequence[Candidate], source: Source, observer: TuneObserver, plan: SplitPlan
    ) -> None:
        if plan.refit or max(plan.passes) > 1:
            check_readable_again(source, "several passes are needed")
        self.whole, self.plan = source, plan
        split = ComposedSource([source], ReadOptions(holdout=plan.size, shuffle=plan.shuffle, lists=source.lists))
        super().__init__(candidates, split, observer)
        self.split = split
        if plan.seed is not None:
            by_label = task_of(self.learners[0]).one_label
            split.holdout = StratifiedHoldout(plan.size, plan.seed, source.lists, by_label)
        self.results: list[Result] = []
        self.told: set[int] = set()
        self.best: Any = None
        self.refitted = False

    def tune(self, threads: int) -> Tuning:
        """Learn and measure; returns the candidates, best first."""
        last = max(self.plan.passes)
        with ThreadPoolExecutor(max_workers=max(1, min(threads, len(self.runs)))) as pool:
            for number in range(last):
                for turn, batch in enumerate(read_pass(self.split, number)):
                    if number == turn == 0:
                        self.watch.begin(self.learners, batch)
                    self.advance(pool, batch)
                    self.rounds += batch.rows
                    done = None if batch.progress is None else batch.progress * (number + 1) / last
                    self.watch.progress(self.standings if self.results else None, self.rounds, done)
                if number + 1 in self.plan.passes:
                    self.measure(pool, number + 1)
        if self.plan.refit:
            self.refit()
        return self.standings()

    def measure(self, pool: ThreadPoolExecutor, passes: int) -> None:
        """Compare the candidates on the validation rows, and keep the best learner as it is now."""
        running = self.find_running()
        errors = [error for error in pool.map(self.measure_one, running) if error is not None]
        if len(errors) == len(running):
            raise errors[0]
        searched = passes if len(self.plan.passes) > 1 else None
        found = [
            replace(result, passes=searched)
            for number, result in enumerate(self.find_results())
            if number not in self.told
        ]
        for result in found:
            if result.entry.stopped is None:
                require_metric(self.metric, result.entry)
        self.told |= set(self.stopped)  # a candidate that stopped is told once
        self.results += found
        first = min(self.results, key=lambda result: result.sort_key)
        if any(result is first for result in found):
            learner = first.entry.learner
            self.best = learner if passes == max(self.plan.passes) else learner.copy()

    def measure_one(self, number: int) -> BadValue | None:
        """Measure one candidate on the validation rows; an error may stop only this one."""
        run = self.runs[number]
        try:
            run.held_out = self.evaluate(run)
        except BadValue as error:
            self.stopped[number] = str(error)
            return error
        return None

    def evaluate(self, run: Run) -> dict[str, float]:
        """The report of a learner on the validation rows."""
        evaluation, needs_labels = Evaluation(run.learner), task_of(run.learner).needs_labels
        for batch in self.split.held_out:
            if batch.y is not None or not needs_labels:
                try:
                    evaluation.see(batch)
                except BadValue as error:
                    raise locate_error(error, self.split, batch) from None
        if not evaluation.labelled:
            raise BadValue(f"{self.whole.name}: the validation rows have no labels; compare by method='progressive'")
        return evaluation.report()

    def refit(self) -> None:
        """Train the best candidate anew, on all rows."""
        first = min(self.results, key=lambda result: result.sort_key)
        passes = self.plan.passes[0] if first.passes is None else first.passes
        options = ReadOptions(passes=passes, shuffle=self.plan.shuffle, lists=self.whole.lists)
        source, learner = ComposedSource([self.whole], options), first.candidate.make_learner()
        for batch in source:
            play_batch(learner, source, batch)
        self.best, self.refitted = learner, True

    def standings(self) -> Tuning:
        tuning = Tuning(self.results, self.best, self.method, self.whole, self.baselines.report())
        tuning.refitted = self.refitted
        tuning.passes = self.plan.passes[0] if len(self.plan.passes) == 1 else 1
        return tuning


def read_pass(source: ComposedSource, number: int) -> Iterator[Batch]:
    """The batches of one pass over a source; the first is number 0."""
    source.options = replace(source.options, passes=number + 1)
    source.start = {"pass": number} if number else None
    try:
        yield from source
    except BadValue as error:
        raise BadValue(str(error).replace("holdout leaves", "validation leaves"), error.row) from None


class StratifiedHoldout(Holdout):
    """Holds out a random share of the rows of each class, or of all rows where rows do not have one class each.

    Of every 1/share rows of a class that follow each other, one is drawn, so that shares hold all along the stream. The
    rows of a query are drawn together.
    """

    def __init__(self, size: float, seed: int, lists: bool, by_label: bool) -> None:
        super().__init__(size, seed, lists)
        self.by_label = by_label

    def split_random(self, batches: Iterable[Batch], read: int) -> Generator[Batch, None, None]:
        strata: dict[Any, Stratum] = {}
        random = np.random.default_rng(self.seed)
        for batch in batches:
            drawn = self.draw(batch, strata, random)
            if drawn.any():
                self.batches.append(take_rows(batch, np.flatnonzero(drawn)))
            if not drawn.all():
                yield take_rows(batch, np.flatnonzero(~drawn))._replace(position=batch.position)

    def draw(self, batch: Batch, strata: dict[Any, "Stratum"], random: np.random.Generator) -> Any:
        """Which rows of a batch are held out."""
        starts = group_offsets(batch.query) if self.lists else np.arange(batch.rows + 1)
        labels: list[Any] = [None] * (len(starts) - 1)
        if self.by_label and batch.y is not None and not self.lists:
            labels = batch.y if isinstance(batch.y, list) else batch.y.tolist()
        drawn = [strata.setdefault(label, Stratum(self.size)).draw(random) for label in labels]
        return np.repeat(np.array(drawn, bool), np.diff(starts))


class Stratum:
    """Draws one of every 1/share things that come."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.seen = self.blocks = self.stop = self.chosen = 0

    def draw(self, random: np.random.Generator) -> bool:
        """Whether the next one is drawn."""
        if self.seen == self.stop:
            self.blocks += 1
            self.stop = max(round(self.blocks / self.share), self.seen + 1)
            self.chosen = int(random.integers(self.seen, self.stop))
        self.seen += 1
        return self.seen - 1 == self.chosen
