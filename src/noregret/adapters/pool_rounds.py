"""One call of a pool: every entry plays the rounds, then their losses weigh them round by round."""

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.adapters.pool_entries import Entry
from noregret.adapters.pool_probabilities import find_used, score_columns
from noregret.adapters.pool_sharing import Played, Sharing, find_sharing, share
from noregret.adapters.pool_sleep import BLOCK, cut_blocks
from noregret.adapters.pool_threads import Workers
from noregret.adapters.pool_votes import Appeared, ClassVotes, Rounds, any_of, wrong_labels
from noregret.adapters.transcripts import join_transcripts
from noregret.data.blocks import Block, DenseBlock, Rows, verify
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.learner.shared_rows import SharedRows, may_encode, share_rows

if TYPE_CHECKING:
    from noregret.adapters.pool import Auto

Floats = NDArray[np.float64]
Given = tuple[Any, Any, Any]  # labels, weights and queries, as they were given
SERIAL = 256  # rows up to which threads cost more than they save
ALL = slice(None)


class PoolRounds:
    """The rounds of one call. What they change beside the entries is kept here until the call has succeeded."""

    def __init__(self, pool: "Auto", X: Any, given: Given) -> None:
        self.pool, self.X, self.given = pool, X, given
        self.encoded: Any = X  # the rows as the entry that encodes has made them
        self.shared: SharedRows | None = None  # with their labels, where it plays them together with the others
        self.mixture, self.odds = pool.mixture.copy(), pool.odds.copy()
        self.sleep, self.targets, self.history = pool.sleep, pool.targets, pool.history
        self.stopped = dict(pool.stopped)
        self.known = len(pool.model.labels)  # classes before the round that is next
        self.binary = not pool.model.task.many
        self.last_error = BadValue("no entry of the pool could play these rounds")

    def play(self) -> Transcript:
        """Play all rounds, on all cores where that pays; returns what the pool predicted and lost."""
        most = min(self.pool.threads or os.cpu_count() or 1, len(self.running))
        with Workers(1 if count_rows(self.X) <= SERIAL else most) as self.workers:
            return self.play_blocks()

    def play_blocks(self) -> Transcript:
        """Play all rounds, up to each at which it is decided who sleeps."""
        played = self.play_whole()
        followers = [number for number in self.running if self.is_follower(number)]
        before, size = self.pool.rounds, max((one.rounds for one in played if one is not None), default=0)
        blocks = cut_blocks(before, size) if self.pool.prunes else [ALL]
        parts = []
        for block in blocks:
            at = before + (block.start or 0)
            awake = self.sleep.awake(at)
            own = [cut_transcript(one, block) for one in played]
            some = [number for number in followers if awake[number] and number in self.running]
            for number, result in zip(some, self.play_some(some, block), strict=True):
                own[number] = result
            self.check_some_play(own)
            parts.append(self.weigh(own, awake, at))
            if self.pool.prunes and (at + parts[-1].rounds) % BLOCK == 0:
                able = [number in followers and number in self.running for number in range(len(own))]
                self.sleep = self.sleep.decide(self.mixture.current(), at + parts[-1].rounds, able)
        return parts[0] if len(parts) == 1 else join_blocks(parts)

    @property
    def running(self) -> list[int]:
        """The numbers of the entries that have not stopped."""
        return [number for number, entry in enumerate(self.pool.entries) if entry.name not in self.stopped]

    def is_follower(self, number: int) -> bool:
        """Whether an entry plays rows that are encoded."""
        sees = self.pool.entries[number].sees
        return sees == "encoded" or (sees == "encodes" and self.shared is not None)

    # ---- the entries -------------------------------------------------------------------------------------------------

    def play_whole(self) -> Played:
        """Play all rounds with the entry that encodes rows for others, and with those that encode their own."""
        played: Played = [None] * len(self.pool.entries)
        for number in self.running:
            entry = self.pool.entries[number]
            if entry.sees == "encodes":
                if not self.pool.prunes and may_encode(entry.learner) and self.given[2] is None:
                    self.shared = share_rows(entry.learner, self.X, *self.given[:2])
                if self.shared is not None:
                    self.encoded = as_rows(self.shared.block)
                else:
                    played[number], self.encoded = play_and_encode(entry.learner, self.X, self.given)
        for number in self.running:
            if self.pool.entries[number].sees == "given":
                played[number] = self.play_entry(number, ALL)
        return played

    def play_some(self, numbers: Sequence[int], block: slice) -> Played:
        """Play some rounds with some entries; most of them share rows and labels."""
        if not numbers:
            return []
        sharing, seconds = self.share(numbers, block), self.pool.seconds
        found: dict[int, Any] = {} if sharing is None else dict(sharing.play(self.workers, seconds))
        others = [number for number in numbers if number not in found]
        found.update(
            zip(others, self.workers.map(lambda number: self.play_entry(number, block), others, seconds), strict=True)
        )
        return [found[number] for number in numbers]

    def share(self, numbers: Sequence[int], block: slice) -> Sharing | None:
        """Let those of some entries share rows and labels that can."""
        entries, model = self.pool.entries, self.pool.model
        given = self.cut(entries[numbers[-1]], block)
        if self.shared is None:
            return share(model, entries, numbers, given)
        can = find_sharing(model, entries, [number for number in numbers if entries[number].sees == "encoded"], given)
        leads = {number: entries[number].learner for number in numbers if entries[number].sees == "encodes"}
        return Sharing(self.shared, {**leads, **can})  # type: ignore[dict-item]

    def play_entry(self, number: int, block: slice) -> Transcript | None:
        """Play some rounds with one entry: its transcript, or None.

        If a row makes it fail, it plays the rounds before that row, and stops: it loses every round from there on.
        """
        entry = self.pool.entries[number]
        try:
            return entry.learner.play(*self.cut(entry, block))
        except BadValue as error:
            if entry.sees == "encodes":
                raise
            self.stopped[entry.name] = str(error)  # in one step: other threads do the same
            self.last_error = error
            start = block.start or 0
            stop = start + self.find_round(error.row or 0)
            return entry.learner.play(*self.cut(entry, slice(start, stop))) if stop > start else None

    def find_round(self, row: int) -> int:
        """The first row of the round that a row belongs to: itself, or in ranking the first of its list."""
        query = None if self.given[2] is None else np.asarray(self.given[2])
        if query is None:
            return row
        others = np.flatnonzero(query[:row] != query[row])
        return int(others[-1]) + 1 if others.size else 0

    def cut(self, entry: Entry, block: slice) -> tuple[Any, Any, Any, Any]:
        """The rows of a block as an entry sees them, with their labels, weights and queries."""
        rows = self.encoded if entry.sees == "encoded" else self.X
        y, weight, query = self.given
        if block == ALL:
            return rows, y, weight, query
        weight, query = (one if np.ndim(one) == 0 else np.asarray(one)[block] for one in (weight, query))
        return rows[block], None if y is None else y[block], weight, query

    def check_some_play(self, played: Played) -> None:
        """An error of all entries is one of the rows."""
        if all(one is None for one in played) or not self.running:
            raise self.last_error

    # ---- their losses ------------------------------------------------------------------------------------------------

    def weigh(self, played: Played, awake: NDArray[np.bool_], before: int) -> Transcript:
        """Weigh the entries by their losses, round by round, and combine what they predicted."""
        combination = self.pool.combination(self.targets)
        one, appeared = any_of(played), None
        if isinstance(combination, ClassVotes):
            appeared = Appeared.of(combination.encode(one.truth), self.known, self.binary)
            self.known = int(appeared.known[-1])
        learned_odds = self.workers.start(lambda: self.learn_odds(played, before, appeared))
        losses = combination.losses(played)
        sleeping = None if awake.all() else np.broadcast_to(awake, losses.shape)
        shares = self.mixture.play(losses, sleeping)
        self.history = self.history.add(before, shares)
        self.targets = getattr(combination, "seen", self.targets)
        predicted = [None if some is None else combination.read(some) for some in played]
        scores = combination.combine(predicted, shares, one.lists)
        updated = np.zeros(len(losses), bool)
        for some in played:
            if some is not None:
                updated[: some.rounds] |= some.updated
        first = losses[:, :1]
        updated |= (losses != first).any(axis=1)
        suffered = np.einsum("ij,ij->i", shares, losses)
        if isinstance(combination, ClassVotes) and appeared is not None:
            predictions = combination.name_rounds(scores, predicted, shares, appeared)
            mistakes = wrong_labels(predictions, one.truth)
        else:
            predictions, mistakes = combination.decide(scores), combination.mistakes(scores, one)
        learned_odds()
        return Transcript(
            scores, predictions, suffered, mistakes, updated, one.truth,
            relevant=one.relevant, lists=one.lists,
        )  # fmt: skip

    def learn_odds(self, played: Played, before: int, appeared: Appeared | None) -> None:
        """Let the probabilities learn from the rounds that are used for them, whose class had been seen before."""
        if not self.pool.has_probabilities or appeared is None:
            return
        one, labels = any_of(played), self.pool.model.labels
        classes = len(labels)
        self.odds.widen(classes)
        used = find_used(before, one.rounds)
        if classes < 2 or not used.size:
            return
        truth, known, _ = appeared
        used = used[(truth[used] >= 0) & (truth[used] < known[used]) & (known[used] >= 2)]
        scores = np.full((len(used), len(played), classes), np.nan)
        signs = labels.signs(2)
        for number, some in enumerate(played):
            if some is not None and some.scores is not None:
                here = used if some.rounds == one.rounds else used[used < some.rounds]
                scores[: len(here), number] = score_columns(some.scores[here], signs, classes)
        unknown = np.arange(classes) >= known[used][:, None, None]
        self.odds.learn(np.where(unknown & ~np.isnan(scores), -np.inf, scores), truth[used])


