"""`noregret teach`: a hidden conjunction or disjunction, taught round by round."""

import argparse
import sys
from dataclasses import asdict
from typing import Any

from noregret.cli.output import write_json
from noregret.cli.screen import Screen
from noregret.cli.setup import check_outputs
from noregret.concepts.lesson_text import describe_end, describe_start
from noregret.concepts.teaching import Lesson, Step, teach
from noregret.evaluation.report import SCHEMA
from noregret.evaluation.tables import table as align_table
from noregret.version import __version__

HEAD = ("round", "example", "label", "predicted", "mistakes", "literals left", "undecided")
MOST_LIVE = 15  # rows of a live table
MOST_ROWS = 60  # rounds that are printed: the first and the last ones
OPTIONS = ("eps", "delta", "rounds", "seed")


def run(args: argparse.Namespace) -> int:
    check_outputs({"--json": args.json}, [])
    screen = Screen(args.quiet, args.json == "-")

    def tell(lesson: Lesson, step: Step | None) -> None:
        if screen.due():
            title = f"{lesson.examples:,} of {lesson.promised:,} examples, {lesson.mistakes} mistakes"
            screen.show(HEAD, [as_cells(one) for one in lesson.steps[-MOST_LIVE:]], title)

    options: dict[str, Any] = {name: getattr(args, name) for name in OPTIONS if getattr(args, name) is not None}
    features = args.n if args.features is None else split(args.features)
    with screen.live():
        lesson = teach(read_literals(args.target, args.features is None), features, args.protocol,
                       concept=args.concept, negations=args.negations, tell=tell, **options)  # fmt: skip
    head = {"schema": SCHEMA, "noregret": __version__, "command": ["noregret", *args.command_line]}
    write_json(args.json, {**head, **asdict(lesson)})
    if args.json != "-":
        lines = [] if args.quiet else [describe_start(lesson), "", *list_rounds(lesson), ""]
        sys.stdout.write("\n".join([*lines, *describe_end(lesson)]) + "\n")
    return 0


def split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def read_literals(text: str, numbered: bool) -> list[str]:
    """The literals of a target; where features are called x1, x2 ..., a number is enough."""
    found = []
    for part in split(text):
        sign, name = ("!", part[1:].strip()) if part.startswith("!") else ("", part)
        found.append(f"{sign}x{name}" if numbered and name.isdecimal() else f"{sign}{name}")
    return found


def as_cells(step: Step) -> tuple[str, ...]:
    undecided = "" if step.undecided is None else f"{step.undecided:,}"
    counts = (f"{step.number:,}", step.example, step.label, step.predicted, f"{step.mistakes:,}", f"{step.left:,}")
    return (*map(str, counts), undecided)


def list_rounds(lesson: Lesson) -> list[str]:
    """The rounds as lines of text; of many, the first and the last ones."""
    steps = lesson.steps
    if not steps:
        return ["no example ruled anything out"]
    half = MOST_ROWS // 2
    shown = steps if len(steps) <= MOST_ROWS else [*steps[:half], *steps[-half:]]
    width = len(HEAD) if shown[-1].undecided is not None else len(HEAD) - 1
    lines = align_table(HEAD[:width], [as_cells(one)[:width] for one in shown]).splitlines()
    if len(shown) < len(steps):
        lines.insert(2 + half, f"... {len(steps) - len(shown):,} more rounds ...")
    return lines
