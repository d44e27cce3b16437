"""What a person sees: live tables on a terminal, plain lines in a pipe, nothing but the result when quiet."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from noregret.data.batch import Batch
from noregret.data.inputs import LabelsLike
from noregret.errors import BadValue, Error
from noregret.evaluation.capabilities import check_labels
from noregret.evaluation.capabilities import compile_jobs as jobs_of
from noregret.evaluation.play import locate_error
from noregret.evaluation.report import describe_skipped, find_notes, find_warnings
from noregret.learner.precompile import Job, Progress, compile_jobs, find_missing
from noregret.learner.protocol import Learner
from noregret.streams import Source

EVERY = 2.0  # seconds between plain lines of progress
EVERY_COMPILING = 4.0  # the same while loops are compiled
LEAST_TEXT = 20  # characters of a column of text
REFRESH = 0.2  # seconds between drawings of a live table


@contextlib.contextmanager
def repeat(act: Callable[[], None], seconds: float) -> Iterator[None]:
    """Do something every few seconds, in a thread, until the block ends."""
    ended = threading.Event()

    def go() -> None:
        while not ended.wait(seconds):
            act()

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Screen:
    """Notes, warnings and progress; results are printed by the commands themselves."""

    def __init__(self, quiet: bool, piped: bool = False) -> None:
        self.quiet, self.piped = quiet, piped
        self.is_live = not quiet and not piped and sys.stdout.isatty() and sys.stderr.isatty()
        self.began = self.last = time.monotonic()
        self.noted = 0  # notes of the source that are printed
        self._drawing: Any = None

    def note(self, text: str) -> None:
        if not self.quiet:
            sys.stderr.write(f"{text}\n")

    def warn(self, text: str) -> None:
        sys.stderr.write(f"noregret: warning: {text}\n")

    def announce(self, source: Source) -> None:
        """Say that reading waits for the compiler, where it does."""
        if source.needs_compiling():
            self.note("compiling the reader for this machine, once ...")

    def begin(self, source: Source, learners: Sequence[Learner], batch: Batch) -> None:
        """Compile what the learners need for data like the first batch, then start the clock."""
        self.noted = len(source.notes)
        refuse_labels(source, learners, batch)
        self.compile(learners, batch, count_distinct(batch.y))
        self.began = self.last = time.monotonic()

    def note_later(self, source: Source) -> None:
        """Print the notes that a source made after the first batch."""
        for text in source.notes[self.noted :]:
            self.note(f"{source.name}: {text}")

    def conclude(self, source: Source, learner: Learner, updates: int) -> None:
        """Print what is odd about the data, at the end where it is seen."""
        for text in describe_skipped(source):
            self.warn(text)
        for text in find_notes(source, learner):
            self.note(text)
        for text in find_warnings(source, learner, updates):
            self.warn(text)

    # ---- compiling -----------------------------------------------------------------------------------------------

    def compile(self, learners: Sequence[Learner], batch: Batch, classes: int) -> None:
        """Compile the loops that are not on disk yet, in parallel, and say that this happens once."""
        dense = not hasattr(batch.X, "block") and not hasattr(batch.X, "tocsr") and not isinstance(batch.X, list)
        jobs = find_missing([job for learner in learners for job in jobs_of(learner, dense, classes)])
        if not jobs:
            return
        began, ready = time.monotonic(), 0
        what = f"compiling {count_loops(len(jobs))} for this machine, once"

        def count_ready(loops: int, _: int) -> None:
            nonlocal ready
            ready = loops

        def tell() -> None:
            self.note(f"{ready} of {count_loops(len(jobs))} compiled, {time.monotonic() - began:.0f} s")

        if self._drawing is None:
            self.note(f"{what} ...")
            with repeat(tell, EVERY_COMPILING):
                self.finish(jobs, count_ready)
        else:
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            bar = Bar(*parts, auto_refresh=False)
            task = bar.add_task(what, total=len(jobs))

            def draw() -> None:
                bar.update(task, completed=ready)
                self._drawing.update(bar, refresh=True)

            draw()
            with repeat(draw, REFRESH):
                self.finish(jobs, count_ready)
        if ready == len(jobs):
            seconds = time.monotonic() - began
            self.note(f"compiled {count_loops(len(jobs))} in {seconds:.1f} s, stored for later runs")

    def finish(self, jobs: Sequence[Job], progress: Progress | None = None) -> None:
        """Compile; a loop that fails here is compiled again when it is used, with a better error message."""
        try:
            compile_jobs(jobs, progress=progress, single_rows=False)
        except Error as error:
            self.note(str(error))

    # ---- progress ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def live(self) -> Iterator[None]:
        """A live drawing on the terminal, where there is one; it disappears afterwards, and the result is printed."""
        self.began = self.last = time.monotonic()
        if not self.is_live:
            yield
            return
        from rich.live import Live

        with Live(transient=True, auto_refresh=False) as self._drawing:
            yield
        self._drawing = None

    @property
    def shows_bars(self) -> bool:
        """Whether there is a live table whose terminal has the characters of small bars."""
        return self._drawing is not None and self._drawing.console.encoding.lower().startswith("utf")

    def due(self) -> bool:
        """Whether it is time to show progress again."""
        now = time.monotonic()
        if self.quiet or now - self.last < (REFRESH if self.is_live else EVERY):
            return False
        self.last = now
        return True

    def show(self, head: Sequence[str], rows: Sequence[Sequence[str]], title: str, text: bool = False) -> None:
        """Draw a table, the last column of which may be text; in a pipe print only the title, as a line."""
        if self._drawing is None:
            self.note(title)
            return
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        rows = cut_text(head, rows, self._drawing.console.width) if text else rows
        head, rows = fit_columns(head, rows, self._drawing.console.width)
        table = Table(box=None, pad_edge=False)
        for number, name in enumerate(head):
            left = number == 0 or (text and number == len(head) - 1)
            table.add_column(name, justify="left" if left else "right", style="bold" if number == 0 else None)
        for number, row in enumerate(rows):
            table.add_row(*row, style="green" if number == 0 else None)
        self._drawing.update(Group(Text(title, style="dim", no_wrap=True), table), refresh=True)

    def progress(self, rounds: int, done: float | None) -> str:
        """How many rounds, how fast, and how long it will still take."""
        seconds = max(time.monotonic() - self.began, 1e-9)
        speed = f"{rounds:,} rounds, {rounds / seconds:,.0f} a second"
        if done is None or done <= 0.0:
            return speed
        return f"{100 * min(done, 1.0):.0f} %  {speed}, {format_time(seconds * (1.0 - done) / done)} to go"


def refuse_labels(source: Source, learners: Sequence[Learner], batch: Batch) -> None:
    """Refuse labels that none of the learners can take."""
    faults: list[BadValue] = []
    for learner in learners:
        try:
            check_labels(learner, batch.y, batch.rows)
        except BadValue as error:
            faults.append(error)
    if faults and len(faults) == len(learners):
        raise locate_error(faults[0], source, batch)


def fit_columns(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The columns of a table that fit on the terminal: the last ones are left out first, but never the first two."""
    widths = [max(len(line[column]) for line in (head, *rows)) + 2 for column in range(len(head))]
    count = len(head)
    while count > 2 and sum(widths[:count]) - 2 > width:
        count -= 1
    return head[:count], [row[:count] for row in rows]


def cut_text(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Sequence[Sequence[str]]:
    """Rows whose last cell ends with the last word that fits beside the others; a few always stay."""
    others = sum(max(len(line[column]) for line in (head, *rows)) + 2 for column in range(len(head) - 1))
    room = max(width - others, LEAST_TEXT)
    return [[*row[:-1], cut_words(row[-1], room)] for row in rows]


def cut_words(text: str, room: int) -> str:
    """As many words of a text as there is room for; the start of the first, if it is too long."""
    return text if len(text) <= room else text[: room + 1].rpartition(" ")[0] or text[:room]


def format_time(seconds: float) -> str:
    """Seconds as 2:03, or 1:02:03."""
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def count_distinct(y: LabelsLike) -> int:
    """The number of different labels."""
    return 0 if y is None else len(set(y if isinstance(y, list) else y.tolist()))


def count_loops(count: int) -> str:
    return "1 loop" if count == 1 else f"{count} loops"
