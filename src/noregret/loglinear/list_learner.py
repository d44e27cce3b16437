"""The base of learners that rerank lists of candidates by a log-linear model.

A round is a list of candidates with features h; the learner predicts the place of the one with the highest score
lambda . h, sees how good each of them is, and moves lambda. A subclass keeps its state in an object that is replaced
and never changed by others, and writes five methods over it:

    start_state()                      a state that has learned nothing
    grow(state, names, start)          make room for features that appear later, with their first weights
    rank(state, table)                 a score for every candidate; the highest is predicted
    learn_list(state, table, losses)   learn one list in place; says whether the state changed
    dump_state, restore_state          the state in a model file
"""

import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.candidate_lists import CandidateList, read_candidates, read_features
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.learner.base_learner import BaseLearner
from noregret.learner.change import Undo
from noregret.learner.header_fields import corrupt
from noregret.learner.labelled_rows import as_list
from noregret.learner.model_file import Arrays, FindCard, Header
from noregret.loglinear.feature_columns import FeatureColumns, Table
from noregret.loglinear.quality import QUALITY
from noregret.loglinear.truths import read_losses

Floats = NDArray[np.float64]
START: Mapping[str, float] = {"score": 1.0}  # first weights: the order of the system that made the lists


class State(Protocol):
    """What a reranker knows of the lists it has learned."""

    def copy(self) -> Self:
        """An independent copy."""

    def is_finite(self) -> bool:
        """Whether no value has overflowed."""


AnyState = TypeVar("AnyState", bound=State)


