"""`noregret race`: learners side by side over one source, and the name of the best."""

import argparse
import shlex
import sys
from collections.abc import Callable
from typing import Any

from noregret.cli.interrupts import heed
from noregret.cli.output import write_json
from noregret.cli.rules import cards_of, file_of, settings
from noregret.cli.screen import Screen, distinct, jobs_for
from noregret.cli.setup import asked_early, check_outputs, made, opened, remarks, suited, weighing
from noregret.errors import BadValue
from noregret.evaluation.checkpoint import options_of
from noregret.evaluation.leaderboard import Race, Standing
from noregret.evaluation.race import Entrants, Watcher, race
from noregret.evaluation.report import described, head, score, standing_report, tell_confusion, warn_of
from noregret.rules.card import Card
from noregret.streams import Batch, Source

SAID = (  # by options of their own
    "task", "seed", "transforms", "scale", "bias", "bits", "classes", "class_weight", "cost",
)  # fmt: skip


def run(told: argparse.Namespace) -> int:
    screen = Screen(told.quiet, piped=told.json == "-")
    rules = [file_of(one) for one in (told.learners or "").split(",")]
    check_outputs({"--json": told.json}, [*told.data, *rules])
    if told.threads < 1:
        raise BadValue(f"--threads must be at least 1, not {told.threads}")
    cards = entering(told, told.task)
    chosen = settings(told.set, cards, told.task)
    made(cards, chosen, asked_early(told, cards))  # refuse what cannot be, whatever the file
    source = opened(told)
    common = suited(told, source, cards)
    if told.learners is None:
        cards = entering(told, common.get("task"))
        chosen = settings(told.set, cards, told.task)
    learners = made(cards, chosen, common)
    screen.announce(source)
    with screen.drawing():
        result = race(source, learners, threads=told.threads, watcher=Lookout(screen, source))
    write_json(told.json, report(told, source, result))
    if told.json != "-":
        conclude(told, source, result)
        if told.confusion:
            tell_confusion(result.standings[0])
    screen.tail(source)
    for one in result:
        if one.stopped is not None:
            screen.warn(f"{one.name} could not go on: {one.stopped}")
    warn_of(screen, source, result.winner, sum(one.updates for one in result))
    return 0


def entering(told: argparse.Namespace, task: str | None) -> list[Card]:
    """The cards of a race; where none are named, those that can heed what is told of classes and costs."""
    cards = cards_of(told.learners, task)
    wishes = {name: value for name, value in weighing(told).items() if value is not None}
    if told.learners is not None or not wishes:
        return cards
    able, refusal = [], None
    for card in cards:
        try:
            made([card], {card.name: {}}, wishes)
            able.append(card)
        except BadValue as error:
            refusal = error
    if not able and refusal is not None:
        raise refusal
    return able


class Lookout(Watcher):
    """Compiles what the race needs once the first rows are there, then shows how it goes."""

    def __init__(self, screen: Screen, source: Source) -> None:
        self.screen, self.source = screen, source

    def begin(self, entrants: Entrants, batch: Batch) -> None:
        learners = [learner for _, learner in entrants]
        self.screen.note(described(self.source, batch))
        for text in remarks(learners[0], self.source):
            self.screen.note(f"  {text}")
        self.screen.begun(self.source, jobs_for(learners, batch, distinct(batch.y)))

    def lap(self, race: Callable[[], Race], done: float | None) -> None:
        heed()
        if self.screen.due():
            now = race()
            best = now.standings[0]
            leads = f"{best.name} leads" if len(now) > 1 else best.name
            title = f"{self.screen.progress(best.rounds, done)}; {leads} with {score(best)}"
            self.screen.show(*now.shown(), title)


def conclude(told: argparse.Namespace, source: Source, result: Race) -> None:
    """The ranking, the winner, what simple guessing would have done, and how to train the winner."""
    best = result.standings[0]
    lines = [str(result), ""]
    lines.append(
        f"best: {best.name}, {score(best)} in {best.rounds:,} rounds, each predicted before its label was seen"
    )
    lines.append(f"to compare: {compared(result, best)}")
    lines.append(f"train it: {training(told, best)}")
    otherwise = [one.name for one in result if one.learner.card.final is not None]
    if otherwise:
        lines.append(f"note: {', '.join(otherwise)} counts here as it trains; what it learned predicts otherwise")
    sys.stdout.write("\n".join(lines) + "\n")


def compared(result: Race, best: Standing) -> str:
    rounds = max(best.rounds, 1)
    if best.learner.task == "regression":
        told = {"the running mean": "mean", "the last target": "last_target"}
        return ", ".join(f"{name} loses {result.baselines[key] / rounds:.4g}" for name, key in told.items())
    if best.learner.task == "ranking":
        right = 100 * result.baselines["pair_accuracy_as_they_come"]
        return f"the order in which the rows come has {right:.2f} % of pairs right"
    told = {"always guessing the majority label": "majority", "the last label": "last_label"}
    found = {name: result.baselines[key] for name, key in told.items()}
    return ", ".join(
        f"{name} errs {int(wrong):,} times ({100 * wrong / rounds:.2f} %)" for name, wrong in found.items()
    )


def training(told: argparse.Namespace, best: Standing) -> str:
    """The command that would train the winner and keep it."""
    words = ["noregret", "learn", *told.data, "--learner", spelled(told, best.name)]
    valued = {**options_of(told), "task": told.task, "seed": told.seed or None, "transform": told.transform}
    for name, value in valued.items():
        flag = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, bool):
                words.append(flag if one else flag.replace("--", "--no-", 1))
            elif one is not None:
                words += [flag, str(one)]
    for flag, said in (("--class-weight", told.class_weight), ("--cost", told.cost), ("--bits", told.bits)):
        words += [] if said is None else [flag, str(said)]
    for name in ("scale", "bias"):
        asked = getattr(told, name)
        words += [] if asked is None else [f"--{name}" if asked else f"--no-{name}"]
    words += [] if told.classes is None else ["--classes", told.classes]
    for name, value in best.learner.config.given.items():
        words += [] if name in SAID else ["--set", f"{name}={value}"]
    return shlex.join([*words, "--save", f"{best.name}.nr"])


def spelled(told: argparse.Namespace, name: str) -> str:
    """The learner as it was named on the command line."""
    asked = [one.strip() for one in (told.learners or "").split(",")]
    return next((one for one in asked if one.endswith(f".py:{name}")), name)


def report(told: argparse.Namespace, source: Source, result: Race) -> dict[str, Any]:
    best = result.standings[0]
    return {
        **head(told, source, rounds=best.rounds),
        "task": best.learner.task,
        "seed": told.seed,
        "learners": [standing_report(one) for one in result],
        "baselines": result.baselines,
        "winner": best.name,
        "train": training(told, best),
    }
