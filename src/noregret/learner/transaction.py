"""One call of learn or play: the border checks, the growth of classes and features, the rounds, all or nothing."""

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.algebra.examples import SparseRows
from noregret.data.blocks import SparseBlock, check_weights, verify
from noregret.data.class_weights import balanced_weights
from noregret.errors import BadValue, shown
from noregret.state.growth import (
    Space,
    allow_folding,
    enlarged,
    grown,
    make,
    memory,
    mirror,
    needed,
    physical_memory,
    split,
)
from noregret.state.guarded_round import MISTAKES, ROUNDS, UPDATES
from noregret.state.reservoirs import with_room
from noregret.state.savepoint import CellUndo, TopKUndo, WholeUndo
from noregret.tasks.task import Outcome, Segment

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner

SLICE = 1 << 16  # rows played in one go: what they leave behind must fit in memory, whatever the number of classes
FULL_LIMIT = 5000  # a full covariance of more features than this would take gigabytes


class Overflow(Exception):
    """Some round left weights or scores that are not finite."""


class Unchecked(Exception):
    """A sparse row that had not been checked yet is not sound, or not sorted."""


class RuleRaised(Exception):
    """The rule raised an error inside compiled code."""


class Transaction:
    """The rounds of one call, played on a learner."""

    def __init__(
        self, learner: "Learner", X: Any, y: Any, weight: Any, checked: bool = False, whole: bool = False
    ) -> None:
        """With `whole`, everything is copied before the first round, so that rounds may touch all of it."""
        self.learner, self.whole = learner, whole
        self.block = learner.block(X, grow=True)
        if checked or learner.algebra == "kernel":
            self.block = verify(self.block)
        self.block = learner.task_object.arranged(self.block)
        rows = self.block.rows
        y = learner.task_object.unlabelled(rows) if y is None else y
        if isinstance(y, (str, bytes, Set, Mapping)):
            raise BadValue(f"y must be a list or an array of labels, not {shown(y)}")
        length = len(y) if hasattr(y, "__len__") else None
        if length != rows:
            raise BadValue(f"X has {rows} rows and y has {'no' if length is None else length} labels; they must match")
        self.codes, self.segments = learner.task_object.taken(learner, y, rows)
        self.class_counts = learner.class_counts
        self.h = learner.task_object.weighed(self.importance(weight, rows), self.codes)
        self.y = y
        self.undo: Any = None

    def importance(self, weight: Any, rows: int) -> np.ndarray:
        settings = self.learner.settings
        h = check_weights(weight, rows)
        if h is not None and not settings.card.weighs:
            raise BadValue(f"{settings.card.name} cannot weigh rounds; leave weight out")
        if settings.class_weight is not None:
            by_class = self.class_weights(settings.class_weight)
            h = by_class if h is None else h * by_class
        return np.ones(rows) if h is None else h

    def class_weights(self, told: Any) -> np.ndarray:
        """What every round weighs by its class."""
        if isinstance(told, str):
            found, self.class_counts = balanced_weights(self.codes, self.learner.class_counts, told)
            return found
        # A round of no class has the code -1, which is the 1 at the end.
        by_class = np.array([*(told.get(label, 1.0) for label in self.learner.labels.order), 1.0])
        return np.asarray(by_class[self.codes])

    def run(self) -> list[Outcome]:
        """Play all rounds. On any error the learner must be put back by whoever called."""
        outcomes: list[Outcome] = []
        with np.errstate(over="ignore", invalid="ignore"):
            for segment in self.segments:
                self.make_room(segment)
                truth = self.learner.task_object.truth(self.learner, segment, self.codes)
                for start, stop in self.learner.task_object.slices(segment, self.y, SLICE):
                    outcomes.append(self.play(segment, truth, start, stop))
            if self.undo is not None and not self.undo.sound(self.learner.state):
                raise Overflow
        if self.learner.state is not None:
            allow_folding(self.learner.state, False)  # the fast fast_path may go on with it, and copies only its row
        return outcomes

    def play(self, segment: Segment, truth: np.ndarray, start: int, stop: int) -> Outcome:
        learner, size = self.learner, stop - start
        out = learner.task_object.room(size, segment.known)
        updated, aux = np.zeros(size, np.uint8), np.zeros(size)
        y = truth[start - segment.start : stop - segment.start]
        rows = learner.engine.rows(self.block, start, stop)
        try:
            ended = learner.engine.play(rows, y, self.h[start:stop], out, updated, aux)
        except Exception as error:
            if learner.engine.native:
                raise
            raise RuleRaised from error
        if not ended:
            raise RuleRaised
        if found_something(rows):
            raise Unchecked
        if not np.isfinite(out.sum()) and not np.isfinite(out).all():
            raise Overflow
        outcome = Outcome(learner.task_object, segment, start, out, updated, y, aux)
        learner.task_object.seal(outcome)
        return outcome

    # ---- growth --------------------------------------------------------------------------------------------------

    def make_room(self, segment: Segment) -> None:
        """See that the state has a cell for every feature and class, and that it can be undone."""
        learner, shape = self.learner, self.learner.shape
        turning = learner.task == "binary" and segment.fresh > 0 and learner.labels.turns(segment.known)
        self.whole = self.whole or turning  # then every weight changes its sign, whatever the rows touch
        splitting = learner.task == "binary" and segment.known == 3
        if splitting and "multiclass" not in learner.card.tasks:
            raise BadValue(f"{learner.card.name} plays two classes only, and {learner.labels.order[2]!r} is a third")
        if splitting:
            learner.task = "multiclass"
        classes = learner.task_object.blocks(segment.known)
        old_state, old = learner.state, learner.space
        base = old or learner.settings.space(learner.settled_algebra(self.block))
        supports, values = self.supports_needed(old_state)
        space = enlarged(base, self.block.width, classes, supports, values)
        limited(learner, space)
        rooms = (space.room, space.class_room, space.supports, space.values)
        same = old_state is not None and rooms == (base.room, base.class_room, base.supports, base.values)
        if self.undo is None and old_state is not None:
            self.undo = self.choose_undo(old_state, space, copied=same or len(self.segments) > 1)
        if not same:
            learner.state = make(shape, space) if old_state is None else grown(shape, old_state, base, space)
        elif learner.keeps_full and space.features > base.features:
            use(learner.state, space.features)
        if self.undo is None:
            self.undo = WholeUndo(learner.state, copied=False)
        allow_folding(learner.state, self.all_copied)
        before = learner.state
        learner.state = with_room(before, *self.remaining(segment))
        same = same and learner.state is before
        if splitting:
            negative, positive = (0, 1) if learner.labels.signs(2)[1] > 0 else (1, 0)
            split(shape, learner.state, space, negative, positive)
        elif turning:
            mirror(shape, learner.state, space)
        if not same or splitting or turning or space != old:
            learner.space = space
            learner.rebind()

    def remaining(self, segment: Segment) -> tuple[int, int]:
        """The rows from a segment on, and their values: all of them may be remembered."""
        rows = self.block.rows - segment.start
        if isinstance(self.block, SparseBlock):
            return rows, int(self.block.indptr[-1] - self.block.indptr[segment.start])
        return rows, rows * self.block.width

    def supports_needed(self, state: Any) -> tuple[int, int]:
        """Room in the bank of a kernel learner: every row of this call may become a support."""
        if self.learner.settled_algebra(self.block) != "kernel" or not isinstance(self.block, SparseBlock):
            return 0, 0
        bank = None if state is None else self.learner.bank
        stored = 0 if bank is None else int(bank.n[0])
        held = 0 if bank is None else int(bank.start[stored])
        return stored + self.block.rows, held + int(self.block.indptr[-1])

    @property
    def all_copied(self) -> bool:
        """Whether every cell was copied, so that rounds may touch all of them."""
        return isinstance(self.undo, WholeUndo)

    def choose_undo(self, state: Any, space: Any, copied: bool) -> Any:
        learner, block = self.learner, self.block
        touches = learner.settings.touches
        if self.whole or not copied or not learner.engine.native or len(self.segments) > 1 or touches == "all":
            return WholeUndo(state, copied)
        if touches == "top_k" and space.algebra != "reference":
            return TopKUndo(state)
        cells = sum(array.size for array in memory(state))
        if (
            isinstance(block, SparseBlock)
            and space.algebra == "sparse"
            and not learner.keeps_full
            and 4 * block.indptr[-1] * space.class_room * len(memory(state)) < cells
        ):
            sound = verify(block)
            assert isinstance(sound, SparseBlock)
            self.block = sound
            return CellUndo(state, sound, space.class_room)
        return WholeUndo(state, copied)


