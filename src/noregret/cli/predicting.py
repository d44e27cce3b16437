"""`noregret predict`: a saved model over new rows."""

import argparse
import csv
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from noregret.cli.interrupts import heed
from noregret.cli.output import as_cell, plain_label, plain_labels, same, write_json, written
from noregret.cli.rules import imported
from noregret.cli.screen import Screen, jobs_for
from noregret.cli.setup import asked_of_labels, check_columns, check_outputs, reading
from noregret.errors import BadValue, NotLearned
from noregret.evaluation.checkpoint import read_as_before
from noregret.evaluation.report import head, skipped
from noregret.learner.model_file import load
from noregret.learner.rule_learner import RuleLearner
from noregret.streams import Batch, Source, open_source


def run(told: argparse.Namespace) -> int:
    if told.json == "-" and told.out == "-":
        raise BadValue("--json - and predictions both want standard output; give --out PATH")
    check_outputs({"--out": told.out, "--json": told.json}, [*told.data, told.model, *told.rule])
    screen = Screen(told.quiet, piped=told.out == "-")
    for file in told.rule:
        imported(file)
    learner = load(told.model)
    if learner.model.arrays is None:
        raise NotLearned(f"{told.model}: this model has not learned a round yet")
    source = opened(told, learner)
    count = Count()
    screen.announce(source)
    with screen.drawing(), written(told.out, "the predictions") as file:
        out = csv.writer(file, lineterminator="\n")
        numbered = told.on_bad == "skip"
        for batch in source:
            heed()
            if count.rows == 0:
                check_columns(learner, source, screen)
                screen.compile(jobs_for([learner], batch, len(learner.classes)))
                out.writerow([*(["line"] if numbered else []), *columns(learner, told.scores)])
            scores = learner.scores(batch.X)
            found = plain_labels(learner.decide(scores), learner.config.task.real)
            written_rows = rows(found, scores, told.scores and not learner.config.task.real)
            if numbered and batch.lines is not None:
                written_rows = ([line, *row] for line, row in zip(batch.lines.tolist(), written_rows, strict=True))
            out.writerows(written_rows)
            count.add(learner, found, batch)
            if screen.due():
                screen.show((), (), screen.progress(count.rows, batch.progress))
    write_json(told.json, report(told, source, count))
    if told.out != "-":
        screen.note(f"{count.rows:,} predictions written to {told.out}{count.told()}")
    skipped(screen, source)
    return 0


def opened(told: argparse.Namespace, learner: RuleLearner) -> Source:
    """The new rows, read as the rows that were learned."""
    how: dict[str, Any] = {"labelled": False, **asked_of_labels(learner.task)}
    how |= read_as_before(told, learner)
    return open_source(told.data, reading(told, **how), seed=told.seed)


def columns(learner: RuleLearner, scores: bool) -> list[str]:
    if not scores or learner.config.task.real:
        return ["prediction"]
    if learner.config.task.many:
        return ["prediction", *(f"score {plain_label(label)}" for label in learner.model.labels.order)]
    return ["prediction", "score"]


def rows(found: Sequence[Any], scores: np.ndarray, wanted: bool) -> Iterator[Sequence[Any]]:
    if not wanted:
        yield from ([as_cell(label)] for label in found)
    else:
        for label, score in zip(found, scores.reshape(len(found), -1).tolist(), strict=True):
            yield [as_cell(label), *score]


class Count:
    """How many rows were predicted, and, of those that carry a label, how many rightly."""

    def __init__(self) -> None:
        self.rows = self.labelled = self.mistakes = 0
        self.off = 0.0
        self.regression = False

    def add(self, learner: RuleLearner, found: Sequence[Any], batch: Batch) -> None:
        self.rows += len(found)
        self.regression = learner.task == "regression"
        if learner.task == "ranking":  # a score is no guess of a relevance
            return
        for guess, truth in zip(found, () if batch.y is None else batch.y, strict=batch.y is not None):
            if truth is None or truth != truth:
                continue
            self.labelled += 1
            if self.regression:
                self.off += abs(guess - float(truth))
            else:
                self.mistakes += not same(guess, truth)

    def told(self) -> str:
        if not self.labelled:
            return ""
        if self.regression:
            return f"; off by {self.off / self.labelled:.4g} on average where the target is known"
        return f"; {self.mistakes:,} of {self.labelled:,} labels differ ({100 * self.mistakes / self.labelled:.2f} %)"


def report(told: argparse.Namespace, source: Source, count: Count) -> dict[str, Any]:
    found: dict[str, Any] = {"rows": count.rows, "labelled": count.labelled}
    if count.labelled:
        key, value = ("mean_error", count.off / count.labelled) if count.regression else ("mistakes", count.mistakes)
        found[key] = value
    return {**head(told, source), "model": told.model, "out": told.out, **found}
