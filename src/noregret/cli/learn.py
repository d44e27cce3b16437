"""`noregret learn`: one learner over one source, its mistakes as they come, and the model saved."""

import argparse
import contextlib
import sys
from typing import Any

from noregret.cli import discard_output
from noregret.cli.html_output import check_html, complete_report, write_html
from noregret.cli.interrupts import check_interrupt, defer_interrupts, exit_code, ignore_interrupts
from noregret.cli.learner_names import add_settings, find_variant, import_file, rule_file
from noregret.cli.load_learner import load_learner
from noregret.cli.output import describe_entry_regret, prediction_columns, print_confusion, to_cell, write_json
from noregret.cli.prediction_file import PredictionWriter, flush_if_live, open_predictions
from noregret.cli.screen import Screen
from noregret.cli.setup import (
    adapt_learners,
    check_columns,
    check_label,
    check_outputs,
    early_options,
    given_read_options,
    learner_options,
    missing_options,
    open_data,
    outer_detector,
    suggest_task,
)
from noregret.data.batch import Batch
from noregret.data.transcript import Transcript
from noregret.decomposition.topic_model import TopicModel
from noregret.errors import BadValue
from noregret.evaluation.capabilities import report_of_pool, task_class, task_of
from noregret.evaluation.checkpoint import Checkpoints, check_options, fingerprint_source, restore_options
from noregret.evaluation.delayed_rows import DelayedTranscript
from noregret.evaluation.evaluate import evaluate_held_out
from noregret.evaluation.leaderboard import Entry
from noregret.evaluation.play import Run, play_batch
from noregret.evaluation.regret import RegretRun
from noregret.evaluation.report import (
    count_of,
    describe_guessing,
    describe_held_out,
    describe_order,
    describe_ranks,
    describe_reading,
    describe_source,
    plain_label,
    report_entry,
    report_head,
)
from noregret.evaluation.tracking_regret import add_tracking
from noregret.learner.protocol import Learner
from noregret.learner.variants import name_learner, write
from noregret.metrics import LabelChanges, LearningCurve
from noregret.metrics.basic import CurvePoint
from noregret.metrics.drift import describe_drift
from noregret.streams import Source

