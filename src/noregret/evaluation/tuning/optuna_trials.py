"""A search by Optuna's TPE sampler: each trial is one pass over the source, and chooses by the trials before it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from noregret.errors import BadValue, import_extra
from noregret.evaluation.baselines import make_baselines
from noregret.evaluation.leaderboard import Entry
from noregret.evaluation.play import Run, play_batch
from noregret.evaluation.tuning.candidates import Candidate, Search, is_equal
from noregret.evaluation.tuning.result import Result, Tuning
from noregret.evaluation.tuning.runs import TuneObserver, check_readable_again
from noregret.evaluation.tuning.space import Axis, round_inside
from noregret.streams import Source


class OptunaTrials:
    """One study for each learner, its first trial with the default parameters; trials take turns."""

    method = "optuna"

    def __init__(self, searches: Sequence[Search], source: Source, observer: TuneObserver, seed: int) -> None:
        self.optuna = import_extra("optuna", "tune", "method='optuna'")
        check_readable_again(source, "each trial reads the rows once")
        self.searches, self.source, self.watch = searches, source, observer
        self.defaults = [search.find_candidates(1, seed)[0] for search in searches]
        self.studies = [self.make_study(seed) for _ in searches]
        self.results: list[Result] = []
        self.baselines: Mapping[str, float] = {}

    def make_study(self, seed: int) -> Any:
        """A study that minimizes, without lines on the screen."""
        logging = self.optuna.logging
        before = logging.get_verbosity()
        logging.set_verbosity(logging.WARNING)
        try:
            return self.optuna.create_study(sampler=self.optuna.samplers.TPESampler(seed=seed))
        finally:
            logging.set_verbosity(before)

    def tune(self, trials: int) -> Tuning:
        """Run so many trials of every learner that has something to search; returns all of them, best first."""
        for turn in range(trials):
            for search, study, default in zip(self.searches, self.studies, self.defaults, strict=True):
                if turn == 0:
                    result = self.play(default)
                    self.add_default(search, study, result)
                elif search.axes:
                    trial = study.ask()
                    result = self.play(self.suggest(search, default, trial))
                    failed = result.entry.stopped is not None
                    state = self.optuna.trial.TrialState.FAIL if failed else None
                    study.tell(trial, None if failed else to_number(result), state=state)
                else:
                    continue
                self.results.append(result)
                self.check_some_work()
        return self.standings()

    def suggest(self, search: Search, default: Candidate, trial: Any) -> Candidate:
        """The candidate of a trial."""
        point = {axis.name: suggest_value(trial, axis) for axis in search.axes}
        settings = {name: value for name, value in point.items() if not is_equal(value, default.parameters[name])}
        return search.candidate(settings, default)

    def add_default(self, search: Search, study: Any, result: Result) -> None:
        """Tell a study how the defaults did, where they lie in its search space."""
        if result.entry.stopped is not None or not search.axes:
            return
        space = {axis.name: self.distribution(axis) for axis in search.axes}
        point = {name: result.candidate.parameters[name] for name in space}
        if all(type(point[name]) in (int, float, str, bool) and one._contains(one.to_internal_repr(point[name]))
               for name, one in space.items()):  # fmt: skip
            make = self.optuna.trial.create_trial
            study.add_trial(make(params=point, distributions=space, value=to_number(result)))

    def distribution(self, axis: Axis) -> Any:
        """The search space of one parameter, as Optuna has it."""
        kinds = self.optuna.distributions
        if axis.span is None or axis.span.search is None:
            return kinds.CategoricalDistribution(axis.values)
        lowest, highest, scale = axis.span.search
        return kinds.FloatDistribution(lowest, highest, log=scale == "log")

    def play(self, candidate: Candidate) -> Result:
        """One pass over the source; an error stops only this candidate."""
        run = Run(candidate.make_learner(), compare=False)
        baselines = None if self.baselines else make_baselines(run.learner)
        stopped, rounds = None, 0
        for turn, batch in enumerate(self.source):
            if turn == 0 and not self.results:
                self.watch.begin([run.learner], batch)
            try:
                transcript = play_batch(run.learner, self.source, batch)
            except BadValue as error:
                self.error, stopped = error, str(error)
                break
            run.see(self.source, batch, transcript)
            rounds += batch.rows
            if baselines is not None:
                baselines.see(batch, transcript)
            self.watch.progress(self.standings if self.results else None, rounds, batch.progress)
        self.baselines = self.baselines if baselines is None else baselines.report()
        return Result(candidate, Entry.of(run, stopped=stopped))

    def check_some_work(self) -> None:
        """An error of the first trials of all learners, and of one more, is an error of the data."""
        if len(self.results) > len(self.searches) and all(one.entry.stopped is not None for one in self.results):
            raise self.error

    def standings(self) -> Tuning:
        """The trials so far, best first."""
        best = min(self.results, key=lambda result: result.sort_key).entry.learner
        return Tuning(self.results, best, self.method, self.source, self.baselines)


def suggest_value(trial: Any, axis: Axis) -> Any:
    """What Optuna suggests for a parameter; numbers of a range with four digits."""
    if axis.span is None or axis.span.search is None:
        return trial.suggest_categorical(axis.name, axis.values)
    lowest, highest, scale = axis.span.search
    return round_inside(trial.suggest_float(axis.name, lowest, highest, log=scale == "log"), axis.span)


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
