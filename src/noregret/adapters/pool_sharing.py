"""Entries of a pool that play the same encoded rows: rows and labels are encoded once, and scores are read together."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from noregret.adapters.pool_entries import Entry
from noregret.adapters.pool_threads import Workers
from noregret.adapters.pool_votes import Rounds
from noregret.learner.model import Model
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.shared_play import SharedPlay
from noregret.learner.shared_rows import SharedRows, Written, may_share, read_outcomes, share_rows

Played = list[Rounds | None]  # what every entry did; None for one that has stopped or sleeps
Given = tuple[Any, Any, Any, Any]  # rows, labels, weights and queries, as an entry takes them


@dataclass(frozen=True)
class Sharing:
    """Rounds that some entries share."""

    rows: SharedRows
    learners: Mapping[int, RuleLearner]  # of the entries that share them, by number

    def play(self, workers: Workers, seconds: dict[int, float]) -> dict[int, Rounds]:
        """What entries did, by number; one that failed is left out, and must play by itself to find out why."""
        if not self.learners:
            return {}
        numbers = list(self.learners)
        written = Written.empty(self.rows, self.learners[numbers[0]].model.task, len(numbers))
        with ExitStack() as locks:
            for learner in self.learners.values():
                locks.enter_context(learner._lock)
            plays = {number: SharedPlay(learner, self.rows) for number, learner in self.learners.items()}
            for place, play in enumerate(plays.values()):
                play.begin(written, place)
            workers.map(lambda number: plays[number].play_rounds(), numbers, seconds)
            places = [place for place, play in enumerate(plays.values()) if play.end()]
            if not places:
                return {}
            learners = [self.learners[numbers[place]] for place in places]
            found = read_outcomes(learners, self.rows, written.take(places))
        return {numbers[place]: one for place, one in zip(places, found, strict=True)}


def share(model: Model, entries: Sequence[Entry], numbers: Sequence[int], given: Given) -> Sharing | None:
    """Encode rows and labels once, for those of some entries that can share them; None where fewer than two can."""
    can = find_sharing(model, entries, numbers, given)
    if len(can) < 2:
        return None
    encoded = share_rows(next(iter(can.values())), *given[:3])
    return None if encoded is None else Sharing(encoded, can)


def find_sharing(
    model: Model, entries: Sequence[Entry], numbers: Sequence[int], given: Given
) -> dict[int, RuleLearner]:
    """The learners of those of some entries that can share rows, by number."""
    found, weighted = {}, given[2] is not None
    for number in numbers:
        learner = entries[number].learner
        if may_share(learner, model, given[0], weighted):
            found[number] = learner
    return found
