"""The engine: the loops of a plan bound to a state, compiled or the same text in plain Python."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.examples import DenseRows, SparseRows
from noregret.algebra.kernel import KernelRows
from noregret.algebra.reference import ReferenceRows
from noregret.cached_property import cached_property
from noregret.data.blocks import Block, DenseBlock, freeze
from noregret.jit.layout import Layout, address, count_words, fill
from noregret.learner.change import Undo
from noregret.learner.model import Model, ModelSavepoint
from noregret.rules.specialize import rebind
from noregret.state.growth import bank_of, counters_of, set_classes
from noregret.state.plain_counters import with_plain_counters
from noregret.state.savepoint import Spare
from noregret.state.space import Space
from noregret.state.stores.base import is_finite
from noregret.tasks.assemble import Plan, assemble

if TYPE_CHECKING:
    from noregret.learner.fast_path import FastPath


class Unchecked(Exception):
    """A sparse row that had not been checked yet is not sound, or not sorted."""


class Rounds:
    """What compiled rounds read: rows, the truth of each and its weight, also as words of a table."""

    def __init__(self, rows: Any, y: NDArray[np.float64], h: NDArray[np.float64]) -> None:
        self.values = rows, y, h

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """The words, in the order of `Layout`."""
        found = np.zeros(count_words(self.values), np.int64)
        fill(found, 0, self.values)
        return found


class Engine:
    """The two loops of a plan, bound to a state: play rounds, and score rows."""

    def __init__(self, plan: Plan, params: Any, native: bool) -> None:
        self.plan, self.params = plan, params
        self.has_hook = any(hook is not None for hook in (plan.card.score, plan.card.weight, plan.card.final))
        self.asked = native
        self.native = native and plan.algebra != "reference"
        self.layout: Layout | None = None
        self.table = np.zeros(0, np.int64)
        self.loops = None if self.native else assemble(plan, rebind)
        self.bound = False

    def bind(self, state: Any, space: Space, setting: Any) -> None:
        """Work on this state in this setting of the task from now on."""
        self.state, self.space, self.setting = state, space, setting
        self.plain_state = with_plain_counters(state) if self.loops is not None else state
        set_classes(state, space.classes)
        self.bound = False

    def rows(self, block: Block, start: int, stop: int) -> Any:
        """Some rows of a block as this algebra sees them; sparse ones are checked as they are read."""
        stride = self.space.stride
        if isinstance(block, DenseBlock):
            table = block.val[start:stop]
            if self.plan.algebra == "reference":
                return ReferenceRows(table, stride, self.space.class_room)
            return DenseRows(table, stride)
        indptr = block.indptr[start : stop + 1]
        idx = freeze(block.idx.view(np.uint32))
        if self.plan.algebra == "kernel":
            return KernelRows(indptr, idx, block.val, stride, bank_of(self.state))
        width = 0 if block.ready else block.width
        copied = np.empty(min(width, int(indptr[-1] - indptr[0])), np.uint32)  # a sound row is no longer
        return SparseRows(indptr, idx, block.val, stride, width, np.zeros(1, np.int64), copied, freeze(copied))

    def prepare(self, rows: Any) -> Any:
        """The compiled loop, with parameters and state in its table."""
        from noregret.jit.compiled import get_loop

        if self.layout is None:
            task = self.plan.task
            dimensions = (task.truth_dimensions, 2 if task.many else 1)
            layout = Layout(self.params, self.setting, self.state, rows, *dimensions)
            self.entry = get_loop(self.plan, layout)
            self.table = np.zeros(layout.slots, np.int64)
            self.at = address(self.table)
            fill(self.table, layout.first["params"], self.params)
            self.layout = layout  # last: an interrupt before leaves nothing half made
        self.fill_table()
        return self.entry

    def fill_table(self) -> None:
        """See that the table leads to the state and the setting as they are now."""
        if not self.bound:
            fill(self.table, self.layout.first["setting"], self.setting)  # type: ignore[union-attr]
            fill(self.table, self.layout.first["state"], self.state)  # type: ignore[union-attr]
            self.bound = True

    def play(self, given: "Rounds", out: np.ndarray, updated: np.ndarray, aux: np.ndarray) -> bool:
        """Predict, then learn, every round. False when the rule raised an error."""
        if self.loops is not None:
            rows, y, h = given.values
            with np.errstate(all="ignore"):
                self.loops[0](self.params, self.setting, self.plain_state, rows, y, h, out, updated, aux)
            return True
        entry = self.prepare(given.values[0])
        first = self.layout.first  # type: ignore[union-attr]
        self.table[first["rows"] : first["out"]] = given.words
        fill(self.table, first["out"], (out, updated, aux))
        self.table[0] = 1
        return bool(entry.run(self.at) == 0)

    def score(self, rows: Any, out: np.ndarray) -> bool:
        """Score without learning."""
        if self.loops is not None:
            with np.errstate(all="ignore"):
                self.loops[1](self.params, self.setting, self.plain_state, rows, out)
            return True
        entry = self.prepare(rows)
        fill(self.table, self.layout.first["rows"], rows)  # type: ignore[union-attr]
        fill(self.table, self.layout.first["out"], out)  # type: ignore[union-attr]
        self.table[0] = 0
        return bool(entry.run(self.at) == 0)

    def score_by_hook(self, rows: Any, out: np.ndarray) -> bool:
        """Score rows by a rule with a hook, which may compute a norm of the weights; one that overflows is not kept."""
        counters = counters_of(self.state)
        before = counters.copy()
        ended = self.score(rows, out)
        if not is_finite(counters):
            counters[:] = before
        return ended


class Loops:
    """The loops that a model is played by: made for its task and algebra, and bound to its arrays."""

    def __init__(self) -> None:
        self.bound_engine: Engine | None = None
        self.fast_path: FastPath | None = None  # tables over the same arrays, valid until the next bind
        self.hidden: FastPath | None = None  # the fast path while a change is under way
        self.history: list[ModelSavepoint] | None = None  # savepoints of calls that belong to a larger change
        self.spare: Spare = {}  # memory for the savepoints of calls that belong to a larger change
        self.encoded: list[Block] | None = None  # what calls encode their rows to, where others want them as well

    @property
    def engine(self) -> Engine:
        assert self.bound_engine is not None
        return self.bound_engine

    def bind(self, model: Model) -> None:
        """Work on the arrays of the model as they are now."""
        self.drop_fast_path()
        if model.arrays is None:
            self.bound_engine = None
            return
        plan, native = model.config.plan(model.task, str(model.algebra)), model.config.native
        if self.bound_engine is None or self.bound_engine.plan != plan or self.bound_engine.asked != native:
            self.bound_engine = Engine(plan, model.config.params, native)
        space = model.known_space
        self.bound_engine.bind(model.arrays, space, model.task.setting(space, model.labels))

    def drop_fast_path(self) -> None:
        """See that the fast path is not used any more: the model has changed around it."""
        for fast in (self.fast_path, self.hidden):
            if fast is not None:
                fast.close()
        self.fast_path = self.hidden = None

    def hide_fast_path(self) -> None:
        """Before a change: a round that is learned meanwhile must find the change first."""
        self.hidden, self.fast_path = self.fast_path, None

    def show_fast_path(self, by: "FastPath | None" = None) -> None:
        """After a change that left the fast path valid, as far as the model knows; `by` made the change itself."""
        self.fast_path, self.hidden = self.hidden, None
        if by is None:
            self.check_fast_path()

    def check_fast_path(self) -> None:
        """Drop a fast path whose tables lead to arrays that the model has replaced."""
        fast = self.fast_path  # read once: a call by a signal handler may replace it
        if fast is not None and not fast.is_current():
            self.drop_fast_path()

    def save(self, model: Model) -> Undo:
        """How to bring the model back to how it is now; single rows find the change from here on."""
        self.hide_fast_path()
        return partial(self.roll_back, model.savepoint())

    def roll_back(self, savepoint: ModelSavepoint) -> None:
        """Bring the model back to a savepoint and work on it; may be repeated."""
        savepoint.rollback()
        self.bind(savepoint.model)

    def refuse_reentry(self) -> None:
        """Raise an error when the model must not be changed now, because a round is under way in this thread."""
        fast = self.fast_path  # read once, as above
        if fast is not None:
            fast.refuse_reentry()

    def undo_log(self) -> Any:
        """The compiled undo of the cells that a few rows touch."""
        from noregret.jit.compiled import get_undo_log

        return get_undo_log()

    def score(self, block: Block, out: NDArray[np.float64], start: int, stop: int) -> bool:
        """Score some rows of a block; False when the rule raised an error in compiled code."""
        rows = self.engine.rows(block, start, stop)
        ended = self.engine.score_by_hook(rows, out) if self.engine.has_hook else self.engine.score(rows, out)
        check_read(rows)
        return ended


def check_read(rows: Any) -> None:
    """Raise an error where a row that was checked as it was read turned out not to be sound."""
    if isinstance(rows, SparseRows) and bool(rows.bad_row[0]):
        raise Unchecked
