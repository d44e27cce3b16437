"""`noregret evaluate`: a saved model on rows with labels, which it does not learn."""

import argparse
import sys

from noregret.cli.confusion_option import COLUMNS
from noregret.cli.interrupts import check_interrupt
from noregret.cli.learner_names import import_file
from noregret.cli.load_learner import load_learner
from noregret.cli.output import write_json
from noregret.cli.predict import open_new_rows
from noregret.cli.screen import Screen
from noregret.cli.setup import check_columns, check_outputs, given_read_options
from noregret.cli.topic_documents import read_documents
from noregret.errors import BadValue
from noregret.evaluation.capabilities import classes_of
from noregret.evaluation.evaluate import Evaluation
from noregret.evaluation.report import describe_skipped, report_confusion, report_head
from noregret.evaluation.tables import confusion_table, reliability_table, table

NAMES = {
    "rate": "share of mistakes",
    "most_frequent_label_errs": "mistakes of always predicting the most frequent label",
    "mae": "mean absolute error",
    "rmse": "root of the mean squared error",
    "r2": "R2",
    "auc": "area under the ROC curve",
    "auc_error": "rounding error of that area",
    "brier": "Brier score",
}


def run(args: argparse.Namespace) -> int:
    check_outputs({"--json": args.json}, [*args.data, args.model, *args.rule])
    screen = Screen(args.quiet, piped=args.json == "-")
    for file in args.rule:
        import_file(file)
    learner = load_learner(args.model)
    evaluation = Evaluation(learner)
    source = open_new_rows(args, learner, labelled=True)
    screen.announce(source)
    with screen.live():
        for batch in read_documents(learner, source, given_read_options(args)):
            check_interrupt()
            if evaluation.rows == 0:
                check_columns(learner, source, screen)
                screen.compile([learner], batch, len(classes_of(learner)))
            evaluation.see(batch)
            if screen.due():
                screen.show((), (), screen.progress(evaluation.rows, batch.progress))
    report = evaluation.report()
    report.pop("rounds", None)  # the rows
    if not evaluation.labelled:
        raise BadValue(f"{source.name}: there are no rows with a label to evaluate the model on")
    head = report_head(args.command_line, source)
    confusion = {} if evaluation.confusion is None else {"confusion": report_confusion(evaluation.confusion)}
    bins = [] if evaluation.reliability is None else evaluation.reliability.bins()
    reliability = {"reliability": bins} if bins else {}
    write_json(args.json, {**head, "model": args.model, **report, **confusion, **reliability})
    if args.json != "-":
        sys.stdout.write(describe(args.model, source.name, report))
        if evaluation.confusion is not None and args.confusion:
            sys.stdout.write(f"\n{confusion_table(evaluation.confusion, args.confusion == COLUMNS)}\n")
        elif args.confusion:
            screen.note(f"{learner.task} has no confusion matrix: its rows do not have one label each")
        if args.reliability:
            sys.stdout.write(f"\n{describe_reliability(evaluation)}\n")
    for text in describe_skipped(source):
        screen.warn(text)
    return 0


def describe_reliability(evaluation: Evaluation) -> str:
    """How often predicted labels were right, by their probability."""
    if evaluation.reliability is None or not evaluation.reliability.rounds:
        return f"{evaluation.learner.card.name} has no probabilities in {evaluation.learner.task}"
    return reliability_table(evaluation.reliability)


def describe(model: str, source: str, report: dict[str, float]) -> str:
    """The report as a table of two columns."""
    rows = [(NAMES.get(name, name.replace("_", " ")), show(value)) for name, value in report.items()]
    return f"{model} on {source}\n\n{table(('measure', 'value'), rows)}\n"


def show(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else "not defined" if value != value else f"{value:.6g}"
