"""One call of learn or play: encode the rows, grow the state, play the rounds; all of them, or none."""

from collections.abc import Mapping, Set
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, SparseBlock, check_weights, freeze, to_dense, verify
from noregret.data.class_weights import balanced_weights
from noregret.data.inputs import LabelsLike, RowsLike, WeightsLike
from noregret.errors import BadValue, is_quit, shown
from noregret.learner.change import Change, Undo
from noregret.learner.encode import encode_rows
from noregret.learner.engine import Loops, Rounds, Unchecked, check_read
from noregret.learner.kernel_options import check_values, usual_gamma
from noregret.learner.model import Model
from noregret.rules.own_functions import OwnFunction
from noregret.state.bank_rows import bank_size, list_supports
from noregret.state.class_changes import mirror, split
from noregret.state.growth import allow_folding, grow, make, make_room, use_features
from noregret.state.guarded_round import MISTAKES, ROUNDS, UPDATES
from noregret.state.savepoint import Reach, SparseRows, take_savepoint
from noregret.state.space import Space, enlarge, physical_memory
from noregret.tasks.outcome import Outcome, Segment

SLICE = 1 << 16  # rows played in one go: what they leave behind must fit in memory, whatever the number of classes

SHARED_WEIGHTS = 1 << 18  # rounds of a call whose weights are not made anew

FEW_ROWS = 8  # on which a kernel of the caller is tried
FEW_SUPPORTS = 256  # rows that a kernel learner with few supports plays in one go
MANY_CLASSES = 1000  # with fewer, no transcript is too large


class Overflow(Exception):
    """Some round left weights or scores that are not finite."""


class RuleRaised(Exception):
    """The rule raised an error inside a round."""