def play_and_encode(learner: Any, X: Any, given: Given) -> tuple[Transcript, Any]:
    """What an entry did, and the rows as it encoded them, for others."""
    blocks: list[Block] = []
    learner._loops.encoded = blocks
    try:
        played = learner.play(X, *given)
    finally:
        learner._loops.encoded = None
    return played, as_rows(verify(blocks[-1])) if blocks else X


def as_rows(block: Block) -> Any:
    """A block as an entry takes it: by column numbers."""
    return block.val if isinstance(block, DenseBlock) else Rows(block)


def count_rows(X: Any) -> int:
    """The number of rows."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def cut_transcript(transcript: Rounds | None, block: slice) -> Rounds | None:
    """Some rounds of a transcript; None where it ended before them."""
    if transcript is None or block == ALL:
        return transcript
    assert isinstance(transcript, Transcript)
    if transcript.rounds <= block.start:
        return None
    whole = {one.name: getattr(transcript, one.name) for one in fields(transcript)}
    cut: dict[str, Any] = {name: value[block] for name, value in whole.items() if isinstance(value, np.ndarray)}
    return replace(transcript, **cut)


def join_blocks(parts: Sequence[Transcript]) -> Transcript:
    """The transcript of consecutive blocks, whose scores have the same columns."""
    relevant = [part.relevant for part in parts if part.relevant is not None]
    return replace(join_transcripts(parts), relevant=np.concatenate(relevant) if relevant else None)
