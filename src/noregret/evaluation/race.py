"""The flow: source -> batches -> learners -> transcripts -> metrics -> reports."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from noregret.data.transcript import Transcript
from noregret.errors import BadValue, shown
from noregret.evaluation.leaderboard import Race, Standing
from noregret.learner.factory import card_of, full_information, make
from noregret.learner.factory import learners as catalogue
from noregret.learner.rule_learner import RuleLearner
from noregret.metrics import (
    AsTheyCome,
    Baselines,
    Confusion,
    Loss,
    Metric,
    Mistakes,
    Multilabel,
    Orders,
    Runtime,
    Updates,
)  # fmt: skip
from noregret.streams import Batch, Source, open_source
from noregret.tasks.regression import Regression

Entrants = list[tuple[str, RuleLearner]]
OWN: dict[str, type] = {"multilabel": Multilabel, "ranking": Orders}  # the metric that only one task has
ONE_CLASS = ("binary", "multiclass", "bandit")  # the tasks in which a round has one class, and is predicted to be one
LONG = 1e9  # losses from here on are shown by their size only


def standard(learner: RuleLearner) -> list[Metric]:
    """The metrics of every run, those of its task, and, where each round has one class, who is taken for whom."""
    own = [OWN[learner.task]()] if learner.task in OWN else []
    seen = [Confusion(learner.config.task.cost)] if learner.task in ONE_CLASS else []
    return [Mistakes(), Loss(), Updates(), Runtime(), *own, *seen]


def opened(source: Any, task: str | None) -> Source:
    """A source whose batches suit a task: ranking wants whole lists."""
    found = open_source(source, lists=task == "ranking")
    if task == "ranking" and not found.lists:
        raise BadValue(f"{found.name}: ranking wants whole lists in every batch; open the source with lists=True")
    return found


def play(source: Any, learner: RuleLearner, metrics: Sequence[Metric] | None = None) -> dict[str, float]:
    """Play a source through a learner before some metrics; returns what they report."""
    if not isinstance(learner, RuleLearner):
        raise BadValue(f"play needs a learner made by make(), not {shown(learner)}")
    watching = standard(learner) if metrics is None else list(metrics)
    strangers = [one for one in watching if not (hasattr(one, "see") and hasattr(one, "report"))]
    if strangers:
        raise BadValue(f"a metric has the methods see and report; {shown(strangers[0])} has not")
    source = opened(source, learner.task)
    told_all = Yardstick(learner)
    for batch in source:
        transcript = played(learner, source, batch)
        for metric in watching:
            metric.see(transcript)
        told_all.see(source, batch)
    return {**reported(watching), **({} if told_all.mistakes is None else {"full_information": told_all.mistakes})}


class Yardstick:
    """Where a learner is not told every label: the mistakes of one that is, on the same rounds from the first."""

    def __init__(self, learner: RuleLearner) -> None:
        self.learner = full_information(learner) if learner.rounds == 0 else None

    def see(self, source: Source, batch: Batch) -> None:
        if self.learner is not None:
            played(self.learner, source, batch)

    @property
    def mistakes(self) -> int | None:
        return None if self.learner is None else self.learner.mistakes


def played(learner: RuleLearner, source: Source, batch: Batch) -> Transcript:
    """Play a batch; an error names the place of the row at fault in the source."""
    try:
        return learner.play(batch.X, batch.y, batch.weight, batch.query if learner.task == "ranking" else None)
    except BadValue as error:
        if error.row is None or batch.lines is None:
            raise
        line, message = int(batch.lines[error.row]), str(error)
        if source.kind == "arrays":  # its lines are the numbers of its rows
            raise BadValue(message.replace(f"row {error.row}", f"row {line}", 1), line) from None
        message = message.removeprefix(f"row {error.row}: ").removeprefix(f"row {error.row}, ")
        raise BadValue(f"{source.where}:{line}: {message}", error.row) from None


def reported(metrics: Iterable[Metric]) -> dict[str, float]:
    return {name: value for metric in metrics for name, value in metric.report().items()}


class Watcher:
    """Hears of a race while it runs; this one does nothing with it."""

    def begin(self, entrants: Entrants, batch: Batch) -> None:
        """The first batch is there, and nobody has seen it."""

    def lap(self, race: Callable[[], Race], done: float | None) -> None:
        """Every learner has played another batch; `race()` is the race so far."""


def race(
    source: Any,
    learners: Sequence[Any] | None = None,
    *,
    threads: int = 2,
    watcher: Watcher | None = None,
    **told: Any,
) -> Race:
    """Run learners side by side over one source, each predicting every round before it learns it.

    `source` is a pair (X, y), a name, a file, or an iterable of rounds. `learners` holds names, rules of your own, or
    learners; by default the built-in ones whose card says `shown`. What else is told goes to every learner made here.
    """
    if type(threads) is not int or threads < 1:
        raise BadValue(f"threads must be a whole number of at least 1, not {shown(threads)}")
    invited = guests(learners)
    tasks = [told.get("task"), *(one.task for one in invited or () if isinstance(one, RuleLearner))]
    source = opened(source, "ranking" if "ranking" in tasks else None)
    entrants = line_up(invited, {**source.learner_defaults, **told})
    return Course(entrants, source, watcher or Watcher()).run(threads)


class Course:
    """A race while it runs."""

    def __init__(self, entrants: Entrants, source: Source, watcher: Watcher) -> None:
        self.entrants, self.source, self.watcher = entrants, source, watcher
        self.watching = [standard(learner) for _, learner in entrants]
        self.yardsticks = [Yardstick(learner) for _, learner in entrants]
        self.stopped: dict[int, str] = {}
        first = entrants[0][1]
        self.baselines: Baselines | AsTheyCome = AsTheyCome()
        task = first.config.task
        if not task.needs_query:
            self.baselines = Baselines(task.loss_of_errors if isinstance(task, Regression) else None)

    def run(self, threads: int) -> Race:
        with ThreadPoolExecutor(max_workers=max(1, min(threads, len(self.entrants)))) as pool:
            for turn, batch in enumerate(self.source):
                if turn == 0:
                    self.watcher.begin(self.entrants, batch)
                going = [number for number in range(len(self.entrants)) if number not in self.stopped]
                running = [pool.submit(self.lap, number, batch) for number in going]
                self.settle(dict(zip(going, [finished.result() for finished in running], strict=True)))
                self.watcher.lap(self.so_far, batch.progress)
        return self.so_far()

    def lap(self, number: int, batch: Batch) -> Transcript | BadValue:
        try:
            transcript = played(self.entrants[number][1], self.source, batch)
        except BadValue as error:
            return error
        for metric in self.watching[number]:
            metric.see(transcript)
        self.yardsticks[number].see(self.source, batch)
        return transcript

    def settle(self, laps: dict[int, Transcript | BadValue]) -> None:
        """What stops every learner is wrong with the data; what stops some of them is wrong with them."""
        errors = {number: lap for number, lap in laps.items() if isinstance(lap, BadValue)}
        for number, error in errors.items():
            if len(errors) == len(laps):
                raise error
            self.stopped[number] = str(error)
        self.baselines.see(next(lap for lap in laps.values() if isinstance(lap, Transcript)))

    def so_far(self) -> Race:
        standings = [
            standing(*one, metrics, self.stopped.get(number), self.yardsticks[number].mistakes)
            for number, (one, metrics) in enumerate(zip(self.entrants, self.watching, strict=True))
        ]
        return Race(standings, self.baselines.report())


def guests(learners: Sequence[Any] | None) -> list[Any] | None:
    """Cards and learners; a name that nobody has is found out before anything is read."""
    if learners is None:
        return None
    if isinstance(learners, str) or not isinstance(learners, Iterable):
        raise BadValue(f"learners must be a list of names, rules or learners, not {shown(learners)}")
    return [one if isinstance(one, RuleLearner) else card_of(one) for one in learners]


def line_up(invited: list[Any] | None, told: dict[str, Any]) -> Entrants:
    """The learners of a race, by name."""
    if invited is None:
        invited = [card for card in catalogue() if card.shown and told.get("task", "binary") in card.tasks]
    if not invited:
        raise BadValue("a race needs at least one learner")
    return [(one.card.name, one) if isinstance(one, RuleLearner) else (one.name, make(one, **told)) for one in invited]


def standing(
    name: str,
    learner: RuleLearner,
    metrics: Sequence[Metric],
    stopped: str | None = None,
    full_information: int | None = None,
) -> Standing:
    told = reported(metrics)
    rounds, mistakes, updates = int(told["rounds"]), int(told["mistakes"]), int(told["updates"])
    own = reported(one for one in metrics if isinstance(one, tuple(OWN.values())))
    seen = next((one.copy() for one in metrics if isinstance(one, Confusion)), None)
    return Standing(
        name, learner, rounds, mistakes, told["loss"], updates, told["seconds"], stopped, own, full_information, seen
    )