def counts(learner: "Learner", outcomes: list[Outcome]) -> np.ndarray:
    """Rounds, updates and mistakes of a call."""
    found = np.zeros(3, np.int64)
    for outcome in outcomes:
        updated = outcome.task.updated(outcome)
        found[ROUNDS] += updated.size
        found[UPDATES] += np.count_nonzero(updated)
        found[MISTAKES] += np.count_nonzero(outcome.task.mistaken(learner, outcome))
    return found


def limited(learner: "Learner", space: Space) -> None:
    """Refuse a state that this machine cannot be expected to hold, before it is made."""
    if learner.keeps_full and space.features > FULL_LIMIT:
        raise BadValue(f"a full covariance is kept for at most {FULL_LIMIT} features; X has {space.features}")
    if needed(learner.shape, space) > physical_memory() // 2:
        raise BadValue(
            f"{space.room} features and {space.classes} classes do not fit in memory; "
            "use feature names (strings), or number the features without gaps"
        )


def use(state: Any, features: int) -> None:
    """Let every full covariance of a state reach over so many features."""
    for value in state:
        if hasattr(value, "used"):
            value.used[0] = max(int(value.used[0]), features)


def found_something(rows: Any) -> bool:
    """Whether a row turned out not to be sound while it was read."""
    return isinstance(rows, SparseRows) and bool(rows.found[0])
