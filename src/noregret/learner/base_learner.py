"""The base of learners that are not rules: a lock, counts, one-row calls, copies and files.

A subclass sets `kind` and `card`, and writes `task`, `play`, `predict`, `dump` and `restore`.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned, shown
from noregret.features.transforms import Pipeline, Transform
from noregret.learner.change import LOCKING, Undo
from noregret.learner.copied import Copied
from noregret.learner.display import Displayed
from noregret.learner.encode import one_row
from noregret.learner.finder import FeatureFunction
from noregret.learner.header_fields import read_count
from noregret.learner.model_file import Arrays, FindCard, Header, pack, save, unpack
from noregret.rules.card import Card

Transforms = Transform | Pipeline


class BaseLearner(Displayed, Copied, ABC):
    """A learner that is not a rule. It counts its rounds, its mistakes and the rounds that changed it."""

    kind: ClassVar[str]
    card: ClassVar[Card]

    def __init__(self) -> None:
        self.source: dict[str, Any] | None = None  # what is known of the data it learned from, for the model file
        self.rounds = self.mistakes = self.updates = 0
        self._make_lock()

    @property
    @abstractmethod
    def task(self) -> str:
        """The name of the task it plays."""

    @property
    def params(self) -> dict[str, Any]:
        """Its parameters as in use, for reports."""
        return {}

    def __repr__(self) -> str:
        return f"<{self.card.name}: {self.task}, {self.rounds} rounds, {self.mistakes} mistakes>"

    # ---- rounds --------------------------------------------------------------------------------------------------

    @abstractmethod
    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round; all of them, or none."""

    @abstractmethod
    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The prediction for every row; raises NotLearned before anything was learned."""

    def learn(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None) -> Self:
        """Learn every round, in order, as `learn_one` in a loop does; all of them, or none."""
        self.play(X, y, weight, query)
        return self

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round."""
        return self.learn(one_row(x), [y], weight)

    def predict_one(self, x: RowLike) -> Any:
        """The prediction for one row; None before anything was learned."""
        try:
            found = self.predict(one_row(x))[0]
        except NotLearned:
            return None
        return found.item() if hasattr(found, "dtype") else found

    def put_behind(self, steps: Transforms) -> Self:
        """A fresh learner like this one that sees rows only after these transforms."""
        raise BadValue(f"{self.card.name} does not take transforms; put them before the learners it is made of, if any")

    def __ror__(self, steps: Transforms) -> Self:
        """`scale() | learner`: the same as put_behind."""
        if not isinstance(steps, Transforms):
            raise BadValue(f"before a learner comes a transform such as nr.scale(), not {shown(steps)}")
        return self.put_behind(steps)

    # ---- copies and files ----------------------------------------------------------------------------------------

    def revert_to(self, saved: Self) -> None:
        """Take the state of a copy made earlier, which must not be used any more."""
        with self._lock:
            self._change.settle()
            vars(self).update({name: value for name, value in vars(saved).items() if name not in LOCKING})

    def undo_of_calls(self) -> Undo:
        """How to bring back the state as it is now, whatever is learned meanwhile; it may be called more than once."""
        saved = self.copy()
        return lambda: self.revert_to(saved.copy())

    def save(self, path: Any) -> None:
        """Write the learner to a file; whatever was there stays until the new file is complete."""
        with self._lock:
            self._change.settle()
            save(self, path)

    def __reduce__(self) -> Any:
        with self._lock:
            self._change.settle()
            return unpack, (pack(self), "the pickled learner", None, self.functions())

    def functions(self) -> dict[str, FeatureFunction]:
        """The functions of the caller that a model file only names, also of learners inside this one."""
        inside = [part for part in vars(self).values() if isinstance(part, BaseLearner)]
        return {name: function for part in inside for name, function in part.functions().items()}

    @abstractmethod
    def dump(self) -> tuple[Header, Arrays]:
        """The learner as a header and named arrays, for the model file."""

    @classmethod
    @abstractmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """A learner from a header and named arrays, all checked."""

    def dump_counts(self) -> Header:
        """The counts, as entries of the header."""
        return {"rounds": self.rounds, "mistakes": self.mistakes, "updates": self.updates}

    def restore_counts(self, header: Header) -> None:
        """Set the counts from the header."""
        self.rounds = read_count(header, "rounds")
        self.mistakes = read_count(header, "mistakes", self.rounds)
        self.updates = read_count(header, "updates", self.rounds)
