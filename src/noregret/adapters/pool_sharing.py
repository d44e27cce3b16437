"""Entries of a pool that play the same encoded rows: rows and labels are encoded once, and scores are read together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noregret.adapters.pool_entries import Entry
from noregret.adapters.pool_votes import Rounds
from noregret.learner.model import Model
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.shared_rows import (
    Outcomes,
    SharedRows,
    may_share,
    play_shared,
    read_outcomes,
    share_rows,
)
from noregret.learner.transaction import Overflow, RuleRaised

Played = list[Rounds | None]  # what every entry did; None for one that has stopped or sleeps
Given = tuple[Any, Any, Any, Any]  # rows, labels, weights and queries, as an entry takes them


@dataclass(frozen=True)
class Sharing:
    """Rounds that some entries share."""

    rows: SharedRows
    learners: Mapping[int, RuleLearner]  # of the entries that share them, by number

    def play(self, number: int) -> Outcomes | None:
        """Play the rounds with an entry; None where it cannot, and must play by itself to find out why."""
        if number not in self.learners:
            return None
        try:
            return play_shared(self.learners[number], self.rows)
        except (Overflow, RuleRaised, MemoryError):
            return None

    def read(self, numbers: Sequence[int], found: Sequence[Any]) -> Played:
        """What entries did, from what they wrote for the rounds that they share, or from their transcripts."""
        played = list(found)
        together = [at for at, one in enumerate(found) if isinstance(one, list)]
        if together:
            learners = [self.learners[numbers[at]] for at in together]
            read = read_outcomes(learners, self.rows, [found[at] for at in together])
            for at, one in zip(together, read, strict=True):
                played[at] = one
        return played


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
