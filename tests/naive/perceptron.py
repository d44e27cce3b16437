"""Perceptron (Rosenblatt 1958), averaged (Freund and Schapire 1999) and with margin (Duda and Hart 1973)."""

from collections.abc import Callable

import numpy as np

from .rules import Array, FirstOrder, Round, Rule


class Perceptron(FirstOrder):
    """If margin <= 0, or margin < 0 when strict: w += eta z. An importance weight scales eta."""

    weighs = True

    def __init__(self, eta: float = 1.0, schedule: str = "constant", strict: str = "no") -> None:
        self.eta = eta
        self.schedule = schedule
        self.steps = 0
        self.strict = strict == "yes"

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        missed = r.margin < 0.0 if self.strict else r.margin <= 0.0
        self.steps += missed
        return self.fallen(self.schedule, self.eta * r.weight, t, self.steps) if missed else None


class AveragedPerceptron(FirstOrder):
    """Trains as the perceptron with eta = 1; predicts with the mean of w_1, ..., w_{T+1}.

    The mean is the plain sum of every w_t. The lazy accumulator u = sum of t z over the updates is
    kept beside it only to be looked at: the mean equals w - u / (T + 1).
    """

    def start(self, k: int, d: int) -> None:
        super().start(k, d)
        self.total: Array = np.zeros((k, d))
        self.u: Array = np.zeros((k, d))

    def count(self) -> None:
        super().count()
        self.total = self.total + self.w  # w_t, the state that predicted this round

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        return 1.0 if r.margin <= 0.0 else None

    def update(self, r: Round) -> bool:
        changed = super().update(r)
        if changed:
            self.u = self.u + self.t * r.z
        return changed

    def final_scores(self, x: Array) -> Array:
        mean = (self.total + self.w) / (self.t + 1)
        return mean @ x

    def state(self) -> dict[str, Array]:
        return {"w": self.w, "u": self.u}


class VotedPerceptron(FirstOrder):
    """Trains as the perceptron with eta = 1; predicts by the vote of w_1, ..., w_{T+1}: the list of all vectors."""

    def start(self, k: int, d: int) -> None:
        super().start(k, d)
        self.past: list[Array] = []

    def count(self) -> None:
        super().count()
        self.past.append(self.w)  # w_t, the state that predicted this round

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        return 1.0 if r.margin <= 0.0 else None

    def final_scores(self, x: Array) -> Array:
        return np.asarray(np.sum([ballot(w @ x) for w in [*self.past, self.w]], axis=0))


def ballot(scores: Array) -> Array:
    """The vote of one vector: a sign, or the class that leads; zero scores abstain."""
    if len(scores) == 1:
        return np.sign(scores)
    leads = np.arange(len(scores)) == np.argmax(scores)
    return np.where(leads & (scores > 0.0), 1.0, 0.0)


class MarginPerceptron(FirstOrder):
    """If margin < b: w += eta z. A b of 0 stands for the size of the rows. An importance weight scales eta."""

    weighs = True

    def __init__(self, b: float = 1.0, eta: float = 1.0) -> None:
        self.b = b
        self.eta = eta

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        return self.eta * r.weight if r.margin < (self.b or self.row_size()) else None


class BatchPerceptron(Rule):
    """Gathers rho z of the rounds with margin <= 0 or < b, and adds the sum when the next batch begins; batch number n
    ends with round floor(n * batch)."""

    weighs = True

    def __init__(self, batch: float = 16.0, rho: float = 1.0, b: float = 0.0, schedule: str = "constant") -> None:
        self.batch = batch
        self.b = b
        self.rho = rho
        self.schedule = schedule
        self.number = 1

    def start(self, k: int, d: int) -> None:
        super().start(k, d)
        self.gathered: Array = np.zeros((k, d))

    def settle(self) -> None:
        """After the last round of a batch: everything gathered counts."""
        if self.t >= int(self.number * self.batch):
            self.number += 1
            self.w = self.w + self.gathered
            self.gathered = np.zeros_like(self.w)

    def scores(self, x: Array) -> Array:
        self.settle()
        return self.w @ x

    def update(self, r: Round) -> bool:
        short = r.margin <= 0.0 or r.margin < self.b
        if short:
            step = self.fallen(self.schedule, self.rho * r.weight, self.number)
            self.gathered = self.gathered + step * r.z
        return short


RULES: dict[str, Callable[..., Rule]] = {
    "perceptron": Perceptron,
    "perceptron_averaged": AveragedPerceptron,
    "perceptron_batch": BatchPerceptron,
    "perceptron_margin": MarginPerceptron,
    "perceptron_voted": VotedPerceptron,
}
