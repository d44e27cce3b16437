"""The base of generative models of text: counts that grow sentence by sentence, with -log p of each beforehand.

A subclass keeps its counts in dicts and writes through an `UndoLog`:

    read_round(x, y, number)             a round, checked
    learn_round(state, round, log)       learn it in place; returns -log p per word, computed before
    predict_round(state, round)          what is predicted for an input
"""

import time
from abc import abstractmethod
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.data.words import split_words
from noregret.errors import BadValue, NotLearned, shown
from noregret.learner.base_learner import BaseLearner
from noregret.learner.change import Undo
from noregret.learner.labelled_rows import as_list
from noregret.loglinear.list_player import as_objects
from noregret.loglinear.undo_log import UndoLog

FEW = 64  # rounds of a call that is undone by a log; more are learned by a copy of the state
Words = tuple[str, ...]


class State(Protocol):
    """Counts in dicts."""

    def copy(self) -> Self: ...


AnyState = TypeVar("AnyState", bound=State)


class TextLearner(BaseLearner, Generic[AnyState]):
    """A probabilistic model of sentences, learned one sentence at a time."""

    task: str = "unsupervised"
    pairs: ClassVar[bool] = False  # whether a round is a sentence and its translation

    def __init__(self) -> None:
        super().__init__()
        self.state: AnyState = self.start_state()

    @abstractmethod
    def start_state(self) -> AnyState:
        """A state that has learned nothing."""

    @abstractmethod
    def learn_round(self, state: AnyState, one: Any, log: UndoLog) -> float:
        """Learn a round in place; returns -log p per word by the state before."""

    @abstractmethod
    def predict_round(self, state: AnyState, x: Words) -> Any:
        """What the model says of an input."""

    def read_round(self, x: Any, y: Any, number: int) -> Any:
        """A round, checked: a sentence, or a pair of sentences."""
        words = read_sentence(x, number, "X")
        return (words, read_sentence(y, number, "y")) if self.pairs else words

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Compute -log p per word of every sentence, then learn it; all of them, or none."""
        began = time.perf_counter()
        if weight is not None:
            raise BadValue(f"{self.card.name} does not support weight=: all sentences count the same")
        if query is not None:
            raise BadValue(f"{self.card.name} takes sentences one by one; leave query out")
        inputs, truths = self.read_call(X, y)
        rounds = [self.read_round(one, truth, t) for t, (one, truth) in enumerate(zip(inputs, truths, strict=True))]
        with self._lock:
            self._change.settle()
            log = UndoLog(keep=len(rounds) <= FEW)
            return self._change.save_and_run(
                lambda: self.savepoint(log), lambda: self._play_rounds(rounds, truths, log, began)
            )

    def savepoint(self, log: UndoLog) -> Undo:
        """How to bring back the state of now, with a log of what is written to its dicts."""
        own = self._own_state()

        def undo() -> None:
            own()
            log.undo()

        return undo

    def begin(self, log: UndoLog) -> None:
        """Before rounds are learned: where the log keeps nothing, a copy takes the place of the state."""
        if not log.keep:
            self.state = self.state.copy()

    def absorb(self, one: Any, log: UndoLog) -> float:
        """Learn a round that was read, as a part of a change of another learner; returns its loss."""
        loss = self.learn_round(self.state, one, log)
        self.rounds += 1
        self.updates += 1
        return loss

    def read_call(self, X: Any, y: Any) -> tuple[list[Any], list[Any]]:
        """The inputs of a call, and their translations where the model learns pairs."""
        inputs = as_list(X, "X")
        if y is None and not self.pairs:
            return inputs, [None] * len(inputs)
        truths = as_list(y, "y")
        if len(truths) != len(inputs):
            raise BadValue(f"X has {len(inputs)} rows and y has {len(truths)} labels; they must match")
        for number, truth in enumerate(truths):
            if isinstance(truth, (dict, set)):
                raise BadValue(f"row {number}: a label cannot be {shown(truth)}", number)
        return inputs, truths

    def _play_rounds(self, rounds: list[Any], truths: list[Any], log: UndoLog, began: float) -> Transcript:
        self.begin(log)
        size = len(rounds)
        losses = np.zeros(size)
        predictions = np.empty(size, object) if self.pairs else None
        wrong = np.zeros(size, bool)
        for t, one in enumerate(rounds):
            if predictions is not None:
                predictions[t] = self.predict_round(self.state, one[0])
                wrong[t] = predictions[t] != " ".join(one[1])
            losses[t] = self.absorb(one, log)
        self.mistakes += int(np.count_nonzero(wrong))
        truth = None if all(one is None for one in truths) else as_objects(truths)
        return Transcript(None, predictions, losses, wrong, np.ones(size, bool), truth, time.perf_counter() - began)

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one sentence."""
        return self.learn([x], None if y is None else [y], None if weight is None else [weight])

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """What the model says of every sentence."""
        sentences = [read_sentence(one, number, "X") for number, one in enumerate(as_list(X, "X"))]
        with self._lock:
            self._change.settle()
            if not self.rounds:
                raise NotLearned(f"{self.card.name} has not learned a sentence yet")
            found = [self.predict_round(self.state, one) for one in sentences]
            return as_objects(found) if self.pairs else np.array(found, np.float64)

    def predict_one(self, x: RowLike) -> Any:
        """The same for one sentence; None before anything was learned."""
        if not self.rounds:
            return None
        found = self.predict([x])[0]
        return found if self.pairs else float(found)

    def commands(self, path: str) -> list[str]:
        """What can be done with it on the command line: nothing beyond `noregret show`."""
        return []

    def check_same(self, other: Any) -> None:
        """Refuse to merge with another model or with other parameters."""
        if type(other) is not type(self) or other.params != self.params:
            raise BadValue(
                f"only models of one kind with the same parameters can be merged, not {self!r} and {other!r}"
            )

    def add_counts(self, other: Self) -> None:
        """The counts of rounds of a merged model."""
        self.rounds, self.mistakes = self.rounds + other.rounds, self.mistakes + other.mistakes
        self.updates += other.updates


def read_sentence(given: Any, number: int, name: str) -> Words:
    """The words of a text, or a list of words."""
    if isinstance(given, str):
        words = split_words(given)
    elif isinstance(given, (list, tuple)) and all(isinstance(word, str) and word for word in given):
        words = tuple(given)
    else:
        raise BadValue(f"row {number}: {name} must have a text or a list of words, not {shown(given)}", number)
    if not words:
        raise BadValue(f"row {number}: the sentence in {name} has no words; leave it out", number)
    return words
