"""The pocket (Gallant 1990): a perceptron that predicts with the best vector so far, by runs and by a sample."""

from collections.abc import Callable

import numpy as np

from .rules import Array, Round, Rule


class Reservoir:
    """A list of m of the things offered, each equally likely to be in it (Vitter 1985, algorithm R).

    The numbers of chance are those of the partial feature selection: r = 16807 r mod 2^31 - 1, from seed 0.
    """

    def __init__(self, m: int) -> None:
        self.m, self.offered = m, 0
        self.things: list[tuple[Array, int]] = []
        self.random = int(np.random.default_rng(0).integers(1, 2**31 - 1))

    def offer(self, x: Array, truth: int) -> None:
        self.offered += 1
        if len(self.things) < self.m:
            self.things.append((x, truth))
            return
        self.random = 16807 * self.random % (2**31 - 1)
        where = int(self.random / (2**31 - 1) * self.offered)
        if where < self.m:
            self.things[where] = (x, truth)


class PocketPerceptron(Rule):
    """Trains as the perceptron with eta = 1; predicts with a copy of the w that was right most often in a row.

    With the ratchet, that w must also put more rows of the sample right than the one in the pocket did when it came
    there, or all of them.
    """

    def __init__(self, reservoir: float = 1000.0, ratchet: str = "yes") -> None:
        self.sample = Reservoir(int(reservoir))
        self.ratchet = ratchet == "yes"
        self.run = self.longest = self.record = 0

    def start(self, k: int, d: int) -> None:
        super().start(k, d)
        self.pocket = self.w.copy()

    def right(self, x: Array, truth: int) -> bool:
        scores = self.w @ x
        if len(scores) == 1:
            return bool((scores[0] >= 0.0) == (truth > 0))
        assert self.seen is not None
        return bool(np.argmax(np.where(self.seen, scores, -np.inf)) == truth)

    def passes(self) -> bool:
        """Whether w may replace the pocket, all rows of the sample asked one by one."""
        if not self.ratchet:
            return True
        count = sum(self.right(x, truth) for x, truth in self.sample.things)
        if count > self.record or count == len(self.sample.things):
            self.record = count
            return True
        return False

    def update(self, r: Round) -> bool:
        self.sample.offer(r.x, int(r.signs[0]) if len(r.signs) == 1 else int(np.argmax(r.signs)))
        if r.margin <= 0.0:
            self.w = self.w + r.z
            self.run = 0
            return True
        self.run += 1
        if self.run > self.longest and self.passes():
            self.pocket = self.w.copy()
            self.longest = self.run
        return False

    def final_scores(self, x: Array) -> Array:
        return self.pocket @ x


RULES: dict[str, Callable[..., Rule]] = {"perceptron_pocket": PocketPerceptron}
