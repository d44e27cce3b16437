"""`noregret predict`: a saved model over new rows."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.cli.confusion_option import COLUMNS
from noregret.cli.interrupts import check_interrupt
from noregret.cli.learner_names import import_file
from noregret.cli.load_learner import load_learner
from noregret.cli.output import plain_labels, prediction_columns, write_json
from noregret.cli.prediction_file import flush_if_live, open_predictions
from noregret.cli.screen import Screen
from noregret.cli.setup import check_columns, check_outputs, given_read_options, open_data
from noregret.cli.topic_documents import document_options, read_documents
from noregret.data.batch import Batch
from noregret.data.labels import as_array
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned
from noregret.evaluation.capabilities import (
    classes_of,
    costs_of,
    has_learned,
    predict_and_score,
    probabilities_of,
    task_of,
)
from noregret.evaluation.checkpoint import restore_options
from noregret.evaluation.evaluate import has_truth, is_same
from noregret.evaluation.report import describe_skipped, plain_label, report_confusion, report_head
from noregret.evaluation.tables import confusion_table
from noregret.learner.protocol import Learner, SelfEvaluating
from noregret.metrics import Confusion
from noregret.streams import Source
from noregret.tasks.task import Prediction

Floats = NDArray[np.float64]


def run(args: argparse.Namespace) -> int:
    if args.json == "-" and args.out == "-":
        raise BadValue("--json - and predictions both want standard output; give --out PATH")
    check_outputs({"--out": args.out, "--json": args.json}, [*args.data, args.model, *args.rule])
    screen = Screen(args.quiet, piped=args.out == "-")
    for file in args.rule:
        import_file(file)
    learner = load_learner(args.model)
    if not has_learned(learner):
        raise NotLearned(f"{args.model}: this model has not learned a round yet")
    task = task_of(learner)
    source = open_new_rows(args, learner)
    summary = Summary(task.prediction, Confusion(costs_of(learner)) if args.confusion and task.one_label else None)
    screen.announce(source)
    with screen.live(), open_predictions(args.out) as out:
        for batch in read_documents(learner, source, given_read_options(args)):
            check_interrupt()
            if summary.rows == 0:
                check_columns(learner, source, screen)
                screen.compile([learner], batch, len(classes_of(learner)))
            predictions, scores = predict_and_score(learner, batch.X)
            out.write(
                {
                    **first_columns(batch, numbered=args.on_bad == "skip"),
                    **prediction_columns(learner, predictions, task.real),
                    **more_columns(args, learner, batch, scores),
                }
            )
            flush_if_live(args.out, is_live(args))
            summary.add(plain_labels(predictions, task.real), batch)
            if screen.due():
                screen.show((), (), screen.progress(summary.rows, batch.progress))
    head = report_head(args.command_line, source)
    write_json(args.json, {**head, "model": args.model, "out": args.out, **summary.report()})
    if args.out != "-":
        screen.note(f"{summary.rows:,} predictions written to {args.out}{summary.describe()}")
    if args.confusion:
        (sys.stderr if args.out == "-" else sys.stdout).write(
            f"\n{summary.describe_confusion(learner, args.confusion)}\n"
        )
    for text in describe_skipped(source):
        screen.warn(text)
    return 0


def open_new_rows(args: argparse.Namespace, learner: Learner, labelled: bool = False) -> Source:
    """The new rows, read as the rows that were learned; labels may be missing where they need not be there."""
    restored = restore_options(learner, given_read_options(args))
    restored |= document_options(learner, args.data, given_read_options(args))
    keep, learned = tuple(getattr(args, "keep", ())), (learner.source or {}).get("columns")
    if keep and isinstance(learned, dict):  # what was not learned is no feature, and is kept as it is written
        drop = [*(args.drop or restored.get("drop", ())), *(name for name in keep if name not in learned)]
        restored |= {"drop": tuple(dict.fromkeys(drop)), "optional": (*restored["optional"], "drop")}
    live = {"live": True} if is_live(args) else {}
    return open_data(args, **{"labelled": labelled, **task_of(learner).reading, **restored, "keep": keep, **live})


def is_live(args: argparse.Namespace) -> bool:
    """Whether rows are answered as they come: they are read from standard input, and nothing waits for all of them."""
    return bool(args.data == ["-"])


def first_columns(batch: Batch, numbered: bool) -> dict[str, Sequence[Any]]:
    """The columns before the prediction: those that are kept, and the line of each row where rows may be skipped."""
    lines = {"line": batch.lines.tolist()} if numbered and batch.lines is not None else {}
    return {**(batch.kept or {}), **lines}


def more_columns(
    args: argparse.Namespace, learner: Learner, batch: Batch, scores: Floats | None
) -> dict[str, list[float]]:
    """The columns to write beside the predictions, by their titles."""
    columns: dict[str, list[float]] = {}
    if args.scores and task_of(learner).prediction == "components" and isinstance(learner, SelfEvaluating):
        columns["loss"] = learner.evaluate(batch.X, None).losses.tolist()
    elif args.scores and not task_of(learner).real:  # otherwise the predictions are the scores
        if scores is None:
            raise BadValue(f"{learner.card.name} has no scores; leave --scores out")
        columns |= {"score": scores.tolist()} if scores.ndim == 1 else columns_of_classes("score", learner, scores)
    if args.proba:
        found = columns_of_classes("probability", learner, probabilities_of(learner, batch.X, scores))
        columns |= {title: [float(f"{value:.6g}") for value in column] for title, column in found.items()}
    return columns


def columns_of_classes(what: str, learner: Learner, values: Floats) -> dict[str, list[float]]:
    """A column for each class."""
    titles = [f"{what} {plain_label(label)}" for label in classes_of(learner)]
    return dict(zip(titles, values.T.tolist(), strict=True))


class Summary:
    """The number of rows predicted and, of those with a label, of mistakes or the mean absolute error."""

    def __init__(self, prediction: Prediction, confusion: Confusion | None = None) -> None:
        self.prediction, self.confusion = prediction, confusion
        self.rows = self.labelled = self.mistakes = 0
        self.errors = 0.0

    def add(self, labels: Sequence[Any], batch: Batch) -> None:
        self.rows += len(labels)
        if self.prediction in ("score", "components") or batch.y is None:  # these are not comparable with a label
            return
        pairs = [(label, truth) for label, truth in zip(labels, batch.y, strict=True) if has_truth(truth)]
        self.labelled += len(pairs)
        if self.prediction == "target":
            self.errors += sum(abs(label - float(truth)) for label, truth in pairs)
            return
        wrong = np.array([not is_same(label, truth) for label, truth in pairs], bool)
        self.mistakes += int(np.count_nonzero(wrong))
        if self.confusion is not None and pairs:
            predicted, truths = (as_array(list(column)) for column in zip(*pairs, strict=True))
            self.confusion.see(None, Transcript(None, predicted, wrong * 1.0, wrong, ~wrong, truths))

    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = {"rows": self.rows, "labelled": self.labelled}
        if self.labelled and self.prediction == "target":
            report["mean_error"] = self.errors / self.labelled
        elif self.labelled:
            report["mistakes"] = self.mistakes
        if self.confusion is not None and self.labelled:
            report["confusion"] = report_confusion(self.confusion)
        return report

    def describe(self) -> str:
        if not self.labelled:
            return ""
        if self.prediction == "target":
            return f"; off by {self.errors / self.labelled:.4g} on average where the target is known"
        return f"; {self.mistakes:,} of {self.labelled:,} labels differ ({100 * self.mistakes / self.labelled:.2f} %)"

    def describe_confusion(self, learner: Learner, how: str) -> str:
        """The confusion matrix, or why there is none."""
        if self.confusion is None:
            return f"{learner.task} has no confusion matrix: its rounds do not have one label each"
        if not self.labelled:
            return "no row has a label, so there is no confusion matrix"
        return confusion_table(self.confusion, how == COLUMNS)
