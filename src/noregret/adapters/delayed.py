"""Labels that arrive later: a question is asked now, and what it was is learned when its answer comes."""

import json
import threading
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from noregret.data.labels import UNIVERSUM
from noregret.errors import BadValue, Error, shown
from noregret.learner.rule_learner import RuleLearner
from noregret.training.lesson import is_learner, whole

ONE_CLASS = ("binary", "multiclass")  # the tasks in which a round has a label that a prediction can miss
KEY = "delayed"  # what a model file calls the questions that wait


class Question(NamedTuple):
    """A row that waits for its label, and what was predicted when it was asked."""

    x: Any
    prediction: Any


class Delayed:
    """A learner whose labels arrive later, each under the key of its question. Made by `noregret.delayed`.

    `rounds` answers came, `mistakes` of them were predicted wrongly when they were asked, and `forgotten` questions
    were given up.
    """

    def __init__(self, learner: RuleLearner, room: int | None = None) -> None:
        is_learner(learner, "delayed")
        self.learner = learner
        self.room = None if room is None else whole("room", room, 1)
        self.waiting: dict[Any, Question] = {}
        self.rounds = self.mistakes = self.forgotten = 0
        self._lock = threading.RLock()
        self.take_up((learner.source or {}).get(KEY))

    def __len__(self) -> int:
        """How many questions wait."""
        return len(self.waiting)

    def __contains__(self, key: Any) -> bool:
        return key in self.waiting

    def ask(self, key: Any, x: Any) -> Any:
        """Predict a row, and keep it under the key until its label comes; returns the prediction.

        Where there is no room for another, the question that waited longest is forgotten.
        """
        with self._lock:
            if known(key) in self.waiting:
                raise BadValue(f"the key {shown(key)} waits for its label already; keys must differ while they wait")
            row = kept(x)
            prediction = self.learner.predict_one(row)
            while self.room is not None and len(self.waiting) >= self.room:
                self.waiting.pop(next(iter(self.waiting)))
                self.forgotten += 1
            self.waiting[key] = Question(row, prediction)
            return prediction

    def tell(self, key: Any, y: Any, weight: float | None = None) -> Any:
        """Learn the row of this key with its label; returns what was predicted when it was asked.

        Where the learner refuses the label nothing is learned or counted, and the question waits on.
        """
        with self._lock:
            question = self.asked(key)
            self.learner.learn_one(question.x, y, weight)
            del self.waiting[key]
            self.rounds += 1
            if self.learner.task in ONE_CLASS and y is not UNIVERSUM:
                self.mistakes += question.prediction is None or bool(question.prediction != y)
            return question.prediction

    def forget(self, key: Any) -> None:
        """Give up a question whose label will not come."""
        with self._lock:
            self.asked(key)
            del self.waiting[key]
            self.forgotten += 1

    def asked(self, key: Any) -> Question:
        if known(key) not in self.waiting:
            gone = f", or was forgotten (room={self.room})" if self.room is not None else ""
            raise BadValue(f"no question waits under the key {shown(key)}: it was never asked, was told before{gone}")
        return self.waiting[key]

    def play(self, events: Iterable[tuple[Any, Any, Any]]) -> dict[str, float]:
        """Go through (key, x, y) in order: asked where y is None, told otherwise; returns how it went.

        A label whose question was never asked or was forgotten is passed over.
        """
        passed = 0
        for key, x, y in events:
            if y is None:
                self.ask(key, x)
            elif key in self.waiting:
                self.tell(key, y)
            else:
                passed += 1
        return {**self.report(), "passed_over": passed}

    def report(self) -> dict[str, float]:
        """How things stand: mistakes are counted by the predictions that were made when questions were asked."""
        rate = self.mistakes / max(self.rounds, 1)
        told = {"rounds": self.rounds, "mistakes": self.mistakes, "rate": rate}
        return {**told, "waiting": len(self.waiting), "forgotten": self.forgotten}

    # ---- keeping ---------------------------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Write the learner and the questions that wait; `delayed(load(path))` goes on with both.

        Keys must be numbers or strings. Going on by the command line learns other rows and forgets the questions.
        """
        with self._lock:
            told = {
                "waiting": [[key, said(one.x), one.prediction] for key, one in self.waiting.items()],
                "counts": [self.rounds, self.mistakes, self.forgotten],
            }
            before = self.learner.source
            try:
                json.dumps(told, allow_nan=False)
                strange = [key for key in self.waiting if not isinstance(key, (str, int, float))]
            except (TypeError, ValueError) as error:
                raise Error(f"the questions that wait cannot be saved: {error}") from None
            if strange:
                raise Error(f"the question {shown(strange[0])} cannot be saved; keys must be numbers or strings")
            try:
                self.learner.source = {**(before or {}), KEY: told}
                self.learner.save(path)
            finally:
                self.learner.source = before

    def take_up(self, told: Any) -> None:
        """Go on with the questions of a model file, which somebody else may have written."""
        if told is None:
            return
        try:
            for key, x, prediction in told["waiting"]:
                row = dict(map(tuple, x["by_name"])) if "by_name" in x else np.array(x["row"], np.float64)
                self.waiting[known(key)] = Question(row, prediction)
            self.rounds, self.mistakes, self.forgotten = map(int, told["counts"])
        except (TypeError, ValueError, KeyError, AttributeError):
            raise BadValue("the questions in the model file are damaged: they do not fit together") from None
        source = self.learner.source or {}
        self.learner.source = {name: value for name, value in source.items() if name != KEY} or None


def known(key: Any) -> Any:
    """A key that can be looked up."""
    try:
        hash(key)
    except TypeError:
        raise BadValue(f"a key must be a number, a string or another fixed value, not {shown(key)}") from None
    return key


def kept(x: Any) -> Any:
    """A row of one's own: what the caller does to his later is not learned."""
    if isinstance(x, Mapping):
        return dict(x)
    return x.copy() if hasattr(x, "tocsr") else np.array(x)


def said(x: Any) -> dict[str, Any]:
    """A row as JSON can say it."""
    if hasattr(x, "tocsr"):
        x = x.tocsr()
        x = dict(zip(x.indices.tolist(), x.data.tolist(), strict=True))
    if isinstance(x, Mapping):
        return {"by_name": [[name, None if value is None else float(value)] for name, value in x.items()]}
    return {"row": np.ravel(x).tolist()}


def delayed(learner: RuleLearner, room: int | None = None) -> Delayed:
    """The learner for questions whose labels arrive later: `ask(key, x)` predicts, `tell(key, y)` learns.

    With `room`, at most so many questions wait; the oldest is forgotten for the next. A learner loaded from a file
    that was saved with questions goes on with them.
    """
    return Delayed(learner, room)
