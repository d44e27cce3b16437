"""The Dirichlet parameters lambda of topics over words that grow, decay and are touched a few words at a time.

lambda = eta + scale * weights: a decay of all words is a change of `scale`, and only the words of a mini-batch are
written. The sum of `weights` over all words is kept for every topic.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.document_loops import place_values
from noregret.jit.compiled import compile_function, unbound

Floats = NDArray[np.float64]
SMALLEST = 1e-100  # a scale below this is multiplied into the weights
COLUMNS = 64  # words whose weights are drawn together, so that the draws do not depend on how words come


read_weights = read_words = read_statistics = read_factor = read_added = unbound


def entry(table: NDArray[np.int64]) -> int:
    weights, words, statistics = read_weights(table), read_words(table), read_statistics(table)
    add_rows(weights, words, statistics, read_factor(table), read_added(table))
    return 0


def add_rows(weights: Floats, words: NDArray[np.int64], statistics: Floats, factor: Floats, added: Floats) -> None:
    """Add the statistics of words, times a factor, to their weights; `added` gets the sum over all words."""
    for w in range(words.size):
        row, own = weights[words[w]], statistics[w]
        for k in range(added.size):
            new = factor[0] * own[k]
            row[k] += new
            added[k] += new


EXAMPLES: dict[str, Any] = {
    "weights": np.zeros((1, 1)),
    "words": np.zeros(1, np.int64),
    "statistics": np.zeros((1, 1)),
    "factor": np.zeros(1),
    "added": np.zeros(1),
}
PLACES, SLOTS = place_values(EXAMPLES)


@dataclass
class TopicWords:
    """Weights by word and topic; rows beyond `words` are room to grow."""

    topics: int
    eta: float
    seed: int
    room: Floats
    sums: Floats
    words: int = 0
    scale: float = 1.0
    start: float = 1.0  # the share that the weights of a new word have of those it is drawn with
    shape: float = 100.0  # lambda of a new word is drawn from the gamma distribution with this shape and mean
    mean: float = 1.0

    @classmethod
    def empty(cls, topics: int, eta: float, seed: int) -> Self:
        return cls(topics, eta, seed, np.zeros((0, topics)), np.zeros(topics))

    @property
    def weights(self) -> Floats:
        return self.room[: self.words]

    @property
    def totals(self) -> Floats:
        """The sum of lambda over all words, for every topic."""
        return self.eta * self.words + self.scale * self.sums

    @property
    def unlearned(self) -> float:
        """How much of the random start is left in the topics, as a share of it."""
        return self.scale * self.start

    def parameters(self, words: NDArray[np.int64] | slice = slice(None)) -> Floats:
        """Lambda of words, one in each row."""
        return np.asarray(self.eta + self.scale * self.weights[words])

    def copy(self) -> Self:
        found = type(self)(**vars(self))
        found.room, found.sums = self.weights.copy(), self.sums.copy()
        return found

    def grow(self, words: int) -> None:
        """Add words, with the weights they would have if they had been there from the start and never been seen."""
        if words > len(self.room):
            larger = np.zeros((max(words, 2 * len(self.room)), self.topics))
            larger[: self.words] = self.weights
            self.room = larger
        if self.start:
            new = self.start * (self.draw(self.words, words) - self.eta)
            self.room[self.words : words] = new
            self.sums = self.sums + new.sum(axis=0)
        self.words = words

    def draw(self, first: int, last: int) -> Floats:
        """Lambda of the words from number `first` to `last`, had they been there from the start."""
        blocks = range(first // COLUMNS, -(-last // COLUMNS))
        if not blocks:
            return np.zeros((0, self.topics))
        drawn = np.concatenate([self.draw_block(block) for block in blocks])
        return drawn[first - blocks[0] * COLUMNS : last - blocks[0] * COLUMNS]

    def draw_block(self, block: int) -> Floats:
        random = np.random.Generator(np.random.Philox(key=np.array([self.seed, block], np.uint64)))
        return random.gamma(self.shape, self.mean / self.shape, (COLUMNS, self.topics))

    def step(
        self, rate: float, words: NDArray[np.int64], copies: float, statistics: Floats, native: bool = False
    ) -> None:
        """lambda = (1 - rate) lambda + rate (eta + copies * statistics); words that are not named have statistics 0."""
        self.scale *= 1.0 - rate  # 0 at rate 1, which forgets all that was before
        if self.scale < SMALLEST:
            self.fold_scale()
        added, factor = np.zeros(self.topics), np.array([rate * copies / self.scale])
        if native:
            compile_function(entry, PLACES)(np.zeros(SLOTS, np.int64), self.room, words, statistics, factor, added)
        else:
            add_rows(self.room, words, statistics, factor, added)
        self.sums = self.sums + added

    def fold_scale(self) -> None:
        """Multiply the scale into the weights, so that neither becomes too large or too small for a float."""
        self.room = self.scale * self.weights
        self.sums, self.start, self.scale = self.room.sum(axis=0), self.start * self.scale, 1.0

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.totals).all())
