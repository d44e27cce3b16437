"""`noregret tune`: candidates side by side over one source, and the command that trains the best."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from noregret.cli.interrupts import check_interrupt, exit_code
from noregret.cli.learner_names import add_settings, find_variants, rule_files
from noregret.cli.output import write_json
from noregret.cli.race import training_command
from noregret.cli.screen import Screen
from noregret.cli.setup import (
    check_outputs,
    early_options,
    given_read_options,
    learner_options,
    missing_options,
    open_data,
)
from noregret.data.batch import Batch
from noregret.errors import BadValue
from noregret.evaluation.baselines import describe_baselines
from noregret.evaluation.leaderboard import show_value
from noregret.evaluation.report import (
    TO_TRY,
    count_of,
    describe_reading,
    describe_source,
    report_head,
)
from noregret.evaluation.tune import OF_SPLIT, Settings, add_passes, search
from noregret.evaluation.tuning.candidates import PASSES, make_searches
from noregret.evaluation.tuning.result import Tuning
from noregret.evaluation.tuning.runs import TuneObserver
from noregret.learner.protocol import Learner
from noregret.learner.variants import Variant, parse_value
from noregret.rules.names import SCALES
from noregret.streams import Source

SHOWN = 15  # candidates of a live table


def run(args: argparse.Namespace) -> int:
    screen = Screen(args.quiet, piped=args.json == "-")
    args.learners = args.learners or args.learner
    if args.save == "-":
        raise BadValue("--save -: a model is saved to a file; name one")
    check_outputs({"--json": args.json, "--save": args.save}, [*args.data, *rule_files(args.learners)])
    observer = ScreenObserver(screen)
    settings = read_settings(args, observer)
    variants = add_settings(args.set, find_variants(args.learners, args.task), args.task)
    space: Any = parse_space(args.space)
    split = args.method == "split"
    if split and args.passes is not None:
        space = add_passes(space, args.passes)
    early_options(args, variants).make(variants)  # refuse what cannot be, whatever the file
    more = {"shuffle": None, PASSES: 1} if split else {}
    source = observer.source = open_data(args, args.task, **missing_options(args), **more)
    options = learner_options(args, source, variants)

    def make_one(variant: Variant, chosen: Mapping[str, Any]) -> Learner:
        return options.make([Variant(variant.card, {**variant.options, **chosen})])[0]

    searches = make_searches(variants, space, {}, make_one)
    screen.announce(source)
    interrupted = False
    try:
        with screen.live():
            tuning = search(source, searches, settings, args.shuffle if split else None)
    except KeyboardInterrupt:
        if observer.standings is None:
            raise
        tuning, interrupted = observer.standings(), True
    conclude(args, screen, source, tuning, interrupted)
    if args.save is not None:
        save_best(args, screen, source, tuning)
    if interrupted:
        screen.warn("stopped before all rows were read; these are the standings so far")
        return exit_code()
    return 0


def read_settings(args: argparse.Namespace, observer: TuneObserver) -> Settings:
    """How candidates are compared."""
    given = {name: getattr(args, name) for name in (*OF_SPLIT, "factor", "metric")}
    given = {name: value for name, value in given.items() if value not in (None, False)}
    settings = Settings(args.method, args.candidates, args.seed, args.threads, observer=observer, **given)
    settings.check_given(given)
    return settings


def parse_space(texts: Sequence[str]) -> dict[str, Any] | None:
    """The search space given with --try."""
    space: dict[str, Any] = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not name or (equals and not values):
            raise BadValue(f"--try {text}: write NAME=VALUES, as in --try C=0.1,1,10 or --try r=0.01:100:log")
        if name in space:
            raise BadValue(f"--try {text}: {name} is given twice")
        space[name] = parse_values(values) if equals else None
    return space or None


def parse_values(text: str) -> Any:
    """A range (lowest, highest, scale), or a list of values."""
    parts = text.split(":")
    if len(parts) == 3 and parts[2].strip() in SCALES:
        return parse_value(parts[0]), parse_value(parts[1]), parts[2].strip()
    return [parse_value(part) for part in text.split(",") if part.strip()]


class ScreenObserver(TuneObserver):
    """Compiles what the candidates need once the first rows are there, then shows the best of them."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.source = Source()
        self.standings: Callable[[], Tuning] | None = None  # once candidates can be compared

    def begin(self, learners: Sequence[Learner], batch: Batch) -> None:
        self.screen.note(describe_source(self.source, batch))
        for text in describe_reading(learners[0], self.source):
            self.screen.note(f"  {text}")
        if len(learners) > 1:
            self.screen.note(f"  {count_of(len(learners), 'candidate')}")
        self.screen.begin(self.source, learners, batch)

    def progress(self, standings: Callable[[], Tuning] | None, rounds: int, done: float | None) -> None:
        self.standings = standings
        check_interrupt()
        if not self.screen.due():
            return
        title = self.screen.progress(rounds, done)
        if standings is None:
            self.screen.show((), (), title)
            return
        now = standings()
        head, rows = now.table()
        leads = f"{now.first.describe()} leads with {now.first.summarize()}"
        self.screen.show(head, rows[:SHOWN], f"{title}; {leads}")


