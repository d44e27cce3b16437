"""Delayed labels: a row is predicted now and learned when its label arrives."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.adapters.rows import dump_row, restore_row, snapshot_row
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.labels import UNIVERSUM
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, Error, check_digits, shown
from noregret.learner.arguments import as_learner, check_integer, describe, task_of, with_probabilities
from noregret.learner.base_learner import BaseLearner, Transforms
from noregret.learner.change import Result
from noregret.learner.header_fields import corrupt, read_count, read_label, read_list
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, register_kind, restore_part
from noregret.learner.protocol import Learner
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Component


class Question(NamedTuple):
    """A row that waits for its label, and the prediction made when it was asked. It is never changed."""

    x: Any
    prediction: Any

    def __deepcopy__(self, memo: Any) -> "Question":
        return self


@register_kind
@method_card(
    paper="Joulani, Gyorgy and Szepesvari, Online learning under delayed feedback, ICML 2013",
    kind="delayed",
    tasks=("binary", "multiclass", "regression", "multilabel", "one-class"),
    params={"learner": Component("arow", "the learner whose labels arrive later")},
    options=("room",),
    weights=True,
)
class Delayed(BaseLearner):
    """A learner whose labels arrive later, each under the key of its question.

    `ask(key, x)` predicts and stores the row; `tell(key, y)` learns it. Mistakes are counted by the predictions made
    when the questions were asked. Rounds whose label is known at once are learned by `learn` and `play`, as in any
    learner. `forgotten` counts the questions that were dropped without a label.
    """

    kind: ClassVar[str] = "delayed"

    def __init__(self, learner: Learner | str, room: int | None = None) -> None:
        super().__init__()
        self.learner = as_learner(learner, "delayed")
        self.room = None if room is None else check_integer("room", room, 1)
        self.waiting: dict[Any, Question] = {}
        self.forgotten = 0

    @property
    def task(self) -> str:
        return self.learner.task

    @property
    def params(self) -> dict[str, Any]:
        return {"learner": describe(self.learner), "room": self.room}

    def __repr__(self) -> str:
        return f"<delayed {self.learner!r}: {self.rounds} rounds, {self.mistakes} mistakes, {len(self)} waiting>"

    def __len__(self) -> int:
        """The number of questions that wait."""
        return len(self.waiting)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, key: Any) -> bool:
        return key in self.waiting

    # ---- questions and labels --------------------------------------------------------------------------------------

    def ask(self, key: Any, x: Any) -> Any:
        """Predict a row and store it under the key until its label arrives; returns the prediction.

        With `room`, the question that has waited longest is dropped to make room for this one.
        """
        with self._lock:
            self._change.settle()
            self._refuse_known(key)
            row = snapshot_row(x)
            prediction = self.learner.predict_one(row)
            self._store(key, Question(row, prediction))
            return prediction

    def wait(self, key: Any, x: Any, prediction: Any) -> None:
        """Store a row under the key until its label arrives, with a prediction that was made before."""
        with self._lock:
            self._change.settle()
            self._refuse_known(key)
            self._store(key, Question(snapshot_row(x), prediction))

    def _refuse_known(self, key: Any) -> None:
        if check_key(key) in self.waiting:
            raise BadValue(f"the key {shown(key)} waits for its label already; keys must differ while they wait")

    def _store(self, key: Any, question: Question) -> None:
        def too_many() -> list[Any]:
            self._refuse_known(key)  # it may have been asked by a call that came just before the change
            return list(islice(self.waiting, 0 if self.room is None else max(len(self.waiting) + 1 - self.room, 0)))

        self._replace(too_many, {key: question})

    def _replace(self, find_dropped: Callable[[], list[Any]], new: dict[Any, Question]) -> None:
        """Drop questions and add others, which is completed also after an interrupt: it may be done again."""
        found: tuple[list[Any], int] | None = None

        def replace() -> None:
            nonlocal found
            dropped = find_dropped()
            found = dropped, self.forgotten + len(dropped)
            complete()

        def complete() -> None:
            if found is None:
                return
            for key in found[0]:
                self.waiting.pop(key, None)
            self.waiting.update(new)
            self.forgotten = found[1]

        self._change.run(replace, complete)

    def tell(self, key: Any, y: Any, weight: float | None = None) -> Any:
        """Learn the row of this key with its label; returns the prediction made when it was asked.

        If the learner refuses the label, nothing is learned or counted, and the question goes on waiting.
        """
        with self._lock:
            self._change.settle()

            def counter() -> Callable[[], None]:
                question, mistake = self.find(key), False
                if task_of(self.learner).one_label and y is not UNIVERSUM:
                    mistake = question.prediction is None or bool(question.prediction != y)
                count = self.counter(mistake)

                def count_and_remove() -> None:
                    if count():
                        self.waiting.pop(key, None)

                return count_and_remove

            def learn() -> Any:
                question = self.find(key)
                self.learner.learn_one(question.x, y, weight)
                return question.prediction

            return self.learn_and_count(learn, counter)

    def counter(self, mistake: bool | None = None) -> Callable[[], bool]:
        """A function that counts the rounds that the learner learns from now on; says whether there are any.

        It sets the counts, and so may be called again. `mistake`: whether the round that follows is one.
        """
        learner = self.learner
        own = self.rounds, self.mistakes, self.updates
        inner = learner.rounds, learner.mistakes, learner.updates

        def count() -> bool:
            if learner.rounds == inner[0]:
                return False
            mistakes = learner.mistakes - inner[1] if mistake is None else int(mistake)
            self.rounds, self.mistakes = own[0] + learner.rounds - inner[0], own[1] + mistakes
            self.updates = own[2] + learner.updates - inner[2]
            return True

        return count

    def learn_and_count(self, learn: Callable[[], Result], counter: Callable[[], Callable[[], object]]) -> Result:
        """Let the learner learn, which it does whole or not at all, and count it, also after an interrupt between.

        `counter` is called in the change and returns what counts.
        """
        count: Callable[[], object] | None = None

        def act() -> Result:
            nonlocal count
            count = counter()
            result = learn()
            count()
            return result

        return self._change.run(act, lambda: count and count())

    def forget(self, key: Any) -> None:
        """Drop a question whose label will not come."""
        with self._lock:
            self._change.settle()

            def find_it() -> list[Any]:
                self.find(key)
                return [key]

            self._replace(find_it, {})

    def find(self, key: Any) -> Question:
        """The question that waits under a key."""
        if check_key(key) not in self.waiting:
            dropped = f", or was forgotten (room={self.room})" if self.room is not None else ""
            raise BadValue(
                f"no question waits under the key {shown(key)}: it was never asked, was told before{dropped}"
            )
        return self.waiting[key]

    def play_events(self, events: Iterable[tuple[Any, Any, Any]]) -> dict[str, float]:
        """Play (key, x, y) in order: asks where y is None, tells otherwise; returns the report.

        Labels without a waiting question are skipped and counted in the report as `skipped`.
        """
        skipped = 0
        for key, x, y in events:
            if y is None:
                self.ask(key, x)
            elif key in self.waiting:
                self.tell(key, y)
            else:
                skipped += 1
        return {**self.report(), "skipped": skipped}

    def report(self) -> dict[str, float]:
        """Rounds and mistakes so far, and how many questions wait or were forgotten."""
        rate = self.mistakes / max(self.rounds, 1)
        counts = {"rounds": self.rounds, "mistakes": self.mistakes, "rate": rate}
        return {**counts, "waiting": len(self.waiting), "forgotten": self.forgotten}

    # ---- rounds with their labels ------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round; all of them, or none."""
        with self._lock:
            self._change.settle()
            return self.learn_and_count(lambda: self.learner.play(X, y, weight, query), self.counter)

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round whose label is known."""
        with self._lock:
            self._change.settle()
            self.learn_and_count(lambda: self.learner.learn_one(x, y, weight), self.counter)
            return self

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """What the learner predicts for every row."""
        return self.learner.predict(X)

    def predict_one(self, x: RowLike) -> Any:
        """What the learner predicts for one row."""
        return self.learner.predict_one(x)

    def predict_proba(self, X: RowsLike) -> NDArray[np.float64]:
        """The probability of every class for every row, where the learner inside has them."""
        return np.asarray(with_probabilities(self.learner).predict_proba(X))

    def predict_proba_one(self, x: RowLike) -> dict[Any, float]:
        """The probability of every class for one row, by label."""
        found: dict[Any, float] = with_probabilities(self.learner).predict_proba_one(x)
        return found

    @property
    def classes(self) -> list[Any]:
        """The labels seen so far, in order of appearance; empty where the learner inside has no classes."""
        return list(getattr(self.learner, "classes", ()))

    def put_behind(self, steps: Transforms) -> Self:
        """A fresh learner like this one; the transforms come before the learner inside."""
        learner: Any = self.learner
        return type(self)(steps | learner, self.room)

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        """The learner and the questions that wait; keys must be numbers or strings."""
        with self._lock:
            self._change.settle()
            wrong = [key for key in self.waiting if not isinstance(key, (str, int, float))]
            if wrong:
                raise Error(f"the question {shown(wrong[0])} cannot be saved; keys must be numbers or strings")
            learner, arrays = dump_part("learner", self.learner)
            questions = [[key, dump_row(one.x), dump_prediction(one.prediction)] for key, one in self.waiting.items()]
            counts = {**self.dump_counts(), "forgotten": self.forgotten}
            return {"learner": learner, "room": self.room, "questions": questions, **counts}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learner and its questions, all checked."""
        room = None if header.get("room") is None else read_count(header, "room", least=1)
        new = cls(restore_part("learner", header.get("learner"), arrays, find_card), room)
        new.restore_counts(header)
        new.forgotten = read_count(header, "forgotten")
        for entry in read_list(header, "questions"):
            if not isinstance(entry, list) or len(entry) != 3:
                raise corrupt("a question must be a key, a row and a prediction")
            key = read_label(entry[0], "the key of a question")
            if key in new.waiting:
                raise corrupt("two questions have the same key")
            new.waiting[key] = Question(restore_row(entry[1]), restore_prediction(entry[2]))
        if room is not None and len(new.waiting) > room:
            raise corrupt("more questions wait than there is room for")
        return new


def check_key(key: Any) -> Any:
    """A key that can be looked up."""
    try:
        hash(key)
    except TypeError:
        raise BadValue(f"a key must be a number, a string or another fixed value, not {shown(key)}") from None
    check_digits(key, "the key")
    return key


def dump_prediction(prediction: Any) -> Any:
    """A prediction as JSON can hold it; of several labels, a list."""
    return list(prediction) if isinstance(prediction, (tuple, np.ndarray)) else prediction


def restore_prediction(saved: Any) -> Any:
    if isinstance(saved, list):
        return tuple(read_label(label, "a prediction") for label in saved)
    return None if saved is None else read_label(saved, "a prediction")


def delayed(learner: Learner | str, room: int | None = None) -> Delayed:
    """A learner whose labels arrive later: `ask(key, x)` predicts, `tell(key, y)` learns.

    With `room`, at most so many questions wait; the oldest is dropped for the next.
    """
    return Delayed(learner, room)
