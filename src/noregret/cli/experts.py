"""`noregret experts`: expert algorithms side by side over predictions with the truth, or over losses."""

import argparse
import sys
from typing import Any

from noregret.cli.learner_names import add_settings
from noregret.cli.output import write_json
from noregret.cli.setup import check_outputs
from noregret.errors import BadValue
from noregret.evaluation.experts import DEFAULT, race_experts
from noregret.evaluation.report import SCHEMA
from noregret.experts.card import ExpertCard, find_algorithm
from noregret.learner.variants import Variant, parse, split_names
from noregret.streams.expert_tables import BUILT_IN, ExpertTable, read_expert_table
from noregret.version import __version__


def run(args: argparse.Namespace) -> int:
    check_outputs({"--json": args.json, "--picture": args.picture}, [args.data])
    algorithms = add_settings(args.set, find_algorithms(args.algorithms))
    table = read_expert_table(args.data, find_truth(args), tuple(args.drop))
    options: dict[str, Any] = {"names": table.names, "seed": args.seed, "missing": args.missing}
    if args.loss_range is not None:
        options["loss_range"] = tuple(args.loss_range)
    if table.truth is not None:
        options["loss"] = args.loss or guess_loss(table)
    elif args.loss is not None:
        raise BadValue("--loss is for predictions with --truth; with --losses the cells are losses already")
    settings = {one.card.name: one.options for one in algorithms} if args.algorithms is None else None
    named = None if args.algorithms is None else algorithms
    try:
        race = race_experts(table.rows, table.truth, named, switches=args.switches, settings=settings, **options)
    except BadValue as error:
        raise locate(error, table) from None
    head = {"schema": SCHEMA, "noregret": __version__, "command": ["noregret", *args.command_line]}
    write_json(args.json, {**head, "source": table.where, **race.report()})
    if args.json != "-":
        sys.stdout.write(f"{race}\n")
    if args.picture is not None:
        from noregret import plots

        plots.save_figure(plots.experts(race), args.picture, "--picture")
    return 0


def find_truth(args: argparse.Namespace) -> str | None:
    """The column of the truths; None where the cells are losses."""
    if args.losses and args.truth is not None:
        raise BadValue("give --truth for predictions or --losses for losses, not both")
    if not args.losses and args.truth is None and args.data not in BUILT_IN:
        raise BadValue(
            "name the column that holds the truth with --truth COLUMN; or, where cells are losses, give --losses"
        )
    return None if args.truth is None else str(args.truth)


def find_algorithms(names: str | None) -> list[Variant]:
    """The algorithms named, or those that run by default."""
    return [parse(one, find_card) for one in (DEFAULT if names is None else split_names(names))]


def find_card(name: str) -> ExpertCard:
    """The card of an algorithm; exp3 is the name of a bandit learner, too."""
    return find_algorithm("exp3_experts" if name == "exp3" else name)


def guess_loss(table: ExpertTable) -> str:
    """Labels are right or wrong; for other numbers the loss must be named."""
    if any(isinstance(one, float) and not one.is_integer() for one in table.truth or ()):
        raise BadValue("the truths are real numbers; name the loss of a prediction: --loss squared, --loss absolute")
    return "zero_one"


def locate(error: BadValue, table: ExpertTable) -> BadValue:
    """An error about a round, with the line of the file."""
    if error.row is None or error.row >= len(table.lines):
        return error
    return BadValue(f"{table.where}:{table.lines[error.row]}: {str(error).partition(': ')[2] or error}"
                    if str(error).startswith(f"round {error.row}: ") else
                    f"{table.where}:{table.lines[error.row]}: {error}")  # fmt: skip
