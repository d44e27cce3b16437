"""What the commands say in common: of a source, of a learner, of what is odd about the data."""

import argparse
import sys
from typing import Any

from noregret.cli.output import plain_label
from noregret.cli.screen import Screen
from noregret.evaluation.leaderboard import Standing
from noregret.evaluation.tables import confusion_table
from noregret.learner.rule_learner import RuleLearner
from noregret.metrics import Confusion
from noregret.streams import Batch, Source
from noregret.tasks.regression import Regression
from noregret.version import __version__

MANY_CLASSES = 50


def head(told: argparse.Namespace, source: Source, **more: Any) -> dict[str, Any]:
    """The beginning of every report for machines."""
    return {"noregret": __version__, "command": ["noregret", *told.said], "source": {**source.describe(), **more}}


def standing_report(one: Standing) -> dict[str, Any]:
    found = {
        "name": one.name,
        "rounds": one.rounds,
        "mistakes": one.mistakes,
        "rate": one.rate,
        **({} if one.confusion is None else one.confusion.report()),
        "loss": one.loss,
        "updates": one.updates,
        "nonzeros": one.nonzeros,
        "seconds": one.seconds,
        **one.measures,
        "parameters": one.learner.params,
    }
    if one.full_information is not None:
        found["full_information"] = one.full_information
    if one.asked is not None:
        found["asked"] = one.asked
    if one.confusion is not None:
        found["confusion"] = confusion_report(one.confusion)
    return found if one.stopped is None else {**found, "stopped": one.stopped}


def confusion_report(seen: Confusion) -> dict[str, Any]:
    """Who was taken for whom, and how well each class was found; null where a class gave no occasion."""
    shares = {"recall": seen.recall, "precision": seen.precision, "f1": seen.f1}
    counts = {"counts": seen.counts.tolist()} if len(seen.labels) <= MANY_CLASSES else {}
    told = {name: [None if one != one else one for one in values.tolist()] for name, values in shares.items()}
    return {"labels": [plain_label(label) for label in seen.labels], "rounds": seen.rounds.tolist(), **told, **counts}


def tell_confusion(one: Standing) -> None:
    """Who was taken for whom, as a table."""
    told = f"{one.learner.task} has no classes to confuse" if one.confusion is None else confusion_table(one.confusion)
    sys.stdout.write(f"\n{told}\n")


def described(source: Source, batch: Batch) -> str:
    rows = "" if source.rows is None else f"{source.rows:,} rows, "
    width = batch.X.block.width if hasattr(batch.X, "block") else getattr(batch.X, "shape", (0, 0))[1]
    more = "so far" if source.kind in ("csv", "libsvm", "vw") else ""
    return f"{source.name}: {rows}{counted(width, 'feature')} {more}".rstrip()


def counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def score(one: Standing) -> str:
    if one.learner.task == "regression":
        return f"a mean loss of {one.loss / max(one.rounds, 1):.4g}"
    if one.learner.task == "ranking":
        return f"{100 * one.measures['pair_accuracy']:.2f} % of pairs in the right order"
    told = f"{counted(one.mistakes, 'mistake')} ({100 * one.rate:.2f} %)"
    if one.learner.task == "multilabel":
        told += f", ranking loss {one.measures['ranking_loss']:.4f}, micro F1 {one.measures['micro_f1']:.4f}"
    if one.confusion is not None and one.uneven:
        told += f", balanced accuracy {one.confusion.balanced_accuracy:.4f}"
    return told if one.confusion is None or one.costs is None else f"{told}, cost {one.confusion.cost:,.6g}"


def warn_of(screen: Screen, source: Source, learner: RuleLearner, updates: int) -> None:
    """What is odd about the data, said at the end where it is seen."""
    skipped(screen, source)
    if learner.collisions:
        cells = f"{learner.collisions:,} of {1 << (learner.config.bits or 0):,}"
        screen.note(f"{source.name}: {cells} cells are shared by several names; more --bits make them fewer")
    weights = learner.config.class_weight
    absent = [label for label in weights if label not in learner.classes] if isinstance(weights, dict) else []
    if absent:
        screen.warn(f"{source.name}: no row has the label {absent[0]!r}, which --class-weight names")
    labels, task = learner.classes, learner.config.task
    eps = task.numbers.get("eps")
    if isinstance(task, Regression):
        counters = None if learner.model.arrays is None else learner.model.arrays.n
        if task.deviation(counters) == 0.0:
            screen.warn(f"{source.name}: all targets are the same, so nothing was learned but their mean")
        elif updates == 0 and eps:
            screen.warn(f"{source.name}: every prediction was within eps = {eps:g}, so nothing was learned; "
                        "give a smaller one, --set eps=0.001")  # fmt: skip
    elif len(labels) == 1:
        screen.warn(f"{source.name}: every label is {labels[0]!r}; with one class there is nothing to learn")
    elif len(labels) > MANY_CLASSES and not any(isinstance(label, str) for label in labels):
        screen.warn(f"{source.name}: the labels are {len(labels):,} different numbers; "
                    "if they are targets and not classes, use --task regression")  # fmt: skip


def skipped(screen: Screen, source: Source) -> None:
    if source.skipped:
        verb = "row could not be used and was" if source.skipped == 1 else "rows could not be used and were"
        screen.warn(f"{source.name}: {source.skipped:,} {verb} skipped")