FIRST = 64  # rounds before the first line
HEAD = ("rounds", "mistakes", "rate", "mean loss", "updates")
OF_MISTAKES = ("mistakes", "rate")  # columns of tasks in which predictions are right or wrong
FOR_NEW_MODELS = ("set", "task", "classes", "class_weight", "cost", "transform", "scale", "bits", "bias",
                  "on_drift", "window")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    if args.json == "-" and args.predictions == "-":
        raise BadValue("--json - and --predictions - both want standard output; name a file for one of them")
    screen = Screen(args.quiet, piped="-" in (args.json, args.predictions))
    args.drop += [name for name in args.keep if name not in args.drop]  # what tells rows apart is no feature
    if args.save == "-":
        raise BadValue("--save -: a model is saved to a file; name one")
    path = args.save or args.resume
    outputs = {"--save": path, "--json": args.json, "--predictions": args.predictions, "--plot": args.plot,
               "--report": args.report}  # fmt: skip
    check_outputs(outputs, [*args.data, rule_file(args.learner), *args.rule])
    check_html(args.report)
    for file in args.rule:
        import_file(file)
    learner, source = resume_model(args) if args.resume else make_model(args)
    checkpoints = Checkpoints(
        learner, source, path, every=args.every, fingerprint=fingerprint_source(source, args.data, args.seed),
        options=given_read_options(args),
    )  # fmt: skip
    training = Training(args, checkpoints, screen)
    screen.announce(source)
    try:
        with screen.live(), contextlib.ExitStack() as stack:
            if args.predictions is not None:
                training.out = stack.enter_context(open_predictions(args.predictions))
                training.live = args.predictions == "-"
            training.learn()
        interrupted = False
    except KeyboardInterrupt:
        interrupted = True
    with ignore_interrupts():
        checkpoints.save(ended=not interrupted)
    if not interrupted:
        training.run.held_out = evaluate_held_out(learner, source)
        training.compare_in_hindsight()
    entry, whole = Entry.of(training.run), training.whole_entry()
    curve = training.full_curve()
    report = {**make_report(args, source, entry, path, interrupted), "curve": report_curve(curve)}
    if whole.rounds > entry.rounds:
        report["in_all"] = report_entry(whole)
    report["fingerprint"] = checkpoints.fingerprint
    notes = find_learning_notes(training, entry)
    if args.json is not None or args.report is not None:
        report = complete_report(report, source, [entry], notes)
    write_json(args.json, report)
    write_html(args.report, {**report, "learners": [{**report["learners"][0], **report.get("in_all", {})}]})
    if args.plot is not None and whole.curve:
        from noregret.plots import curves, save_figure

        save_figure(curves(whole, f"{entry.name} on {source.name}"), args.plot, "--plot")
    if args.predictions == "-":
        screen.note(describe_result(entry, path, interrupted))
    elif args.json != "-":
        training.print_curve()
        sys.stdout.write(f"{describe_result(entry, path, interrupted)}\n")
        pool = report_of_pool(learner)
        if pool is not None:
            sys.stdout.write(f"{pool.carriers_text()}\n{pool.guarantee_text()}\n")
        if entry.held_out is not None:
            sys.stdout.write(f"{describe_held_out(entry, source)}\n")
        if args.confusion:
            print_confusion(whole, args.confusion)
        if entry.drift is not None:
            sys.stdout.write(f"{describe_drift(dict(entry.drift))}\n")
        if args.regret:
            sys.stdout.write("\n".join(["", *describe_entry_regret(entry)]) + "\n")
    screen.note_later(source)
    for text in notes:
        screen.note(f"{source.name}: {text}")
    screen.conclude(source, learner, entry.updates)
    return exit_code() if interrupted else 0


def find_learning_notes(training: "Training", entry: Entry) -> list[str]:
    """Notes where rows seem sorted, or where guessing would have been better."""
    confusion = entry.confusion
    order = None if confusion is None else describe_order(training.changes.changes, confusion.rounds)
    return [text for text in (order, describe_guessing(entry), *describe_ranks([entry.learner])) if text]


def make_model(args: argparse.Namespace) -> tuple[Learner, Source]:
    """A new learner and its source."""
    named = args.learner or task_class(args.task).default_learner
    variants = add_settings(args.set, [find_variant(named)], args.task)
    suggest_task(args, variants)
    early_options(args, variants).make(variants)  # refuse what cannot be, whatever the file
    source = open_data(args, args.task, **missing_options(args))
    return adapt_learners(args, learner_options(args, source, variants).make(variants))[0], source


def resume_model(args: argparse.Namespace) -> tuple[Learner, Source]:
    """A saved model and its source, which continues after the learned rows if the model was interrupted there."""
    variant = None if args.learner is None else find_variant(args.learner)
    learner = load_learner(args.resume, variant.card if variant is not None and rule_file(args.learner) else None)
    if isinstance(learner, TopicModel) and learner.learned_documents:
        more = f"noregret topics {' '.join(args.data)} --resume {args.resume}"
        raise BadValue(f"{args.resume} was made by `noregret topics`; go on with: {more}")
    if variant is not None:
        found = name_learner(learner, variant.options) if variant.options else learner.card.name
        asked = write(variant.card, variant.options, learner.task)
        if found != asked:
            raise BadValue(f"{args.resume} was learned by {found}, not by {asked}; leave --learner out")
    for name in FOR_NEW_MODELS:
        if getattr(args, name) not in (None, []):
            raise BadValue(f"--{name.replace('_', '-')} is for a new model; {args.resume} goes on as it was made")
    for name, value in check_options(learner, given_read_options(args), args.resume).items():
        setattr(args, name, value)
    return learner, open_data(args, learner.task, **restore_options(learner, given_read_options(args)))


