"""`noregret race`: learners side by side over one source, and the name of the best."""

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

from noregret.cli.html_output import check_html, complete_report, write_html
from noregret.cli.interrupts import check_interrupt, exit_code
from noregret.cli.learner_names import add_settings, find_variants, rule_files
from noregret.cli.output import print_confusion, print_regret, write_json
from noregret.cli.screen import Screen
from noregret.cli.setup import (
    LearnerOptions,
    adapt_learners,
    check_label,
    check_outputs,
    class_options,
    early_options,
    given_read_options,
    learner_options,
    missing_options,
    open_data,
    outer_detector,
    suggest_task,
)
from noregret.data.batch import Batch
from noregret.errors import BadValue
from noregret.evaluation.baselines import baseline_learner, describe_baselines, loss_measure
from noregret.evaluation.capabilities import given_options, inner_learner, task_of
from noregret.evaluation.checkpoint import fingerprint_source
from noregret.evaluation.command_words import option_words
from noregret.evaluation.leaderboard import Entry, Leaderboard
from noregret.evaluation.play import open_for_tasks
from noregret.evaluation.race import ALL, Observer, Race, name_entrants
from noregret.evaluation.report import (
    TO_TRY,
    describe_held_out,
    describe_order,
    describe_ranks,
    describe_reading,
    describe_source,
    report_entry,
    report_head,
    report_sequence,
)
from noregret.evaluation.tables import sparkline
from noregret.learner.protocol import Learner
from noregret.learner.variants import Variant, file_length, name_learner, split_names
from noregret.metrics.drift import describe_drift
from noregret.streams import Source

OWN_OPTIONS = (  # options of learners that have options of their own on the command line
    "task", "seed", "transforms", "scale", "bias", "bits", "classes", "class_weight", "cost",
)  # fmt: skip
APART = "to compare: race learners together whose losses are the same thing"
GUESS = f"note: the best learner is worse than guessing the majority label so far; {TO_TRY}, or --learners all"
LAST = (
    "note: the best learner is worse than guessing the last label again: labels come in runs, as in sorted rows and "
    "time series; try --shuffle SEED, or a column with the last label"
)


def run(args: argparse.Namespace) -> int:
    screen = Screen(args.quiet, piped=args.json == "-")
    check_outputs({"--json": args.json, "--report": args.report}, [*args.data, *rule_files(args.learners)])
    check_html(args.report)
    if args.threads < 1:
        raise BadValue(f"--threads must be at least 1, not {args.threads}")
    variants = add_settings(args.set, select_variants(args, args.task), args.task)
    suggest_task(args, variants)
    early_options(args, variants).make(variants)  # refuse what cannot be, whatever the file
    source = open_data(args, args.task, **missing_options(args))
    options = learner_options(args, source, variants)
    if args.learners is None or args.learners.strip() == ALL:
        variants = add_settings(args.set, select_variants(args, options.given.get("task")), args.task)
    made = options.make(variants)
    names = name_entrants([*variants], made)
    learners = adapt_learners(args, made)
    if any(one is not inner for one, inner in zip(learners, made, strict=True)):
        names = [name_learner(one) for one in learners]
    screen.announce(source)
    observer, interrupted = ScreenObserver(args, screen, source), False
    try:
        with screen.live():
            opened = open_for_tasks(source, map(task_of, learners))
            race = Race(learners, opened, observer, args.regret, outer_detector(args), names)
            leaderboard = race.run(args.threads)
    except KeyboardInterrupt:
        if observer.leaderboard is None:
            raise
        leaderboard, interrupted = observer.leaderboard(), True
    order = describe_race_order(leaderboard)
    report = {**make_report(args, source, leaderboard), "interrupted": interrupted}
    if args.json is not None or args.report is not None:
        report = complete_report(report, source, leaderboard, [] if order is None else [order])
    write_json(args.json, report)
    write_html(args.report, report)
    if args.json != "-":
        print_result(args, leaderboard, source)
        if args.confusion:
            print_confusion(leaderboard.best, args.confusion)
        if args.regret:
            print_regret(leaderboard)
        for entry in leaderboard:
            if entry.drift is not None:
                sys.stdout.write(f"{entry.name}: {describe_drift(dict(entry.drift))}\n")
    screen.note_later(source)
    for entry in leaderboard:
        if entry.stopped is not None:
            screen.warn(f"{entry.name} could not go on: {entry.stopped}")
    if (measures := describe_measures(leaderboard)) is not None:
        screen.warn(measures)
    for text in describe_ranks([entry.learner for entry in leaderboard if not entry.stopped]):
        screen.note(f"{source.name}: {text}")
    if order is not None:
        screen.note(f"{source.name}: {order}")
    screen.conclude(source, leaderboard.winner, sum(entry.updates for entry in leaderboard))
    if interrupted:
        screen.warn("stopped before all rows were read; these are the standings so far")
        return exit_code()
    return 0