def conclude(args: argparse.Namespace, screen: Screen, source: Source, tuning: Tuning, interrupted: bool) -> None:
    """Write the report, or print the result, and what is odd about it."""
    command = make_command(args, tuning)
    head = report_head(args.command_line, source, rounds=tuning.first.entry.rounds)
    write_json(args.json, {**head, "seed": args.seed, **tuning.report(), "train": command, "interrupted": interrupted})
    if args.json != "-":
        sys.stdout.write("\n".join([str(tuning), "", *describe_result(tuning), f"train it: {command}"]) + "\n")
    screen.note_later(source)
    for result in tuning:
        if result.entry.stopped is not None:
            screen.warn(f"{result.describe()} could not go on: {result.entry.stopped}")
    screen.conclude(source, tuning.best, sum(result.entry.updates for result in tuning))


def save_best(args: argparse.Namespace, screen: Screen, source: Source, tuning: Tuning) -> None:
    """Save the best learner with how its rows were read, as `noregret learn --save` does."""
    learner, options = tuning.best, given_read_options(args)
    learner.source = {**source.describe(), "rows": learner.rounds, "ended": True, "reading": options}
    learner.save(args.save)
    screen.note(f"saved to {args.save}: {tuning.first.describe()}, after {learner.rounds:,} rounds")


def describe_result(tuning: Tuning) -> list[str]:
    """The best candidate, the default parameters beside it, and the baselines."""
    first, entry = tuning.first, tuning.first.entry
    if entry.held_out is None:
        before = "its label was seen" if entry.task.needs_labels else "it was learned"
        seen = f"in {entry.rounds:,} rounds, each predicted before {before}"
    else:
        seen = f"on {count_of(int(entry.held_out['rows']), 'validation row')}, which it did not learn"
    lines = [f"best: {first.describe()}, {first.summarize()} {seen}"]
    default = next((one for one in tuning if one.name == first.name and not one.candidate.settings), None)
    if default is not None and default is not first and not default.status:
        lines.append(f"with its default parameters: {default.summarize()}")
    if entry.held_out is None and tuning.baselines:
        lines.append(f"to compare: {describe_baselines(entry.learner, tuning.baselines, entry.rounds)}")
        if entry.task.prediction == "label" and entry.mistakes > tuning.baselines["majority"]:
            lines.append(f"note: the best is worse than guessing the majority label so far; {TO_TRY}")
    for name, end in tuning.find_edges().items():
        value = show_value(first.parameters[name])
        lines.append(f"note: {name}={value} is the {end} value tried; --try {name}=... can look further")
    return lines


def make_command(args: argparse.Namespace, tuning: Tuning) -> str:
    """The command that trains the best candidate and saves it."""
    chosen = argparse.Namespace(**{"on_drift": None, "detect": None, **vars(args)})
    passes = tuning.first.passes or tuning.passes
    if passes > 1:
        chosen.passes = passes
    return training_command(chosen, tuning.first.entry)
