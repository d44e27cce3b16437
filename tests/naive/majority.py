"""The majority label from the definition: all rounds are kept, and counted anew for each."""

from collections.abc import Sequence
from typing import Any


class NaiveMajority:
    """All labels so far, with the weights of their rounds."""

    def __init__(self) -> None:
        self.history: list[tuple[Any, float]] = []

    def counts(self) -> dict[Any, float]:
        """The summed weights of every label, in the order in which they came."""
        found: dict[Any, float] = {}
        for label, weight in self.history:
            found[label] = found.get(label, 0.0) + weight
        return found

    def guess(self) -> Any:
        """The label with the largest count, of equal ones the one that came first; None before any label."""
        best = None
        for label, count in self.counts().items():
            if best is None or count > best[1]:
                best = label, count
        return None if best is None else best[0]

    def play(self, y: Sequence[Any], weights: Sequence[float] | None = None) -> list[Any]:
        """The guess before every round."""
        guesses = []
        for number, label in enumerate(y):
            guesses.append(self.guess())
            self.history.append((label, 1.0 if weights is None else weights[number]))
        return guesses

    def shares(self, classes: Sequence[Any]) -> list[float]:
        """The shares of these classes, after one more round of each."""
        counts = self.counts()
        more = [counts.get(label, 0.0) + 1.0 for label in classes]
        return [one / sum(more) for one in more]
