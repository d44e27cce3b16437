"""How the rows of a block are scored and learned: in mini-batches, the same ones however the rows came in blocks."""

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block
from noregret.decomposition.matrix_rows import take_rows
from noregret.decomposition.memory import require_memory
from noregret.decomposition.mini_batches import early_look, next_look, part_ends
from noregret.decomposition.waiting_rows import WaitingRows

if TYPE_CHECKING:
    from noregret.decomposition.base import Scored, State, UnsupervisedLearner

AnyState = TypeVar("AnyState", bound="State")


class Seen(NamedTuple, Generic[AnyState]):
    """A state that has also learned the first of the rows that wait; it never changes and is in no model file."""

    rows: int
    state: AnyState


class BlockRounds(Generic[AnyState]):
    """A learner's state and the rows that wait, while a block is read; the learner takes them when all went well."""

    def __init__(self, learner: "UnsupervisedLearner[Any]") -> None:
        self.learner, self.learned = learner, learner.learned_rows
        self.state: AnyState | None = learner.state
        self.pending: WaitingRows = learner.pending
        self.seen: tuple[Seen[AnyState], ...] = learner.seen
        self.own = False  # whether the state is a copy that may be changed

    def run(self, block: Block, widths: NDArray[np.int64], score: bool) -> "list[Scored]":
        """Learn all rows; `widths` says how many features were known with each. Returns the scores, if asked for."""
        found: list[Scored] = []
        start = 0
        while start < block.rows:
            stop = self.end_of_part(widths, start, score)
            rows = take_rows(block, start, stop, int(widths[stop - 1]), self.learner.missing_values)
            self.learner.check_rows(rows, start)
            if rows.width > self.pending.width:  # rows of too many features would wait for ever
                require_memory(self.learner.card.name, self.learner.count_numbers(rows.width))
            if score:
                found.append(self.learner.score_part(self.scoring_state(), rows, start, widths[start:stop]))
            self.pending = self.pending.add(rows)
            if self.pending.rows >= self.learner.next_batch(self.state, self.pending.width):
                self.learn(start)
            start = stop
        return found

    def learn(self, start: int) -> None:
        """Learn the rows that wait."""
        before = self.looked_at(self.pending.rows - 1) if self.learner.steady else None
        if self.state is None:
            self.state, self.own = self.learner.fresh_state(self.pending.width), True
        elif not self.own:
            self.state, self.own = self.state.copy(), True
        self.learner.learn_batch(self.state, self.pending.whole, start)
        if before is not None:
            self.learner.follow(self.state, before)
        self.learned += self.pending.rows
        self.pending, self.seen = WaitingRows(), ()

    def end_of_part(self, widths: NDArray[np.int64], start: int, score: bool) -> int:
        """The row at which the mini-batch is full, or what scores rows changes, or the last."""
        stop = self.end_of_batch(widths, start)
        if score and self.learner.looks_early:
            stop = min(stop, start + next_look(self.learned, self.pending.rows) - self.pending.rows)
        return stop

    def end_of_batch(self, widths: NDArray[np.int64], start: int) -> int:
        """Where the mini-batch is full; its size may depend on how many features there are with each row."""
        rows, at = len(widths), start
        while at < rows:
            size = self.learner.next_batch(self.state, int(widths[at]))
            full = max(start + size - self.pending.rows, at + 1)
            at = int(np.searchsorted(widths, widths[at], side="right"))
            if full <= at:
                return full
        return rows

    def scoring_state(self) -> AnyState | None:
        """The state that scores the next row."""
        looked = self.looked_at(self.pending.rows)
        return self.state if looked is None else looked

    def looked_at(self, waiting: int) -> AnyState | None:
        """The state with the first of so many rows that wait, if it scores the row after them."""
        looked = early_look(self.learned, waiting) if self.learner.looks_early else 0
        return self.state_with(looked) if looked else None

    def state_with(self, count: int) -> AnyState:
        """The state with the first so many of the rows that wait.

        They are learned in parts, the same ones however the rows came, and the states between are kept: a part that
        is known already is not learned again.
        """
        ends = part_ends(count)
        known = {one.rows: one for one in self.seen}
        seen = [known[end] for end in takewhile(known.__contains__, ends)]
        for start, stop in pairwise([0, *ends][len(seen) :]):
            before = seen[-1].state if seen else self.state
            rows = self.pending.between(start, stop)
            state: AnyState = self.learner.fresh_state(rows.width) if before is None else before.copy()
            self.learner.learn_batch(state, rows, 0)
            earlier = self.looked_at(stop - 1) if self.learner.steady and not start else None
            if earlier is not None:
                self.learner.follow(state, earlier)
            seen.append(Seen(stop, state))
        self.seen = tuple(seen)
        return seen[-1].state
