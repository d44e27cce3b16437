"""Rounds whose examples are computed elsewhere: signed examples of structured output, gradients of convex losses."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, SparseBlock, to_dense, verify
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.errors import BadValue, shown
from noregret.learner.change import Change, Undo
from noregret.learner.engine import Loops, Rounds
from noregret.learner.model import Model
from noregret.state.growth import make, parts, settle
from noregret.state.space import enlarge
from noregret.tasks.convex import Convex
from noregret.tasks.structured import Structured

Floats = NDArray[np.float64]
UNITS = 4096  # coordinates scored in one go
TINY = 1e-100  # its square is still a number


class OutsideSteps:
    """`step` for task="structured"; `point` and `suffer` for task="convex"."""

    model: Model
    _loops: Loops
    _lock: threading.RLock
    _change: Change

    def step(self, z: RowLike, margin: float = 1.0, weight: float | None = None) -> bool:
        """Learn from a signed example z, whose score should reach `margin`; says whether the rule updated."""
        with self._lock:
            self._change.settle()
            if not isinstance(self.model.task, Structured):
                raise BadValue(
                    f'step is for learners made with task="structured"; this one plays {self.model.task.name}'
                )
            outcomes = self._play(self._one(z), [margin], weight)
            return bool(outcomes[0].updated[0])

    def training_scores(self, X: RowsLike) -> Floats:
        """The scores of rows by the weights that are trained, where predictions use others, such as their average."""
        with self._lock:
            self._change.settle()
            if not isinstance(self.model.task, Structured):
                raise BadValue('training_scores is for learners made with task="structured"')
            if self.model.card.final is None and self.model.config.average is None:
                return self.scores(X)
            self._must_have_learned()
            block = verify(self._encode(X))
            out, nothing = np.zeros(block.rows), np.zeros(block.rows)
            given = Rounds(self._loops.engine.rows(block, 0, block.rows), nothing, nothing)  # rounds of weight 0
            if not self._loops.engine.play(given, out, np.zeros(block.rows, np.uint8), nothing.copy()):
                raise BadValue(f"{self.model.card.name}: its rule raised an error while rows were scored")
            return out

    @property
    def point(self) -> Floats:
        """The point that is played next, as an array of its coordinates."""
        with self._lock:
            self._change.settle()
            task = must_be_convex(self.model)
            self._start(task)
            return weights_of(self.model, self._loops, task.dimension)

    def suffer(self, gradient: Any, loss: float | None = None, weight: float | None = None) -> Self:
        """Learn from the gradient of a convex loss at `point`; `loss` is what was suffered there, if it is known."""
        with self._lock:
            self._change.settle()
            task = must_be_convex(self.model)
            self._start(task)
            g = check_point(gradient, task.dimension, "the gradient").reshape(1, -1)
            losses = None if loss is None else [loss]
            if task.project is None:
                self._play(g, losses, weight)
            else:

                def play_and_project() -> None:
                    self._play(g, losses, weight)
                    self._project(task)

                self._change.save_and_run(self._save_model, play_and_project)
        return self

    @property
    def total_loss(self) -> float:
        """The sum of all losses suffered, each as given or, where only its gradient was, w . g."""
        must_be_convex(self.model)
        return 0.0 if self.model.arrays is None else float(self.model.arrays.n.total_loss)

    def _start(self, task: Convex) -> None:
        """A state for the whole dimension, before any round."""
        if self.model.arrays is None:
            self._change.save_and_run(self._save_model, lambda: self._start_state(task))

    def _save_model(self) -> Undo:
        saved = self.model.copy()
        return lambda: self._use_model(saved)

    def _use_model(self, model: Model) -> None:
        self.model = model
        self._loops.bind(model)

    def _start_state(self, task: Convex) -> None:
        model = self.model
        if model.arrays is not None:  # by a call that came just before the change
            return
        if model.algebra is None:
            model.algebra = "dense"
        model.names.check_mode("columns", fix=True)
        space = enlarge(model.empty_space(model.algebra), task.dimension, 1)
        model.check_size(space)
        model.arrays, model.space = make(model.shape, space), space
        for name in ("features", "classes"):  # counters of rules whose weights are shares of all coordinates
            if name in model.shape.counters:
                model.arrays.n[name] = task.dimension if name == "features" else 1.0
        self._loops.bind(model)
        self._enter_set(task)

    def _enter_set(self, task: Convex) -> None:
        """Begin inside the set of allowed points: where a vanishing step is projected to, if that is not the origin."""
        if task.project is not None:
            self._project(task)
        elif "onto" in self.model.card.choices and "w" in self.model.card.state:
            trial = self._copy()
            trial._play(np.full((1, task.dimension), TINY), None, None)
            first = weights_of(trial.model, trial._loops, task.dimension)
            if np.abs(first).max() > np.sqrt(TINY):
                self._set_point(first)

    def _project(self, task: Convex) -> None:
        """Bring the point back into the caller's set."""
        assert task.project is not None
        point = weights_of(self.model, self._loops, task.dimension)
        found = check_point(task.project(point.copy()), task.dimension, "the projected point")
        if np.array_equal(found, point):
            return
        self._set_point(found)

    def _set_point(self, point: Floats) -> None:
        settle(self.model.arrays)
        cells = {name: array for name, _, array in parts(self.model.shape, self.model.arrays, self.model.known_space)}
        cells["w"][0, : point.size] = point
        settle(self.model.arrays)

    if TYPE_CHECKING:  # what the learner has

        def _one(self, x: RowLike) -> Any: ...
        def _play(self, X: RowsLike, y: LabelsLike, weight: WeightsLike) -> Any: ...
        def _copy(self) -> Self: ...
        def _encode(self, X: RowsLike, include_unknown: bool = False) -> Block: ...
        def _must_have_learned(self) -> None: ...
        def scores(self, X: RowsLike) -> Floats: ...


