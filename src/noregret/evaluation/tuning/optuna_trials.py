"""A search by Optuna's TPE sampler: each trial is one pass over the source, and is chosen by the trials before it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from noregret.errors import BadValue, import_extra
from noregret.evaluation.baselines import make_baselines
from noregret.evaluation.leaderboard import Entry
from noregret.evaluation.play import Run, play_batch
from noregret.evaluation.tuning.candidates import Candidate, Search, is_equal
from noregret.evaluation.tuning.measures import require_metric
from noregret.evaluation.tuning.result import Result, Tuning
from noregret.evaluation.tuning.runs import TuneObserver, check_readable_again
from noregret.evaluation.tuning.space import Axis, round_inside
from noregret.streams import Source


class OptunaTrials:
    """One study for each learner, its first trial with the default parameters; the learners take turns."""

    method = "optuna"
    metric: str | None = None  # what trials are compared by; None: what the task names

    def __init__(self, searches: Sequence[Search], source: Source, observer: TuneObserver, seed: int) -> None:
        self.optuna = import_extra("optuna", "tune", "method='optuna'")
        check_readable_again(source, "each trial reads the rows once")
        self.source, self.watch = source, observer
        self.studies = [Study(self.optuna, search, seed) for search in searches]
        self.results: dict[str, Result] = {}  # by the candidate
        self.baselines: Mapping[str, float] = {}
        self.share_done = 0.0

    def tune(self, trials: int) -> Tuning:
        """Run so many trials of every learner that has something to search; returns all of them, best first."""
        turns = [study for turn in range(trials) for study in self.studies if turn == 0 or study.search.axes]
        error: BadValue | None = None
        for turn, study in enumerate(turns):
            self.share_done = turn / len(turns)
            candidate, trial = study.suggest()
            key = candidate.name()
            if key not in self.results:
                self.results[key], stopped = self.play(candidate, 1.0 / len(turns))
                error = error or stopped
            study.tell(trial, self.results[key])
            nothing_works = all(result.entry.stopped is not None for result in self.results.values())
            if error is not None and nothing_works and len(self.results) > len(self.studies):
                raise error  # it is an error of the data
        return self.standings()

    def play(self, candidate: Candidate, share: float) -> tuple[Result, BadValue | None]:
        """One pass over the source; an error stops only this candidate."""
        run = Run(candidate.make_learner(), compare=False)
        baselines, rounds, error = make_baselines(run.learner), 0, None
        for turn, batch in enumerate(self.source):
            if turn == 0 and not self.results:
                self.watch.begin([study.search.make(study.search.variant, {}) for study in self.studies], batch)
            try:
                transcript = play_batch(run.learner, self.source, batch)
            except BadValue as stopped:
                error = stopped
                break
            run.see(self.source, batch, transcript)
            baselines.see(batch, transcript)
            rounds += batch.rows
            done = None if batch.progress is None else self.share_done + share * batch.progress
            self.watch.progress(self.standings if self.results else None, rounds, done)
        if not rounds and error is None:
            raise BadValue(f"{self.source.name}: holds no rows, so that candidates cannot be compared")
        if error is None:
            self.baselines = baselines.report()
        entry = Entry.of(run, stopped=None if error is None else str(error))
        require_metric(self.metric, entry)
        return Result(candidate, entry, metric=self.metric), error

    def standings(self) -> Tuning:
        """The trials so far, best first."""
        results = list(self.results.values())
        best: Any = min(results, key=lambda result: result.sort_key).entry.learner
        return Tuning(results, best, self.method, self.source, self.baselines)


class Study:
    """The trials of one learner."""

    def __init__(self, optuna: Any, search: Search, seed: int) -> None:
        self.optuna, self.search = optuna, search
        self.default = search.find_candidates(1, seed)[0]
        self.begun = False
        before = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # no line about every study
        try:
            self.study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        finally:
            optuna.logging.set_verbosity(before)

    def suggest(self) -> tuple[Candidate, Any]:
        """The next candidate, and its trial; the first is the default parameters, which Optuna does not choose."""
        if not self.begun:
            self.begun = True
            return self.default, None
        trial = self.study.ask()
        point = {axis.name: suggest_value(trial, axis) for axis in self.search.axes}
        defaults = self.default.parameters
        settings = {name: value for name, value in point.items() if not is_equal(value, defaults[name])}
        return self.search.candidate(settings, self.default), trial

    def tell(self, trial: Any, result: Result) -> None:
        """Tell the study how a candidate did."""
        failed = result.entry.stopped is not None
        if trial is None:
            self.add_default(result, failed)
        elif failed:
            self.study.tell(trial, state=self.optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(trial, to_number(result))

    def add_default(self, result: Result, failed: bool) -> None:
        """Add a trial of the defaults, where they lie in the search space."""
        point = {axis.name: place_of(axis, result.candidate.parameters[axis.name]) for axis in self.search.axes}
        if failed or not point or None in point.values():
            return
        kinds = self.optuna.distributions
        space = {
            axis.name: kinds.CategoricalDistribution(range(len(axis.values)))
            if axis.span is None or axis.span.search is None
            else kinds.FloatDistribution(*axis.span.search[:2], log=axis.span.search[2] == "log")
            for axis in self.search.axes
        }
        create = self.optuna.trial.create_trial
        self.study.add_trial(create(params=point, distributions=space, value=to_number(result)))


def suggest_value(trial: Any, axis: Axis) -> Any:
    """What Optuna suggests for a parameter; numbers of a range with four digits."""
    if axis.span is None or axis.span.search is None:
        return axis.values[trial.suggest_categorical(axis.name, range(len(axis.values)))]
    lowest, highest, scale = axis.span.search
    return round_inside(trial.suggest_float(axis.name, lowest, highest, log=scale == "log"), axis.span)


def place_of(axis: Axis, value: Any) -> Any:
    """What Optuna knows a value by: a number of a range, or its place among the values; None where it is neither."""
    if axis.span is None or axis.span.search is None:
        return next((place for place, one in enumerate(axis.values) if is_equal(one, value)), None)
    lowest, highest, _ = axis.span.search
    return value if type(value) in (int, float) and lowest <= value <= highest else None


def to_number(result: Result) -> float:
    """One number that sorts as results are sorted: by counts of mistakes, and between two counts by the loss."""
    costs, *measured = result.sort_key[2:]
    number = 0.0
    for key in reversed(measured if result.entry.costs is None else [costs, *measured]):
        key = min(key, 1e300)
        number = key + (1.0 if key == int(key) else 1e-9) * squash(number)
    return number


def squash(value: float) -> float:
    """A number between 0 and 1 that grows with a number."""
    logarithm = math.copysign(math.log1p(abs(value)), value)
    return 0.5 + 0.5 * logarithm / (1.0 + abs(logarithm))
