"""`noregret race`: learners side by side over one source, and the name of the best."""

import argparse
import shlex
import sys
from collections.abc import Callable
from typing import Any

from noregret import __version__
from noregret.cli.output import write_json
from noregret.cli.rules import cards_of, settings
from noregret.cli.screen import Screen, distinct, jobs_for
from noregret.cli.setup import made, opened, remarks, suited, writable
from noregret.errors import BadValue
from noregret.session import Entrants, Race, Standing, Watcher, cells, columns, race
from noregret.streams import Batch, Source


def run(told: argparse.Namespace) -> int:
    screen = Screen(told.quiet, piped=told.json == "-")
    writable(told.json, "--json", told.data)
    if told.threads < 1:
        raise BadValue(f"--threads must be at least 1, not {told.threads}")
    cards = cards_of(told.learners, told.game)
    chosen = settings(told.set, cards)
    made(cards, chosen, {} if told.game is None else {"game": told.game})  # refuse what cannot be, whatever the file
    source = opened(told)
    common = suited(told, source)
    if told.learners is None:
        cards = cards_of(None, common.get("game"))
        chosen = settings(told.set, cards)
    learners = made(cards, chosen, common)
    with screen.drawing():
        result = race(source, learners, threads=told.threads, watcher=Lookout(screen, source))
    write_json(told.json, report(told, source, result))
    if told.json != "-":
        conclude(told, source, result)
    screen.tail(source)
    warn_of(screen, source, result)
    return 0


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
        if self.screen.due():
            now = race()
            best = now.standings[0]
            leads = f"{best.name} leads" if len(now) > 1 else best.name
            title = f"{self.screen.progress(best.rounds, done)}; {leads} with {score(best)}"
            self.screen.show(columns(best.learner.game), [cells(one) for one in now], title)


def described(source: Source, batch: Batch) -> str:
    rows = "" if source.rows is None else f"{source.rows:,} rows, "
    width = batch.X.block.width if hasattr(batch.X, "block") else getattr(batch.X, "shape", (0, 0))[1]
    more = "so far" if source.kind in ("csv", "libsvm") else ""
    return f"{source.name}: {rows}{width:,} features {more}".rstrip()


def score(one: Standing) -> str:
    if one.learner.game == "regression":
        return f"a mean loss of {one.loss / max(one.rounds, 1):.4g}"
    return f"{one.mistakes:,} mistakes ({100 * one.rate:.2f} %)"


def conclude(told: argparse.Namespace, source: Source, result: Race) -> None:
    """The ranking, the winner, what simple guessing would have done, and how to train the winner."""
    best = result.standings[0]
    lines = [str(result), ""]
    lines.append(
        f"best: {best.name}, {score(best)} in {best.rounds:,} rounds, each predicted before its label was seen"
    )
    lines.append(f"to compare: {compared(result, best)}")
    lines.append(f"train it: {training(told, best)}")
    sys.stdout.write("\n".join(lines) + "\n")


def compared(result: Race, best: Standing) -> str:
    rounds = max(best.rounds, 1)
    if best.learner.game == "regression":
        told = {"the running mean": "mean", "the last target": "last_target"}
        return ", ".join(f"{name} is off by {result.baselines[key] / rounds:.4g}" for name, key in told.items())
    told = {"always guessing the majority label": "majority", "the last label": "last_label"}
    found = {name: result.baselines[key] for name, key in told.items()}
    return ", ".join(
        f"{name} errs {int(wrong):,} times ({100 * wrong / rounds:.2f} %)" for name, wrong in found.items()
    )


def training(told: argparse.Namespace, best: Standing) -> str:
    """The command that would train the winner and keep it."""
    said = [word for word in told.said if word != "race"]
    words = ["noregret", "learn", told.data, "--learner", spelled(told, best.name)]
    for flag in ("--label", "--on-bad", "--game", "--seed"):
        if flag in said:
            words += [flag, said[said.index(flag) + 1]]
    words += [flag for flag in ("--zero-based", "--scale", "--no-scale", "--bias", "--no-bias") if flag in said]
    for name, value in best.learner.settings.told.items():
        if name not in ("game", "seed", "scale", "bias"):
            words += ["--set", f"{name}={value}"]
    return shlex.join([*words, "--save", f"{best.name}.nr"])


def spelled(told: argparse.Namespace, name: str) -> str:
    """The learner as it was named on the command line."""
    asked = [one.strip() for one in (told.learners or "").split(",")]
    return next((one for one in asked if one.endswith(f".py:{name}")), name)


def report(told: argparse.Namespace, source: Source, result: Race) -> dict[str, Any]:
    best = result.standings[0]
    return {
        "noregret": __version__,
        "command": ["noregret", *told.said],
        "source": {**source.about(), "rounds": best.rounds},
        "game": best.learner.game,
        "seed": told.seed,
        "learners": [standing_report(one) for one in result],
        "baselines": result.baselines,
        "winner": best.name,
        "train": training(told, best),
    }


def standing_report(one: Standing) -> dict[str, Any]:
    return {
        "name": one.name,
        "rounds": one.rounds,
        "mistakes": one.mistakes,
        "rate": one.rate,
        "loss": one.loss,
        "updates": one.updates,
        "nonzeros": one.nonzeros,
        "seconds": one.seconds,
        "parameters": one.learner.params,
    }


def warn_of(screen: Screen, source: Source, result: Race) -> None:
    """What is odd about the data, said at the end where it is seen."""
    learner = result.standings[0].learner
    if source.skipped:
        screen.warn(f"{source.name}: {source.skipped:,} rows could not be used and were skipped")
    if learner.game != "regression" and len(learner.classes) == 1:
        screen.warn(f"{source.name}: every label is {learner.classes[0]!r}; with one class there is nothing to learn")
