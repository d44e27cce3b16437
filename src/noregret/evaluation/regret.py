"""Regret: how far the losses of a run are above those of the best fixed weights in hindsight, with the proven bound.

The comparator is the best of all fixed weights for the rows as the rule saw them and for the loss that the learner
suffers. It is found for the first rounds of the run, each time their number has doubled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.evaluation.bounds import BoundCurve, bound_curve
from noregret.evaluation.capabilities import config_of, task_of
from noregret.evaluation.encoded_rounds import EncodedRounds, encoding_of
from noregret.evaluation.hindsight import Played
from noregret.evaluation.hindsight_problem import Hindsight, look_back, loss_name
from noregret.evaluation.regret_report import RegretPoint, RegretReport
from noregret.evaluation.weight_path import follow_weights
from noregret.learner.protocol import Learner
from noregret.metrics import tracking
from noregret.metrics.comparator import Comparator

Floats = NDArray[np.float64]
FIRST = 16  # rounds of the first point
SWITCHES = 3  # the most in a sequence of learners


@dataclass
class RegretTracker:
    """Follows one learner: the losses, mistakes and updates of its rounds."""

    learner: Learner
    rounds: EncodedRounds | None
    why_not: str | None = None
    losses: list[Floats] = field(default_factory=list)
    mistakes: list[NDArray[np.bool_]] = field(default_factory=list)
    updated: list[NDArray[np.bool_]] = field(default_factory=list)

    def see(self, transcript: Transcript) -> None:
        """Count the rounds of a batch."""
        if self.rounds is not None:
            self.losses.append(np.array(transcript.losses))
            self.mistakes.append(np.array(transcript.mistakes))
            self.updated.append(np.array(transcript.updated))

    def played(self) -> Played:
        nothing = np.zeros(0)
        return Played(
            np.concatenate([nothing, *self.losses]),
            np.concatenate([nothing.astype(bool), *self.mistakes]),
            np.concatenate([nothing.astype(bool), *self.updated]),
        )


class RegretRun:
    """The regret of the learners of a run. Rounds that several learners see alike are kept once."""

    def __init__(self, learners: Sequence[Learner]) -> None:
        self.encoded: dict[tuple[Any, ...], EncodedRounds] = {}
        self.trackers = [self.track(learner) for learner in learners]
        self.solved: dict[tuple[Any, ...], list[tuple[int, Comparator]]] = {}

    def track(self, learner: Learner) -> RegretTracker:
        reason = why_no_regret(learner)
        if reason is not None:
            return RegretTracker(learner, None, reason)
        config = config_of(learner)
        assert config is not None
        rounds = self.encoded.setdefault(encoding_of(config), EncodedRounds(config))
        return RegretTracker(learner, rounds)

    def see_rows(self, batch: Batch) -> None:
        """Keep the rows of a batch, before it is played."""
        for rounds in self.encoded.values():
            try:
                rounds.see(batch)
            except BadValue as error:  # the learners refuse it too, and say where it stands
                rounds.why_not = str(error)

    def report(self, number: int, name: str) -> "RegretReport | str":
        """The regret of one of the learners, or why there is none."""
        tracker = self.trackers[number]
        if tracker.learner.card.boolean_rows:
            return describe_concept(tracker.learner)
        if tracker.rounds is None or tracker.rounds.why_not is not None:
            return tracker.why_not or str(tracker.rounds and tracker.rounds.why_not)
        played = tracker.played()
        if not played.losses.size:
            return "no round was played"
        try:
            hindsight = look_back(tracker.rounds, tracker.learner)
            comparators = self.solve(tracker.rounds, hindsight, len(played.losses))
        except BadValue as error:
            return str(error)
        return make_report(name, tracker, hindsight, comparators)

    def solve(self, encoded: EncodedRounds, hindsight: Hindsight, count: int) -> list[tuple[int, Comparator]]:
        """The best comparators for the first rounds, their number doubling; the same for all learners of one loss."""
        key = (id(encoded), *hindsight.key, count)
        if key not in self.solved:
            self.solved[key] = solve_prefixes(encoded, hindsight, count)
        return self.solved[key]

    def best_sequences(self, numbers: Sequence[int]) -> list[tracking.Sequence]:
        """The best sequences of these learners with 0, 1, ... switches: by mistakes or, of targets, by losses."""
        trackers = [self.trackers[number] for number in numbers]
        if any(tracker.rounds is None for tracker in trackers) or len(trackers) < 2:
            return []
        played = [tracker.played() for tracker in trackers]
        if task_of(trackers[0].learner).prediction == "label":
            losses = np.array([one.mistakes for one in played], np.float64)
        elif len({loss_name(config_of(tracker.learner)) for tracker in trackers}) == 1:  # type: ignore[arg-type]
            losses = np.array([one.losses for one in played])
        else:
            return []
        found = tracking.best_sequences(losses, SWITCHES)
        renumbered = [tuple((start, numbers[learner]) for start, learner in one.parts) for one in found]
        return [replace(one, parts=parts) for one, parts in zip(found, renumbered, strict=True)]


def describe_concept(learner: Any) -> str:
    """What is compared in place of regret where a concept is learned: its mistakes with their bound."""
    holds = ", which these labels contradict" if learner.inconsistent else ""
    return (f"it learns a concept, which no weights compare with; {learner.mistakes:,} mistakes, at most "
            f"{learner.bound:,g} where a concept of its class explains all labels{holds}")  # fmt: skip


def why_no_regret(learner: Learner) -> str | None:
    """Why no regret is computed for a learner; None where one is."""
    config = config_of(learner)
    if learner.card.boolean_rows:
        return "it learns a concept, which no weights compare with"
    if task_of(learner).prediction == "components":
        return "it learns without labels, so that no fixed weights compare with it"
    if config is None:
        return "it is made of other learners, so that no fixed weights compare with it"
    if learner.rounds:
        return "it had learned before this run"
    if not config.task.from_source:
        return f"its examples are made by a program ({learner.task}), so that no rows are known to compare on"
    if config.task.queries_labels:
        return "it learns only from labels that it asks for, and the comparator would know all of them"
    if not config.task.full_feedback:
        return "it chooses at random and sees only whether it was right: its theorems bound an expected loss"
    if config.task.cost is not None and config.task.chosen["competitor"] != "max_loss":
        return "with costs the loss against the runner-up is not convex in the weights; that of competitor=max_loss is"
    if "learn_radius" in config.task.chosen and config.card.level is not None:
        return "its level moves with the rows, and a level that is low enough has no loss: nothing compares with it"
    if config.task.chosen.get("learn_radius") == "rows":
        return "its radius grows with the rows, and a ball that is large enough has no loss: nothing compares with it"
    if config.card.ignores_features:
        return "it looks at no features"
    return None


def checkpoints(count: int) -> list[int]:
    """The numbers of rounds at which regret is computed: doubling, and all."""
    doubling = [FIRST << step for step in range(64) if FIRST << step < count]
    return [*doubling, count]


def solve_prefixes(encoded: EncodedRounds, hindsight: Hindsight, count: int) -> list[tuple[int, Comparator]]:
    places = encoded.all_places()
    found: list[tuple[int, Comparator]] = []
    start: Floats | None = None
    for stop in checkpoints(count):
        rows = int(np.searchsorted(places, stop))
        best = hindsight.solve(rows, start)
        start = best.weights
        scale = stop / max(len(np.unique(places[:rows])), 1)
        found.append((stop, replace(best, loss=scale * best.loss, gap=scale * best.gap)))
    return found


def make_report(
    name: str, tracker: RegretTracker, hindsight: Hindsight, solved: Sequence[tuple[int, Comparator]]
) -> RegretReport:
    encoded, config, played = tracker.rounds, hindsight.config, tracker.played()
    assert encoded is not None
    totals = np.cumsum(played.losses)
    points = [RegretPoint(stop, float(totals[stop - 1]), best.loss, best.gap) for stop, best in solved]
    curve: BoundCurve | str = "bounds need all rounds, and only a sample of them was kept"
    if encoded.weighted:
        curve = "the theorems are about rounds that weigh the same"
    elif encoded.complete:
        path = None
        if needs_path(tracker.learner) and config.algebra != "kernel":
            path = follow_weights(config, encoded, played.updated)
        curve = bound_curve(tracker.learner, hindsight.rounds, played, solved, path)
    if not isinstance(curve, str) and curve.of_regret:
        points = [replace(point, bound=at.bound) for point, at in zip(points, curve.points, strict=True)]
    notes = describe_comparators(encoded, solved)
    words = f"{hindsight.title} for the rows as the rule saw them"
    guarantee = None if isinstance(curve, str) else curve
    why = curve if isinstance(curve, str) else None
    return RegretReport(name, loss_name(config), words, tuple(points), guarantee, why, tuple(notes))


def needs_path(learner: Learner) -> bool:
    """Whether a theorem of a learner asks how far its weights went."""
    config = config_of(learner)
    assert config is not None
    options = {**config.numbers, **dict(config.choices), "covariance": config.covariance}
    asked = {name for one in config.card.guarantees_for(options) for name in one.needs}
    return bool(asked & {"distance", "distance_inf"})


def describe_comparators(encoded: EncodedRounds, solved: Sequence[tuple[int, Comparator]]) -> list[str]:
    """What a reader of the regret has to know about the comparators."""
    notes = []
    if not encoded.complete:
        kept = len(np.unique(encoded.all_places()))
        notes.append(f"the comparators are the best on a random sample of {kept:,} of {encoded.rounds:,} rounds")
    loose = [stop for stop, best in solved if not best.converged]
    if loose:
        notes.append(f"the comparator of {loose[-1]:,} rounds is not exact; its loss may be too large by its gap")
    return notes
