"""The base of learners without labels: rows in, components out, and the loss of every row before it is learned.

A subclass declares its card and kind, and writes five methods over a state of its own, which is passive data:

    start_state(features)         a fresh state
    state.grow(features)          make room for features that appear later; state.copy()
    learn_rows(state, rows)       learn a mini-batch of rows in place
    score_rows(state, rows)       components and losses of rows by the state as it is; changes nothing
    dump_state, restore_state     the state in a model file

This class reads rows, counts, undoes calls that fail, and buffers rows until a mini-batch is full, so that the state is
the same to the last bit however the rows are batched.
"""

import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.decomposition.block_rounds import BlockRounds, Seen
from noregret.decomposition.component_table import NamedComponents
from noregret.decomposition.matrix_rows import MatrixRows, slices, take_rows, turn_columns
from noregret.decomposition.memory import memory_in_words, require_memory
from noregret.decomposition.parameters import check_whole
from noregret.decomposition.row_encoder import RowConfig, RowEncoder
from noregret.decomposition.truth import check_truth
from noregret.decomposition.undo_calls import undo_by_reference
from noregret.decomposition.unsupervised_file import dump_learner, restore_learner
from noregret.decomposition.waiting_rows import WaitingRows
from noregret.errors import BadValue, NotLearned, import_extra
from noregret.features.transforms import as_pipeline
from noregret.learner.base_learner import BaseLearner, Transforms
from noregret.learner.change import Undo
from noregret.learner.encode import one_row
from noregret.learner.model_file import Arrays, FindCard, Header

Floats = NDArray[np.float64]


class State(Protocol):
    """What a learner knows of the rows it has learned."""

    @property
    def features(self) -> int:
        """How many features it has room for."""

    def grow(self, features: int) -> None:
        """Make room for more features, which were 0 in all rows so far."""

    def copy(self) -> Self:
        """An independent copy."""

    def is_finite(self) -> bool:
        """Whether no value has overflowed, as after rows of very large values."""


class Scored(NamedTuple):
    """Components of rows, of shape (rows, components), and the loss of each row."""

    components: NDArray[Any]
    losses: Floats


AnyState = TypeVar("AnyState", bound=State)


