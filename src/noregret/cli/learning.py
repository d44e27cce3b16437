"""`noregret learn`: one learner over one source, its mistakes as they come, and the model kept."""

import argparse
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noregret.cli.interrupts import deaf, heed
from noregret.cli.output import write_json
from noregret.cli.report import described, head, score, standing_report, warn_of
from noregret.cli.rules import file_of, imported, named, settings
from noregret.cli.screen import Screen, distinct, jobs_for
from noregret.cli.setup import check_columns, check_outputs, made, opened, remarks, suited
from noregret.errors import BadValue
from noregret.learner import Learner
from noregret.modelfile import load
from noregret.referees import Milestones, Referee
from noregret.session import Standing, played, standard, standing
from noregret.streams import Batch, Source

INTERRUPTED = 130
HEAD_BYTES = 1 << 16
FIRST = 64  # rounds before the first line
HEAD = ("rounds", "mistakes", "rate", "mean loss", "updates")


def run(told: argparse.Namespace) -> int:
    screen = Screen(told.quiet, piped=told.json == "-")
    if told.save == "-":
        raise BadValue("--save -: a model is kept in a file; name one")
    target = told.save or told.resume
    check_outputs({"--save": target, "--json": told.json}, [told.data, file_of(told.learner), *told.rule])
    for file in told.rule:
        imported(file)
    learner, source = resumed(told) if told.resume else fresh(told)
    begins = head_of(told, source)
    lesson = Lesson(learner, source, screen, learned_already(learner, begins))
    screen.announce(source)
    try:
        with screen.drawing():
            lesson.learn()
        interrupted = False
    except KeyboardInterrupt:
        interrupted = True
    with deaf():
        learner.source = {**source.about(), "head": begins, "rows": lesson.rows, "ended": not interrupted}
        if target is not None:
            learner.save(target)
    result = lesson.standing()
    write_json(told.json, report(told, source, result, target, interrupted))
    if told.json != "-":
        lesson.tell()
        conclude(result, target, interrupted)
    screen.tail(source)
    warn_of(screen, source, learner, result.updates)
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
    learner = load(told.resume, card if card is not None and file_of(told.learner) else None)
    if card is not None and card.name != learner.card.name:
        raise BadValue(f"{told.resume} was learned by {learner.card.name}, not by {card.name}; leave --learner out")
    kept = learner.source or {}
    for flag in ("set", "game", "scale", "bias"):
        if getattr(told, flag) not in (None, []):
            raise BadValue(f"--{flag} is for a new model; {told.resume} goes on as it was made")
    if told.zero_based and kept and not kept.get("zero_based"):
        raise BadValue(f"{told.resume} was learned from features that count from 1; leave --zero-based out")
    if told.label is not None and kept.get("label") not in (None, told.label):
        raise BadValue(f"{told.resume} was learned with the label {kept['label']!r}, not {told.label!r}")
    told.zero_based = told.zero_based or kept.get("zero_based") is True
    told.label = told.label or kept.get("label")
    told.game = "regression" if learner.game == "regression" else None
    return learner, opened(told)


class Lesson:
    """A learner going through a source, watched."""

    def __init__(self, learner: Learner, source: Source, screen: Screen, skip: int) -> None:
        self.learner, self.source, self.screen, self.skip = learner, source, screen, skip
        self.before = learner.rounds
        self.course, self.told = Milestones(FIRST), 0
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
            heed()
            transcript = played(self.learner, self.source, batch)
            for referee in self.referees:
                referee.see(transcript)
            self.show(batch.done)
        if first and self.skip:
            raise BadValue(f"{self.source.name}: all its {self.skip:,} rows are learned already; give it new ones")

    def begin(self, batch: Batch) -> None:
        check_columns(self.learner, self.source, self.screen)
        self.screen.note(described(self.source, batch))
        for text in remarks(self.learner, self.source):
            self.screen.note(f"  {text}")
        if self.skip:
            self.screen.note(f"  going on after the {self.skip:,} rows learned before")
        self.screen.begun(self.source, jobs_for([self.learner], batch, distinct(batch.y)))

    def tell(self) -> None:
        """A line for every doubling of the rounds, as mistakes become rarer."""
        if not self.screen.piped and not self.screen.quiet:
            for point in self.course.points[self.told :]:
                sys.stdout.write((aligned(HEAD) if self.told == 0 else "") + aligned(line(*point)))
                self.told += 1
            sys.stdout.flush()

    def show(self, done: float | None) -> None:
        if not self.screen.live:
            self.tell()
        elif self.screen.due():
            self.draw(done)

    def draw(self, done: float | None) -> None:
        """On a terminal: how things stand, and the lines so far, the latest first."""
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


def head_of(told: argparse.Namespace, source: Source) -> str | None:
    """What tells this source from others: how its file begins, or its name and seed; nothing for a pipe."""
    if source.kind not in ("csv", "libsvm"):
        return f"{told.data}, seed {told.seed}"
    path = Path(source.name)
    if not path.is_file():
        return None
    with open(path, "rb") as file:
        return hashlib.sha256(file.read(HEAD_BYTES)).hexdigest()


def learned_already(learner: Learner, head: str | None) -> int:
    """How many rows of this source to leave out: those an interrupted model has learned from it."""
    kept = learner.source or {}
    rows = kept.get("rows")
    same = head is not None and kept.get("head") == head and kept.get("ended") is False
    return rows if same and type(rows) is int and rows > 0 else 0


def report(
    told: argparse.Namespace, source: Source, result: Standing, target: str | None, interrupted: bool
) -> dict[str, Any]:
    return {
        **head(told, source, rounds=result.rounds),
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
