"""`noregret show`: what a saved model is."""

import argparse
import sys

from noregret.cli.learner_names import import_file
from noregret.cli.output import write_json
from noregret.cli.rps import describe, report
from noregret.cli.setup import check_outputs
from noregret.errors import BadValue
from noregret.evaluation.capabilities import has_learned
from noregret.evaluation.inspect_model import describe_model, report_model
from noregret.games.player import Player
from noregret.games.rock_paper_scissors import RockPaperScissors
from noregret.learner.model_file import load


def run(args: argparse.Namespace) -> int:
    check_outputs({"--json": args.json}, [args.model, *args.rule])
    for file in args.rule:
        import_file(file)
    learner = load(args.model)
    if isinstance(learner, RockPaperScissors):
        write_json(args.json, report(learner))
        if args.json is None:
            sys.stdout.write(describe(learner, "all its opponents"))
        return 0
    if isinstance(learner, Player):
        raise BadValue(f"{args.model}: {learner!r}; to see more of it, load it in Python with nr.load")
    if args.json is not None:
        write_json(args.json, report_model(learner, args.model))
        return 0
    sys.stdout.write(describe_model(learner, args.model))
    if not has_learned(learner):
        sys.stdout.write("\nIt has not learned a round yet.\n")
    return 0
