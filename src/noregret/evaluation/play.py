"""Play one learner: source, batches, transcripts, metrics, report."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from noregret.adapters.detector_loops import choose_runner
from noregret.data.batch import Batch
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, shown
from noregret.evaluation.capabilities import costs_of, is_learner, task_of
from noregret.evaluation.regret_report import RegretReport
from noregret.learner.factory import full_information
from noregret.learner.protocol import Learner
from noregret.metrics import METRICS, Confusion, Detector, DriftAlarms, Metric, Runtime, Totals
from noregret.streams import ReadOptions, Source, open_source
from noregret.tasks.task import Task

READING = frozenset(one.name for one in fields(ReadOptions))
"""Keyword arguments that say how a source is read, as those of `open_source` do."""


def play(
    source: object,
    learner: Learner,
    metrics: Sequence[Metric] | None = None,
    detect: Detector | str | None = None,
    **reading: Any,
) -> dict[str, float]:
    """Play a source through a learner; returns what the metrics report, by default those that suit its task.

    `detect` names a drift detector that watches the mistakes, or of real targets the losses: "adwin", "ddm",
    "page_hinkley", with settings as in "adwin:delta=0.01". Other keyword arguments say how the source is read, as in
    `open_source`: label="churn", drop=["id"], limit=1000.
    """
    if not is_learner(learner):
        raise BadValue(f"play needs a learner made by make(), not {shown(learner)}")
    run = Run(learner, metrics, detect=detect)
    opened = open_for_tasks(source, [task_of(learner)], reading)
    for batch in opened:
        run.play(opened, batch)
    return run.report()


class Run:
    """A learner and the metrics that watch it; with compare, beside a learner that sees every label.

    With `detect`, a drift detector watches the mistakes, or of real targets the losses.
    """

    def __init__(
        self,
        learner: Learner,
        metrics: Sequence[Metric] | None = None,
        compare: bool = True,
        detect: Detector | str | None = None,
    ) -> None:
        self.learner = learner
        self.task_metrics: list[Metric] = []
        self.held_out: Mapping[str, float] | None = None  # the report on rows that are not learned
        self.regret: RegretReport | str | None = None  # against the best fixed weights, or why there is none
        self.confusion: Confusion | None = None
        self.totals: Totals | None = None
        if metrics is None:
            self.metrics = self.default_metrics()
        else:
            self.metrics = list(metrics)
            self.check_metrics()
        self.drift = None if detect is None else watch_for_drift(learner, detect)
        self.metrics += [] if self.drift is None else [self.drift]
        self.comparison = FullInformation(learner if compare else None)

    def default_metrics(self) -> list[Metric]:
        """The metrics of every run, those of the task, and the confusion matrix where a round has one label."""
        task = task_of(self.learner)
        self.task_metrics = [METRICS[name]() for name in task.metrics]
        self.totals = Totals()
        metrics: list[Metric] = [self.totals, Runtime(), *self.task_metrics]
        if task.one_label:
            self.confusion = Confusion(costs_of(self.learner))
            metrics.append(self.confusion)
        return metrics

    def check_metrics(self) -> None:
        for metric in self.metrics:
            if not isinstance(metric, Metric):
                raise BadValue(f"a metric has the methods see and report; {shown(metric)} has not")

    def play(self, source: Source, batch: Batch) -> Transcript:
        """Play a batch and show it to the metrics; returns what happened."""
        transcript = play_batch(self.learner, source, batch)
        self.see(source, batch, transcript)
        return transcript

    def see(self, source: Source, batch: Batch, transcript: Transcript) -> None:
        """Show a batch that was played to the metrics."""
        with np.errstate(over="ignore", invalid="ignore"):  # losses are finite, but their sum may not be
            for metric in self.metrics:
                metric.see(batch, transcript)
        self.comparison.play(source, batch)

    def report(self) -> dict[str, float]:
        """What the metrics report, and the mistakes of a learner that sees every label where this one does not."""
        return {**collect_reports(self.metrics), **self.comparison.report()}


def watch_for_drift(learner: Learner, detector: Detector | str) -> DriftAlarms:
    """A metric that looks for drift in the mistakes of a learner or, of real targets, in its losses."""
    native = getattr(getattr(learner, "config", None), "native", True)
    watch = "mistakes" if task_of(learner).counts_mistakes else "loss"
    return DriftAlarms(detector, watch, choose_runner(native))


def collect_reports(metrics: Iterable[Metric]) -> dict[str, float]:
    """What all metrics report."""
    return {name: value for metric in metrics for name, value in metric.report().items()}


def open_for_tasks(source: object, tasks: Iterable[type[Task]], reading: Mapping[str, Any] | None = None) -> Source:
    """Open a source as these tasks need it: labels as they are for them; where one needs lists, they stay whole."""
    tasks = list(tasks)
    name = next((task.name for task in tasks if task.needs_query), None)
    suited = {option: value for task in tasks for option, value in task.reading.items()}
    if isinstance(source, Source) and reading:
        raise BadValue(f"this source is open already; give {', '.join(reading)} to open_source instead")
    opened = open_source(source, **{**suited, "lists": name is not None, **(reading or {})})
    if name is not None and not opened.lists:
        raise BadValue(f"{opened.name}: {name} needs whole lists in every batch; open the source with lists=True")
    return opened


def play_batch(learner: Learner, source: Source, batch: Batch) -> Transcript:
    """Play a batch; an error names the line of the source at which the row stands."""
    query = batch.query if task_of(learner).needs_query else None
    options = getattr(source, "options", None)
    try:
        if options is not None and options.unlabelled is not None:
            from noregret.evaluation.delayed_rows import play_rows

            return play_rows(learner, batch, options.key)
        return learner.play(batch.X, batch.y, batch.weight, query)
    except BadValue as error:
        raise locate_error(error, source, batch) from None


def locate_error(error: BadValue, source: Source, batch: Batch) -> BadValue:
    """An error about a row of a batch, with the line of the source at which the row stands, where it is known."""
    if error.row is None or batch.lines is None:
        return error
    line, message = int(batch.lines[error.row]), str(error)
    if source.kind == "arrays":  # its lines are the numbers of its rows
        return BadValue(message.replace(f"row {error.row}", f"row {line}", 1), line)
    message = message.removeprefix(f"row {error.row}: ").removeprefix(f"row {error.row}, ")
    return BadValue(f"{source.where}:{line}: {message}", error.row)


class FullInformation:
    """Where a learner does not see every label: another that does, on the same rounds from the first on."""

    def __init__(self, learner: Learner | None) -> None:
        self.learner = full_information(learner) if learner is not None and learner.rounds == 0 else None

    def play(self, source: Source, batch: Batch) -> None:
        if self.learner is not None:
            play_batch(self.learner, source, batch)

    @property
    def mistakes(self) -> int | None:
        """Its mistakes; None where the learner sees every label, or began before."""
        return None if self.learner is None else self.learner.mistakes

    def report(self) -> dict[str, float]:
        return {} if self.mistakes is None else {"full_information": self.mistakes}
