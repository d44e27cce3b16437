"""What all learners of concepts share: Boolean rows, two labels, rounds that are played whole, files."""

import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.concepts.boolean_labels import BooleanLabels
from noregret.concepts.boolean_rows import LARGEST_CLOSED, BooleanReader, BooleanRows
from noregret.data.inputs import LabelsLike, RowsLike, WeightsLike
from noregret.data.labels import as_array
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned, shown
from noregret.learner.base_learner import BaseLearner
from noregret.learner.header_fields import corrupt, read_count, read_label, read_list
from noregret.learner.model_file import Header
from noregret.rules.parameters import Choice

Flags = NDArray[np.bool_]
NEGATIONS = Choice("no", {"no": None, "yes": None}, "whether negated features are literals, too")


class Played(NamedTuple):
    """What the rounds of a call did: scores, predictions that are true, rounds that changed the learner."""

    scores: NDArray[np.float64]
    values: Flags
    updated: Flags


class ConceptLearner(BaseLearner):
    """A learner of a concept: a Boolean function of Boolean features.

    A mistake is a prediction whose truth value is wrong. `inconsistent` counts the rounds that no concept of the class
    explains together with those before; `first_inconsistent` is the number of the first of them, counted from 1.
    """

    def __init__(self, classes: Any = None, features: Any = None) -> None:
        super().__init__()
        self.labels, self.reader = BooleanLabels(classes), BooleanReader(features)
        self.inconsistent = 0
        self.first_inconsistent: int | None = None

    @property
    def task(self) -> str:
        return "binary"

    @property
    def needs_names(self) -> bool:
        """Whether it looks at the names of features."""
        return False

    @property
    def classes(self) -> list[Any]:
        """The labels, the negative one first: those given, or those seen so far."""
        return [label for label in self.labels.sides() or () if label in self.labels.seen or self.labels.given]

    @property
    def features(self) -> int:
        """How many features are known."""
        return self.reader.size if self.reader.universe is None else self.reader.universe

    @property
    @abstractmethod
    def hypothesis(self) -> Any:
        """The concept that predicts now."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The hypothesis in words."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """The most mistakes on rounds that a concept of the class explains, by the theorem on the card."""

    def __repr__(self) -> str:
        counts = f"{self.rounds} rounds, {self.mistakes} mistakes"
        odd = f", {self.inconsistent} inconsistent" if self.inconsistent else ""
        return f"<{self.card.name}: {self.words}; {counts}{odd}>"

    @abstractmethod
    def explains(self, X: RowsLike, y: LabelsLike) -> bool:
        """Whether a concept of the class explains these rounds, which were all learned, with all others that were."""

    def warnings(self) -> list[str]:
        """What is odd about the rounds so far, for reports."""
        if not self.inconsistent:
            return []
        return [
            f"{self.inconsistent:,} of {self.rounds:,} rounds, the first of them round {self.first_inconsistent:,}, "
            f"contradict every concept of the class; the bound of {self.card.name} does not hold for these rows"
        ]

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round; all of them, or none."""
        began = time.perf_counter()
        if weight is not None:
            raise BadValue(f"{self.card.name} does not support weight=: a concept is consistent with a round or not")
        with self._lock:
            self._change.settle()
            return self._change.save_and_run(self.savepoint, lambda: self.play_rounds(X, y, began))

    def savepoint(self) -> Callable[[], None]:
        """How to undo a call; it may be done again."""
        own, names, seen = self._own_state(), self.reader.savepoint(), list(self.labels.seen)

        def undo() -> None:
            own()
            names()
            self.labels.seen = list(seen)

        return undo

    def play_rounds(self, X: RowsLike, y: LabelsLike, began: float) -> Transcript:
        before = list(self.labels.seen)
        rows = self.reader.read(X, True, self.needs_names)
        truth, told = self.labels.read(y, rows.rows)
        played = self.play_values(rows, truth)
        mistakes = played.values != truth
        self.rounds += rows.rows
        self.mistakes += int(np.count_nonzero(mistakes))
        self.updates += int(np.count_nonzero(played.updated))
        predictions = self.labels.name_rounds(played.values, told, before)
        losses, seconds = mistakes.astype(np.float64), time.perf_counter() - began
        return Transcript(played.scores, predictions, losses, mistakes, played.updated, as_array(told), seconds)

    @abstractmethod
    def play_values(self, rows: BooleanRows, truth: Flags) -> Played:
        """Play rounds whose truth values are known; what it changes in place, `savepoint` undoes."""

    @abstractmethod
    def evaluate_rows(self, rows: BooleanRows) -> NDArray[np.float64]:
        """A score for every row, positive where true is predicted, by the state of now."""

    def count_inconsistent(self, rounds: NDArray[Any]) -> None:
        """Count rounds of a call, given by their places, that contradict the class."""
        if rounds.size:
            self.inconsistent += int(rounds.size)
            if self.first_inconsistent is None:
                self.first_inconsistent = self.rounds + 1 + int(rounds[0])

    def scores(self, X: RowsLike) -> NDArray[np.float64]:
        """A score for every row, positive where true is predicted."""
        with self._lock:
            self._change.settle()
            return self.evaluate_rows(self.reader.read(X, False, self.needs_names))

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The label for every row; raises NotLearned before a label was seen, unless classes were given."""
        with self._lock:
            self._change.settle()
            scores = self.evaluate_rows(self.reader.read(X, False, self.needs_names))
            if self.labels.sides() is None:
                raise NotLearned(f"{self.card.name} has not seen a label yet; learn something first, or give classes=")
            return self.decide(scores)

    def decide(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """The labels that scores stand for."""
        return self.labels.name(np.asarray(scores) > 0.0)

    # ---- merging and files -------------------------------------------------------------------------------------------

    def check_mergeable(self, other: Any) -> None:
        """Refuse learners that cannot be merged with this one."""
        if type(other) is not type(self) or other.params != self.params:
            raise BadValue(f"{self.card.name} can be merged only with one of the same options, not with {shown(other)}")
        mine, theirs = self.labels, other.labels
        if mine.given != theirs.given or len({*mine.seen, *theirs.seen}) > 2:
            raise BadValue(f"the learners have different labels: {self.classes} and {other.classes}")
        modes = {one.reader.names.mode for one in (self, other)} - {None}
        if len(modes) > 1:
            raise BadValue("one learner knows its features by name, the other by column number; they cannot be merged")
        if self.reader.given != other.reader.given:
            raise BadValue("the learners were made for different features; they cannot be merged")

    def merge_counts(self, other: Self) -> None:
        """Add the counts of another learner."""
        self.rounds, self.mistakes = self.rounds + other.rounds, self.mistakes + other.mistakes
        self.updates, self.inconsistent = self.updates + other.updates, self.inconsistent + other.inconsistent
        if self.first_inconsistent is None and other.first_inconsistent is not None:
            self.first_inconsistent = self.rounds - other.rounds + other.first_inconsistent
        self.labels.seen = list(dict.fromkeys([*self.labels.seen, *other.labels.seen]))

    def dump_rounds(self) -> Header:
        """What all concept learners save: labels, features and counts."""
        reader, labels = self.reader, self.labels
        names = list(reader.names.known) if reader.names.mode == "names" else None
        given = None if reader.given is None else list(reader.given) if isinstance(reader.given, list) else reader.size
        return {
            "classes": labels.given, "seen": list(labels.seen), "features": given, "names": names,
            "mode": reader.names.mode, "size": reader.size, "universe": reader.universe,
            "inconsistent": self.inconsistent, "first_inconsistent": self.first_inconsistent, **self.dump_counts(),
        }  # fmt: skip

    def restore_rounds(self, header: Header) -> None:
        """Set labels, features and counts from a header, all checked; classes and features were given to `make`."""
        self.restore_counts(header)
        seen = [read_label(one, "a label") for one in read_list(header, "seen")]
        mode, size, universe = header.get("mode"), read_count(header, "size", 1 << 31), header.get("universe")
        if mode not in (None, "names", "columns"):
            raise corrupt("mode must be names, columns or null")
        try:
            for row, label in enumerate(seen):
                self.labels.find_value(label, row, self.labels.seen)
        except BadValue as error:
            raise corrupt(str(error)) from None
        if len(self.labels.seen) != len(seen):
            raise corrupt("labels must differ")
        names = None if mode != "names" else check_names(read_list(header, "names"), size)
        if universe is not None and (universe != size or size > LARGEST_CLOSED):
            raise corrupt("universe must be the number of features")
        if self.reader.given is None:
            expected = self.reader.names.as_list()
            if expected and (names or [])[: len(expected)] != expected:
                raise corrupt("the names do not begin with those of the class")
            self.reader.expect(names or ())
            self.reader.names.mode = mode
            self.reader.size, self.reader.universe = size, universe
        elif (self.reader.names.mode, self.reader.size, self.reader.universe) != (mode, size, universe):
            raise corrupt("the features contradict those that were given")
        elif names is not None and names != self.reader.given:
            raise corrupt("the names are not those that were given")
        self.inconsistent = read_count(header, "inconsistent", self.rounds)
        first = header.get("first_inconsistent")
        if (first is None) != (self.inconsistent == 0):
            raise corrupt("first_inconsistent contradicts inconsistent")
        self.first_inconsistent = None if first is None else read_count(header, "first_inconsistent", self.rounds, 1)


def check_names(names: list[Any], size: int) -> list[str]:
    """Different names, as many as there are features."""
    if any(not isinstance(name, str) for name in names) or len(set(names)) < len(names) or len(names) != size:
        raise corrupt("names must be different texts, one for each feature")
    return names
