"""Race learners side by side over one source."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np

from noregret.data.batch import Batch
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, shown
from noregret.evaluation.baselines import make_baselines
from noregret.evaluation.capabilities import (
    accepted_options,
    is_learner,
    task_class,
    task_of,
)
from noregret.evaluation.evaluate import evaluate_held_out
from noregret.evaluation.leaderboard import Entry, Leaderboard
from noregret.evaluation.option_names import refuse_misspelt
from noregret.evaluation.play import READING, Run, open_for_tasks, play_batch
from noregret.evaluation.regret import RegretRun
from noregret.evaluation.tracking_regret import add_tracking
from noregret.learner.factory import card_of, make
from noregret.learner.factory import learners as catalogue
from noregret.learner.protocol import Learner
from noregret.learner.variants import Variant, as_variant, name_learner
from noregret.metrics import Detector, tracking
from noregret.rules.card import Card
from noregret.rules.parameters import Component
from noregret.streams import Source

Entrant: TypeAlias = Variant | Learner
ALL = "all"  # in place of a list of learners
NEUTRAL = ("native", "seed")  # options that do not change what is learned, or only where a learner draws at random


class Observer:
    """Follows a race while it runs; this one does nothing."""

    def begin(self, learners: Sequence[Learner], batch: Batch) -> None:
        """Called with the first batch, before any learner sees it."""

    def progress(self, leaderboard: Callable[[], Leaderboard], done: float | None) -> None:
        """Called after every batch; `leaderboard()` is the one so far, `done` the share of the source read."""

    def compare(self, name: str) -> None:
        """Called when all is read, before the best fixed weights are computed for a learner."""


def race(
    source: object,
    learners: Sequence[object] | str | None = None,
    *,
    threads: int = 2,
    observer: Observer | None = None,
    regret: bool = False,
    detect: Detector | str | None = None,
    **options: Any,
) -> Leaderboard:
    """Run learners side by side over one source, each predicting every round before it learns it.

    `source` is a pair (X, y), a name, a file, or an iterable of rounds. `learners` holds names, also with options
    as in "arow(r=0.1)" and "pa1@rbf(gamma=0.01, budget=500)", rules of your own, or learners; without it, the
    built-in learners of the task that run by default; with "all", every one that can play with these options. With
    `regret`, each is compared with the best fixed weights in hindsight. With `detect`, a drift detector watches
    each of them: "adwin", "ddm", "page_hinkley", as in "adwin:delta=0.01". Options of `open_source` (label="churn",
    drop=["id"], holdout=0.2) say how the source is read; others go to every learner made here.
    """
    if type(threads) is not int or threads < 1:
        raise BadValue(f"threads must be a whole number of at least 1, not {shown(threads)}")
    refuse_misspelt("race", options, ("learners", "threads", "regret"), learners)
    entrants = check_entrants(learners)
    options = {**only_task(entrants), **options}
    tasks = [task_class(options.get("task")), *(task_of(one) for one in entrants or () if is_learner(one))]
    reading = {name: options.pop(name) for name in list(options) if name in READING}
    opened = open_for_tasks(source, tasks, reading)
    make_some = make_all_learners if learners == ALL else make_learners
    made = make_some(entrants, opened.learner_defaults, options)
    return Race(made, opened, observer or Observer(), regret, detect, name_entrants(entrants, made)).run(threads)


def check_entrants(learners: Sequence[object] | str | None) -> list[Entrant] | None:
    """Variants and learners; an unknown name is refused before anything is read. None where the task decides them."""
    if learners is None or learners == ALL:
        return None
    if isinstance(learners, str) or not isinstance(learners, Iterable):
        raise BadValue(f"learners must be a list of names, rules or learners, not {shown(learners)}")
    found = [one if is_learner(one) else as_variant(one, card_of) for one in learners]
    check_distinct([str(one) for one in found if isinstance(one, Variant)], " of the race")
    return found


def only_task(entrants: Sequence[Entrant] | None) -> dict[str, str]:
    """The task of learners made by name that can play no other and need no labels, so that none are read."""
    tasks = {task for one in entrants or () if isinstance(one, Variant) for task in playable_tasks(one)}
    unlabelled = len(tasks) == 1 and not any(task_class(task).needs_labels for task in tasks)
    return {"task": tasks.pop()} if unlabelled else {}


def playable_tasks(variant: Variant) -> tuple[str, ...]:
    """The tasks that a learner made by name can play; one that is made of others plays the task that they play."""
    if not any(isinstance(param, Component) for param in variant.card.params.values()):
        return tuple(variant.card.tasks)
    try:
        return (make(variant.card, **variant.options).task,)
    except BadValue:
        return tuple(variant.card.tasks)


def check_one_task(learners: Sequence[Learner], verb: str = "race") -> None:
    """Refuse learners whose results are different things, such as mistakes and reconstruction errors."""
    first = task_of(learners[0])
    for one in learners[1:]:
        if task_of(one).prediction != first.prediction:
            raise BadValue(f"learners to {verb} must learn the same: {learners[0].card.name} plays {first.name}, "
                           f"{one.card.name} plays {task_of(one).name}; {verb} them apart")  # fmt: skip


def check_distinct(names: Sequence[str], where: str = "") -> None:
    """Refuse two learners that are named alike."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise BadValue(f"two learners{where} are called {name!r}; leave one of them out, or give one of them "
                           "other parameters, as in arow(r=0.1)")  # fmt: skip