def make_run(learner: Learner, detect: Any = None) -> tuple[Run, LearningCurve, LabelChanges]:
    """A run with the curve that is printed, and with what tells sorted rows."""
    run, curve, changes = Run(learner, compare=False, detect=detect), LearningCurve(FIRST), LabelChanges()
    run.metrics += [curve, changes]
    return run, curve, changes


class Training:
    """A learner going through a source, with its progress on the screen."""

    def __init__(self, args: argparse.Namespace, checkpoints: Checkpoints, screen: Screen) -> None:
        self.args, self.checkpoints, self.screen = args, checkpoints, screen
        self.learner, self.source = checkpoints.learner, checkpoints.source
        self.printed = 0
        self.run, self.curve, self.changes = make_run(self.learner, outer_detector(args))
        self.whole = self.restore_run()  # of all rounds of the source, if what was measured before is known
        self.regret = RegretRun([self.learner]) if args.regret else None
        self.out: PredictionWriter | None = None  # where predictions are written to
        self.live = False  # whether somebody waits for them

    def restore_run(self) -> Run | None:
        """A run that goes on with what an interrupted one had measured; this run where none was interrupted."""
        whole = make_run(self.learner)[0] if self.checkpoints.skip else self.run
        metrics = [metric for metric in whole.metrics if metric is not whole.drift]  # alarms are those of a call
        if self.checkpoints.skip and not self.checkpoints.restore_metrics(metrics):
            return None
        self.checkpoints.metrics = metrics
        return whole

    def whole_entry(self) -> Entry:
        """The result on all rounds of the source, or of this call where no more is known."""
        if self.whole is None or self.whole is self.run:
            return Entry.of(self.run)
        self.whole.held_out, self.whole.regret = self.run.held_out, self.run.regret
        return Entry.of(self.whole)

    def learn(self) -> None:
        first = True
        for batch in self.checkpoints.batches():
            if first:
                self.begin(batch)
                first = False
            check_interrupt()
            if self.regret is not None:
                self.regret.see_rows(batch)
            transcript = play_batch(self.learner, self.source, batch)
            with defer_interrupts():
                self.see(batch, transcript)
            if self.out is not None:
                self.out.write(predicted_columns(self.learner, batch, transcript))
                flush_if_live("-", self.live)
            self.show(batch.progress)
        if first and self.checkpoints.resumes:
            rows = self.checkpoints.rows
            raise BadValue(f"{self.source.name}: nothing is left: all its {rows:,} rows are learned already; give new "
                           "ones, or say --passes to learn them again")  # fmt: skip

    def see(self, batch: Batch, transcript: Transcript) -> None:
        """Count what was played."""
        for run in (self.run, *([] if self.whole in (None, self.run) else [self.whole])):
            run.see(self.source, batch, transcript)
        if self.regret is not None:
            self.regret.trackers[0].see(transcript)
        self.checkpoints.advance()

    def compare_in_hindsight(self) -> None:
        """Compute the regret, where it was asked for."""
        if self.regret is not None:
            self.screen.note("computing the best fixed weights in hindsight")
            self.run.regret = self.regret.report(0, name_learner(self.learner))
            add_tracking(self.regret, 0, self.run, self.source)

    def begin(self, batch: Batch) -> None:
        """Describe the source and compile what the learner needs."""
        check_columns(self.learner, self.source, self.screen)
        check_label(self.args, self.source)
        self.screen.note(describe_source(self.source, batch))
        for text in describe_reading(self.learner, self.source):
            self.screen.note(f"  {text}")
        if self.checkpoints.skip:
            self.screen.note(f"  going on after the {self.checkpoints.skip:,} rows learned before")
        self.screen.begin(self.source, [self.learner], batch)

    def full_curve(self) -> list[CurvePoint]:
        """The points of the curve, and the totals at the end."""
        now = CurvePoint(self.curve.rounds, self.curve.mistakes, self.curve.loss, self.curve.updates)
        return [*self.curve.points, *([] if self.curve.points and self.curve.points[-1] == now else [now])]

    def print_curve(self) -> None:
        """A line each time the number of rounds has doubled."""
        if self.screen.piped or self.screen.quiet:
            return
        try:
            for point in self.curve.points[self.printed :]:
                sys.stdout.write((align(self.head) if self.printed == 0 else "") + align(self.cells(point)))
                self.printed += 1
            sys.stdout.flush()
        except BrokenPipeError:  # nobody reads on; the model is learned and saved nevertheless
            discard_output()
            self.screen.piped = True

    def show(self, done: float | None) -> None:
        if not self.screen.is_live:
            self.print_curve()
        elif self.screen.due():
            self.draw(done)

    def draw(self, done: float | None) -> None:
        """On a terminal: the totals now, and the lines so far, the latest first."""
        now = CurvePoint(self.curve.rounds, self.curve.mistakes, self.curve.loss, self.curve.updates)
        rows = [self.cells(point) for point in reversed([*self.curve.points, now])]
        self.screen.show(self.head, rows, self.screen.progress(now.rounds, done))

    @property
    def head(self) -> tuple[str, ...]:
        """The columns of the curve."""
        return tuple(name for name in HEAD if name not in OF_MISTAKES or task_of(self.learner).counts_mistakes)

    def cells(self, point: CurvePoint) -> tuple[str, ...]:
        rounds, mistakes, loss, updates = point
        each = max(rounds, 1)
        every = (f"{rounds:,}", f"{mistakes:,}", f"{mistakes / each:.4f}", f"{loss / each:.4g}", f"{updates:,}")
        return tuple(cell for name, cell in zip(HEAD, every, strict=True) if name in self.head)