def describe_measures(leaderboard: Leaderboard) -> str | None:
    """A warning where learners without labels have losses that are not the same thing."""
    of: dict[str, str] = {}
    for entry in leaderboard:
        if not entry.stopped:
            of.setdefault(loss_measure(entry.learner), entry.name)
    if len(of) < 2 or "" in of:
        return None
    different = ", ".join(f"{name} has {measure}" for measure, name in of.items())
    return f"these losses cannot be compared: {different}"


def select_variants(args: argparse.Namespace, task: str | None) -> list[Variant]:
    """The learners of a race; where none are named, those that support the class weights and costs given."""
    variants = find_variants(args.learners, task)
    every = args.learners is not None and args.learners.strip() == ALL
    options = {name: value for name, value in class_options(args).items() if value is not None}
    if not every and (args.learners is not None or not options):
        return variants
    options |= {"task": task} if every and task is not None else {}
    able, refusal = [], None
    for one in variants:
        try:
            LearnerOptions(options, {}).make([one])
            able.append(one)
        except BadValue as error:
            refusal = error
    if not able and refusal is not None:
        raise refusal
    return able


class ScreenObserver(Observer):
    """Compiles what the race needs once the first rows are there, then shows the leaderboard."""

    def __init__(self, args: argparse.Namespace, screen: Screen, source: Source) -> None:
        self.args, self.screen, self.source = args, screen, source
        self.leaderboard: Callable[[], Leaderboard] | None = None  # once a batch is played by all

    def begin(self, learners: Sequence[Learner], batch: Batch) -> None:
        check_label(self.args, self.source)
        self.screen.note(describe_source(self.source, batch))
        for text in describe_reading(learners[0], self.source):
            self.screen.note(f"  {text}")
        self.screen.begin(self.source, learners, batch)

    def compare(self, name: str) -> None:
        check_interrupt()
        self.screen.note(f"computing the best fixed weights in hindsight for {name}")

    def progress(self, leaderboard: Callable[[], Leaderboard], done: float | None) -> None:
        self.leaderboard = leaderboard
        check_interrupt()
        if self.screen.due():
            now = leaderboard()
            leads = f"{now.best.name} leads" if len(now) > 1 else now.best.name
            title = f"{self.screen.progress(now.best.rounds, done)}; {leads} with {now.best.summarize()}"
            table = now.table()
            self.screen.show(*(add_trends(now, *table) if self.screen.shows_bars else table), title)