class Transaction:
    """The rounds of one call on a model. After an error the model is as it was before."""

    def __init__(self, model: Model, loops: Loops, X: RowsLike, y: LabelsLike, weight: WeightsLike) -> None:
        self.model, self.loops, self.X, self.y, self.weight = model, loops, X, y, weight
        self.keeps_outcomes = True  # for a transcript; otherwise they are counted and dropped
        self.counted = 0  # rounds the rule had counted when an error came
        self.whole = False  # whether everything is copied before the first round, so that rounds may touch all of it
        self.copies_later = False  # whether copies that take long are left to the thread that plays the rounds

    def run(self, change: Change) -> list[Outcome]:
        """Play all rounds and commit them.

        Sparse rows are checked while they are read, and only the cells they touch are saved; where that turns out not
        to be enough, the call is undone and played again, with rows checked first or everything copied.
        """
        checked = False
        while True:
            try:
                outcomes = change.save_and_run(self.save, partial(self.attempt, checked))
                self.loops.show_fast_path()
                return outcomes
            except Unchecked:
                checked = True
            except Overflow:
                if self.copied_all:
                    raise
                self.whole = True

    def save(self) -> Undo:
        """Note how the model is; returns how to go back to that."""
        self.loops.hide_fast_path()
        self.savepoint = self.model.savepoint()
        if self.loops.history is not None:
            self.loops.history.append(self.savepoint)
        return partial(self.loops.roll_back, self.savepoint)

    def attempt(self, checked: bool) -> list[Outcome]:
        """Play all rounds and add them to the totals."""
        try:
            outcomes = self.play_all(checked)
        except Exception:
            self.counted = 0 if self.model.arrays is None else int(self.model.arrays.n.t)
            raise
        model, labels = self.model, len(self.model.labels)
        model.totals += self.played
        model.class_counts, model.labels.committed = self.class_counts, labels
        if model.recent is not None:
            model.recent.prepare(model.task, model.labels)
        if labels != self.savepoint.labels:
            self.loops.drop_fast_path()  # it knows the labels of before
        return outcomes

    # ---- encoding ------------------------------------------------------------------------------------------------

    def encode(self, checked: bool) -> None:
        """The rows, labels and weights of the call in numbers."""
        model = self.model
        block = encode_rows(model, self.X, grow=True, include_unknown=model.scores_unknown)
        if checked or model.algebra == "kernel":
            block = verify(block)
        if self.loops.encoded is not None:
            self.loops.encoded.append(block)
        if isinstance(model.config.kernel, OwnFunction) and model.arrays is None:
            check_values(model.config.kernel.function, to_dense(block).val[:FEW_ROWS])
        self.block: Block = model.task.arrange(block)
        rows = self.block.rows
        y = self.y = model.task.default_labels(rows) if self.y is None else self.y
        if isinstance(y, (str, bytes, Set, Mapping)):
            raise BadValue(f"y must be a list or an array of labels, not {shown(y)}")
        length = len(y) if hasattr(y, "__len__") else None
        if length != rows:
            raise BadValue(f"X has {rows} rows and y has {'no' if length is None else length} labels; they must match")
        self.codes, self.segments = model.task.encode(model.labels, y, rows)
        self.class_counts = model.class_counts
        self.h = model.task.check_weights(self.importance(rows), self.codes)

    def importance(self, rows: int) -> NDArray[np.float64]:
        """The importance weight of every round."""
        config = self.model.config
        h = check_weights(self.weight, rows)
        self.weighted = h is not None or config.class_weight is not None
        if h is not None and not config.card.supports_weights:
            raise BadValue(f"{config.card.name} cannot weigh rounds; leave weight out")
        if config.class_weight is not None:
            by_class = self.class_weights(config.class_weight)
            h = by_class if h is None else h * by_class
        return usual_weights(rows) if h is None else h

    def class_weights(self, given: Mapping[Any, float] | str) -> NDArray[np.float64]:
        """What every round weighs by its class."""
        if isinstance(given, str):
            found, self.class_counts = balanced_weights(self.codes, self.model.class_counts, given)
            return found
        # A round of no class has the code -1, which is the 1 at the end.
        by_class = np.array([*(given.get(label, 1.0) for label in self.model.labels.order), 1.0])
        return np.asarray(by_class[self.codes])

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play_all(self, checked: bool) -> list[Outcome]:
        outcomes: list[Outcome] = []
        self.encode(checked)
        model = self.model
        self.played = np.zeros(3, np.int64)
        if self.keeps_outcomes:
            check_scores(self.block.rows, len(model.labels))
        with np.errstate(over="ignore", invalid="ignore"):
            for segment in self.segments:
                self.make_room(segment)
                for start, stop in model.task.slices(segment, self.y, self.slice_size()):
                    self.make_room_for_supports(start, stop)
                    outcome = self.play(segment, self.truth(replace(segment, start=start, stop=stop)), start)
                    self.played += self.count(outcome)
                    self.record(outcome)
                    if self.keeps_outcomes:
                        outcomes.append(outcome)
            if self.savepoint.contents is not None and not self.savepoint.contents.is_finite(model.arrays):
                raise Overflow
        if model.arrays is not None:
            allow_folding(model.arrays, False)  # the fast path may go on with it, and saves only the cells of its row
        return outcomes

    def record(self, outcome: Outcome) -> None:
        """Remember the scores of a slice of rounds, where probabilities are calibrated on them."""
        if self.model.recent is not None:
            weights = self.h[outcome.start : outcome.start + len(outcome.truth)] if self.weighted else None
            self.model.recent.record(outcome, weights, self.model.labels)

    def truth(self, segment: Segment) -> NDArray[np.float64]:
        """The truth of some rounds as the loop reads it."""
        return self.model.task.truth(self.model.labels, segment, self.codes)

    def count(self, outcome: Outcome) -> NDArray[np.int64]:
        """Rounds, updates and mistakes of a slice of rounds."""
        return count(outcome, self.model)

    def play(self, segment: Segment, y: NDArray[np.float64], start: int) -> Outcome:
        """Play the rounds from one of a segment on whose truth is given."""
        task, size = self.model.task, len(y)
        out = task.make_scores(size, segment.known)
        updated, aux = np.zeros(size, np.uint8), task.make_aux(y, out)
        outcome = Outcome(task, segment, start, out, updated, y, aux)
        self.write_outcome(outcome, self.rounds(y, start, start + size))
        task.hide_unknown(outcome)
        return outcome

    def write_outcome(self, outcome: Outcome, given: Rounds) -> None:
        """Play a slice of rounds."""
        engine, out = self.loops.engine, outcome.scores
        try:
            ended = engine.play(given, out, outcome.updated, outcome.aux)
        except Exception as error:
            if engine.native or is_quit(error):
                raise
            raise RuleRaised from error
        if not ended:
            raise RuleRaised
        check_read(given.values[0])
        if not np.isfinite(out.sum()) and not np.isfinite(out).all():
            raise Overflow

    def rounds(self, y: NDArray[np.float64], start: int, stop: int) -> Rounds:
        """What the loop reads of some rounds, whose truth is given."""
        return Rounds(self.loops.engine.rows(self.block, start, stop), y, self.h[start:stop])

    # ---- growth --------------------------------------------------------------------------------------------------

    def make_room(self, segment: Segment) -> None:
        """See that the state has a cell for every feature and class, and that it can be undone."""
        model, shape = self.model, self.model.shape
        flips, successor = model.task.flips(model.labels, segment), model.task.successor(model.labels, segment)
        self.whole = self.whole or flips  # then every weight changes its sign, whatever the rows touch
        if successor is not None:
            model.task = successor
        old_arrays, old = model.arrays, model.space
        algebra = model.choose_algebra(self.block)
        if algebra == "kernel":
            self.set_gamma(segment.start)
        base = old or model.empty_space(algebra)
        changed = base.shape != model.kernel_params
        base = replace(base, shape=model.kernel_params) if changed else base
        supports, values = self.supports_needed(base, segment.start, segment.start)
        space = enlarge(base, self.block.width, model.task.blocks(segment.known), supports, values)
        if old is None or space != old:
            model.check_size(space)
        rooms = (space.room, space.class_room, space.supports, space.values)
        same = old_arrays is not None and rooms == (base.room, base.class_room, base.supports, base.values)
        same = same and not changed
        if self.savepoint.contents is None and old_arrays is not None:
            self.save_contents(old_arrays, base, same)
        if not same:
            model.arrays = make(shape, space) if old_arrays is None else grow(shape, old_arrays, base, space)
        elif space.features > base.features and model.full_covariance:
            use_features(model.arrays, space.features)
        if self.savepoint.contents is None:
            self.savepoint.contents = take_savepoint(model.arrays, space, "nothing")
        allow_folding(model.arrays, self.copied_all)
        before = model.arrays
        model.arrays = make_room(before, *self.remaining(segment))
        same = same and model.arrays is before
        if successor is not None:
            negative, positive = (0, 1) if model.labels.signs(2)[1] > 0 else (1, 0)
            split(shape, model.arrays, space, negative, positive)
        elif flips:
            mirror(shape, model.arrays, space, model.card.signed_counters)
        if not same or successor is not None or flips or space != old:
            model.space = space
            self.loops.bind(model)

    def save_contents(self, arrays: Any, space: Space, same: bool) -> None:
        """Save what the rounds may change of the arrays that the call began with."""
        reach: Reach = "nothing"  # where the state grows, rounds work on a larger copy
        if same or len(self.segments) > 1:
            one_segment = len(self.segments) == 1 and not self.whole and self.loops.engine.native
            reach = self.model.config.touches if one_segment else "all"
        rows = None
        if isinstance(self.block, SparseBlock):
            rows = SparseRows(int(self.block.indptr[-1]), self.touched_features, self.loops.undo_log)
        self.savepoint.contents = take_savepoint(arrays, space, reach, rows, self.loops.spare, self.copies_later)

    def touched_features(self) -> NDArray[np.int32]:
        """The features of the rows, checked."""
        sound = verify(self.block)
        assert isinstance(sound, SparseBlock)
        self.block = sound
        return sound.idx[sound.indptr[0] : sound.indptr[-1]]

    @property
    def copied_all(self) -> bool:
        """Whether every cell can be brought back, so that rounds may touch all of them."""
        return self.savepoint.contents is not None and self.savepoint.contents.covers_all

    def remaining(self, segment: Segment) -> tuple[int, int]:
        """The rows from a segment on, and their values: all of them may be remembered."""
        rows = self.block.rows - segment.start
        if isinstance(self.block, SparseBlock):
            return rows, int(self.block.indptr[-1] - self.block.indptr[segment.start])
        return rows, rows * self.block.width

    def set_gamma(self, start: int) -> None:
        """Where no gamma was given, let the first row with values decide it."""
        model, block = self.model, self.block
        if model.config.kernel_params[0] or model.gamma or not isinstance(block, SparseBlock):
            return
        for row in range(start, block.rows):
            values = block.val[block.indptr[row] : block.indptr[row + 1]]
            if values.any():
                model.gamma = usual_gamma(model.config.kernel, values)
                return

    def slice_size(self) -> int:
        """Rows played in one go. Any row may become a support: room is made for about as many as there are."""
        model = self.model
        if model.algebra != "kernel":
            return SLICE
        return min(SLICE, max(FEW_SUPPORTS, int(model.bank.n[0])))

    def supports_needed(self, space: Space, start: int, stop: int) -> tuple[int, int]:
        """Room in the bank of a kernel learner, where every one of these rows may become a support.

        Their values, or with slots, those of the longest row.
        """
        if space.algebra != "kernel" or not isinstance(self.block, SparseBlock):
            return 0, 0
        indptr = self.block.indptr[start : stop + 1]
        supports, values = (0, 0) if self.model.arrays is None else bank_size(self.model.bank)
        if space.layout == "slots":
            return supports + stop - start, int(np.diff(indptr).max(initial=0))
        return supports + stop - start, values + int(indptr[-1] - indptr[0])

    def make_room_for_supports(self, start: int, stop: int) -> None:
        """See that every one of these rows can become a support, and that the lists of supports are up to date."""
        model = self.model
        if model.algebra != "kernel":
            return
        old = model.known_space
        needed = self.supports_needed(old, start, stop)
        space = enlarge(old, old.features, old.classes, *needed)
        if space != old:
            model.check_size(space)
            model.arrays, model.space = grow(model.shape, model.arrays, old, space), space
            allow_folding(model.arrays, self.copied_all)
            self.loops.bind(model)
        list_supports(model.bank)


def usual_weights(rows: int) -> NDArray[np.float64]:
    """A weight of 1 for every round; calls of usual size share them: new memory costs more than to write it."""
    if rows > SHARED_WEIGHTS:
        return np.ones(rows)
    return shared_weights()[:rows]


@cache
def shared_weights() -> NDArray[np.float64]:
    return freeze(np.ones(SHARED_WEIGHTS))


def count(outcome: Outcome, model: Model) -> NDArray[np.int64]:
    """Rounds, updates and mistakes of a slice of rounds."""
    found = np.zeros(3, np.int64)
    updated = outcome.task.updated(outcome)
    found[ROUNDS] = updated.size
    found[UPDATES] = np.count_nonzero(updated)
    found[MISTAKES] = np.count_nonzero(outcome.task.mistakes(model.labels, outcome))
    return found


def check_scores(rows: int, classes: int) -> None:
    """Refuse rounds whose transcript, with a score of every class, does not fit in memory."""
    if classes > MANY_CLASSES and 8 * rows * classes > physical_memory() // 8:
        raise BadValue(f"{rows:,} rounds with {classes:,} classes: their scores do not fit in memory; play fewer "
                       "of them at a time, or learn without a transcript. Are the labels classes?")  # fmt: skip
