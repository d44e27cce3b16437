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

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.candidate_lists import CandidateList, read_features
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.learner.change import Undo
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays, FindCard, Header
from noregret.loglinear.feature_columns import FeatureColumns, Table
from noregret.loglinear.list_player import ListPlayer, ListRounds, Tell

Floats = NDArray[np.float64]
START: Mapping[str, float] = {"score": 1.0}  # first weights: the order of the system that made the lists


class State(Protocol):
    """What a reranker knows of the lists it has learned."""

    def copy(self) -> Self:
        """An independent copy."""

    def is_finite(self) -> bool:
        """Whether no value has overflowed."""


AnyState = TypeVar("AnyState", bound=State)


class ListLearner(ListPlayer, Generic[AnyState]):
    """A learner of lists of candidates by a log-linear model, with a state of its own."""

    shared: ClassVar[tuple[str, ...]] = ("start", "quality")

    def __init__(self, quality: str = "bleu", start: Mapping[str, float] | None = None) -> None:
        super().__init__(quality)
        self.start = read_start(self.card.name, START if start is None else start)
        self.columns = FeatureColumns()
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

    @property
    def features(self) -> int:
        """How many features the lists so far have."""
        return len(self.columns)

    @property
    @abstractmethod
    def weights(self) -> dict[str, float]:
        """The weights that are not zero, by feature, the largest first."""

    def merge(self, other: Any) -> Self:
        """A new learner of the lists of both, where the method has a merge law."""
        raise BadValue(f"{self.card.name} cannot be merged: {self.card.merge.how}")

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

    def play_whole(self, rounds: ListRounds, tell: Tell) -> Transcript:
        def act() -> Transcript:
            self.begin()
            size = len(rounds.lists)
            places, updated = np.zeros(size, np.int64), np.zeros(size, bool)
            for t, one in enumerate(rounds.lists):
                places[t], updated[t] = self.play_list(self.state, one.rows, rounds.losses[t], t)
            return tell(places, updated)

        return self._change.save_and_run(self.savepoint, act)

    def begin(self) -> None:
        """Before lists are learned: a copy takes the place of the state, which a savepoint keeps."""
        self.state = self.state.copy()

    def absorb(self, rows: Sequence[Mapping[str, float]], losses: Floats, number: int) -> tuple[int, bool]:
        """Predict and learn a list as a part of a change of another learner."""
        place, changed = self.play_list(self.state, rows, losses, number)
        self.rounds += 1
        self.mistakes += bool(losses[place])
        self.updates += changed
        return place, changed

    def savepoint(self) -> Undo:
        """How to bring back the state of now."""
        own, columns, size = self._own_state(), self.columns, len(self.columns)

        def undo() -> None:
            own()
            columns.truncate(size)

        return undo

    def play_list(
        self, state: AnyState, rows: Sequence[Mapping[str, float]], losses: Floats, number: int
    ) -> tuple[int, bool]:
        """Predict and learn one list; the place predicted, and whether the state changed."""
        known = len(self.columns)
        self.columns.add(rows)
        table = self.columns.tabulate(rows)
        with np.errstate(all="ignore"):
            self._grow(state, self.columns.since(known))
            place = self._best(state, table, number)
            try:
                changed = self.learn_list(state, table, losses)
            except np.linalg.LinAlgError:  # beside values this large the penalty is rounded away
                raise self.too_large(number) from None
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

    # ---- predictions -----------------------------------------------------------------------------------------------

    def predict_list(self, one: CandidateList, number: int) -> int:
        """The best place; features that were never seen are new ones, as in `play`."""
        if all(name in self.columns.known for row in one.rows for name in row):
            return self._best(self.state, self.columns.tabulate(one.rows), number)
        columns, state = self.columns.copy(), self.state.copy()
        columns.add(one.rows)
        self._grow(state, columns.since(len(self.columns)))
        return self._best(state, columns.tabulate(one.rows), number)

    def by_feature(self, weights: Floats) -> dict[str, float]:
        """The weights that are not zero, by feature, the largest first."""
        found = zip(self.columns.known, weights.tolist(), strict=True)
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
            common = {"quality": self.quality, "start": dict(self.start), "features": self.columns.dump()}
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
        new.columns.restore(header)
        new.state = new.restore_state(arrays, len(new.columns))
        if not new.state.is_finite():
            raise corrupt("the state must be finite numbers")
        new.restore_counts(header)
        return new


def read_start(owner: str, given: Any) -> dict[str, float]:
    """First weights by the name of their feature; all others are 0."""
    if not isinstance(given, Mapping):
        raise BadValue(f"{owner}: start must be a dict of first weights by feature, as in {{'score': 1.0}}")
    try:
        return dict(sorted(read_features(given, 0).items()))  # in the order of a model file, in which scores are summed
    except BadValue as error:
        raise BadValue(f"{owner}: start: {str(error).partition(': ')[2] or error}") from None


def read_array(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Floats:
    """An array of a model file, with its shape checked."""
    found = arrays.get(name)
    if found is None or found.dtype != np.float64 or found.shape != shape:
        raise corrupt(f"{name} must be an array of shape {shape}")
    return found.copy()
