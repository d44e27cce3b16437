"""`noregret learn`: one learner over one source, its mistakes as they come, and the model kept."""

import argparse
import contextlib
import hashlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noregret import __version__
from noregret.cli.output import write_json
from noregret.cli.racing import described, score, standing_report, warn_of
from noregret.cli.rules import imported, named, settings
from noregret.cli.screen import Screen, distinct, jobs_for
from noregret.cli.setup import made, opened, remarks, suited, writable
from noregret.errors import BadValue
from noregret.learner import Learner
from noregret.modelfile import load
from noregret.referees import Course, Referee
from noregret.session import Race, Standing, played, standard, standing
from noregret.streams import Batch, Source

INTERRUPTED = 130
HEAD_BYTES = 1 << 16
FIRST = 64  # rounds before the first line
HEAD = ("rounds", "mistakes", "rate", "mean loss", "updates")


def run(told: argparse.Namespace) -> int:
    screen = Screen(told.quiet, piped=told.json == "-")
    for path, what in ((told.json, "--json"), (told.save, "--save")):
        writable(path, what, told.data)
    for file in told.rule:
        imported(file)
    learner, source = resumed(told) if told.resume else fresh(told)
    target = told.save or told.resume
    head = head_of(told)
    lesson = Lesson(learner, source, screen, learned_already(learner, head))
    interrupted = False
    try:
        with screen.drawing():
            lesson.learn()
    except KeyboardInterrupt:
        interrupted = True
    learner.source = {**source.about(), "head": head, "rows": lesson.rows, "ended": not interrupted}
    if target is not None:
        with uninterrupted():
            learner.save(target)
    result = lesson.standing()
    write_json(told.json, report(told, source, result, target, interrupted))
    if told.json != "-":
        conclude(result, target, interrupted)
    screen.tail(source)
    warn_of(screen, source, Race([result]))
    return INTERRUPTED if interrupted else 0


def fresh(told: argparse.Namespace) -> tuple[Learner, Source]:
    if told.learner is None:
        raise BadValue("say which learner: --learner NAME (see `noregret learners`; `noregret race` finds the best)")
    card = named(told.learner)
    chosen = settings(told.set, [card])
    made([card], chosen, {} if told.game is None else {"game": told.game})  # refuse what cannot be, whatever the file
    source = opened(told)
    return made([card], chosen, suited(told, source))[0], source


def resumed(told: argparse.Namespace) -> tuple[Learner, Source]:
    """A model and its source, which goes on after the rows the model has learned if it was interrupted there."""
    card = None if told.learner is None else named(told.learner)
    learner = load(told.resume, card)
    asked = [flag for flag in ("set", "game", "scale", "bias") if getattr(told, flag) not in (None, [])]
    if asked:
        raise BadValue(f"--{asked[0]} belongs to a new model; {told.resume} was made with {settings_of(learner)}")
    writable(told.save or told.resume, "--resume", told.data)
    kept = learner.source or {}
    told.zero_based = told.zero_based or bool(kept.get("zero_based"))
    told.label = told.label or kept.get("label")
    told.game = "regression" if learner.game == "regression" else None
    return learner, opened(told)


def settings_of(learner: Learner) -> str:
    return ", ".join(f"{name}={value}" for name, value in learner.params.items()) or "its defaults"


