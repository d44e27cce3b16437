"""The best fixed comparator in hindsight: the weights with the smallest total loss on rounds that are over.

A convex problem. Kinks of the loss are smoothed, L-BFGS minimises the smooth loss, and the temperature falls until the
duality gap is small. The gap is a proof: no weights of the comparator's set have a loss smaller by more than the gap.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from noregret.metrics.comparator_problem import TOLERANCE, Problem
from noregret.metrics.comparator_sets import Everywhere, WeightSet

Floats = NDArray[np.float64]
COLDEST = 1e-7
COOLING = 0.2
BETWEEN = (2.5, 1.6, 0.7, 0.5, 0.35)  # times the temperature of the tightest bound, where no gap was small enough
GROWTH = 0.01  # of a comparator, that the ball in which its gap is proved need not follow


@dataclass(frozen=True)
class Comparator:
    """Weights, features in rows and scores in columns, with their loss (penalty included) and its duality gap.

    `radius` is the ball |u| <= radius in which the gap is proved.
    """

    weights: Floats
    loss: float
    gap: float
    radius: float

    @property
    def converged(self) -> bool:
        """Whether the gap is small beside the loss."""
        return self.gap <= TOLERANCE * max(self.loss, 1.0)

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.weights))


def find_comparator(
    problem: Problem, among: WeightSet | None = None, start: Floats | None = None, tolerance: float = TOLERANCE
) -> Comparator:
    """The best comparator of all weights, or of a set."""
    among = among or Everywhere()
    u = np.zeros(problem.shape) if start is None else start
    best, best_loss, bound, ball, tightest = u, np.inf, 0.0, 0.0, 1.0
    for temperature in chain(falling(), (tightest * share for share in BETWEEN)):
        u = among.minimise(problem, u, temperature)
        loss = problem.loss(u)
        if loss < best_loss:
            best, best_loss = u, loss
        radius = among.radius(best)
        if radius > (1.0 + GROWTH) * ball:  # what was proved of a smaller ball says less
            bound = 0.0
        if radius < ball or bound == 0.0:
            ball = radius
        proved = among.lower_bound(problem, u, temperature, ball)
        if proved > bound:
            bound, tightest = proved, temperature
        if best_loss - bound <= tolerance * max(best_loss, 1.0):
            break
    return Comparator(best, best_loss, max(best_loss - bound, 0.0), ball)


def falling() -> Iterator[float]:
    """The temperatures of a search, until below the coldest one of use."""
    temperature = 1.0
    while temperature >= COLDEST:
        yield temperature
        temperature *= COOLING
    yield temperature
