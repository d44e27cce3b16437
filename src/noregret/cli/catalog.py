"""`noregret learners`, `noregret datasets`, `noregret warm`: what there is."""

import argparse
import sys
import time
from typing import Any

from noregret.cli.learner_names import find_card
from noregret.cli.output import write_json
from noregret.errors import BadValue
from noregret.evaluation.tables import listing as table_of
from noregret.rules.card import Card
from noregret.rules.parameters import Param


def run(told: argparse.Namespace) -> int:
    commands = {"learners": show_learners, "datasets": show_datasets, "warm": warm_up}
    commands[told.command](told)
    return 0


def show_learners(told: argparse.Namespace) -> None:
    from noregret.learner.factory import learners

    if told.name is not None:
        card = find_card(told.name)
        say(told, card_report(card), card_text(card))
        return
    cards = list(learners())
    rows = [(card.name, card.about) for card in cards]
    text = table_of(("learner", "what it does"), rows) + "\n\n`noregret learners NAME` shows a card\n"
    say(told, {"learners": [card_report(card) for card in cards]}, text)


def say(told: argparse.Namespace, report: dict[str, Any], text: str) -> None:
    write_json(told.json, report)
    if told.json is None:
        sys.stdout.write(text)


def card_report(card: Card) -> dict[str, Any]:
    """A card for machines."""
    return {
        "name": card.name,
        "about": card.about,
        "paper": card.paper,
        "parameters": {
            name: {"default": one.default, "limits": one.limits, "about": one.about}
            for name, one in card.params.items()
        },
        "tasks": list(card.tasks),
        "algebras": list(card.algebras),
        "weighs": card.supports_weights,
        "theorems": [
            {"bounds": one.bounds, "says": one.says, "when": one.condition, "needs": list(one.needs)}
            for one in card.guarantees
        ],
        "merge": {"law": card.merge.law, "how": card.merge.how},
    }


def card_text(card: Card) -> str:
    """A card for people."""
    lines = [f"{card.name}: {card.about}", "", f"paper       {card.paper}"]
    lines.append(f"plays       {', '.join(card.tasks)}")
    lines.append(f"in          {', '.join(card.algebras)}")
    for number, (name, one) in enumerate(card.params.items()):
        default = f"{one.default:g}" if isinstance(one, Param) else one.default
        told = f"{name} = {default}; {one.limits}; {one.about}"
        lines.append(f"{'parameters' if number == 0 else '':12}{told}")
    if not card.params:
        lines.append("parameters  none")
    for guarantee in card.guarantees:
        lines += [f"theorem     {guarantee.says}", f"            when {guarantee.condition}"]
    lines.append(f"weighs      {'yes' if card.supports_weights else 'no, all rounds count the same'}")
    lines.append(f"merging     {card.merge.law}: {card.merge.how}")
    lines += ["", f"noregret learn DATA --learner {card.name} --save {card.name}.nr"]
    return "\n".join(lines) + "\n"


def show_datasets(told: argparse.Namespace) -> None:
    from noregret.streams.datasets import list_datasets

    entries = list_datasets()
    rows = [(one.name, one.task, one.size, one.about) for one in entries]
    text = table_of(("data set", "task", "size", "what it is"), rows)
    note = "\n\nNOREGRET_DATA names a folder of your own: its files are data sets by their names.\n"
    keys = ("name", "task", "size", "about", "where")
    say(told, {"datasets": [{key: getattr(one, key) for key in keys} for one in entries]}, text + note)


def warm_up(told: argparse.Namespace) -> None:
    from noregret.algebra import TYPES
    from noregret.learner.precompile import warm
    from noregret.streams import csv, libsvm, vw
    from noregret.tasks import TASKS

    chosen = {}
    for what, text, known in (("--tasks", told.tasks, TASKS), ("--algebras", told.algebras, TYPES)):
        chosen[what] = [one.strip() for one in text.split(",") if one.strip()]
        wrong = [one for one in chosen[what] if one not in known]
        if wrong:
            raise BadValue(f"{what} must be of {', '.join(known)}, not {wrong[0]!r}")
    began = time.monotonic()
    said = 0

    def tell(ready: int, count: int) -> None:
        nonlocal said
        if not told.quiet and ready * 10 // count > said:
            said = ready * 10 // count
            sys.stderr.write(f"compiled {ready} of {count}\n")

    csv.compile_parser()
    libsvm.compile_parser()
    vw.compile_parser()
    vw.compile_dictionary()
    names = [find_card(name).name for name in told.names] or None
    count = warm(names, chosen["--tasks"], chosen["--algebras"], progress=tell)
    if not told.quiet:
        sys.stdout.write(
            f"{'1 loop is' if count == 1 else f'{count} loops are'} ready ({time.monotonic() - began:.1f} s)\n"
        )
