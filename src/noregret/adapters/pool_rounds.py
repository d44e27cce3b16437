"""One call of a pool: every entry plays the rounds, then their losses weigh them round by round."""

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.adapters.pool_entries import Entry
from noregret.adapters.pool_probabilities import find_used, score_columns
from noregret.adapters.pool_sharing import Played, Sharing, share
from noregret.adapters.pool_sleep import BLOCK, cut_blocks
from noregret.adapters.pool_votes import ClassVotes, any_of
from noregret.adapters.transcripts import join_transcripts
from noregret.data.blocks import Block, DenseBlock, Rows, verify
from noregret.data.transcript import Transcript
from noregret.errors import BadValue

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
        self.mixture, self.odds = pool.mixture.copy(), pool.odds.copy()
        self.sleep, self.targets = pool.sleep, pool.targets
        self.stopped = dict(pool.stopped)
        labels = pool.model.labels
        self.known = len(labels)  # classes before the round that is next
        self.last_error = BadValue("no entry of the pool could play these rounds")

    def play(self) -> Transcript:
        """Play all rounds; returns what the pool predicted and lost."""
        played = self.play_whole()
        followers = [number for number in self.running if self.pool.entries[number].sees == "encoded"]
        before, size = self.pool.rounds, max((one.rounds for one in played if one is not None), default=0)
        blocks = cut_blocks(before, size) if self.pool.prunes else [ALL]
        parts = []
        for block in blocks:
            at = before + (block.start or 0)
            awake = self.sleep.awake(at)
            own = [one if one is None or block == ALL else cut_transcript(one, block) for one in played]
            some = [number for number in followers if awake[number] and number in self.running]
            for number, result in zip(some, self.play_some(some, block), strict=True):
                own[number] = result
            self.check_some_play(own)
            parts.append(self.weigh(own, awake, at))
            if self.pool.prunes and (at + parts[-1].rounds) % BLOCK == 0:
                able = [number in followers for number in range(len(own))]
                self.sleep = self.sleep.decide(self.mixture.current(), at + parts[-1].rounds, able)
        return parts[0] if len(parts) == 1 else join_blocks(parts)

    @property
    def running(self) -> list[int]:
        """The numbers of the entries that have not stopped."""
        return [number for number, entry in enumerate(self.pool.entries) if entry.name not in self.stopped]

    # ---- the entries -------------------------------------------------------------------------------------------------

    def play_whole(self) -> Played:
        """Play all rounds with the entry that encodes rows for others, and with those that encode their own."""
        played: Played = [None] * len(self.pool.entries)
        for number in self.running:
            entry = self.pool.entries[number]
            if entry.sees == "encodes":
                played[number], self.encoded = play_and_encode(entry.learner, self.X, self.given)
        for number in self.running:
            if self.pool.entries[number].sees == "given":
                played[number] = self.play_entry(number, ALL)
        return played

    def play_some(self, numbers: Sequence[int], block: slice) -> Played:
        """Play some rounds with some entries, on all cores where that pays; most of them share rows and labels."""
        if not numbers:
            return []
        entries = self.pool.entries
        sharing = share(self.pool.model, entries, numbers, self.cut(entries[numbers[0]], block))
        threads = min(self.pool.threads or os.cpu_count() or 1, len(numbers))
        if threads < 2 or count_rows(self.X) <= SERIAL:
            found = [self.play_entry(number, block, sharing) for number in numbers]
        else:
            with ThreadPoolExecutor(threads) as pool:
                found = wait_for([pool.submit(self.play_entry, number, block, sharing) for number in numbers])
        return found if sharing is None else sharing.read(numbers, found)

    def play_entry(self, number: int, block: slice, sharing: Sharing | None = None) -> Any:
        """Play some rounds with one entry: its transcript, what it wrote for rounds that it shares, or None.

        If a row makes it fail, it plays the rounds before that row, and stops: it loses every round from there on.
        """
        entry = self.pool.entries[number]
        outcomes = None if sharing is None else sharing.play(number)
        if outcomes is not None:
            return outcomes
        try:
            return entry.learner.play(*self.cut(entry, block))
        except BadValue as error:
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
        losses = combination.losses(played)
        sleeping = None if awake.all() else np.broadcast_to(awake, losses.shape)
        shares = self.mixture.play(losses, sleeping)
        self.targets = getattr(combination, "seen", self.targets)
        one = any_of(played)
        predicted = [None if some is None else combination.read(some) for some in played]
        scores = combination.combine(predicted, shares, one.lists)
        if self.pool.has_probabilities and isinstance(combination, ClassVotes):
            self.learn_odds(played, before, combination)
        updated = np.zeros(len(losses), bool)
        for some in played:
            if some is not None:
                updated[: some.rounds] |= some.updated
        updated |= losses.min(axis=1) < losses.max(axis=1)
        suffered = np.einsum("ij,ij->i", shares, losses)
        mistakes = combination.mistakes(scores, one)
        return Transcript(
            scores, combination.decide(scores), suffered, mistakes, updated, one.truth,
            relevant=one.relevant, lists=one.lists,
        )  # fmt: skip

    def learn_odds(self, played: Played, before: int, combination: ClassVotes) -> None:
        """Let the probabilities learn from the rounds that are used for them, whose class had been seen before."""
        one, labels = any_of(played), combination.labels
        classes = len(labels)
        self.odds.widen(classes)
        used = find_used(before, one.rounds)
        truth = combination.encode(one.truth)
        if classes < 2 or not used.size:
            self.known = max(self.known, int(truth.max(initial=-1)) + 1)
            return
        known = np.maximum.accumulate(np.concatenate(([self.known - 1], truth))) + 1  # classes before every round
        self.known = int(known[-1])
        used = used[(truth[used] >= 0) & (truth[used] < known[used]) & (known[used] >= 2)]
        scores = np.full((len(used), len(played), classes), np.nan)
        for number, some in enumerate(played):
            if some is not None and some.scores is not None:
                here = used < some.rounds
                scores[here, number] = score_columns(some.scores[used[here]], labels.signs(2), classes)
        unknown = np.arange(classes) >= known[used][:, None, None]
        self.odds.learn(np.where(unknown & ~np.isnan(scores), -np.inf, scores), truth[used])


def wait_for(futures: Sequence[Future[Any]]) -> list[Any]:
    """The results of calls in other threads; where one fails, or this one is interrupted, none goes on."""
    try:
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        wait(futures)
        raise


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


def cut_transcript(transcript: Transcript, block: slice) -> Transcript | None:
    """Some rounds of a transcript; None where it ended before them."""
    if transcript.rounds <= block.start:
        return None
    whole = {one.name: getattr(transcript, one.name) for one in fields(transcript)}
    cut: dict[str, Any] = {name: value[block] for name, value in whole.items() if isinstance(value, np.ndarray)}
    return replace(transcript, **cut)


def join_blocks(parts: Sequence[Transcript]) -> Transcript:
    """The transcript of consecutive blocks, whose scores have the same columns."""
    relevant = [part.relevant for part in parts if part.relevant is not None]
    return replace(join_transcripts(parts), relevant=np.concatenate(relevant) if relevant else None)
