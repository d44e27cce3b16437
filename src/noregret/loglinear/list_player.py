"""The base of learners whose rounds are lists of candidates: lists in, the place of the best candidate out."""

import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.candidate_lists import CandidateList, read_candidates
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.learner.base_learner import BaseLearner
from noregret.learner.labelled_rows import as_list
from noregret.loglinear.quality import QUALITY
from noregret.loglinear.truths import read_losses

Floats = NDArray[np.float64]


class ListRounds(NamedTuple):
    """The rounds of a call: lists, what is known of each, and the losses of its candidates."""

    lists: list[CandidateList]
    truths: list[Any]
    losses: list[Floats]

    def losses_of(self, places: NDArray[np.int64]) -> Floats:
        """The losses of the candidates at some places."""
        return np.array([found[place] for found, place in zip(self.losses, places, strict=True)], np.float64)


Tell = Callable[[NDArray[np.int64], NDArray[np.bool_]], Transcript]


class ListPlayer(BaseLearner):
    """A learner of lists of candidates. It predicts from its first weights before anything was learned."""

    task: str = "structured"

    def __init__(self, quality: str) -> None:
        super().__init__()
        self.quality = QUALITY.check(self.card.name, "quality", quality)

    @abstractmethod
    def play_whole(self, rounds: ListRounds, tell: Tell) -> Transcript:
        """Predict and learn lists, in order, as one change that is undone if it fails.

        `tell` counts them and makes the transcript; it is called inside the change, with the places predicted and in
        which rounds the state changed.
        """

    @abstractmethod
    def predict_list(self, one: CandidateList, number: int) -> int:
        """The place of the best candidate of a list; nothing changes."""

    def commands(self, path: str) -> list[str]:
        """What can be done with it on the command line, for `noregret show`."""
        return [f"noregret rerank LISTS.jsonl --resume {path}"]

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every list; all of them, or none.

        y holds the reference of each list, the place of its best candidate, or the losses of all candidates. Without y
        lists carry their references. A prediction is a place.
        """
        began = time.perf_counter()
        if weight is not None:
            raise BadValue(f"{self.card.name} does not support weight=: all lists count the same")
        if query is not None:
            raise BadValue(f"{self.card.name} takes lists one by one; leave query out")
        rounds = self.read(X, y)

        def tell(places: NDArray[np.int64], updated: NDArray[np.bool_]) -> Transcript:
            lost = rounds.losses_of(places)
            self.rounds += len(lost)
            self.mistakes += int(np.count_nonzero(lost))
            self.updates += int(np.count_nonzero(updated))
            seconds = time.perf_counter() - began
            return Transcript(None, places, lost, lost > 0.0, updated, as_objects(rounds.truths), seconds)

        with self._lock:
            self._change.settle()
            return self.play_whole(rounds, tell)

    def read(self, X: Any, y: Any) -> ListRounds:
        """Lists, truths and losses of a call, all checked."""
        lists, truths = read_rounds(X, y)
        found = zip(lists, truths, strict=True)
        losses = [read_losses(one, truth, t, self.quality) for t, (one, truth) in enumerate(found)]
        return ListRounds(lists, truths, losses)

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one list."""
        return self.learn([x], [y], None if weight is None else [weight])

    def too_large(self, number: int) -> BadValue:
        return BadValue(f"row {number}: the features are too large for {self.card.name}; scale them first", number)

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

    def evaluate(self, X: RowsLike, y: LabelsLike) -> Transcript:
        """Predict every list and compare with y; nothing is learned."""
        began = time.perf_counter()
        rounds = self.read(X, y)
        with self._lock:
            self._change.settle()
            places = np.array([self.predict_list(one, t) for t, one in enumerate(rounds.lists)], np.int64)
        lost, nothing = rounds.losses_of(places), np.zeros(len(rounds.lists), bool)
        seconds = time.perf_counter() - began
        return Transcript(None, places, lost, lost > 0.0, nothing, as_objects(rounds.truths), seconds)


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