def add_trends(
    leaderboard: Leaderboard, head: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The table with the course of the mistake rate as small bars."""
    place = head.index("rate") + 1 if "rate" in head else 2
    trends = ["" if entry.stopped else sparkline(entry.trend()) for entry in leaderboard]
    wider = [[*row[:place], trend, *row[place:]] for row, trend in zip(rows, trends, strict=True)]
    return [*head[:place], "trend", *head[place:]], wider


def describe_race_order(leaderboard: Leaderboard) -> str | None:
    """A note where the rows seem sorted by label or time."""
    confusion = leaderboard.best.confusion
    if confusion is None or "last_label" not in leaderboard.baselines:
        return None
    return describe_order(int(leaderboard.baselines["last_label"]), confusion.rounds)


def print_result(args: argparse.Namespace, leaderboard: Leaderboard, source: Source) -> None:
    """The leaderboard, the best learner, the baselines, and how to train the best."""
    best = leaderboard.best
    label = "its label was seen" if best.task.needs_labels else "it was learned"
    seen = f"in {best.rounds:,} rounds, each predicted before {label}"
    if describe_measures(leaderboard) is not None:
        lines = [str(leaderboard), "", "no best learner, because these losses are not the same thing", APART]
        sys.stdout.write("\n".join(lines) + "\n")
        return
    lines = [str(leaderboard), "", f"best: {best.name}, {best.summarize()} {seen}"]
    lines.append(f"to compare: {describe_race_baselines(leaderboard)}")
    first = leaderboard.best_held_out
    if first is not None:
        lines.append(f"{describe_held_out(first, source)} by {first.name}, the best of them there")
    if is_worse_than_guessing(leaderboard):
        lines.append(GUESS)
    elif is_worse_than_guessing(leaderboard, "last_label"):
        lines.append(LAST)
    lines.append(f"train it: {training_command(args, best)}")
    sys.stdout.write("\n".join(lines) + "\n")


def describe_race_baselines(leaderboard: Leaderboard) -> str:
    """What the baselines did; where a baseline is a learner of its own, its result in this race."""
    best = leaderboard.best
    baseline = baseline_learner(best.learner)
    found = next((entry for entry in leaderboard if entry.learner.card.name == baseline and not entry.stopped), None)
    if found is None:
        return describe_baselines(best.learner, leaderboard.baselines, best.rounds)
    if found is best:
        return f"{found.name} is the baseline itself"
    return f"the baseline {found.name}, {found.summarize()}"


def is_worse_than_guessing(leaderboard: Leaderboard, baseline: str = "majority") -> bool:
    """Whether guessing the majority label so far, or the last one, errs less than the best learner."""
    return leaderboard.best.task.prediction == "label" and leaderboard.best.mistakes > leaderboard.baselines[baseline]


def training_command(args: argparse.Namespace, best: Entry) -> str:
    """The command that trains the best learner and saves it."""
    learner = best.learner if args.on_drift is None else inner_learner(best.learner)
    words = ["noregret", "learn", *args.data, "--learner", name_on_command_line(args, learner)]
    valued = {**given_read_options(args), "task": args.task, "seed": args.seed or None, "transform": args.transform}
    words += option_words(valued)
    for flag, text in (("--class-weight", args.class_weight), ("--cost", args.cost), ("--bits", args.bits)):
        words += [] if text is None else [flag, str(text)]
    for flag in ("scale", "bias"):
        value = getattr(args, flag)
        words += [] if value is None else [f"--{flag}" if value else f"--no-{flag}"]
    words += [] if args.classes is None else ["--classes", args.classes]
    if args.on_drift is not None:
        words += ["--on-drift", args.on_drift, *([] if args.detect is None else ["--detect", args.detect])]
    return shlex.join([*words, "--save", f"{learner.card.name}.nr"])


def name_on_command_line(args: argparse.Namespace, learner: Learner) -> str:
    """The learner with its options; a rule in a file by the file, as it was named on the command line."""
    name = name_learner(learner, set(given_options(learner)) - {*OWN_OPTIONS})
    for one in split_names(args.learners or ""):
        file, rest = one[: file_length(one)], one[file_length(one) :]
        if file and re.split(r"[(@]", rest)[0].strip() == learner.card.name:
            return file + name
    return name


def make_report(args: argparse.Namespace, source: Source, leaderboard: Leaderboard) -> dict[str, Any]:
    best = leaderboard.best
    return {
        **report_head(args.command_line, source, rounds=best.rounds),
        "task": best.learner.task,
        "seed": args.seed,
        "fingerprint": fingerprint_source(source, args.data, args.seed),
        "learners": [report_entry(entry) for entry in leaderboard],
        "baselines": leaderboard.baselines,
        "compare": describe_race_baselines(leaderboard),
        "sequences": [report_sequence(*one) for one in leaderboard.sequences],
        "winner": best.name if describe_measures(leaderboard) is None else None,
        "train": training_command(args, best),
    }
