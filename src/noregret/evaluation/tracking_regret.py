"""Tracking regret: the losses of a run, minus those of a sequence of weights that may change where the stream changes.

The rounds are cut into segments at given rounds. On every segment the comparator is the best of all fixed weights for
the rounds of this segment alone. So no sequence of weights that is constant on each of these segments has a smaller
total loss, up to the sum of the gaps. With k changes there are k + 1 segments; without any it is the usual regret.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from noregret.errors import BadValue
from noregret.evaluation.hindsight_problem import Hindsight, has_threshold, look_back, make_losses
from noregret.evaluation.play import Run
from noregret.evaluation.regret import RegretRun
from noregret.evaluation.regret_report import RegretReport, Segment, TrackingRegret
from noregret.metrics.comparator import find_comparator
from noregret.metrics.round_losses import TargetRounds
from noregret.streams import Source
from noregret.streams.synthetic import Synthetic

SERVED = ("signs", "codes", "targets")
MOST = 64  # segments; alarms in large numbers are no change points


@dataclass(frozen=True)
class Changes:
    """Rounds, counted from 0, from which on other weights may be compared with, and how they are known."""

    rounds: tuple[int, ...]
    known_by: str


def find_changes(source: Source, run: Run) -> Changes | None:
    """The changes that a synthetic stream makes; of any other source, the alarms of the detector of the run."""
    if isinstance(source, Synthetic) and source.changes:
        return Changes(tuple(source.changes), "where the concept of the stream changes")
    if run.drift is not None and run.drift.alarms:
        name = run.drift.monitor.detector.name
        return Changes(tuple(run.drift.alarms), f"at the alarms of {name}")
    return None


def add_tracking(regret: RegretRun, number: int, run: Run, source: Source) -> None:
    """Add the regret against a sequence of weights to the report of a run, where changes are known."""
    changes = find_changes(source, run)
    if changes is None or not isinstance(run.regret, RegretReport):
        return
    found = track(regret, number, changes)
    if isinstance(found, str):
        run.regret = replace(run.regret, notes=(*run.regret.notes, f"no regret against a sequence of weights: {found}"))
    else:
        run.regret = replace(run.regret, tracking=found)


def track(regret: RegretRun, number: int, changes: Changes) -> TrackingRegret | str:
    """The regret of one of the learners against the best weights of every segment, or why there is none."""
    tracker = regret.trackers[number]
    encoded, losses = tracker.rounds, tracker.played().losses
    if encoded is None or not encoded.complete:
        return "only a sample of the rounds was kept"
    starts = sorted({0, *(at for at in changes.rounds if 0 < at < len(losses))})
    if len(starts) > MOST:
        return f"there are {len(starts):,} segments, and at most {MOST} are compared"
    try:
        hindsight = look_back(encoded, tracker.learner)
        if hindsight.rounds.kind not in SERVED or has_threshold(hindsight.config):
            return f"it is not computed for {tracker.learner.task} of this learner"
        segments = [solve_segment(hindsight, losses, *ends) for ends in pairwise([*starts, len(losses)])]
    except BadValue as error:
        return str(error)
    return TrackingRegret(tuple(segments), changes.known_by)


def solve_segment(hindsight: Hindsight, losses: Any, first: int, last: int) -> Segment:
    """The loss on the rounds from first to before last, and that of the best fixed weights for them."""
    part = slice(first, last)
    rounds = replace(hindsight.rounds, X=hindsight.rounds.X[part], truths=hindsight.rounds.truths[part])
    problem = hindsight.problem(rounds)
    if rounds.kind == "targets":  # how targets are scaled depends on all rounds before
        whole = make_losses(hindsight.rounds, hindsight.config)
        assert isinstance(whole, TargetRounds)
        problem.losses = TargetRounds(whole.loss, whole.targets[part], whole.eps[part], whole.deviation[part])
    best = find_comparator(problem, hindsight.find_set())
    return Segment(first, last, float(np.sum(losses[part])), best.loss, best.gap)


def describe_tracking(tracking: TrackingRegret) -> Sequence[str]:
    """The segments as lines of text."""
    lines = [f"regret against the best weights of each of {len(tracking.segments)} segments, {tracking.known_by}: "
             f"{tracking.regret:,.1f}"]  # fmt: skip
    for one in tracking.segments:
        lines.append(f"  rounds {one.first + 1:,} to {one.last:,}: loss {one.loss:,.1f}, best fixed "
                     f"{one.comparator_loss:,.1f}, regret {one.regret:,.1f}")  # fmt: skip
    return lines
