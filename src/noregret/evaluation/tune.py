"""Tune the parameters of learners: try candidates on one source and keep the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from noregret.errors import BadValue, shown
from noregret.evaluation.baselines import loss_measure
from noregret.evaluation.capabilities import task_class
from noregret.evaluation.option_names import refuse_misspelt
from noregret.evaluation.play import READING, open_for_tasks
from noregret.evaluation.race import check_one_task, make_learners, only_task
from noregret.evaluation.tuning.candidates import PASSES, Search, Space, check_passes, make_searches
from noregret.evaluation.tuning.measures import check_metric
from noregret.evaluation.tuning.result import Tuning
from noregret.evaluation.tuning.runs import Halving, SideBySide, TuneObserver, check_ends, count_rounds
from noregret.evaluation.tuning.split import SplitPlan, SplitRuns
from noregret.learner.arguments import check_integer
from noregret.learner.factory import card_of
from noregret.learner.protocol import Learner
from noregret.learner.variants import Variant, as_variant
from noregret.rules.card import Card
from noregret.rules.parameters import suggestion
from noregret.streams import Source
from noregret.streams.holdout import check_holdout

METHODS = ("progressive", "split", "halving", "optuna")
OF_SPLIT = ("validation", "validation_seed", "refit")
MOST = 10_000  # candidates
LABELS_LATER = ("unlabelled", "key")


@dataclass(frozen=True)
class Settings:
    """How candidates are compared; each is an argument of `tune`."""

    method: str = "progressive"
    candidates: int = 30
    seed: int = 0
    threads: int = 2
    validation: float = 0.2
    validation_seed: int | None = None
    refit: bool = False
    factor: float = 3.0
    metric: str | None = None
    observer: TuneObserver | None = None

    def __post_init__(self) -> None:
        check_metric(self.metric)
        if self.method not in METHODS:
            hint = suggestion(self.method, METHODS)
            raise BadValue(f"method must be one of {', '.join(METHODS)}, not {shown(self.method)}{hint}")
        for name, least in (("candidates", 2), ("seed", 0), ("threads", 1)):
            check_integer(name, getattr(self, name), least)
        if self.candidates > MOST:
            raise BadValue(f"candidates must be at most {MOST:,}, since all of them are learned side by side")
        try:
            check_holdout(self.validation, self.validation_seed)
        except BadValue as error:
            raise BadValue(str(error).replace("holdout", "validation")) from None
        if not self.validation:
            raise BadValue("validation must be a share between 0 and 1, or a number of rows, not 0")
        if type(self.refit) is not bool:
            raise BadValue(f"refit must be True or False, not {shown(self.refit)}")
        if type(self.factor) not in (int, float) or not 1.1 <= self.factor <= 1e6:
            raise BadValue(f"factor must be a number of at least 1.1, not {shown(self.factor)}")

    def check_given(self, given: Mapping[str, Any]) -> None:
        """Refuse what another method takes."""
        for name in given:
            if (name in OF_SPLIT and self.method != "split") or (name == "factor" and self.method != "halving"):
                owner = "split" if name in OF_SPLIT else "halving"
                raise BadValue(f"{name} is for method={owner!r}; this is {self.method!r}")


SETTINGS = tuple(one.name for one in fields(Settings) if one.name not in ("method", "candidates", "seed"))


def tune(
    source: object,
    learners: object = None,
    space: Space | None = None,
    *,
    method: str = "progressive",
    candidates: int = 30,
    **options: Any,
) -> Tuning:
    """Find good parameters: try candidates on the rounds of a source and keep the best.

    `learners` is a name, a rule of your own, or a list of these. `space` says what is searched: {"C": [0.1, 1, 10]},
    {"r": (0.01, 100, "log")}, or parameters by name, ["r", "loss"], searched as their card says; without it, all
    numbers for which the card has a range. The default parameters are always among the candidates. Where the grid has
    more than so many `candidates` for a learner, these are drawn at random, by `seed`.

    Methods: "progressive", all candidates side by side in one pass, each predicting every round before it learns it;
    "halving", the same, but only 1/factor of them go on after 1/factor of the rounds; "split", on the last rows
    (validation=0.2), which are not learned, or with validation_seed= on a random share of each class, also for several
    numbers of passes (passes=[1, 2, 5]), with refit=True to train the best on all rows; "optuna", one pass for each
    trial of Optuna's TPE sampler. Options of `open_source` say how the source is read; others go to every learner.

    There is no place for test data: measure the result on other rows with `evaluate`.
    """
    refuse_misspelt("tune", options, ("learners", "space", "method", "candidates", *SETTINGS), learners)
    given = {name: options.pop(name) for name in list(options) if name in SETTINGS}
    settings = Settings(method, candidates, options.get("seed", 0), **given)
    settings.check_given(given)
    variants = check_variants(learners)
    reading = {name: options.pop(name) for name in list(options) if name in READING}
    check_reading(reading)
    passes = reading.pop(PASSES, None)
    shuffle = reading.pop("shuffle", None) if method == "split" else None
    if method != "split" and isinstance(passes, int):
        reading[PASSES], passes = passes, None
    if passes is not None:
        space = add_passes(space, passes)
    making = {**only_task(variants), **options}
    opened = open_for_tasks(source, [task_class(making.get("task"))], reading)

    def make_one(variant: Variant, chosen: Mapping[str, Any]) -> Any:
        whole = Variant(variant.card, {**variant.options, **chosen})
        return make_learners([whole], opened.learner_defaults, making)[0]

    found = search(opened, make_searches(variants, space, options, make_one), settings, shuffle)
    found.given = {**reading, **({} if shuffle is None else {"shuffle": shuffle}), **options}
    return found


def search(
    source: Source, searches: tuple[Sequence[Search], Sequence[int] | None], settings: Settings, shuffle: int | None
) -> Tuning:
    """Compare the candidates of some searches, also for several numbers of passes where there are some."""
    method, (learners, passes) = settings.method, searches
    observer = settings.observer or TuneObserver()
    if passes is not None and method != "split":
        raise BadValue(f"several numbers of passes are compared with method='split'; this is {method!r}")
    check_one_measure([one.make(one.variant, {}) for one in learners])
    if method != "progressive":
        check_ends(source, method)
    if method == "optuna":
        from noregret.evaluation.tuning.optuna_trials import OptunaTrials

        trials = OptunaTrials(learners, source, observer, settings.seed)
        trials.metric = settings.metric
        return trials.tune(settings.candidates)
    candidates = [one for each in learners for one in each.find_candidates(settings.candidates, settings.seed)]
    if method == "halving":
        runs: SideBySide = Halving(candidates, source, observer, count_rounds(source), settings.factor)
    elif method == "split":
        plan = SplitPlan(settings.validation, settings.validation_seed, tuple(passes or (1,)), shuffle, settings.refit)
        runs = SplitRuns(candidates, source, observer, plan)
    else:
        runs = SideBySide(candidates, source, observer)
    runs.metric = settings.metric
    return runs.tune(settings.threads)


def check_variants(learners: object) -> list[Variant]:
    """The learners to tune."""
    several: list[Any] = list(learners) if isinstance(learners, (list, tuple)) else [learners]
    if not several:
        raise BadValue("tune needs at least one learner")
    for one in several:
        if not isinstance(one, (str, Card, Variant)) and not isinstance(getattr(one, "card", None), Card):
            raise BadValue(f'tune needs the name of a learner, such as "arow", or a rule, not {shown(one)}')
        if isinstance(getattr(one, "card", None), Card) and not isinstance(one, type):
            raise BadValue(f"tune makes its learners itself; give the name, as in {one.card.name!r}, not a learner")
    variants = [as_variant(one, card_of) for one in several]
    names = [str(one) for one in variants]
    if len(set(names)) < len(names):
        raise BadValue(f"tune takes each learner once, not {', '.join(names)}")
    return variants


def check_one_measure(learners: Sequence[Learner]) -> None:
    """Refuse learners without labels whose losses are not the same thing, so that none of them is the best."""
    check_one_task(learners, "tune")
    first = learners[0]
    for one in learners[1:]:
        if loss_measure(one) != loss_measure(first):
            raise BadValue(f"losses of {first.card.name} ({loss_measure(first)}) and of {one.card.name} "
                           f"({loss_measure(one)}) cannot be compared; tune them apart")  # fmt: skip


def check_reading(reading: Mapping[str, Any]) -> None:
    """Refuse read options that make no sense here."""
    if reading.get("holdout"):
        raise BadValue("tune does not take holdout: it would choose by the rows that should measure the choice; "
                       'method="split" compares on validation rows, and nr.evaluate measures on others')  # fmt: skip
    for name in LABELS_LATER:
        if reading.get(name) is not None:
            raise BadValue(f"tune needs rows with labels; leave {name} out")


def add_passes(space: Space | None, passes: object) -> dict[str, Any]:
    """A search space with numbers of passes."""
    names = {} if space is None else dict(space) if isinstance(space, Mapping) else dict.fromkeys(space)
    if PASSES in names:
        raise BadValue("passes is given twice: in the search space and beside it")
    return {**names, PASSES: check_passes(passes)}