class Lesson:
    """A learner going through a source, watched."""

    def __init__(self, learner: Learner, source: Source, screen: Screen, skip: int) -> None:
        self.learner, self.source, self.screen, self.skip = learner, source, screen, skip
        self.before = learner.rounds
        self.course, self.told = Course(FIRST), 0
        self.referees: list[Referee] = [*standard(), self.course]

    @property
    def rows(self) -> int:
        """How many rows of the source the model knows."""
        return self.skip + self.learner.rounds - self.before

    def standing(self) -> Standing:
        return standing(self.learner.card.name, self.learner, self.referees)

    def learn(self) -> None:
        first = True
        for batch in beyond(self.source, self.skip):
            if first:
                self.begin(batch)
                first = False
            transcript = played(self.learner, self.source, batch)
            for referee in self.referees:
                referee.see(transcript)
            self.show(batch.done)
        if first and self.skip:
            raise BadValue(f"{self.source.name}: all its {self.skip:,} rows are learned already; give it new ones")

    def begin(self, batch: Batch) -> None:
        self.screen.note(described(self.source, batch))
        for text in remarks(self.learner, self.source):
            self.screen.note(f"  {text}")
        if self.skip:
            self.screen.note(f"  going on after the {self.skip:,} rows learned before")
        self.screen.begun(self.source, jobs_for([self.learner], batch, distinct(batch.y)))

    def show(self, done: float | None) -> None:
        """A line for every doubling of the rounds, as mistakes become rarer; on a terminal also in between."""
        if not self.screen.live and not self.screen.piped and not self.screen.quiet:
            for point in self.course.points[self.told :]:
                sys.stdout.write((aligned(HEAD) if self.told == 0 else "") + aligned(line(*point)))
                self.told += 1
            sys.stdout.flush()
        if self.screen.live and self.screen.due():
            now = self.standing()
            points = [*self.course.points, (now.rounds, now.mistakes, now.loss, now.updates)]
            rows = [line(*point) for point in reversed(points)]
            self.screen.show(HEAD, rows, self.screen.progress(now.rounds, done))


def line(rounds: int, mistakes: int, loss: float, updates: int) -> tuple[str, ...]:
    each = max(rounds, 1)
    return (f"{rounds:,}", f"{mistakes:,}", f"{mistakes / each:.4f}", f"{loss / each:.4g}", f"{updates:,}")


def aligned(cells: tuple[str, ...]) -> str:
    return "".join(f"{cell:>13}" for cell in cells) + "\n"


def beyond(source: Source, skip: int) -> Iterator[Batch]:
    """The batches of a source without its first rows."""
    for batch in source:
        count = len(batch.y)
        if skip >= count:
            skip -= count
        elif skip:
            lines = None if batch.lines is None else batch.lines[skip:]
            yield Batch(batch.X[skip:], batch.y[skip:], lines, batch.done)
            skip = 0
        else:
            yield batch


def head_of(told: argparse.Namespace) -> str | None:
    """What tells this source from others: how its file begins, or its name and seed; nothing for standard input."""
    if told.data == "-":
        return None
    path = Path(told.data)
    if path.is_file():
        with open(path, "rb") as file:
            return hashlib.sha256(file.read(HEAD_BYTES)).hexdigest()
    return f"{told.data}, seed {told.seed}"


def learned_already(learner: Learner, head: str | None) -> int:
    """How many rows of this source to leave out: those an interrupted model has learned from it."""
    kept = learner.source or {}
    rows = kept.get("rows")
    same = head is not None and kept.get("head") == head and kept.get("ended") is False
    return rows if same and isinstance(rows, int) else 0


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """No second Ctrl-C stops the model from being saved."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def report(
    told: argparse.Namespace, source: Source, result: Standing, target: str | None, interrupted: bool
) -> dict[str, Any]:
    return {
        "noregret": __version__,
        "command": ["noregret", *told.said],
        "source": {**source.about(), "rounds": result.rounds},
        "game": result.learner.game,
        "seed": told.seed,
        "learners": [{**standing_report(result), "rounds_in_all": result.learner.rounds}],
        "saved": target,
        "interrupted": interrupted,
    }


def conclude(result: Standing, target: str | None, interrupted: bool) -> None:
    how = "stopped" if interrupted else "learned"
    kept = f"saved to {target}" if target else "not saved (--save PATH keeps the model)"
    sys.stdout.write(f"{how}: {result.name}, {score(result)} in {result.rounds:,} rounds; {kept}\n")
