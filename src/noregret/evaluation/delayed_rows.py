"""Rows without a label among others: they are predicted and, where they have a key, wait for their label.

The row that brings the label of a key is learned; its mistake is that of the prediction made when the key was asked.
Without keys, rows without a label are only predicted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from noregret.adapters.delayed import Delayed
from noregret.data.batch import Batch
from noregret.data.labels import as_array
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned
from noregret.evaluation.capabilities import task_of
from noregret.evaluation.evaluate import has_truth, is_same
from noregret.learner.protocol import Learner, Revertible

ASK, TELL, LEARN = "ask", "tell", "learn"


@dataclass(frozen=True, repr=False)
class DelayedTranscript(Transcript):
    """The rounds that were learned; `answers` holds the prediction for every row, with or without a label."""

    answers: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Told:
    """A round that was learned: the prediction made before its label was known, and whether the learner changed."""

    prediction: Any
    truth: Any
    updated: bool


def play_rows(learner: Learner, batch: Batch, key: str | None) -> DelayedTranscript:
    """Play a batch in which labels may be missing; all of it, or nothing."""
    player = RowPlayer(learner, batch, key)
    if batch.rows == 1 or not isinstance(learner, Revertible):  # a single row is learned whole or not at all
        return player.play()
    saved = learner.copy()
    try:
        return player.play()
    except BaseException:
        learner.revert_to(saved)
        raise


class RowPlayer:
    """Goes through the rows of a batch in runs: rows to be predicted together, rows to be learned one after another."""

    def __init__(self, learner: Learner, batch: Batch, key: str | None) -> None:
        self.learner, self.batch, self.prediction = learner, batch, task_of(learner).prediction
        self.y = [None] * batch.rows if batch.y is None else batch.y if isinstance(batch.y, list) else batch.y.tolist()
        self.keys = None if key is None or batch.kept is None else batch.kept[key]
        self.told: list[Told] = []
        self.answers: list[Any] = []

    def play(self) -> DelayedTranscript:
        for action, rows in groupby(self.actions(), key=lambda one: one[0]):
            numbers = [number for _, number in rows]
            if action == ASK:
                self.ask(numbers[0], numbers[-1] + 1)
            else:
                for number in numbers:
                    self.learn(number, action == TELL)
        return self.transcript()

    def actions(self) -> Iterator[tuple[str, int]]:
        """What to do with each row, known before anything is done: whether its key will wait by then."""
        asked, told = set[Any](), set[Any]()
        for number, label in enumerate(self.y):
            key = None if self.keys is None else self.keys[number]
            if not has_truth(label):
                asked.add(key)
                told.discard(key)
                yield ASK, number
            elif isinstance(self.learner, Delayed) and (key in asked or (key in self.learner and key not in told)):
                asked.discard(key)
                told.add(key)
                yield TELL, number
            else:
                yield LEARN, number

    def ask(self, start: int, stop: int) -> None:
        """Predict rows without a label; those with a key wait for it."""
        rows = self.batch.X[start:stop]
        try:
            predictions = self.learner.predict(rows).tolist()
        except NotLearned:
            predictions = [None] * (stop - start)
        self.answers += predictions
        if isinstance(self.learner, Delayed) and self.keys is not None:
            for number, prediction in zip(range(start, stop), predictions, strict=True):
                self.learner.wait(self.key_of(number), self.batch.X[number : number + 1], prediction)

    def learn(self, number: int, told: bool) -> None:
        """Learn a row whose label came: that of a question, or its own."""
        label, updates = self.y[number], self.learner.updates
        if told and isinstance(self.learner, Delayed):
            prediction = self.learner.tell(self.key_of(number), label)
        else:
            weight = None if self.batch.weight is None else self.batch.weight[number : number + 1]
            transcript = self.learner.play(self.batch.X[number : number + 1], [label], weight)
            prediction = None if transcript.predictions is None else transcript.predictions.tolist()[0]
        self.answers.append(prediction)
        self.told.append(Told(prediction, label, self.learner.updates > updates))

    def key_of(self, number: int) -> Any:
        key = None if self.keys is None else self.keys[number]
        if key in (None, ""):
            raise BadValue(f"row {number}: the key is empty; every row needs one", row=number)
        return key

    def transcript(self) -> DelayedTranscript:
        """What happened in the rounds that were learned."""
        real = self.prediction != "label"
        wrong = [not real and not is_same(one.prediction, one.truth) for one in self.told]
        errors = [abs((one.prediction or 0.0) - one.truth) for one in self.told] if real else map(float, wrong)
        return DelayedTranscript(
            scores=None,
            predictions=as_array([one.prediction for one in self.told]),
            losses=np.array([*errors], np.float64),
            mistakes=np.array(wrong, bool),
            updated=np.array([one.updated for one in self.told], bool),
            truth=as_array([one.truth for one in self.told]),
            answers=self.answers,
        )
