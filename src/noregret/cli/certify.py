"""`noregret certify`: the largest margin of the rows or the proof that there is none, and the bounds that follow."""

import argparse
import sys
from functools import partial
from typing import Any

from noregret.cli.learner_names import add_settings, find_variants, rule_files
from noregret.cli.output import write_json
from noregret.cli.screen import Screen, count_distinct
from noregret.cli.setup import check_outputs, drop_defaults, missing_options, open_data
from noregret.evaluation.certify import Request, run_certify
from noregret.evaluation.mistake_bounds import has_mistake_bound
from noregret.evaluation.race import ALL, all_cards
from noregret.evaluation.report import describe_skipped, report_head
from noregret.learner.variants import Variant


def run(args: argparse.Namespace) -> int:
    screen = Screen(args.quiet, piped=args.json == "-")
    check_outputs({"--json": args.json}, [*args.data, *rule_files(args.learners)])
    variants = named_variants(args)
    add_settings(args.set, variants or default_variants())  # refuse what cannot be, whatever the file
    source = open_data(args, None, **missing_options(args))
    screen.announce(source)
    options: dict[str, Any] = drop_defaults(
        {"transforms": args.transform, "scale": args.scale, "bias": args.bias, "bits": args.bits, "seed": args.seed}
    )

    def begin(learners: Any, batch: Any) -> None:
        screen.compile(learners, batch, count_distinct(batch.y))

    chosen = ALL if args.learners == ALL else variants
    add = partial(add_settings, args.set)
    request = Request(chosen, args.invariants, args.expansions, add, begin, screen.note)
    certificate = run_certify(source, request, options)
    write_json(args.json, {**report_head(args.command_line, source), **certificate.report()})
    if args.json != "-":
        sys.stdout.write(f"{certificate}\n")
    for text in source.notes:
        screen.note(f"{source.name}: {text}")
    for text in describe_skipped(source):
        screen.warn(text)
    return 0


def named_variants(args: argparse.Namespace) -> list[Variant] | None:
    """The learners of --learners; None where none are named."""
    return None if args.learners is None or args.learners.strip() == ALL else find_variants(args.learners, None)


def default_variants() -> list[Variant]:
    """The learners that may be used where none are named."""
    cards = {card.name: card for task in ("binary", "multiclass") for card in all_cards(task)}
    return [Variant(card) for card in cards.values() if has_mistake_bound(card)]