class UnsupervisedLearner(NamedComponents, BaseLearner, Generic[AnyState]):
    """A learner of rows without labels; mistakes do not exist, and losses come before each row is learned."""

    task: str = "unsupervised"
    shared: ClassVar[tuple[str, ...]] = ("card", "row_config", "pending", "seen")
    loss_measure: ClassVar[str] = "squared distances"  # what its losses are; others cannot be compared with them
    steady = False  # whether states that score rows follow each other
    learns_part: ClassVar[bool] = True  # whether results include rows of a mini-batch that is not full yet

    def __init__(self, batch: float = 1, missing: bool = False, **options: Any) -> None:
        """`missing`: rows may have missing values (NaN); `options` are those of `ROW_OPTIONS` and `task`."""
        super().__init__()
        self.missing_values = missing
        self.batch = check_whole(self.card.name, "batch", batch)
        self.first_batch = self.batch  # rows of the first mini-batch, from which a method may choose where it starts
        self.row_config = RowConfig.of(options, missing)
        self.encoder = RowEncoder(self.card, self.row_config)
        self.state: AnyState | None = None
        self.pending = WaitingRows()  # rows of a mini-batch that is not full yet
        self.looks_early = False  # whether rows that wait for the first mini-batch score those after them
        self.seen: tuple[Seen[AnyState], ...] = ()  # states with the first of the pending rows
        self._latest: AnyState | None = None  # the state with the pending rows, once somebody asked for it

    # ---- what a method is made of --------------------------------------------------------------------------------

    @abstractmethod
    def start_state(self, features: int) -> AnyState:
        """A state that has learned nothing."""

    @abstractmethod
    def learn_rows(self, state: AnyState, rows: MatrixRows) -> None:
        """Learn a mini-batch; the state has room for all its features and may be changed in place."""

    @abstractmethod
    def score_rows(self, state: AnyState, rows: MatrixRows) -> Scored:
        """The components and the loss of every row by this state, which stays as it is.

        The result for a row may not depend on the rows beside it. `rows.beyond` has the part of each row in features
        that the state does not know.
        """

    @abstractmethod
    def dump_state(self, state: AnyState) -> tuple[Header, Arrays]:
        """The state as a header and arrays."""

    @abstractmethod
    def restore_state(self, header: Header, arrays: Arrays, features: int) -> AnyState:
        """The state of a header and arrays, with at most so many features; everything is checked."""

    def count_numbers(self, features: int) -> int:
        """About how many numbers a state has, to be refused where they do not fit in memory."""
        return features

    def next_batch(self, state: AnyState | None, width: int) -> int:
        """How many rows are learned together next, by what is known so far; before that, by how many features come."""
        return self.first_batch if state is None else self.batch

    def follow(self, state: AnyState, before: AnyState) -> None:
        """Called with a state that scores rows and was not made from the one that scored those before them."""

    def read_rows(self, X: Any, learn: bool) -> Any:
        """Rows as the encoder takes them; a method whose rows are something else, such as texts, converts them here."""
        return X

    def check_rows(self, rows: MatrixRows, start: int) -> None:
        """Raise BadValue where the values of a row are not those of the method; the first row is number `start`."""

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Compute the loss of every row, then learn it; all of them, or none. Labels are not learned."""
        began = time.perf_counter()
        scored, truth = self._run(X, y, weight, query, score=True)
        losses = np.concatenate([one.losses for one in scored]) if scored else np.zeros(0)
        components = np.concatenate([one.components for one in scored]) if scored else None
        none = np.zeros(losses.size, bool)
        seconds = time.perf_counter() - began
        return Transcript(components, None, losses, none, ~none, truth, seconds)

    def learn(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None) -> Self:
        """Learn every row, in order; all of them, or none. Labels are not learned."""
        self._run(X, y, weight, query, score=False)
        return self

    def _run(self, X: Any, y: Any, weight: Any, query: Any, score: bool) -> tuple[list[Scored], NDArray[Any] | None]:
        if weight is not None:
            raise BadValue(f"{self.card.name} does not support weight=: all rows count the same")
        if query is not None:
            raise BadValue(f'query is for task="ranking", where rows come in groups; {self.card.name} has none')
        with self._lock:
            self._change.settle()
            with memory_in_words(self.card.name):
                return self._change.save_and_run(self._save, lambda: self._learn_block(X, y, score))

    def _save(self) -> Undo:
        own, forget = self._own_state(), self.encoder.savepoint()
        return lambda: (forget(), own())

    def _learn_block(self, X: Any, y: Any, score: bool) -> tuple[list[Scored], NDArray[Any] | None]:
        block, widths = self.encoder.encode(self.read_rows(X, learn=True), learn=True)
        truth = check_truth(y, block.rows)
        rounds: BlockRounds[AnyState] = BlockRounds(self)
        found = rounds.run(block, widths, score)
        self.state, self.pending, self.seen, self._latest = rounds.state, rounds.pending, rounds.seen, None
        self.rounds += block.rows
        self.updates += block.rows
        return found, truth

    def fresh_state(self, features: int) -> AnyState:
        require_memory(self.card.name, self.count_numbers(features))
        return self.start_state(features)

    def learn_batch(self, state: AnyState, rows: MatrixRows, start: int) -> None:
        self.make_room(state, rows.width)
        try:
            with np.errstate(all="ignore"):
                self.learn_rows(state, rows.widen(state.features))
        except np.linalg.LinAlgError:
            raise self.out_of_range(start) from None
        if not state.is_finite():
            raise self.out_of_range(start)

    def make_room(self, state: AnyState, features: int) -> None:
        if features > state.features:
            require_memory(self.card.name, self.count_numbers(features))
            state.grow(features)

    def out_of_range(self, row: int) -> BadValue:
        """The error where numbers overflow, or become too small to compute with."""
        return BadValue(f"row {row}: the values are too large for {self.card.name}, or too small; scale the rows first",
                        row=row)  # fmt: skip

    def score_part(self, state: AnyState | None, rows: MatrixRows, start: int, widths: NDArray[np.int64]) -> Scored:
        """Scores of rows; before anything was learned there are no components, and the loss is the size of a row.

        `start` is the number of the first row in its call; `widths` says how many features were known with each row.
        """
        known = self.start_state(0) if state is None else state
        try:
            with np.errstate(all="ignore"):
                scored = self.score_rows(known, rows.cut(known.features))
        except np.linalg.LinAlgError:
            raise self.out_of_range(start) from None
        if not np.isfinite(scored.losses).all():
            raise self.out_of_range(start + int(np.flatnonzero(~np.isfinite(scored.losses))[0]))
        return scored

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one row."""
        return self.learn(one_row(x, self.row_config.allows_missing), [y], weight)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def latest(self) -> AnyState:
        """The state after all rows, also those of a mini-batch that is not full yet; NotLearned before the first."""
        with self._lock:
            self._change.settle()
            with memory_in_words(self.card.name):
                return self._find_latest()

    def _find_latest(self) -> AnyState:
        if self._latest is None and self.learns_part and self.pending.rows:
            self._latest = self._learn_pending()
        found = self._latest if self._latest is not None else self.state
        if found is None:
            raise NotLearned(f"{self.card.name} has not learned a row yet")
        return found

    def _learn_pending(self) -> AnyState:
        """The state with all rows that wait."""
        if self.looks_early:
            rounds = BlockRounds[AnyState](self)
            state = rounds.state_with(self.pending.rows).copy()
            self.seen = rounds.seen
            self.make_room(state, self.pending.width)
            return state
        state = self.fresh_state(self.pending.width) if self.state is None else self.state.copy()
        self.learn_batch(state, self.pending.whole, 0)
        return state

    def __or__(self, other: object) -> Any:
        """`svd | learner`: a learner of the components."""
        from noregret.decomposition.decomposed import put_behind_decomposition

        return put_behind_decomposition(self, other)

    def score(self, X: RowsLike) -> Scored:
        """The components and losses of rows by what is known now; nothing is learned."""
        with self._lock:
            return self._score_by(self.latest, X)

    def score_settled(self, X: RowsLike) -> Scored:
        """The same as `play` would tell of the rows: by the mini-batches that are full."""
        with self._lock:
            self._change.settle()
            rounds = BlockRounds[AnyState](self)
            with memory_in_words(self.card.name):
                state = rounds.scoring_state()
            self.seen = rounds.seen
            return self._score_by(state, X)

    def _score_by(self, state: AnyState | None, X: RowsLike) -> Scored:
        block, widths = self.encoder.encode(self.read_rows(X, learn=False), learn=False)
        parts = []
        with memory_in_words(self.card.name):
            for start, stop in slices(block.rows):
                rows = take_rows(block, start, stop, self.features, self.missing_values)
                self.check_rows(rows, start)
                parts.append(self.score_part(state, rows, start, widths[start:stop]))
        return parts[0] if len(parts) == 1 else Scored(*(np.concatenate([one[at] for one in parts]) for at in (0, 1)))

    def transform(self, X: RowsLike) -> NDArray[Any]:
        """The components of every row, of shape (rows, components)."""
        with self._lock:
            state = self.latest
            found, signs = self._score_by(state, X).components, self.find_signs(state)
            return found if signs is None else turn_columns(found, signs)

    def find_signs(self, state: AnyState) -> Floats | None:
        """By which signs, or by which matrix, results differ from what is scored while learning."""
        return None

    def transform_one(self, x: RowLike) -> NDArray[Any]:
        """The components of one row."""
        found: NDArray[Any] = self.transform(one_row(x, self.row_config.allows_missing))[0]
        return found

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """What the method says of every row: its components."""
        return self.transform(X)

    def predict_one(self, x: RowLike) -> Any:
        """The same for one row; None before anything was learned."""
        try:
            found = self.predict(one_row(x, self.row_config.allows_missing))
        except NotLearned:
            return None
        return found[0] if found.ndim > 1 else found.tolist()[0]

    def evaluate(self, X: RowsLike, y: LabelsLike = None) -> Transcript:
        """The losses of rows that are not learned."""
        began = time.perf_counter()
        components, losses = self.score(X)
        none, truth = np.zeros(losses.size, bool), check_truth(y, losses.size)
        return Transcript(components, None, losses, none, none, truth, time.perf_counter() - began)

    def flush(self) -> Self:
        """Learn the rows of a mini-batch that is not full yet, as a mini-batch of their own."""
        with self._lock:
            self._change.settle()
            return self._alter(lambda state: None) if self.pending.rows else self

    def _alter(self, change: Callable[[AnyState], None]) -> Self:
        """Change the state after all rows so far, or leave it as it was."""

        def act() -> None:
            state = self._find_latest().copy()
            with np.errstate(all="ignore"):
                change(state)
            if not state.is_finite():
                raise self.out_of_range(0)
            self.state, self.pending, self.seen, self._latest = state, WaitingRows(), (), None

        with self._lock:
            self._change.settle()
            with memory_in_words(self.card.name):
                self._change.save_and_run(self._save, act)
            return self

    def undo_of_calls(self) -> Undo:
        with self._lock:
            self._change.settle()
            return BaseLearner.undo_of_calls(self) if self.encoder.transforms else undo_by_reference(self)

    @property
    def features(self) -> int:
        """How many features the rows so far have."""
        with self._lock:
            self._change.settle()
            return self.encoder.features

    @property
    def feature_names(self) -> list[Any]:
        """The names of the features, or their numbers."""
        with self._lock:
            self._change.settle()
            return self.encoder.feature_names()

    def describe_results(self) -> list[str]:
        """What it found, as lines of text for `noregret show`."""
        return [f"{self.features:,} features, {self.rounds:,} rows"]

    def plot(self, X: RowsLike = None, y: LabelsLike = None) -> Any:
        """The components as a matplotlib figure: as pictures where features are pixels, otherwise as bars."""
        if X is not None:
            raise BadValue(f"{self.card.name} draws its components and takes no rows: plot()")
        return import_extra("noregret.plots", "plots", "plot()").components(self)

    def __repr__(self) -> str:
        return f"<{self.card.name}: {self.task}, {self.rounds} rows, {self.features} features>"

    def put_behind(self, steps: Transforms) -> Self:
        """A fresh learner like this one that sees rows only after these transforms."""
        if self.rounds:
            raise BadValue("cannot add transforms to a trained learner; create a new one")
        options = {**self.row_config.options, "transforms": [*as_pipeline(steps), *self.row_config.transforms]}
        made: Self = self.card.build(**self.params, **options)  # type: ignore[attr-defined]
        return made

    # ---- model files ---------------------------------------------------------------------------------------------

    @property
    def learned_rows(self) -> int:
        """How many rows the state has learned: all but those of a mini-batch that is not full yet."""
        return self.rounds - self.pending.rows

    def dump(self) -> tuple[Header, Arrays]:
        """Parameters, features, state and the rows of a mini-batch that is not full."""
        with self._lock:
            self._change.settle()
            return dump_learner(self)

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learner of a header and arrays, all checked."""
        return restore_learner(cls, header, arrays)
