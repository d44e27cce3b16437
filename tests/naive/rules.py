"""What the twins are made of: a round, and a rule that learns from it.

A signed example is z = outer(signs, x), one row per score. Binary and regression have one score;
multiclass has one per class, with +x in the row of the label and -x in the row of its rival.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Round:
    """What a rule is told once the truth of the round is known."""

    x: Array
    signs: Array  # (k,)
    margin: float
    wrong: bool  # the prediction made from the scores was not the label
    weight: float = 1.0
    error: float | None = None  # y - f in regression, None in classification
    joint: bool = False  # the signs are minus the derivatives of a loss of all scores (softmax)

    @property
    def z(self) -> Array:
        """The signed example, (k, d)."""
        return np.outer(self.signs, self.x)

    @property
    def squared_signs(self) -> float:
        """|z|^2 / |x|^2; with a loss of all scores the most it can be."""
        return 2.0 if self.joint else float(np.sum(self.signs**2))


def first_weights(k: int, d: int, spread: float) -> Array:
    """Zeros or, with a spread, that times the normal numbers that [0, c] is the seed of, for class c."""
    normal = [np.random.default_rng([0, c]).normal(size=d) for c in range(k)]
    return spread * np.array(normal) if spread > 0.0 else np.zeros((k, d))


class Falling:
    """Rates that fall with the rounds, by the name of a schedule; two of them have a number of their own."""

    rate_power = 0.5
    rate_decay = 1e-4

    def fallen(self, schedule: str, eta0: float, t: float, steps: int = 0) -> float:
        """The rate of round t, the first round being 1."""
        if schedule == "constant":
            return eta0
        if schedule == "inv_sqrt":
            return eta0 / float(np.sqrt(t))
        if schedule == "inv_t":
            return eta0 / t
        if schedule == "power":
            return eta0 * float(np.exp(-self.rate_power * np.log(t)))
        if schedule == "bottou":
            return 1.0 / (1.0 / eta0 + self.rate_decay * t)
        if schedule == "inv_mistakes":
            return eta0 / max(1, steps)
        raise ValueError(f"unknown schedule {schedule}")


class Rule(Falling):
    """A learner that keeps one weight vector per score and starts at zero, or at random."""

    margin_rule = True  # skips rounds with |z|^2 == 0
    weighs = False  # takes importance weights
    regresses = False
    t = 0
    seen: npt.NDArray[np.bool_] | None = None  # of many classes, those that take part
    random_start = 0.0
    squares: tuple[float, ...] = ()  # |z|^2 of the rounds it learned from, the last one included

    def start(self, k: int, d: int) -> None:
        self.w: Array = first_weights(k, d, self.random_start)

    def see(self, x: Array) -> None:
        """Look at x before it is scored."""

    def count(self) -> None:
        """Open a new round, after scoring and before learning."""
        self.t += 1

    def scores(self, x: Array) -> Array:
        return self.w @ x

    def final_scores(self, x: Array) -> Array:
        return self.scores(x)

    def sqnorm(self, r: Round) -> float:
        return r.squared_signs * float(r.x @ r.x) if r.joint else float(np.sum(r.z * r.z))

    def learn(self, r: Round) -> bool:
        if self.margin_rule and self.sqnorm(r) == 0.0:
            return False
        self.measure(self.sqnorm(r))
        return self.update(r)

    def measure(self, sqnorm: float) -> None:
        self.squares += (sqnorm,)

    def row_size(self, but: int = 0) -> float:
        """The geometric mean of all |z|^2 that are not zero, but for so many at the end."""
        some = [square for square in self.squares[: len(self.squares) - but] if square > 0.0]
        return float(np.exp(np.mean(np.log(some)))) if some else 1e-300

    def update(self, r: Round) -> bool:
        raise NotImplementedError

    def state(self) -> dict[str, Array]:
        """Arrays whose first axis is the score (the class)."""
        return {"w": self.w}

    def shared_state(self) -> dict[str, Array]:
        """Arrays that all scores share."""
        return {}


class FirstOrder(Rule):
    """A rule of the form w = shrink w + tau z, so that it can also be played with kernels."""

    shrink = 1.0  # set in step by the rules that need it
    shift = 0.0  # added to every score by the rules that have an offset
    size: Callable[[], float]  # |w|^2
    short: tuple[float, ...] = ()  # |z|^2 of the rounds with a margin below 1

    def start(self, k: int, d: int) -> None:
        super().start(k, d)
        self.size = lambda: float(np.sum(self.w * self.w))

    def fit(self, number: float, share: float, r: Round, sqnorm: float) -> float:
        """A number or, where it is 0, a share of one over the geometric mean of all |z|^2 with a margin below 1."""
        if number > 0.0:
            return number
        if r.margin < 1.0:
            self.short += (sqnorm,)
        return share / float(np.exp(np.mean(np.log(self.short))))

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        """Return tau, or None when the round changes nothing."""
        raise NotImplementedError

    def fade(self, t: int) -> float:
        """By what all weights are multiplied on every round, before the step."""
        return 1.0

    def longest(self) -> float:
        """After a step, longer weights are shortened to this."""
        return np.inf

    def update(self, r: Round) -> bool:
        tau = self.step(r, self.sqnorm(r), self.t)
        self.w = self.fade(self.t) * self.w
        if tau is None:
            return False
        self.w = self.shrink * self.w + tau * r.z
        size = float(np.linalg.norm(self.w))
        if size > self.longest():
            self.w = self.w * (self.longest() / size)
        return True
