"""Baselines of learners without labels from the definitions: everything is kept, and counted anew for each row."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray


class NaiveUnigram:
    """All words so far, with their counts."""

    def __init__(self, eta: float) -> None:
        self.eta = eta
        self.tokens: list[str] = []
        self.vocabulary: set[str] = set()

    def loss(self, document: Mapping[str, float]) -> float:
        """Minus the log-probability of the words; from now on those of this document are in the vocabulary."""
        self.vocabulary |= {word for word, count in document.items() if count}
        size = self.eta * len(self.vocabulary) + len(self.tokens)
        return -sum(
            count * math.log((self.eta + self.tokens.count(word)) / size) for word, count in document.items() if count
        )

    def learn(self, documents: Iterable[Mapping[str, float]]) -> None:
        for document in documents:
            for word, count in document.items():
                self.vocabulary.add(word)
                self.tokens += [word] * int(count)


def naive_mean_losses(X: NDArray[np.float64], batch: int) -> list[float]:
    """The squared distance of every row to the mean of all rows of full mini-batches before it."""
    losses = []
    for t, row in enumerate(X):
        known = X[: t // batch * batch]
        centre = sum(known) / len(known) if len(known) else 0.0 * row
        losses.append(float(sum((row - centre) ** 2)))
    return losses
