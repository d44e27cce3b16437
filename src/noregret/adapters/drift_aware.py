"""Drift-aware learning: a detector watches a learner, and after an alarm another one takes its place."""

import time
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.adapters.detector_loops import choose_runner
from noregret.adapters.drift_parts import EarlyEvent, Parts
from noregret.adapters.transcripts import join_transcripts
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.labels import UNIVERSUM
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.jit.cache import seconds_waited
from noregret.learner.arguments import as_learner, check_round_learner, describe, task_of, with_probabilities
from noregret.learner.base_learner import BaseLearner, Transforms
from noregret.learner.header_fields import corrupt, read_count, read_list, read_number
from noregret.learner.labelled_rows import LabelledRows, as_indexable
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, register_kind, restore_part
from noregret.learner.protocol import Learner
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.whole_change import run_whole
from noregret.metrics.detector import STABLE, Detector, find_detector
from noregret.metrics.drift import CLOCKS, DETECTORS, DriftMonitor, report_drift
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Component

KNOWN = {**DETECTORS, **CLOCKS}
ON_DRIFT = Choice(
    "reset",
    {"reset": None, "shadow": None},
    "after an alarm: reset starts a new learner; shadow puts in one that has learned since the warning",
)


@register_kind
@method_card(
    paper="Gama, Medas, Castillo and Rodrigues, Learning with drift detection, SBIA 2004",
    kind="drift_aware",
    tasks=("binary", "multiclass", "regression", "multilabel", "one-class"),
    params={"learner": Component("arow", "the learner that is watched"), "on_drift": ON_DRIFT},
    options=("detector",),
    weights=True,
)
class DriftAware(BaseLearner):
    """A learner watched by a drift detector; after an alarm a new learner takes its place.

    `detector` is the name of a detector, with settings as in "adwin:delta=0.01"; "window:size=5000" is a clock for a
    sliding window. on_drift="reset": the new learner has
    learned nothing but the round of the alarm. on_drift="shadow": from a warning on, a second learner learns beside the
    first; it takes its place at the alarm, and is dropped where the warning ends. A new learner of a rule knows the
    classes, the features and the statistics of transforms; any other begins as it was given. The detector starts
    again with every new learner. `alarms` are rounds, counted from 1.
    """

    kind: ClassVar[str] = "drift_aware"
    shared: ClassVar[tuple[str, ...]] = ("blank",)

    def __init__(self, learner: Learner | str, detector: Detector | str = "adwin", on_drift: str = "reset") -> None:
        super().__init__()
        self.learner: Learner = check_round_learner(as_learner(learner, "drift_aware"), "drift_aware")
        if self.learner.task not in self.card.tasks:
            raise BadValue(f"drift_aware cannot play {self.learner.task}: it plays {', '.join(self.card.tasks)}")
        self.on_drift = ON_DRIFT.check("drift_aware", "on_drift", on_drift)
        self.blank = None if isinstance(self.learner, RuleLearner) else self.learner.copy()  # never changed
        native = getattr(getattr(self.learner, "config", None), "native", True)
        watch = "loss" if task_of(self.learner).prediction == "target" else "mistakes"
        self.monitor = DriftMonitor(find_detector(detector, KNOWN, choose_runner(native)), watch)
        self.shadow: Learner | None = None
        self.alarms: tuple[int, ...] = ()

    @property
    def task(self) -> str:
        return self.learner.task

    @property
    def params(self) -> dict[str, Any]:
        detector = self.monitor.detector.describe()
        return {"learner": describe(self.learner), "detector": detector, "on_drift": self.on_drift}

    def __repr__(self) -> str:
        counts = f"{self.rounds} rounds, {self.mistakes} mistakes, {len(self.alarms)} alarms"
        return f"<drift_aware {self.learner!r}, {self.monitor.detector.name}, {self.on_drift}: {counts}>"

    @property
    def drift(self) -> dict[str, Any]:
        """The detector and its alarms, for reports."""
        return report_drift(self.monitor, list(self.alarms), [])

    @property
    def nonzeros(self) -> int | None:
        """How many features have a weight now, where the learner inside has weights."""
        return getattr(self.learner, "nonzeros", None)

    @property
    def classes(self) -> list[Any]:
        """The labels seen so far; empty where the learner inside has no classes."""
        return list(getattr(self.learner, "classes", ()))

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round, with the learner of that round; all of them, or none."""
        if query is not None:
            raise BadValue("drift_aware takes rows one by one; leave query out")
        if y is None:
            raise BadValue("drift_aware needs labels: without them there is no mistake to watch")
        began = time.perf_counter() - seconds_waited()
        rows = LabelledRows(as_indexable(X), y, weight)
        with self._lock:
            self._change.settle()
            played = self._play_rows(rows)
            return replace(played, seconds=time.perf_counter() - seconds_waited() - began)

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round. Where nothing happens, that is one round of the learner inside."""
        with self._lock:
            self._change.settle()
            if self._learn_quietly(x, y, weight):
                return self
            return super().learn_one(x, y, weight)

    def _learn_quietly(self, x: RowLike, y: Any, weight: float | None) -> bool:
        """Learn one round with the learner inside; False, and nothing has changed, where something may happen."""
        one: QuietRound | None = None

        def play() -> bool:
            nonlocal one
            learner = self.learner
            prediction = None if y is None or y is UNIVERSUM else learner.predict_one(x)
            watched = self.monitor.watch == "mistakes" and self.shadow is None and prediction is not None
            if not watched or not isinstance(learner, RuleLearner):
                return False
            one = QuietRound(self, learner, bool(prediction != y))
            return one.play(x, y, weight)

        def complete() -> None:
            if one is not None:
                one.complete()

        return self._change.run(play, complete)

    def _play_rows(self, rows: LabelledRows) -> Transcript:
        """Play rounds with the learners themselves, which is undone where something happens before the last round."""

        def play() -> Transcript:
            first, learners = len(rows), self._learners()
            if all(isinstance(one, RuleLearner) for one in learners):
                try:
                    return run_whole(self._change, lambda: learners, self._own_state, lambda: self._play_whole(rows))
                except EarlyEvent as event:
                    first = event.rounds
            return self._play_parts(rows, first)

        return self._change.save_and_run(self._own_state, play)

    def _learners(self) -> list[Learner]:
        return [self.learner] if self.shadow is None else [self.learner, self.shadow]

    def _play_whole(self, rows: LabelledRows) -> Transcript:
        """Play all rounds with the learners as they are, if nothing happens before the last of them."""
        parts = Parts(self.learner, self.shadow, self.monitor.copy(), self.restart, self.on_drift == "shadow")
        transcript = parts.accept(rows, rows.play(self.learner))
        self._keep(parts, [transcript])
        return transcript

    def _play_parts(self, rows: LabelledRows, first: int) -> Transcript:
        """Play rounds with copies, from one event to the next; `first` is where the first event may be."""
        shadow = None if self.shadow is None else self.shadow.copy()
        since = self.rounds - (self.alarms[-1] if self.alarms else 0)
        parts = Parts(self.learner.copy(), shadow, self.monitor.copy(), self.restart, self.on_drift == "shadow", since)
        played = list(parts.play(rows, first))
        self._keep(parts, played)
        return join_transcripts(played, self.classes)

    def _keep(self, parts: Parts, played: list[Transcript]) -> None:
        """Take over what was played."""
        self.alarms = (*self.alarms, *(self.rounds + at for at in parts.alarms))
        self.learner, self.shadow, self.monitor = parts.learner, parts.shadow, parts.monitor
        self.rounds += sum(one.rounds for one in played)
        self.mistakes += sum(int(np.count_nonzero(one.mistakes)) for one in played)
        self.updates += sum(int(np.count_nonzero(one.updated)) for one in played)

    def restart(self, learner: Learner) -> Learner:
        """A new learner to take the place of one."""
        from noregret.learner.restart import restart

        if isinstance(learner, RuleLearner):
            return restart(learner)
        assert self.blank is not None
        return self.blank.copy()

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """What the present learner predicts for every row."""
        with self._lock:
            self._change.settle()
            return self.learner.predict(X)

    def predict_one(self, x: RowLike) -> Any:
        """What the present learner predicts for one row."""
        with self._lock:
            self._change.settle()
            return self.learner.predict_one(x)

    def predict_proba(self, X: RowsLike) -> NDArray[np.float64]:
        """The probability of every class for every row, where the learner inside has them."""
        with self._lock:
            self._change.settle()
            return np.asarray(with_probabilities(self.learner).predict_proba(X))

    def predict_proba_one(self, x: RowLike) -> dict[Any, float]:
        """The probability of every class for one row, by label."""
        with self._lock:
            self._change.settle()
            found: dict[Any, float] = with_probabilities(self.learner).predict_proba_one(x)
            return found

    def put_behind(self, steps: Transforms) -> Self:
        """A fresh learner like this one; the transforms come before the learner inside."""
        learner: Any = self.learner
        return type(self)(steps | learner, self.monitor.detector, self.on_drift)

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        """The learners, the detector and its state, and the alarms."""
        with self._lock:
            self._change.settle()
            header: Header = {"detector": self.monitor.detector.describe(), "on_drift": self.on_drift}
            header |= {"losses": [self.monitor.count, self.monitor.total], "alarms": list(self.alarms)}
            arrays: Arrays = {"detector": self.monitor.detector.state.copy()}
            for name in ("learner", "shadow", "blank"):
                part = getattr(self, name)
                header[name] = None
                if part is not None:
                    header[name], more = dump_part(name, part)
                    arrays |= more
            return {**header, **self.dump_counts()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learners, the detector and its state, and the alarms, all checked."""
        parts = {
            name: None if header.get(name) is None else restore_part(name, header[name], arrays, find_card)
            for name in ("learner", "shadow", "blank")
        }
        described = header.get("detector")
        if not isinstance(described, dict) or described.get("name") not in KNOWN or parts["learner"] is None:
            raise corrupt("the learner or the detector is missing")
        settings = {name: value for name, value in described.items() if name != "name"}
        try:
            new = cls(parts["learner"], KNOWN[described["name"]](**settings), str(header.get("on_drift")))
        except BadValue as error:
            raise corrupt(str(error)) from None
        new.restore_parts(parts["shadow"], parts["blank"])
        new.restore_counts(header)
        if not new.monitor.detector.restore_state(arrays.get("detector")):
            raise corrupt("the state of the detector is not valid")
        losses = read_list(header, "losses")
        if len(losses) != 2:
            raise corrupt("losses must be a count and a sum")
        new.monitor.count = read_count({"count": losses[0]}, "count", new.rounds)
        new.monitor.total = read_number(losses[1], "the sum of losses")
        alarms = [read_count({"alarm": at}, "alarm", new.rounds, 1) for at in read_list(header, "alarms")]
        if any(later <= at for at, later in pairwise(alarms)):
            raise corrupt("alarms must be rounds in order")
        new.alarms = tuple(alarms)
        return new

    def restore_parts(self, shadow: Any, blank: Any) -> None:
        """Take the other learners of a file, where they fit."""
        rule = isinstance(self.learner, RuleLearner)
        kinds = [part is None or type(part) is type(self.learner) for part in (shadow, blank)]
        if not all(kinds) or (blank is None) != rule or (shadow is not None and self.on_drift != "shadow"):
            raise corrupt("the learners of a drift-aware learner do not fit together")
        if shadow is not None and (shadow.card.name != self.learner.card.name or shadow.task != self.learner.task):
            raise corrupt("the shadow is not a learner like the first")
        self.shadow, self.blank = shadow, blank


class QuietRound:
    """One round of a rule learner in which its detector stays calm; whether it is a mistake is known beforehand."""

    def __init__(self, whole: DriftAware, learner: RuleLearner, mistake: bool) -> None:
        self.whole, self.learner, self.mistake = whole, learner, mistake
        self.detector = whole.monitor.detector
        self.mark = self.detector.mark()
        self.own = whole.rounds, whole.mistakes, whole.updates
        self.learned, self.updated = learner.rounds, learner.updates

    def play(self, x: RowLike, y: Any, weight: float | None) -> bool:
        """Learn the round; False, and nothing has changed, where the detector does not stay calm."""
        if self.detector.update(float(self.mistake)) != STABLE:
            self.detector.go_back(self.mark)
            return False
        self.learner.learn_one(x, y, weight)
        self.complete()
        return True

    def complete(self) -> None:
        """Count the round if the learner has learned it, else forget that it was watched; this may be done again."""
        learned = self.learner.rounds - self.learned
        if not learned:
            self.detector.go_back(self.mark)
            return
        rounds, mistakes, updates = self.own
        self.whole.rounds, self.whole.mistakes = rounds + 1, mistakes + self.mistake
        self.whole.updates = updates + self.learner.updates - self.updated


def drift_aware(learner: Learner | str, detector: Detector | str = "adwin", on_drift: str = "reset") -> DriftAware:
    """A learner that starts again, or is replaced by one that learned since a warning, when a detector finds drift."""
    return DriftAware(learner, detector, on_drift)
