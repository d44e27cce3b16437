"""`noregret learn`: one learner over one source, its mistakes as they come, and the model kept."""

import argparse
import sys
from typing import Any

from noregret.cli.interrupts import deaf, heed
from noregret.cli.output import write_json
from noregret.cli.rules import file_of, imported, named, settings
from noregret.cli.screen import Screen, distinct, jobs_for
from noregret.cli.setup import asked_early, check_columns, check_outputs, made, opened, remarks, suited
from noregret.errors import BadValue
from noregret.evaluation.checkpoint import Keeper, read_as_before, take_up
from noregret.evaluation.leaderboard import Standing
from noregret.evaluation.race import played, standard, standing
from noregret.evaluation.report import counted, described, head, score, standing_report, tell_confusion, warn_of
from noregret.learner.model_file import load
from noregret.learner.rule_learner import RuleLearner
from noregret.metrics import Metric, Milestones
from noregret.streams import Batch, Source

INTERRUPTED = 130
FIRST = 64  # rounds before the first line
HEAD = ("rounds", "mistakes", "rate", "mean loss", "updates")


def run(told: argparse.Namespace) -> int:
    screen = Screen(told.quiet, piped=told.json == "-")
    if told.save == "-":
        raise BadValue("--save -: a model is kept in a file; name one")
    target = told.save or told.resume
    check_outputs({"--save": target, "--json": told.json}, [*told.data, file_of(told.learner), *told.rule])
    for file in told.rule:
        imported(file)
    learner, source = resumed(told) if told.resume else fresh(told)
    keeper = Keeper(told, learner, source, target)
    lesson = Lesson(keeper, screen)
    screen.announce(source)
    try:
        with screen.drawing():
            lesson.learn()
        interrupted = False
    except KeyboardInterrupt:
        interrupted = True
    with deaf():
        keeper.save(ended=not interrupted)
    result = lesson.standing()
    write_json(told.json, report(told, source, result, target, interrupted))
    if told.json != "-":
        lesson.tell()
        conclude(result, target, interrupted)
        if told.confusion:
            tell_confusion(result)
    screen.tail(source)
    warn_of(screen, source, learner, result.updates)
    return INTERRUPTED if interrupted else 0


def fresh(told: argparse.Namespace) -> tuple[RuleLearner, Source]:
    if told.learner is None:
        raise BadValue("say which learner: --learner NAME (see `noregret learners`; `noregret race` finds the best)")
    card = named(told.learner)
    chosen = settings(told.set, [card], told.task)
    made([card], chosen, asked_early(told, [card]))  # refuse what cannot be, whatever the file
    source = opened(told)
    return made([card], chosen, suited(told, source, [card]))[0], source


def resumed(told: argparse.Namespace) -> tuple[RuleLearner, Source]:
    """A model and its source, which goes on after the rows the model has learned if it was interrupted there."""
    card = None if told.learner is None else named(told.learner)
    learner = load(told.resume, card if card is not None and file_of(told.learner) else None)
    if card is not None and card.name != learner.card.name:
        raise BadValue(f"{told.resume} was learned by {learner.card.name}, not by {card.name}; leave --learner out")
    for flag in ("set", "task", "classes", "class_weight", "cost", "transform", "scale", "bits", "bias"):
        if getattr(told, flag) not in (None, []):
            raise BadValue(f"--{flag.replace('_', '-')} is for a new model; {told.resume} goes on as it was made")
    take_up(told, learner.source or {}, told.resume)
    told.task = None if learner.task in ("binary", "multiclass") else learner.task
    return learner, opened(told, **read_as_before(told, learner))


class Lesson:
    """A learner going through a source, watched."""

    def __init__(self, keeper: Keeper, screen: Screen) -> None:
        self.learner, self.source, self.keeper, self.screen = keeper.learner, keeper.source, keeper, screen
        self.course, self.told = Milestones(FIRST), 0
        self.metrics: list[Metric] = [*standard(self.learner), self.course]

    def standing(self) -> Standing:
        return standing(self.learner.card.name, self.learner, self.metrics)

    def learn(self) -> None:
        first = True
        for batch in self.keeper.batches():
            if first:
                self.begin(batch)
                first = False
            heed()
            transcript = played(self.learner, self.source, batch)
            for metric in self.metrics:
                metric.see(transcript)
            self.show(batch.progress)
        if first and self.keeper.goes_on:
            rows = self.keeper.rows
            raise BadValue(f"{self.source.name}: all its {rows:,} rows are learned already; give it new ones")

    def begin(self, batch: Batch) -> None:
        check_columns(self.learner, self.source, self.screen)
        self.screen.note(described(self.source, batch))
        for text in remarks(self.learner, self.source):
            self.screen.note(f"  {text}")
        if self.keeper.skip:
            self.screen.note(f"  going on after the {self.keeper.skip:,} rows learned before")
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


def report(
    told: argparse.Namespace, source: Source, result: Standing, target: str | None, interrupted: bool
) -> dict[str, Any]:
    return {
        **head(told, source, rounds=result.rounds),
        "task": result.learner.task,
        "seed": told.seed,
        "learners": [{**standing_report(result), "rounds_in_all": result.learner.rounds}],
        "saved": target,
        "interrupted": interrupted,
    }


def conclude(result: Standing, target: str | None, interrupted: bool) -> None:
    how = "stopped" if interrupted else "learned"
    asked = "" if result.asked is None else f", {counted(result.asked, 'label')} asked for"
    kept = f"saved to {target}" if target else "not saved (--save PATH keeps the model)"
    sys.stdout.write(f"{how}: {result.name}, {score(result)} in {result.rounds:,} rounds{asked}; {kept}\n")
