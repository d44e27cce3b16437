"""How the rows of a block are scored and learned: in mini-batches, the same ones however the rows came in blocks."""

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block
from noregret.decomposition.matrix_rows import MatrixRows, take_rows
from noregret.decomposition.mini_batches import early_look, next_look
from noregret.decomposition.waiting_rows import WaitingRows

if TYPE_CHECKING:
    from noregret.decomposition.base import Scored, State, UnsupervisedLearner

AnyState = TypeVar("AnyState", bound="State")


class Seen(NamedTuple, Generic[AnyState]):
    """A state that has also learned some of the rows that wait, to score those after them; it is not kept."""

    rows: int
    state: AnyState


class BlockRounds(Generic[AnyState]):
    """A learner's state and the rows that wait, while a block is read; the learner takes them when all went well."""

    def __init__(self, learner: "UnsupervisedLearner[Any]") -> None:
        self.learner, self.learned = learner, learner.learned_rows
        self.state: AnyState | None = learner.state
        self.pending: WaitingRows = learner.pending
        self.seen: Seen[AnyState] | None = learner.seen
        self.own = False  # whether the state is a copy that may be changed

    def run(self, block: Block, widths: NDArray[np.int64], score: bool) -> "list[Scored]":
        """Learn all rows; `widths` says how many features were known with each. Returns the scores, if asked for."""
        found: list[Scored] = []
        start = 0
        while start < block.rows:
            stop = self.end_of_part(widths, start, score)
            rows = take_rows(block, start, stop, int(widths[stop - 1]), self.learner.missing_values)
            self.learner.check_rows(rows, start)
            if score:
                found.append(self.learner.score_part(self.scoring_state(), rows, start))
            self.pending = self.pending.add(rows)
            if self.pending.rows >= self.learner.next_batch(self.state, self.pending.width):
                self.learn(start)
            start = stop
        return found

    def learn(self, start: int) -> None:
        """Learn the rows that wait."""
        if self.state is None:
            self.state, self.own = self.learner.fresh_state(self.pending.width), True
        elif not self.own:
            self.state, self.own = self.state.copy(), True
        self.learner.learn_batch(self.state, self.pending.whole, start)
        self.learned += self.pending.rows
        self.pending, self.seen = WaitingRows(), None

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
            at = rows if self.state is not None else int(np.searchsorted(widths, widths[at], side="right"))
            if full <= at:
                return full
        return rows

    def scoring_state(self) -> AnyState | None:
        """The state that scores the next row."""
        looked = early_look(self.learned, self.pending.rows) if self.learner.looks_early else 0
        if not looked:
            return self.state
        if self.seen is None or self.seen.rows != looked:
            rows: MatrixRows = self.pending.first(looked)
            state: AnyState = self.learner.fresh_state(rows.width) if self.state is None else self.state.copy()
            self.learner.learn_batch(state, rows, 0)
            self.seen = Seen(looked, state)
        return self.seen.state
