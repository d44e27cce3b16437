"""The base of all players: a lock, random numbers that depend on seed and round only, copies and model files."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.learner.arguments import check_integer
from noregret.learner.copied import Copied
from noregret.learner.model_file import Arrays, FindCard, Header, pack, save, unpack

Floats = NDArray[np.float64]


def draw_index(weights: Floats, number: float) -> int:
    """The index that a number in [0, 1) draws by weights that sum to about 1; never one whose weight is 0."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, number * sums[-1], side="right"))


class Player(Copied, ABC):
    """Plays a repeated game: `play` gives the next action, `observe` learns what the round showed.

    Random numbers are drawn anew in every round from the seed and the number of the round: a player that was saved,
    loaded or copied goes on with the same numbers.
    """

    kind: ClassVar[str]

    def __init__(self, seed: Any) -> None:
        self.source: dict[str, Any] | None = None
        self.seed = check_integer("seed", seed, 0)
        self.rounds = 0
        self._make_lock()

    def draw_numbers(self, count: int) -> Floats:
        """Random numbers in [0, 1) of the next round."""
        return np.random.default_rng([self.seed, self.rounds]).random(count)

    def draw_from(self, weights: Floats) -> int:
        """A number drawn by weights that sum to 1, for the next round."""
        return draw_index(weights, float(self.draw_numbers(1)[0]))

    # ---- files ----------------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Write the player to a file; `nr.load` reads it. What was there stays until the new file is complete."""
        with self._lock:
            self._change.settle()
            save(self, path)

    def __reduce__(self) -> Any:
        with self._lock:
            self._change.settle()
            return unpack, (pack(self), "the pickled player")

    @abstractmethod
    def dump(self) -> tuple[Header, Arrays]:
        """The player as a header and named arrays, for the model file."""

    @classmethod
    @abstractmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """A player from a header and named arrays, all checked."""