def align(cells: tuple[str, ...]) -> str:
    return "".join(f"{cell:>13}" for cell in cells) + "\n"


def make_report(
    args: argparse.Namespace, source: Source, entry: Entry, path: str | None, interrupted: bool
) -> dict[str, Any]:
    return {
        **report_head(args.command_line, source, rounds=entry.rounds),
        "task": entry.learner.task,
        "seed": args.seed,
        "learners": [{**report_entry(entry), "rounds_in_all": entry.learner.rounds}],
        "saved": path,
        "interrupted": interrupted,
    }


def report_curve(curve: list[CurvePoint]) -> list[dict[str, float]]:
    """The learning curve, for the report."""
    return [point._asdict() for point in curve]


def describe_result(entry: Entry, path: str | None, interrupted: bool) -> str:
    how = "stopped" if interrupted else "learned"
    asked = "" if entry.asked is None else f", {count_of(entry.asked, 'label')} asked for"
    saved = f"saved to {path}" if path else "not saved (--save PATH saves the model)"
    learner, counts = entry.learner, entry.task.counts_mistakes
    before = learner.rounds - entry.rounds
    mistakes = f" with {count_of(learner.mistakes, 'mistake')}" if counts else ""
    whole = f" ({learner.rounds:,} in all{mistakes})" if before > 0 else ""
    return f"{how}: {entry.name}, {entry.summarize()} in {count_of(entry.rounds, 'round')}{whole}{asked}; {saved}"


def predicted_columns(learner: Learner, batch: Batch, transcript: Transcript) -> dict[str, Any]:
    """What was predicted for the rows of a batch before they were learned, with their labels."""
    real = task_of(learner).real
    predicted = transcript.scores if transcript.predictions is None else transcript.predictions
    if isinstance(transcript, DelayedTranscript):
        columns = {"prediction": [to_cell(plain_label(label)) for label in transcript.answers]}
    else:
        columns = prediction_columns(learner, predicted, real)
        if not task_of(learner).counts_mistakes and predicted.ndim == 2:  # without labels, the loss is the result
            columns = {"loss": transcript.losses.tolist(), **columns}
    found = {**(batch.kept or {}), **columns}
    if batch.y is not None:
        found["label"] = [to_cell(label) for label in (batch.y if isinstance(batch.y, list) else batch.y.tolist())]
    return found