def name_entrants(entrants: list[Entrant] | None, learners: Sequence[Learner]) -> list[str]:
    """The names of the learners of a race, where each option that an entrant named stands in its name.

    Learners that were made before may have one name; the leaderboard tells them apart.
    """
    if entrants is None:
        return [name_learner(one) for one in learners]
    pairs = list(zip(entrants, learners, strict=True))
    names = [name_learner(made, one.options if isinstance(one, Variant) else ()) for one, made in pairs]
    own = [name for name, (one, _) in zip(names, pairs, strict=True) if isinstance(one, Variant)]
    check_distinct(own, " of the race")
    return names


def make_learners(
    entrants: list[Entrant] | None, suggested: Mapping[str, Any], options: Mapping[str, Any]
) -> list[Learner]:
    """The learners of a race.

    `suggested` are options that suit the source; a learner that does not take one of them is made without it.
    """
    suggested = {**suggested, **{name: options[name] for name in NEUTRAL if name in options}}
    explicit = {name: value for name, value in options.items() if name not in NEUTRAL}
    task = {**suggested, **explicit}.get("task", "binary")
    if task_class(task).bias_by_default is False:
        suggested.pop("bias", None)
    if not task_class(task).scales_by_default:
        suggested.pop("scale", None)
    if entrants is None:
        entrants = [Variant(card) for card in default_cards(task)]
    if not entrants:
        raise BadValue("a race needs at least one learner")
    return [make(one.card, **{**accepted_options(one.card, suggested), **explicit, **one.options})
            if isinstance(one, Variant) else one for one in entrants]  # fmt: skip


def make_all_learners(
    entrants: list[Entrant] | None, suggested: Mapping[str, Any], options: Mapping[str, Any]
) -> list[Learner]:
    """A learner of every card that can be made with these options."""
    made, refusal = [], BadValue("a race needs at least one learner")
    for card in all_cards({**suggested, **options}.get("task")):
        try:
            made += make_learners([Variant(card)], suggested, options)
        except BadValue as error:
            refusal = error
    if not made:
        raise refusal
    return made


def default_cards(task: str | None) -> list[Card]:
    """The built-in learners that race where none is named: those of every race, and those that are good at the task."""
    task, extra = task or "binary", task_class(task or "binary").races
    return [card for card in catalogue() if (card.runs_by_default or card.name in extra) and task in card.tasks]


