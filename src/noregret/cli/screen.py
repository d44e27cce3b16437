"""What a person sees: live tables on a terminal, plain lines in a pipe, nothing but the result when quiet."""

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from noregret.errors import Error
from noregret.learner.precompile import Job, Progress, compile_jobs, find_missing, make_job
from noregret.learner.rule_learner import RuleLearner
from noregret.streams import Batch, Source

EVERY = 2.0  # seconds between plain lines of progress
REFRESH = 0.2  # seconds between drawings of a live table


class Screen:
    """Notes and progress; results are printed by the commands themselves."""

    def __init__(self, quiet: bool, piped: bool = False) -> None:
        self.quiet, self.piped = quiet, piped
        self.live = not quiet and not piped and sys.stdout.isatty() and sys.stderr.isatty()
        self.began = self.last = time.monotonic()
        self.said = 0
        self._drawing: Any = None

    def note(self, text: str) -> None:
        if not self.quiet:
            sys.stderr.write(f"{text}\n")

    def warn(self, text: str) -> None:
        sys.stderr.write(f"noregret: warning: {text}\n")

    def begun(self, source: Source, jobs: Sequence[Job]) -> None:
        """All that a source had to say so far has been said; compile what it needs, then the clock starts."""
        self.said = len(source.notes)
        self.compile(jobs)
        self.began = self.last = time.monotonic()

    def tail(self, source: Source) -> None:
        """What a source had to say since then."""
        for text in source.notes[self.said :]:
            self.note(f"{source.name}: {text}")

    def announce(self, source: Source) -> None:
        """Say that reading waits for the compiler, where it does."""
        if source.needs_compiling():
            self.note("compiling the reader for this machine, once ...")

    # ---- compiling -----------------------------------------------------------------------------------------------

    def compile(self, jobs: Sequence[Job]) -> None:
        """Compile what is not on disk yet, in parallel, and say that this happens once."""
        absent = find_missing(jobs)
        if not absent:
            return
        began = time.monotonic()
        what = f"compiling {loops(len(absent))} for this machine, once"
        if self._drawing is None:
            self.note(f"{what} ...")
            self.finish(absent)
        else:
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            bar = Bar(*parts, auto_refresh=False)
            task = bar.add_task(what, total=len(absent))

            def tell(ready: int, _: int) -> None:
                bar.update(task, completed=ready)
                self._drawing.update(bar, refresh=True)

            tell(0, 0)
            self.finish(absent, tell)
        self.note(f"compiled {loops(len(absent))} in {time.monotonic() - began:.1f} s; they are kept for the next time")

    def finish(self, jobs: Sequence[Job], progress: Progress | None = None) -> None:
        """What cannot be compiled ahead is compiled where it is needed, and may say there why it cannot."""
        try:
            compile_jobs(jobs, progress=progress)
        except Error as error:
            self.note(str(error))

    # ---- progress ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def drawing(self) -> Iterator[None]:
        """A live drawing on the terminal, where there is one; it is gone afterwards, and the result is printed."""
        self.began = self.last = time.monotonic()
        if not self.live:
            yield
            return
        from rich.live import Live

        with Live(transient=True, auto_refresh=False) as self._drawing:
            yield
        self._drawing = None

    def due(self) -> bool:
        """Whether it is time to show something again."""
        now = time.monotonic()
        if self.quiet or now - self.last < (REFRESH if self.live else EVERY):
            return False
        self.last = now
        return True

    def show(self, head: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
        """Draw the state of things; in a pipe only the title, as a line."""
        if self._drawing is None:
            self.note(title)
            return
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        for number, name in enumerate(head):
            table.add_column(name, justify="right" if number else "left", style="bold" if number == 0 else None)
        for number, row in enumerate(rows):
            table.add_row(*row, style="green" if number == 0 else None)
        self._drawing.update(Group(Text(title, style="dim", no_wrap=True), table), refresh=True)

    def progress(self, rounds: int, done: float | None) -> str:
        """How far, how fast, how long still."""
        seconds = max(time.monotonic() - self.began, 1e-9)
        told = f"{rounds:,} rounds, {rounds / seconds:,.0f} a second"
        if done is not None and done > 0.0:
            told = f"{100 * min(done, 1.0):.0f} %  {told}, {clock(seconds * (1.0 - done) / done)} to go"
        return told


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def distinct(y: Any) -> int:
    """How many different labels there are."""
    return 0 if y is None else len(set(y if isinstance(y, list) else y.tolist()))


def jobs_for(learners: Sequence[RuleLearner], batch: Batch, classes: int) -> list[Job]:
    """The loops that built-in learners need for data like this batch."""
    dense = not hasattr(batch.X, "block") and not hasattr(batch.X, "tocsr") and not isinstance(batch.X, list)
    jobs = []
    for learner in learners:
        settings = learner.config
        if not learner.card.built_in or not settings.native:
            continue
        tasks = [learner.task]
        later = learner.model.task.grown(learner.model.labels)
        if later is not None and classes > 2:
            tasks.append(later.name)
        algebra = learner.algebra or ("dense" if dense else "sparse")
        jobs += [make_job(learner, task, algebra) for task in tasks]
    return jobs


def loops(count: int) -> str:
    return "1 loop" if count == 1 else f"{count} loops"