class ListLearner(BaseLearner, Generic[AnyState]):
    """A learner of lists of candidates. It predicts from its first weights before anything was learned."""

    task: str = "structured"
    shared: ClassVar[tuple[str, ...]] = ("start", "quality")

    def __init__(self, quality: str = "bleu", start: Mapping[str, float] | None = None) -> None:
        super().__init__()
        self.quality = QUALITY.check(self.card.name, "quality", quality)
        self.start = read_start(self.card.name, START if start is None else start)
        self.features = FeatureColumns()
        self.state: AnyState = self.start_state()

    # ---- what a method is made of --------------------------------------------------------------------------------

    @abstractmethod
    def start_state(self) -> AnyState:
        """A state that has learned nothing and has no features."""

    @abstractmethod
    def grow(self, state: AnyState, names: list[str], start: Floats) -> None:
        """Make room for more features, whose first weights are `start`."""

    @abstractmethod
    def rank(self, state: AnyState, table: Table) -> Floats:
        """A score for every candidate; the first with the highest is predicted."""

    @abstractmethod
    def learn_list(self, state: AnyState, table: Table, losses: Floats) -> bool:
        """Learn one list; the state may be changed in place. Says whether it changed."""

    @abstractmethod
    def dump_state(self) -> tuple[Header, Arrays]:
        """The parameters and the state as a header and arrays."""

    @classmethod
    @abstractmethod
    def restore_with(cls, header: Header, arrays: Arrays, common: dict[str, Any]) -> Self:
        """A learner with the parameters of a header, checked; `common` are the arguments of this class."""

    @abstractmethod
    def restore_state(self, arrays: Arrays, features: int) -> AnyState:
        """The state of some arrays, checked, with so many features."""

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every list; all of them, or none.

        y holds the reference of each list, the place of its best candidate, or the losses of all candidates. Without y
        lists carry their references. A prediction is a place.
        """
        began = time.perf_counter()
        self.refuse(weight, query)
        lists, truths, losses = self.read(X, y)
        with self._lock:
            self._change.settle()
            return self._change.run(lambda: self._play_lists(lists, truths, losses, began), self.savepoint())

    def refuse(self, weight: Any, query: Any) -> None:
        if weight is not None:
            raise BadValue(f"{self.card.name} does not support weight=: all lists count the same")
        if query is not None:
            raise BadValue(f"{self.card.name} takes lists one by one; leave query out")

    def read(self, X: Any, y: Any) -> tuple[list[CandidateList], list[Any], list[Floats]]:
        """Lists, truths and losses of a call, all checked."""
        lists, truths = read_rounds(X, y)
        found = zip(lists, truths, strict=True)
        return lists, truths, [read_losses(one, truth, t, self.quality) for t, (one, truth) in enumerate(found)]

    def savepoint(self) -> Undo:
        """How to bring back the state of now."""
        own, features, size = self._own_state(), self.features, len(self.features)

        def undo() -> None:
            own()
            features.truncate(size)

        return undo

    def _play_lists(
        self, lists: list[CandidateList], truths: list[Any], losses: list[Floats], began: float
    ) -> Transcript:
        state, size = self.state.copy(), len(lists)
        places, lost, updated = np.zeros(size, np.int64), np.zeros(size), np.zeros(size, bool)
        for t, one in enumerate(lists):
            places[t], updated[t] = self.play_list(state, one.rows, losses[t], t)
            lost[t] = losses[t][places[t]]
        wrong = lost > 0.0
        self.state = state
        self.rounds += size
        self.mistakes += int(np.count_nonzero(wrong))
        self.updates += int(np.count_nonzero(updated))
        return Transcript(None, places, lost, wrong, updated, as_objects(truths), time.perf_counter() - began)

    def play_list(
        self, state: AnyState, rows: tuple[Mapping[str, float], ...], losses: Floats, number: int
    ) -> tuple[int, bool]:
        """Predict and learn one list; the place predicted, and whether the state changed."""
        known = len(self.features)
        self.features.add(rows)
        table = self.features.tabulate(rows)
        with np.errstate(all="ignore"):
            self._grow(state, self.features.since(known))
            place = self._best(state, table, number)
            changed = self.learn_list(state, table, losses)
        if changed and not state.is_finite():
            raise self.too_large(number)
        return place, changed

    def _grow(self, state: AnyState, names: list[str]) -> None:
        if names:
            self.grow(state, names, self.first_weights(names))

    def first_weights(self, names: Iterable[str]) -> Floats:
        """The first weights of some features."""
        return np.array([self.start.get(name, 0.0) for name in names])

    def _best(self, state: AnyState, table: Table, number: int) -> int:
        with np.errstate(all="ignore"):
            scores = self.rank(state, table)
        if not np.isfinite(scores).all():
            raise self.too_large(number)
        return int(np.argmax(scores))

    def too_large(self, number: int) -> BadValue:
        return BadValue(f"row {number}: the features are too large for {self.card.name}; scale them first", number)

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one list."""
        return self.learn([x], [y], None if weight is None else [weight])

    # ---- predictions -----------------------------------------------------------------------------------------------

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The place of the best candidate of every list."""
        lists = [read_candidates(one, t) for t, one in enumerate(as_list(X, "X"))]
        with self._lock:
            self._change.settle()
            return np.array([self.predict_list(one, t) for t, one in enumerate(lists)], np.int64)

    def predict_one(self, x: RowLike) -> Any:
        """The place of the best candidate of one list."""
        return int(self.predict([x])[0])

    def predict_list(self, one: CandidateList, number: int) -> int:
        """The best place; features that were never seen are new ones, as in `play`."""
        if all(name in self.features.known for row in one.rows for name in row):
            return self._best(self.state, self.features.tabulate(one.rows), number)
        features, state = self.features.copy(), self.state.copy()
        features.add(one.rows)
        self._grow(state, features.since(len(self.features)))
        return self._best(state, features.tabulate(one.rows), number)

    def evaluate(self, X: RowsLike, y: LabelsLike) -> Transcript:
        """Predict every list and compare with y; nothing is learned."""
        began = time.perf_counter()
        lists, truths, losses = self.read(X, y)
        with self._lock:
            self._change.settle()
            places = np.array([self.predict_list(one, t) for t, one in enumerate(lists)], np.int64)
        lost = np.array([found[place] for found, place in zip(losses, places, strict=True)])
        seconds = time.perf_counter() - began
        return Transcript(None, places, lost, lost > 0.0, np.zeros(len(lists), bool), as_objects(truths), seconds)

    def by_feature(self, weights: Floats) -> dict[str, float]:
        """The weights that are not zero, by feature, the largest first."""
        found = zip(self.features.known, weights.tolist(), strict=True)
        return dict(sorted(((name, value) for name, value in found if value), key=lambda one: -abs(one[1])))

    # ---- copies and model files --------------------------------------------------------------------------------------

    def check_same(self, other: Any) -> None:
        """Refuse to merge with a learner of another method or with other parameters."""
        if type(other) is not type(self) or (other.params, other.start) != (self.params, self.start):
            raise BadValue(f"only learners of one method with the same parameters can be merged, not {self!r} and "
                           f"{other!r}")  # fmt: skip

    def dump(self) -> tuple[Header, Arrays]:
        """Parameters, names of features and the state."""
        with self._lock:
            self._change.settle()
            header, arrays = self.dump_state()
            common = {"quality": self.quality, "start": dict(self.start), "features": self.features.dump()}
            return {**common, **header, **self.dump_counts()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """Parameters and state, all checked."""
        start = header.get("start")
        if not isinstance(start, dict):
            raise corrupt("start must be weights by name")
        try:
            new = cls.restore_with(header, arrays, {"quality": header["quality"], "start": start})
        except BadValue as error:
            raise corrupt(str(error).removeprefix("corrupt model file: ")) from None
        new.features.restore(header)
        new.state = new.restore_state(arrays, len(new.features))
        if not new.state.is_finite():
            raise corrupt("the state must be finite numbers")
        new.restore_counts(header)
        return new


def read_start(owner: str, given: Any) -> dict[str, float]:
    """First weights by the name of their feature; all others are 0."""
    if not isinstance(given, Mapping):
        raise BadValue(f"{owner}: start must be a dict of first weights by feature, as in {{'score': 1.0}}")
    try:
        return read_features(given, 0)
    except BadValue as error:
        raise BadValue(f"{owner}: start: {str(error).partition(': ')[2] or error}") from None


def read_rounds(X: Any, y: Any) -> tuple[list[CandidateList], list[Any]]:
    """The lists and the truths of a call, as many of each; without y every list carries its reference."""
    lists = [read_candidates(one, t) for t, one in enumerate(as_list(X, "X"))]
    truths = [one.reference for one in lists] if y is None else as_list(y, "y")
    if len(truths) != len(lists):
        raise BadValue(f"X has {len(lists)} rows and y has {len(truths)} labels; they must match")
    return lists, truths


def as_objects(outputs: list[Any]) -> NDArray[Any]:
    """Truths in an array, each as it is."""
    found = np.empty(len(outputs), object)
    for place, output in enumerate(outputs):
        found[place] = output
    return found


def read_array(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Floats:
    """An array of a model file, with its shape checked."""
    found = arrays.get(name)
    if found is None or found.dtype != np.float64 or found.shape != shape:
        raise corrupt(f"{name} must be an array of shape {shape}")
    return found.copy()
