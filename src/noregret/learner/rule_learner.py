"""The learner: the one stateful shell around a rule, a task and an algebra."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from noregret.data.blocks import Block, SparseBlock, narrow, verify
from noregret.data.labels import Labels
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned, shown
from noregret.features.feature_selectors import FeatureSelectors
from noregret.features.frames import convert_frame, labels_to_list
from noregret.features.hashing import HashedNames
from noregret.features.names import Names
from noregret.features.scaling import Scaling
from noregret.features.transforms import Pipeline, Transform
from noregret.jit.cache import waits
from noregret.learner.bandit import Chooser
from noregret.learner.config import Settings, settle
from noregret.learner.diagnose import overflow, rule_error, told_of
from noregret.learner.encode import at_work, one_row, taken
from noregret.learner.engine import Engine
from noregret.learner.fast_path import FastPath
from noregret.learner.transaction import SLICE, Overflow, RuleRaised, Transaction, Unchecked, counts, limited, use
from noregret.learner.transcribe import transcribe
from noregret.rules.card import Card
from noregret.state.growth import Shape, Space, bank_of, enlarged, grown, refreshed
from noregret.state.guarded_round import MISTAKES, ROUNDS, UPDATES
from noregret.tasks import TASKS
from noregret.tasks.task import Outcome, Task

PART = 1024  # rows of a sparse matrix that a dense learner looks at in one go


class Savepoint(NamedTuple):
    """All that a refused call must put back."""

    state: Any
    space: Space | None
    task: str
    algebra: str | None
    engine: Any
    labels: int
    names: int
    mode: str | None


class Learner(Chooser):
    """Learns from rounds, one at a time or many, and predicts. Made by `noregret.make`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.card: Card = settings.card
        self.task = settings.task
        self.algebra = settings.algebra
        self.labels = Labels(settings.classes)
        self.names = Names() if settings.bits is None else HashedNames(settings.bits)
        self.selectors = FeatureSelectors(settings.transforms.group_names)
        self.transforms = at_work(settings, self.selectors)
        self.source: dict[str, Any] | None = None  # what the doors remember of the data, kept in the model file
        self.totals = np.zeros(3, np.int64)  # rounds, updates, mistakes: compiled rounds count themselves
        self.class_counts = np.zeros(0, np.int64)  # rounds of every class, where classes are balanced
        self.state: Any = None
        self._space: Space | None = None
        self.engine: Any = None
        self.classes_before = len(self.labels)
        self._lock = threading.RLock()
        self._fast_path: FastPath | None = None
        if self.task == "binary" and len(self.labels) > 2:
            if not settings.auto:
                raise BadValue(f"the binary task has two classes, not {len(self.labels)}")
            self.task = "multiclass"

    # ---- learning ------------------------------------------------------------------------------------------------

    def learn(self, X: Any, y: Any = None, weight: Any = None, query: Any = None) -> "Learner":
        """Learn every round, in order, as `learn_one` in a loop does; for ranking, query tells the list of each row."""
        self._rounds(X, self.task_object.told(labels_to_list(y), query), weight)
        return self

    def play(self, X: Any, y: Any = None, weight: Any = None, query: Any = None) -> Transcript:
        """Predict, then learn, every round; returns what happened."""
        began, y = time.perf_counter() - waits(), labels_to_list(y)
        with self._lock:
            y = self.task_object.told(y, query)
            outcomes = self._rounds(X, y, weight)
            return transcribe(self, outcomes, y, time.perf_counter() - waits() - began)

    def learn_one(self, x: Any, y: Any = None, weight: float | None = None) -> "Learner":
        """Learn one round. x is a dict of features by name or number, or a row of numbers."""
        with self._lock:
            fast_path = self._fast_path or self._open_fast_path()
            if fast_path is None or not fast_path.learn(x, y, weight):
                self._rounds(self.one(x), [y], weight)
        return self

    def _rounds(self, X: Any, y: Any, weight: Any, checked: bool = False, whole: bool = False) -> list[Outcome]:
        """Play every round, all or none."""
        X = convert_frame(X, self.settings.accepts_missing)
        with self._lock:
            before = self._savepoint()
            for transform in self.transforms:
                transform.commit()
            call: Transaction | None = None
            try:
                call = Transaction(self, X, y, weight, checked, whole)
                outcomes = call.run()
                counted_now = counts(self, outcomes)
            except BaseException as error:
                counted = 0 if self.state is None else int(self.state.n.t)
                self._back_to(before, call)
                y = y if call is None else call.y
                if isinstance(error, Unchecked):
                    return self._rounds(X, y, weight, checked=True)
                if isinstance(error, Overflow):
                    if call is not None and not call.all_copied:
                        return self._rounds(X, y, weight, checked, whole=True)
                    raise overflow(self, X, y, weight) from None
                if isinstance(error, RuleRaised):
                    raise rule_error(self, X, y, weight, counted) from None
                raise
            # From here on nothing can fail, and nothing is left half done.
            self.totals += counted_now
            self.class_counts = call.class_counts
            self.classes_before = len(self.labels)
            if len(self.labels) != before.labels:
                self._space, self._fast_path = self.space, None
            return outcomes

    def _savepoint(self) -> Savepoint:
        return Savepoint(
            self.state, self.space, self.task, self.algebra, self.engine,
            len(self.labels), self.names.size, self.names.mode,
        )  # fmt: skip

    def _back_to(self, marks: Savepoint, call: Transaction | None) -> None:
        if call is not None and call.undo is not None and marks.state is not None:
            refreshed(call.undo.restore())
        self.state, self.space, self.task = marks.state, marks.space, marks.task
        self.algebra, self.engine, self.names.mode = marks.algebra, marks.engine, marks.mode
        self.labels.truncate(marks.labels)
        self.names.truncate(marks.names)
        for transform in self.transforms:
            transform.rollback()
        self._fast_path = None
        if self.engine is not None:
            self.engine.bind(self.state, self.space, self.setting)

    def interpret(self) -> None:
        """Run the plain text from now on, at the speed of Python: the debugger's view."""
        self.settings = replace(self.settings, native=False)
        self._space, self._fast_path = self.space, None
        if self.state is not None:
            self.rebind()

    # ---- predicting ----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """The label (or target) of every row."""
        with self._lock:
            return self.decided(self.scores(X))

    def decided(self, scores: np.ndarray) -> np.ndarray:
        """The label (or target) that each of these scores stands for."""
        return self.task_object.decided(self, scores)

    def predict_one(self, x: Any) -> Any:
        """The label (or target) of one row; None before any label was seen."""
        with self._lock:
            fast_path = self._fast_path or self._open_fast_path()
            if fast_path is not None and (found := fast_path.score(x)) is not None:
                if fast_path.two_classes:
                    return fast_path.sides[found >= 0.0]
                return found if fast_path.regression else fast_path.labels[found]
            if self.state is None:
                return None
            label = self.predict(self.one(x))[0]
            return label.item() if isinstance(label, np.generic) else label

    def _open_fast_path(self) -> FastPath | None:
        if self.state is not None:
            self._fast_path = FastPath.beside(self)
        return self._fast_path

    def scores(self, X: Any) -> np.ndarray:
        """The score of every row: (n,) for two classes and regression, (n, classes) otherwise."""
        with self._lock:
            self._must_have_learned()
            if self.algebra == "dense" and hasattr(X, "tocsr") and X.shape[0] > PART:  # never all of it at once
                X = X.tocsr()
                return np.concatenate([self.scores(X[at : at + PART]) for at in range(0, X.shape[0], PART)])
            block = verify(self.block(X, grow=False))
            out = self.task_object.room(block.rows, len(self.labels))
            for start in range(0, block.rows, SLICE):
                stop = min(start + SLICE, block.rows)
                try:
                    ended = self.engine.score(self.engine.rows(block, start, stop), out[start:stop])
                except Exception as error:
                    raise told_of(self, error, self.rounds + 1) from error
                if not ended:
                    slow = self.copy()
                    slow.interpret()
                    return slow.scores(X)
            return out

    def scores_one(self, x: Any) -> Any:
        """The score of one row: a number for two classes and regression, a dict by label otherwise."""
        with self._lock:
            self._must_have_learned()
            fast_path = self._fast_path or self._open_fast_path()
            if fast_path is not None and fast_path.score(x) is not None:
                scores = fast_path.out
            else:
                scores = np.atleast_1d(self.scores(self.one(x))[0])
            each: list[float] = scores.tolist()
            return dict(zip(self.labels.order, each, strict=True)) if self.task_object.many else each[0]

    def confidence(self, X: Any, y: Any = None) -> np.ndarray:
        """How probable it is that weights drawn from N(w, Sigma) are on the side of the prediction, or of the labels.

        For learners that keep a covariance. For many classes: on the side of the label against its closest rival.
        """
        from noregret.learner.confidence import confidence

        with self._lock:
            self._must_have_learned()
            return confidence(self, X, y)

    def explain_one(self, x: Any, label: Any = None) -> dict[Any, float]:
        """What each feature of a row adds to its score, by name, the largest first.

        For many classes: to the score of `label`, by default the predicted one. Where scores are not sums over
        features: what the score would lose without the feature.
        """
        from noregret.learner.explain import explain_one

        with self._lock:
            self._must_have_learned()
            return explain_one(self, x, label)

    def _must_have_learned(self) -> None:
        if self.state is None:
            raise NotLearned(f"{self.card.name} has not seen a label yet; learn something first")

    # ---- keeping -------------------------------------------------------------------------------------------------

    def copy(self) -> "Learner":
        """An independent learner in the same state."""
        from noregret.learner.model_file import pack, unpack

        with self._lock:
            return unpack(pack(self), "the copy", self.card)

    def save(self, path: Any) -> None:
        """Write the learner to a file; whatever was there stays until the new file is complete."""
        from noregret.learner.model_file import write

        with self._lock:
            write(self, path)

    def merge(self, other: "Learner") -> "Learner":
        """A new learner that pools this one and another, as far as the card's merge law goes."""
        from noregret.learner.merge import merged

        if not isinstance(other, Learner):
            raise BadValue(f"a learner can be merged only with a learner, not with {other!r}")
        return merged(self.copy(), other.copy())

    def __reduce__(self) -> Any:
        from noregret.learner.model_file import pack, unpack

        with self._lock:
            return unpack, (pack(self), "the pickled learner", None)

    def __ror__(self, steps: Transform | Pipeline) -> "Learner":
        """A fresh learner like this one behind transforms: `scale() | make("arow")`."""
        if not isinstance(steps, (Transform, Pipeline)):
            raise BadValue(f"before a learner stands a transform such as nr.scale(), not {shown(steps)}")
        if self.state is not None or self.rounds:
            raise BadValue(f"{self.card.name} has learned from rows as they were; a transform now would make others of "
                           "them. Put transforms before a fresh learner")  # fmt: skip
        return Learner(settle(self.card, {**self.settings.told, "transforms": [*steps, *self.settings.transforms]}))

    def __repr__(self) -> str:
        steps = "".join(f"{step!r} | " for step in self.settings.transforms)
        parameters = sorted((name, value) for name, value in self.settings.told.items() if name != "transforms")
        told = "".join(f", {name}={value!r}" for name, value in parameters)
        return f"<{steps}{self.card.name}{told}: {self.task}, {self.rounds} rounds, {self.mistakes} mistakes>"

    @property
    def rounds(self) -> int:
        """How many rounds were learned."""
        return int(self.totals[ROUNDS])

    @property
    def updates(self) -> int:
        """On how many of them the rule changed its state."""
        return int(self.totals[UPDATES])

    @property
    def mistakes(self) -> int:
        """How many of them would have been predicted wrongly, just before they were learned."""
        return int(self.totals[MISTAKES])

    @property
    def nonzeros(self) -> int:
        """How many features have a weight that is not zero, for some class; of a kernel learner, its supports."""
        from noregret.learner.explain import nonzeros

        with self._lock:
            return nonzeros(self)

    @property
    def collisions(self) -> int:
        """How many cells more than one feature shares, where names are hashed (`bits`)."""
        return self.names.collisions if isinstance(self.names, HashedNames) else 0

    @property
    def classes(self) -> list[Any]:
        """The labels seen so far, in order of appearance."""
        return self.labels.order

    @property
    def features(self) -> list[Any]:
        """The features that have weights, by name or number: those of the rows, or what transforms make of them."""
        known = 0 if self.space is None else self.space.features - self.settings.bias
        names = self.names.as_list()
        namer: Callable[[int], Any] = (lambda number: names[number]) if self.names.mode == "names" else int
        for transform in self.transforms:
            namer = transform.namer(namer)
        return [namer(number) for number in range(known)]

    @property
    def params(self) -> dict[str, Any]:
        """Every parameter of the rule and of the task, as in use."""
        settings = self.settings
        found = {**settings.numbers, **dict(settings.choices), **settings.setting, **dict(settings.setup)}
        return found if settings.asks else {name: value for name, value in found.items() if name != "labels"}

    @property
    def space(self) -> Space | None:
        """The shape of the state, with the features that came through the fast path since it was last asked for."""
        space, fast_path = self._space, self._fast_path
        if space is not None and fast_path is not None and fast_path.used != space.features:
            self._space = space = replace(space, features=fast_path.used)
        return space

    @space.setter
    def space(self, space: Space | None) -> None:
        self._space, self._fast_path = space, None

    # ---- for the modules around ----------------------------------------------------------------------------------

    @property
    def scaling(self) -> Scaling | None:
        """What `scale=True` asked for: the last of the transforms."""
        last = self.transforms[-1] if self.settings.scale else None
        return last if isinstance(last, Scaling) else None

    @property
    def shape(self) -> Shape:
        """What this learner keeps between rounds."""
        return self.settings.state_shape

    @property
    def keeps_full(self) -> bool:
        return self.card.keeps_covariance and self.settings.covariance == "full"

    @property
    def task_object(self) -> Task:
        """How this learner's task takes labels and reads scores."""
        return TASKS[self.task]

    @property
    def setting(self) -> Any:
        """The numbers and arrays of the task, as its loop is given them."""
        return self.task_object.setting(self)

    @property
    def bank(self) -> Any:
        return bank_of(self.state)

    def settled_algebra(self, block: Block) -> str:
        """The first data decide the algebra, unless it was asked for."""
        if self.algebra is None:
            self.algebra = "sparse" if isinstance(block, SparseBlock) else "dense"
        return self.algebra

    def rebind(self) -> None:
        """An engine for the task as it is now, working on the state as it is now."""
        assert self.algebra is not None
        assert self.space is not None
        plan = self.settings.plan(self.task, self.algebra)
        if self.engine is None or self.engine.plan != plan or self.engine.asked != self.settings.native:
            self.engine = Engine(plan, self.settings.params, self.settings.native)
        self.engine.bind(self.state, self.space, self.setting)
        self._space, self._fast_path = self.space, None

    def block(self, X: Any, grow: bool, include_unknown: bool = False) -> Block:
        """What a user handed over, as a block of this learner's algebra.

        It is no wider than the state, unless the learner may grow or is to include features it has never learned.
        """
        include_unknown = include_unknown or self.includes_unknown
        block = taken(self, X, grow, include_unknown)
        if not grow and self.space is not None and block.rows:
            if not include_unknown and self.names.mode != "names" and not self.settings.transforms:
                return narrow(block, self.space.features)
            self._give_room(block.width)
        return block

    def one(self, x: Any) -> Any:
        """A single row as a batch of one; what it holds does not matter where rows are not looked at."""
        return [x] if self.card.ignores_features else one_row(x, self.settings.accepts_missing)

    @property
    def makes_features(self) -> bool:
        """Whether a transform makes features of features; it numbers them itself."""
        return any(transform.output_width() is not None for transform in self.transforms)

    @property
    def includes_unknown(self) -> bool:
        """Whether a feature never learned can move a score: weights do not start at zero, or a score is no w.x."""
        starts = any(field.kind == "vector" and field.start != 0.0 for field in self.card.state.values())
        starts = starts or self.task == "one-class" or self.settings.numbers.get("random_start", 0.0) > 0.0
        return starts or self.algebra == "kernel" or self.card.score is not None or self.counts_features

    @property
    def counts_features(self) -> bool:
        """Whether weights are shares, so that every feature there is has a part in all of them."""
        return any(field.kind == "log_weights" for field in self.card.state.values())

    def _give_room(self, width: int) -> None:
        """Cells for features that are only looked at; they are not counted as features of this learner."""
        assert self.space is not None
        if width > self.space.room:
            space = enlarged(self.space, width, self.space.classes)
            limited(self, space)
            space = replace(space, features=self.space.features)
            self.state = grown(self.shape, self.state, self.space, space)
            self.space = space
            self.rebind()
        if self.keeps_full:
            use(self.state, width)
