"""Rounds that several rule learners play on rows which were encoded once, in steps: the long one may run in any thread.

The steps before and after it are those in which Python works, so that threads rarely wait for one another.
"""

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import DenseBlock
from noregret.learner.engine import Rounds, Unchecked
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.shared_rows import SharedRows, Written
from noregret.learner.transaction import Overflow, RuleRaised, Transaction
from noregret.state.growth import allow_folding
from noregret.tasks.outcome import Outcome

Floats = NDArray[np.float64]


class SharedPlay(Transaction):
    """The rounds of one learner on rows that were encoded before.

    It belongs to a larger change (`run_whole`), which undoes it by its savepoint where something else cuts it off.
    """

    def __init__(self, learner: RuleLearner, shared: SharedRows) -> None:
        super().__init__(learner.model, learner._loops, shared.block, shared.y, None)
        self.learner, self.shared, self.copies_later = learner, shared, True
        self.played_all = False

    def begin(self, written: Written, place: int) -> None:
        """Make room, and find where rounds are read and written: a place among what several learners write."""
        self.learner._change.settle()
        self.savepoint = self.model.savepoint()
        if self.loops.history is not None:
            self.loops.history.append(self.savepoint)
        self.loops.hide_fast_path()
        try:
            self.encode(checked=True)
            segment = self.shared.segment
            self.make_room(segment)
            self.outcomes = []
            for start, stop in self.model.task.slices(segment, self.y, self.slice_size()):
                scores, updated = written.scores[place, start:stop], written.updated[place, start:stop]
                y = self.shared.truth[start:stop]
                outcome = Outcome(self.model.task, segment, start, scores, updated, y, np.empty(stop - start))
                self.outcomes.append((outcome, self.rounds(y, start, stop)))
        except BaseException:
            self.loops.roll_back(self.savepoint)
            raise

    def play_rounds(self) -> None:
        """Play all rounds; whether that succeeded is told by `played_all`."""
        contents = self.savepoint.contents
        assert contents is not None
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                contents.take()
                for outcome, given in self.outcomes:
                    self.write_outcome(outcome, given)
                self.played_all = contents.is_finite(self.model.arrays)
            except (Overflow, RuleRaised, MemoryError, Unchecked):
                return

    def end(self) -> bool:
        """Commit the rounds; where they failed, undo them and return False."""
        if not self.played_all:
            self.loops.roll_back(self.savepoint)
            return False
        model = self.model
        for outcome, _ in self.outcomes:
            self.record(outcome)
        model.labels.committed = len(model.labels)
        if model.recent is not None:
            model.recent.prepare(model.task, model.labels)
        allow_folding(model.arrays, False)  # the fast path may go on with it, and saves only the cells of its row
        self.loops.show_fast_path()
        return True

    def encode(self, checked: bool) -> None:
        shared, model = self.shared, self.model
        self.block, self.codes, self.segments = shared.block, shared.codes, [shared.segment]
        self.h, self.weighted, self.class_counts = shared.h, shared.weighted, model.class_counts

    def rounds(self, y: Floats, start: int, stop: int) -> Rounds:
        """Sound rows are only read, so that learners with as much room for classes share them."""
        if not isinstance(self.block, DenseBlock) and not self.block.ready:
            return super().rounds(y, start, stop)
        space = self.model.known_space
        key = (space.algebra, space.stride, start, stop)
        if key not in self.shared.rounds:
            self.shared.rounds[key] = super().rounds(y, start, stop)
        return self.shared.rounds[key]

    def record(self, outcome: Outcome) -> None:
        """Every round has a class that was known before; without weights all are remembered."""
        recent, known = self.model.recent, outcome.segment.known
        if recent is None or self.weighted or known < 2:
            super().record(outcome)
            return
        recent.prepare(outcome.task, self.model.labels, known)
        recent.add(outcome.truth, outcome.scores, len(outcome.truth))