def all_cards(task: str | None) -> list[Card]:
    """All built-in learners that play a task and are made of nothing else, such as other learners."""
    return [
        card
        for card in catalogue()
        if card.built_in
        and (task or "binary") in card.tasks
        and not card.needs
        and not any(isinstance(param, Component) for param in card.params.values())
    ]


class Race:
    """A race while it runs: every batch is played by all learners before the next one is read."""

    def __init__(
        self,
        learners: Sequence[Learner],
        source: Source,
        observer: Observer,
        regret: bool = False,
        detect: Detector | str | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        check_one_task(learners)
        self.learners, self.source, self.observer = learners, source, observer
        self.names = names or [name_learner(one) for one in learners]
        self.regret = RegretRun(learners) if regret else None
        self.sequences: list[tracking.Sequence] = []
        self.runs = [Run(learner, detect=detect) for learner in learners]
        self.stopped: dict[int, str] = {}
        self.baselines = make_baselines(learners[0])

    def run(self, threads: int) -> Leaderboard:
        with ThreadPoolExecutor(max_workers=max(1, min(threads, len(self.runs)))) as pool:
            for turn, batch in enumerate(self.source):
                if turn == 0:
                    self.observer.begin(self.learners, batch)
                if self.regret is not None:
                    self.regret.see_rows(batch)
                self.advance(pool, batch)
                self.observer.progress(self.leaderboard, batch.progress)
            ended = [run for number, run in enumerate(self.runs) if number not in self.stopped]
            for run, report in zip(ended, pool.map(self.evaluate, ended), strict=True):
                run.held_out = report
        self.compare_in_hindsight()
        return self.leaderboard()

    def compare_in_hindsight(self) -> None:
        """Compute the regret of every learner that came to the end."""
        if self.regret is None:
            return
        for number, run in enumerate(self.runs):
            if number not in self.stopped:
                if self.regret.trackers[number].rounds is not None:
                    self.observer.compare(self.names[number])
                run.regret = self.regret.report(number, self.names[number])
                add_tracking(self.regret, number, run, self.source)
        self.sequences = self.regret.best_sequences(self.find_running())

    def advance(self, pool: ThreadPoolExecutor, batch: Batch) -> None:
        """Play a batch with every learner that has not stopped."""
        running = self.find_running()
        futures = [pool.submit(self.play, number, batch) for number in running]
        results = [future.result() for future in futures]
        self.settle(batch, dict(zip(running, results, strict=True)))

    def find_running(self) -> list[int]:
        """The numbers of the learners that have not stopped."""
        return [number for number in range(len(self.runs)) if number not in self.stopped]

    def evaluate(self, run: Run) -> Mapping[str, float] | None:
        """The report of a learner on the rows that were held out."""
        return evaluate_held_out(run.learner, self.source)

    def play(self, number: int, batch: Batch) -> Transcript | BadValue:
        """Play a batch with one learner; an error is returned, since it may stop only this learner."""
        run = self.runs[number]
        try:
            transcript = play_batch(run.learner, self.source, batch)
        except BadValue as error:
            return error
        run.see(self.source, batch, transcript)
        if self.regret is not None:
            self.regret.trackers[number].see(transcript)
        return transcript

    def settle(self, batch: Batch, results: Mapping[int, Transcript | BadValue]) -> None:
        """An error of all learners is an error of the data; an error of some stops these."""
        errors = {number: result for number, result in results.items() if isinstance(result, BadValue)}
        for number, error in errors.items():
            if len(errors) == len(results):
                raise error
            self.stopped[number] = str(error)
        with np.errstate(over="ignore", invalid="ignore"):  # the losses of baselines may overflow as any
            self.baselines.see(batch, next(one for one in results.values() if isinstance(one, Transcript)))

    def leaderboard(self) -> Leaderboard:
        """The leaderboard so far."""
        named = zip(self.names, self.runs, strict=True)
        entries = [Entry.of(run, name, self.stopped.get(number)) for number, (name, run) in enumerate(named)]
        return Leaderboard(entries, self.baselines.report(), self.sequences)
