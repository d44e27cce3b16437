"""`auto`: many learners side by side in one pass, and Hedge over their losses."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.adapters.pool_entries import PREPARATION, check_tasks, make_entries
from noregret.adapters.pool_file import (
    dump_pool,
    part_of,
    read_header,
    restore_entries,
    restore_stopped,
    restore_targets,
)
from noregret.adapters.pool_history import ShareHistory
from noregret.adapters.pool_merge import merge_pools
from noregret.adapters.pool_one_row import OneRound, Recalled
from noregret.adapters.pool_probabilities import ProbabilityMixture, score_columns
from noregret.adapters.pool_report import PoolReport, report_pool
from noregret.adapters.pool_rounds import PoolRounds, as_rows, count_rows
from noregret.adapters.pool_sleep import Sleep
from noregret.adapters.pool_votes import Combination, combination_of
from noregret.data.blocks import verify
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned
from noregret.experts.expert_weights import ExpertWeights
from noregret.features.frames import convert_frame, labels_to_list
from noregret.jit.cache import seconds_waited
from noregret.learner.arguments import check_integer
from noregret.learner.base_learner import BaseLearner, Transforms
from noregret.learner.encode import one_row
from noregret.learner.finder import FeatureFunction
from noregret.learner.header_fields import corrupt
from noregret.learner.model import Model
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.whole_change import run_whole
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice

Floats = NDArray[np.float64]
SHARED = ("task", "classes", "class_weight", "cost", "seed", "native", *PREPARATION)
COMBINE = Choice(
    "auto",
    dict.fromkeys(("auto", "hedge", "adahedge", "squint", "fixed_share")),
    "how entries are weighed: Hedge with a falling rate (AdaHedge in regression, where losses differ little), or this",
)
YES_NO = {"no": False, "yes": True}


@register_kind
@method_card(
    paper="Freund and Schapire, A decision-theoretic generalization of on-line learning, JCSS 55, 1997",
    kind="pool",
    tasks=("binary", "multiclass", "regression", "multilabel", "ranking"),
    params={
        "combine": COMBINE,
        "drift": Choice("no", YES_NO, "fixed share instead of Hedge: follows the best sequence of entries"),
        "prune": Choice("no", YES_NO, "entries of negligible weight sleep, and wake again, each time later"),
    },
    options=("pool", "threads", *SHARED),
    merge=Merge("heuristic", "entries merge by their own laws; the summed losses of Hedge are added"),
    weights=True,
)
class Auto(BaseLearner):
    """Many learners side by side in one pass; their weighted vote is nearly as good as the best of them in hindsight.

    Every entry of the pool plays every round. Hedge weighs them by their losses: 1 for a mistake; in regression
    min(1, (error / range)^2), the range being 4 deviations of the targets so far. The sum of the weighted losses
    exceeds that of the best entry by no more than the bound of Hedge, which `report()` shows. The prediction is the
    weighted vote (in regression the weighted mean); it is wrong at most twice as often as the weighted losses say.
    """

    kind: ClassVar[str] = "pool"
    recalled: Recalled | None = None  # the row that was predicted last

    def __init__(
        self, combine: str = "auto", drift: str = "no", prune: str = "no", pool: Any = None,
        threads: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        self.entries = tuple(make_entries(pool, options))
        self.stopped: Mapping[str, str] = {}  # entries that a row made fail, and why; they lose every later round
        self.threads = None if threads is None else check_integer("threads", threads, 1)
        given = {"combine": combine, "drift": drift, "prune": prune, "pool": pool, "threads": threads}
        self.given: Mapping[str, Any] | None = {**given, **options}
        self.prunes = prune == "yes"
        if self.prunes and self.task == "ranking":
            raise BadValue("auto cannot prune in ranking: its rounds are lists of rows; leave prune out")
        native = bool(options.get("native", True))
        algorithm = choose_algorithm(combine, drift, self.task)
        self.mixture = ExpertWeights(algorithm, len(self.entries), seed=options.get("seed", 0), native=native)
        self.sleep = Sleep.none(len(self.entries))
        self.targets = (0, 0.0, 0.0, 0.0)  # of regression: how many, the first, sums of differences and squares
        self.odds = ProbabilityMixture(len(self.entries), native)
        self.history = ShareHistory.empty(len(self.entries))
        self.seconds: dict[int, float] = {}  # how long each entry took in its last call, to share out the work

    # ---- what it is made of ------------------------------------------------------------------------------------------

    @property
    def running(self) -> list[int]:
        """The numbers of the entries that no row has made fail."""
        return [number for number, entry in enumerate(self.entries) if entry.name not in self.stopped]

    @property
    def leader(self) -> RuleLearner | None:
        """The entry that encodes rows for others; None where each encodes its own."""
        first = next((entry.learner for entry in self.entries if entry.sees == "encodes"), None)
        return first if isinstance(first, RuleLearner) else None

    @property
    def model(self) -> Model:
        """The model of the first entry that is a rule: its task and labels are those of the pool."""
        return next(one.learner.model for one in self.entries if isinstance(one.learner, RuleLearner))

    @property
    def task(self) -> str:
        return self.entries[self.running[0]].learner.task

    @property
    def classes(self) -> list[Any]:
        """The labels seen so far, in order of appearance."""
        return list(getattr(self.entries[self.running[0]].learner, "classes", ()))

    @property
    def params(self) -> dict[str, Any]:
        """How entries are weighed, and their names."""
        names = [entry.name for entry in self.entries]
        return {"combine": self.mixture.card.name, "prune": "yes" if self.prunes else "no", "pool": names}

    @property
    def variant_options(self) -> dict[str, Any]:
        """The options in its name: how entries are weighed where it is not as usual, and whether they sleep."""
        combine = self.mixture.card.name
        usual = choose_algorithm("auto", "no", self.task) == combine
        return {"combine": None if usual else combine, "prune": "yes" if self.prunes else "no"}

    @property
    def allows_missing(self) -> bool:
        """Whether values may be missing in rows."""
        return self.leader is not None and self.leader.config.allows_missing

    @property
    def has_probabilities(self) -> bool:
        """Whether it predicts one class for every row, and so has probabilities of classes."""
        return self.model.task.no_probabilities is None

    def combination(self, targets: tuple[int, float, float, float] | None = None) -> Combination:
        """How the predictions of the entries become one."""
        return combination_of(self.model, self.targets if targets is None else targets)

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round, with every entry; all rounds, or none."""
        began, y = time.perf_counter() - seconds_waited(), labels_to_list(y)
        with self._lock:
            self._change.settle()
            rows = convert_frame(X, self.allows_missing)

            def find_learners() -> list[Any]:
                return [self.entries[number].learner for number in self.running]

            def play() -> Transcript:
                return self.commit(PoolRounds(self, rows, (y, weight, query)))

            transcript = run_whole(self._change, find_learners, self._own_state, play)
            return replace(transcript, seconds=time.perf_counter() - seconds_waited() - began)

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round."""
        with self._lock:
            self._change.settle()
            if weight is None and self._learn_alone(x, y):
                return self
            return super().learn_one(x, y, weight)

    def _learn_alone(self, x: Any, y: Any) -> bool:
        """Learn one round without what a call with many needs; False, and nothing has changed, where it needs that."""
        one: OneRound | None = None

        def play() -> bool:
            nonlocal one
            if not OneRound.suits(self, y):
                return False
            found = OneRound(self, x, y)
            found.prepare()
            one = found
            one.play()
            return True

        def complete() -> None:
            if one is not None:
                one.complete()

        return self._change.run(play, complete)

    def commit(self, rounds: PoolRounds) -> Transcript:
        """Play the rounds and take over what they left."""
        transcript = rounds.play()
        self.mixture, self.sleep, self.stopped = rounds.mixture, rounds.sleep, rounds.stopped
        self.targets, self.odds, self.history = rounds.targets, rounds.odds, rounds.history
        self.rounds += transcript.rounds
        self.mistakes += int(np.count_nonzero(transcript.mistakes))
        self.updates += int(np.count_nonzero(transcript.updated))
        return transcript

    # ---- predictions -------------------------------------------------------------------------------------------------

    def ask(self, X: RowsLike, ask: Callable[[Any, Any], Any], weights: Floats) -> tuple[list[Any], int]:
        """What every entry says about some rows, None for one that has no weight; and the number of rows."""
        if not self.rounds:
            raise NotLearned("auto has not seen a label yet; learn something first")
        X, leader = convert_frame(X, self.allows_missing), self.leader
        encoded = None if leader is None else as_rows(verify(leader._encode(X, include_unknown=True)))
        running, said = self.running, []
        for number, entry in enumerate(self.entries):
            silent = number not in running or weights[number] == 0.0
            said.append(None if silent else ask(entry.learner, encoded if entry.sees == "encoded" else X))
        return said, count_rows(X)

    def scores(self, X: RowsLike) -> Floats:
        """The weight that votes for each class (of two, the difference), or the weighted mean of the predictions."""
        with self._lock:
            self._change.settle()
            combination, shares = self.combination(), self.mixture.current()
            said, rows = self.ask(X, combination.ask, shares)
            return combination.combine(said, np.broadcast_to(shares, (rows, len(shares))))

    def decide(self, scores: Floats) -> NDArray[Any]:
        """The label (or target) that each of these scores stands for."""
        return self.combination().decide(scores)

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The weighted vote of the entries for every row, or the weighted mean of their predictions."""
        with self._lock:
            return self.decide(self.scores(X))

    def predict_one(self, x: RowLike) -> Any:
        """The prediction for one row; None before anything was learned."""
        with self._lock:
            self._change.settle()
            known = self.model.labels.order
            example = known[0] if known else 0.0
            if self.rounds and OneRound.suits(self, example):
                return OneRound(self, x, example).predict()
            return super().predict_one(x)

    def predict_proba(self, X: RowsLike) -> Floats:
        """The probability of every class for every row, in the order of `classes`: a mixture of calibrated entries."""
        with self._lock:
            self._change.settle()
            if not self.has_probabilities:
                raise BadValue(f"auto has no probabilities in {self.task}: {self.model.task.no_probabilities}")
            labels = self.model.labels
            said, rows = self.ask(X, score_rows, self.odds.weights())
            if len(labels) < 2:
                return np.ones((rows, len(labels)))
            columns = [None if one is None else score_columns(one, labels.signs(2), len(labels)) for one in said]
            return self.odds.mix(columns, rows)

    def predict_proba_one(self, x: RowLike) -> dict[Any, float]:
        """The probability of every class for one row, by label; empty before any label was seen."""
        if not self.rounds:
            return {}
        return dict(zip(self.classes, self.predict_proba(one_row(x))[0].tolist(), strict=True))

    def explain_one(self, x: RowLike, label: Any = None) -> dict[str, float]:
        """What every entry adds to the prediction for a row: its weight where it votes for the label, by default the
        predicted one, minus its weight where it does not; in regression its weight times its prediction."""
        with self._lock:
            self._change.settle()
            combination, shares = self.combination(), self.mixture.current()
            said, _ = self.ask(one_row(x, self.allows_missing), combination.ask, shares)
            label = self.predict_one(x) if label is None else label
            parts = {
                entry.name: combination.share_of(one, float(shares[number]), label)
                for number, (entry, one) in enumerate(zip(self.entries, said, strict=True))
                if one is not None
            }
            return dict(sorted(parts.items(), key=lambda item: -abs(item[1])))

    # ---- what it knows of its entries --------------------------------------------------------------------------------

    def report(self) -> PoolReport:
        """The entries with their weights and losses, and the guarantee beside what happened."""
        with self._lock:
            self._change.settle()
            return report_pool(self)

    def plot(self, X: RowsLike = None, y: LabelsLike = None) -> Any:
        """The weights of the entries over time as a matplotlib figure; of rows with two features, what it predicts."""
        return self.report().plot() if X is None else super().plot(X, y)

    @property
    def shares(self) -> dict[str, float]:
        """The weight of every entry in the next round, the largest first; they sum to 1."""
        return {entry.name: entry.share for entry in self.report().entries}

    def __getitem__(self, name: str) -> Any:
        """A copy of an entry, by name; one that sees encoded rows takes them by column numbers."""
        for entry in self.entries:
            if entry.name == name:
                return entry.learner.copy()
        raise BadValue(f"the pool has no entry {name!r}; its entries are {', '.join(one.name for one in self.entries)}")

    # ---- files -------------------------------------------------------------------------------------------------------

    def with_source(self, source: dict[str, Any] | None) -> Self:
        """This pool with what a model file says of its source; it reads rows of a table as those it learned."""
        self.source, leader = source, self.leader
        if leader is not None:
            reads = leader.with_source(source)
            reads.source = None  # it belongs to the pool
            self.entries = tuple(replace(one, learner=reads) if one.learner is leader else one for one in self.entries)
        return self

    def put_behind(self, steps: Transforms) -> Self:
        """A fresh learner like this one that sees rows only after these transforms."""
        if self.given is None or self.rounds:
            raise BadValue("auto has learned already; cannot add transforms to a trained learner. Create a new one")
        return type(self)(**{**self.given, "transforms": [*steps, *(self.given.get("transforms") or ())]})

    def merge(self, other: "Auto") -> "Auto":
        """A new pool that has learned the rounds of both, as far as the entries can be merged."""
        if not isinstance(other, Auto):
            raise BadValue(f"a pool can be merged only with a pool, not with {other!r}")
        return merge_pools(self.copy(), other.copy())

    def functions(self) -> dict[str, FeatureFunction]:
        """The functions of the caller that a model file only names."""
        inside = [entry.learner for entry in self.entries if isinstance(entry.learner, BaseLearner)]
        return {name: function for part in inside for name, function in part.functions().items()}

    def dump(self) -> tuple[Header, Arrays]:
        """The entries, their weights and the counts."""
        with self._lock:
            self._change.settle()
            return dump_pool(self)

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """A pool from a header and arrays, all checked."""
        new = object.__new__(cls)
        BaseLearner.__init__(new)
        new.entries, new.given, new.threads = restore_entries(header, arrays, find_card), None, None
        new.stopped, new.targets = restore_stopped(header, new.entries), restore_targets(header)
        new.prunes, size = header.get("prunes") is True, len(new.entries)
        new.sleep = Sleep.restore(header.get("sleep"), size)
        new.mixture = ExpertWeights.restore(read_header(header, "mixture"), part_of(arrays, "mixture"))
        if new.mixture.experts != size:
            raise corrupt("a pool must have a weight for each of its entries")
        try:
            check_tasks([new.entries[number] for number in new.running])
        except BadValue as error:
            raise corrupt(str(error)) from None
        new.odds = ProbabilityMixture(size)
        new.odds.restore(part_of(arrays, "odds"), len(new.model.labels) if new.has_probabilities else 0)
        new.restore_counts(header)
        new.seconds = {}
        new.history = ShareHistory.restore(part_of(arrays, "history"), size, new.rounds)
        return new


def choose_algorithm(combine: str, drift: str, task: str) -> str:
    """The expert algorithm that weighs the entries."""
    if drift == "yes":
        if combine not in ("auto", "fixed_share"):
            raise BadValue(f"auto: drift asks for fixed_share, and combine for {combine}; leave one of them out")
        return "fixed_share"
    if combine != "auto":
        return combine
    return "adahedge" if task == "regression" else "hedge"


def score_rows(learner: Any, X: Any) -> Any:
    """The scores of some rows, where a learner has scores."""
    return learner.scores(X) if hasattr(learner, "scores") else None