def must_be_convex(model: Model) -> Convex:
    if not isinstance(model.task, Convex):
        raise BadValue(f'point and suffer are for learners made with task="convex"; this one plays {model.task.name}')
    return model.task


def check_point(given: Any, dimension: int, what: str) -> Floats:
    """So many finite coordinates, or an error."""
    try:
        point = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        point = np.asarray(np.nan)
    if point.shape != (dimension,) or not np.isfinite(point).all():
        raise BadValue(f"{what} must be {dimension} finite numbers, not {shown(given)}")
    return point


def weights_of(model: Model, loops: Loops, count: int) -> Floats:
    """The first weights of a model, whatever they are stored as: the scores of unit rows."""
    width, out = model.known_space.features, np.zeros(count)
    for first in range(0, count, UNITS):
        size = min(UNITS, count - first)
        idx = np.arange(first, first + size, dtype=np.int32)
        units = SparseBlock(np.arange(size + 1), idx, np.ones(size), width)
        loops.score(units if model.algebra == "sparse" else to_dense(units), out[first : first + size], 0, size)
    return out


def half_space(normal: Any, offset: float) -> Callable[[Floats], Floats]:
    """The projection onto the points x with normal . x <= offset, for project= of a convex task."""
    direction = np.asarray(normal, np.float64)
    if direction.ndim != 1 or not np.isfinite(direction).all() or not direction.any() or not np.isfinite(offset):
        raise BadValue(f"a half space is given by a normal that is not zero and an offset, not {shown(normal)}")
    square = float(direction @ direction)

    def project(point: Floats) -> Floats:
        if point.shape != direction.shape:
            raise BadValue(f"the half space has {direction.size} coordinates and the point {point.size}")
        excess = float(direction @ point) - offset
        return point if excess <= 0.0 else np.asarray(point - (excess / square) * direction)

    return project
