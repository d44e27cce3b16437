"""The most mistakes that a learner can be made to make: by trying every target and every sequence of rows."""

import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.concepts.concept_class import PredicateClass, ThresholdClass, concept_class
from noregret.concepts.halving import Con
from noregret.errors import BadValue, Error
from noregret.learner.arguments import as_learner

MOST_FEATURES = 12
MOST_STATES = 100_000
COUNTS = ("rounds", "mistakes", "updates", "inconsistent", "first_inconsistent", "recent_scores", "seen", "counters")
CLOCK = "t"  # the counter of rounds, which rules with a schedule read


@dataclass(frozen=True)
class WorstCase:
    """The most mistakes, a sequence of rows with labels that forces them, and a concept that explains the labels."""

    mistakes: int
    rows: tuple[tuple[int, ...], ...]
    labels: tuple[int, ...]
    target: str
    states: int

    def __str__(self) -> str:
        return f"{self.mistakes} mistakes at most, of {self.states:,} states that were reached; target {self.target}"


def mistake_bound(learner: Any, concepts: Any) -> WorstCase:
    """The most mistakes of a learner on any sequence of rows that a concept of a class explains.

    `learner` is a name, as in "halving", or a fresh learner; "halving" and "con" get the class. Every state that it
    can reach is visited once, with the concepts that are still possible. So it is for a few features: up to about 6 for
    elimination, 4 for halving. A learner that draws at random is taken to be unlucky (con), or is played as seeded.
    """
    known = concept_class(concepts)
    if isinstance(known, PredicateClass):
        raise BadValue(
            "mistake_bound needs a class that knows its features; list its concepts as nr.any_of(...) and such"
        )
    n = len(known.features)
    if n > MOST_FEATURES:
        raise BadValue(
            f"there are 2^{n} rows of {n} features; mistake_bound tries all of them, for {MOST_FEATURES} at most"
        )
    if learner in ("halving", "con"):
        from noregret.learner.factory import make

        learner = make(learner, concepts=known, classes=[0, 1])
    elif isinstance(learner, str):
        from noregret.learner.factory import make

        learner = make(learner, classes=[0, 1])
    start = as_learner(learner, "mistake_bound")
    if start.rounds:
        raise BadValue("mistake_bound needs a learner that has not learned anything yet")
    kind, schedule = start.card.kind, getattr(start, "params", {}).get("schedule", "constant")
    if hasattr(start, "config") and (kind != "margin" or schedule != "constant"):
        raise BadValue(f"mistake_bound is for learners whose states come again; {start.card.name} counts its rounds")
    return Search(known, n).run(start)


class Search:
    """A search over pairs of a state of the learner and the concepts that explain all labels so far."""

    def __init__(self, concepts: ThresholdClass, n: int) -> None:
        self.points = list(itertools.product((0, 1), repeat=n))
        every = np.arange(len(concepts))
        self.values = np.array([concepts.evaluate(np.flatnonzero(point), every) for point in self.points])
        self.concepts, self.columns = concepts, not isinstance(concepts.features[0], str)
        self.rows = [self.as_row(point) for point in self.points]
        self.found: dict[Any, tuple[int, int, int]] = {}  # the most mistakes from here, the next point and its label
        self.active: set[Any] = set()

    def as_row(self, point: tuple[int, ...]) -> Any:
        if self.columns:
            return np.array(point, np.float64)
        return {name: 1.0 for name, value in zip(self.concepts.features, point, strict=True) if value}

    def run(self, start: Any) -> WorstCase:
        everything = np.ones(len(self.concepts), bool)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 20_000))
        try:
            most = self.visit(start, everything)
        finally:
            sys.setrecursionlimit(limit)
        rows, labels, left = self.retrace(start, everything)
        target = self.concepts.describe(int(np.flatnonzero(left)[0]))
        return WorstCase(most, tuple(rows), tuple(labels), target, len(self.found))

    def visit(self, learner: Any, left: NDArray[np.bool_]) -> int:
        """The most mistakes from a state on, where these concepts are possible."""
        key = state_key(learner), left.tobytes()
        if key in self.found:
            return self.found[key][0]
        if key in self.active:
            raise BadValue("the learner comes back to a state after a mistake: it can be made to err for ever")
        if len(self.found) + len(self.active) > MOST_STATES:
            raise BadValue(f"more than {MOST_STATES:,} states can be reached; take fewer features or concepts")
        self.active.add(key)
        best = (0, -1, 0)
        for at, label, after, learned, wrong in self.moves(learner, left):
            if not wrong and state_key(learned) == key[0]:
                continue  # nothing was learned, and less is possible than before
            most = wrong + self.visit(learned, after)
            best = max(best, (most, at, label))
        self.active.remove(key)
        self.found[key] = best
        return best[0]

    def moves(self, learner: Any, left: NDArray[np.bool_]) -> Iterator[tuple[int, int, NDArray[np.bool_], Any, bool]]:
        """Every row with every label that some concept explains: what is possible then, the learner, its mistake."""
        said = learner.predict(self.rows) if learner.rounds and getattr(learner, "conservative", False) else None
        for at, row in enumerate(self.rows):
            for label in (0, 1):
                after = left & (self.values[at] == bool(label))
                if after.any() and (said is None or said[at] != label):
                    learned = learner.copy()
                    learned.learn_one(row, label)
                    yield at, label, after, learned, can_err(learner, learned, row, label)

    def retrace(self, learner: Any, left: NDArray[np.bool_]) -> tuple[list[Any], list[int], NDArray[np.bool_]]:
        """A sequence with the most mistakes."""
        rows: list[Any] = []
        labels: list[int] = []
        while True:
            most, at, label = self.found[state_key(learner), left.tobytes()]
            if most == 0:
                return rows, labels, left
            rows.append(self.points[at])
            labels.append(label)
            left = left & (self.values[at] == bool(label))
            learner = learner.copy().learn_one(self.rows[at], label)


def can_err(before: Any, after: Any, row: Any, label: int) -> bool:
    """Whether the round was a mistake; of a learner that draws a concept, whether some draw errs."""
    if isinstance(before, Con):
        active = before.reader.read([row] if isinstance(row, dict) else row[None], False).row(0)
        return bool((before.find_values(active) != bool(label)).any())
    return bool(after.mistakes > before.mistakes)


def state_key(learner: Any) -> bytes:
    """What a learner knows, without what it has counted."""
    try:
        header, arrays = learner.dump()
    except Error as error:
        raise BadValue(f"mistake_bound cannot compare states of this learner: {error}") from None
    kept = {name: value for name, value in header.items() if name not in COUNTS}
    kept["counters"] = {name: value for name, value in (header.get("counters") or {}).items() if name != CLOCK}
    states = {name: array for name, array in sorted(arrays.items()) if name not in COUNTS}
    parts = [f"{name} {array.dtype} {array.shape}".encode() + array.tobytes() for name, array in states.items()]
    return json.dumps(kept, sort_keys=True, default=str).encode() + b"".join(parts)
