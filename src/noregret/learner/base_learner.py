"""The base of learners that are not rules: a lock, counts, one-row calls, copies and files.

A subclass sets `kind` and `card`, and writes `task`, `play`, `predict`, `dump` and `restore`.
"""

import threading
from abc import ABC, abstractmethod
from copy import deepcopy
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from noregret.data.transcript import Transcript
from noregret.errors import NotLearned
from noregret.learner.encode import one_row
from noregret.learner.header_fields import read_count
from noregret.learner.model_file import Arrays, FindCard, Header, pack, save, unpack
from noregret.rules.card import Card

LOCK = "_lock"


class BaseLearner(ABC):
    """A learner that is not a rule. It counts its rounds, its mistakes and the rounds that changed it."""

    kind: ClassVar[str]
    card: ClassVar[Card]

    def __init__(self) -> None:
        self.source: dict[str, Any] | None = None  # what is known of the data it learned from, for the model file
        self.rounds = self.mistakes = self.updates = 0
        self._lock = threading.RLock()

    @property
    @abstractmethod
    def task(self) -> str:
        """The name of the task it plays."""

    @property
    def params(self) -> dict[str, Any]:
        """Its parameters as in use, for reports."""
        return {}

    # ---- rounds --------------------------------------------------------------------------------------------------

    @abstractmethod
    def play(self, X: Any, y: Any = None, weight: Any = None, query: Any = None) -> Transcript:
        """Predict, then learn, every round; all of them, or none."""

    @abstractmethod
    def predict(self, X: Any) -> NDArray[Any]:
        """The prediction for every row; raises NotLearned before anything was learned."""

    def learn(self, X: Any, y: Any = None, weight: Any = None, query: Any = None) -> Self:
        """Learn every round, in order, as `learn_one` in a loop does; all of them, or none."""
        self.play(X, y, weight, query)
        return self

    def learn_one(self, x: Any, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round."""
        return self.learn(one_row(x), [y], weight)

    def predict_one(self, x: Any) -> Any:
        """The prediction for one row; None before anything was learned."""
        try:
            found = self.predict(one_row(x))[0]
        except NotLearned:
            return None
        return found.item() if hasattr(found, "dtype") else found

    # ---- copies and files ----------------------------------------------------------------------------------------

    def copy(self) -> Self:
        """An independent learner in the same state, copied in memory."""
        with self._lock:
            new = object.__new__(type(self))
            vars(new).update({name: deepcopy(value) for name, value in vars(self).items() if name != LOCK})
            new._lock = threading.RLock()
            return new

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def revert_to(self, saved: Self) -> None:
        """Take the state of a copy made earlier, which must not be used any more."""
        with self._lock:
            vars(self).update({name: value for name, value in vars(saved).items() if name != LOCK})

    def save(self, path: Any) -> None:
        """Write the learner to a file; whatever was there stays until the new file is complete."""
        with self._lock:
            save(self, path)

    def __reduce__(self) -> Any:
        with self._lock:
            return unpack, (pack(self), "the pickled learner", None)

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
