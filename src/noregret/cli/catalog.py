"""`noregret learners`, `noregret datasets`, `noregret warm`: list what there is, and compile it ahead of time."""

import argparse
import sys
import time
from collections.abc import Iterable
from typing import Any

from noregret.cli.learner_names import find_variant
from noregret.cli.output import write_json
from noregret.errors import BadValue
from noregret.evaluation.catalog import report_card
from noregret.evaluation.tables import text_table
from noregret.learner.card_text import describe_card


def run(args: argparse.Namespace) -> int:
    commands = {"learners": show_learners, "datasets": show_datasets, "warm": warm_up}
    commands[args.command](args)
    return 0


def show_learners(args: argparse.Namespace) -> None:
    from noregret.learner.factory import learners

    if args.name is not None and args.task is not None:
        raise BadValue("--task is for the list of learners; a card says which tasks its learner plays")
    if args.name is not None:
        card = find_variant(args.name).card
        print_or_write(args, report_card(card), describe_card(card))
        return
    cards = [card for card in learners() if args.task in (None, *card.tasks)]
    rows = [(card.name, card.about) for card in cards]
    text = text_table(("learner", "what it does"), rows) + "\n\n`noregret learners NAME` shows a card\n"
    print_or_write(args, {"learners": [report_card(card) for card in cards]}, text)


def show_datasets(args: argparse.Namespace) -> None:
    from noregret.streams.datasets import list_datasets

    entries = list_datasets()
    rows = [(one.name, one.task, one.size, one.about) for one in entries]
    text = text_table(("data set", "task", "size", "what it is"), rows)
    note = "\n\nNOREGRET_DATA names a folder of your own: its files are data sets by their names.\n"
    keys = ("name", "task", "size", "about", "where")
    print_or_write(args, {"datasets": [{key: getattr(one, key) for key in keys} for one in entries]}, text + note)


def print_or_write(args: argparse.Namespace, report: dict[str, Any], text: str) -> None:
    """Write the report as JSON where --json names a file; otherwise print the text."""
    write_json(args.json, report)
    if args.json is None:
        sys.stdout.write(text)


def warm_up(args: argparse.Namespace) -> None:
    from noregret.algebra import TYPES
    from noregret.learner.precompile import warm
    from noregret.streams import csv, libsvm, vw
    from noregret.tasks import TASKS

    tasks = split_names("--tasks", args.tasks, TASKS)
    algebras = split_names("--algebras", args.algebras, TYPES)
    began = time.monotonic()
    printed = 0  # tenths of the work that are printed

    def show_progress(ready: int, count: int) -> None:
        nonlocal printed
        if not args.quiet and ready * 10 // count > printed:
            printed = ready * 10 // count
            sys.stderr.write(f"compiled {ready} of {count}\n")

    csv.compile_parser()
    libsvm.compile_parser()
    vw.compile_parser()
    vw.compile_dictionary()
    names = [find_variant(name) for name in args.names] or None
    count = warm(names, tasks, algebras, progress=show_progress)
    if not args.quiet:
        loops = "1 loop is" if count == 1 else f"{count} loops are"
        sys.stdout.write(f"{loops} ready ({time.monotonic() - began:.1f} s)\n")


def split_names(option: str, text: str, known: Iterable[str]) -> list[str]:
    """The names in an option that takes several, each of which must be known."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise BadValue(f"{option} must be of {', '.join(known)}, not {name!r}")
    return names
