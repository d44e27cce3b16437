"""Sets of weights that a comparator is the best of: all weights, or a ball, box, orthant, l1 ball or simplex.

A set minimises the smooth loss over its weights, and bounds the loss of all of them from below: the tangent of the loss
is a linear function, whose smallest value on the set is known.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.metrics.comparator_problem import TOLERANCE, Limits, Problem

Floats = NDArray[np.float64]
STEPS = 12  # towards the penalty that stands for a ball, or the multiplier that stands for a sum
WIDER = 2.0  # without a limit, the gap is proved in a ball so many times as large as the comparator
CLOSE = 1e-6  # relative: how near a norm or a sum comes to its limit


class WeightSet(Protocol):
    """A convex set of weights. An instance belongs to one search: it may remember what the last step found."""

    @property
    def title(self) -> str:
        """The set in words, after "the best fixed weights"."""

    def minimise(self, problem: Problem, start: Floats, temperature: float) -> Floats:
        """The weights of the set with the smallest smooth loss."""

    def radius(self, u: Floats) -> float:
        """The ball around 0 in which no weights of the set have a smaller loss than the lower bound."""

    def lower_bound(self, problem: Problem, u: Floats, temperature: float, radius: float) -> float:
        """No weights of the set in this ball have a smaller loss than this; u is where the tangent is taken."""


class Everywhere:
    """All weights."""

    title = ""

    def minimise(self, problem: Problem, start: Floats, temperature: float) -> Floats:
        return problem.minimise(start, temperature)

    def radius(self, u: Floats) -> float:
        return WIDER * float(np.linalg.norm(u))

    def lower_bound(self, problem: Problem, u: Floats, temperature: float, radius: float) -> float:
        return problem.lower_bound(u, temperature, radius)


@dataclass
class Ball:
    """|u| <= limit. The penalty that keeps the weights there is remembered."""

    limit: float
    l2: float = 0.0

    @property
    def title(self) -> str:
        return f" with |u| <= {self.limit:.6g}"

    def minimise(self, problem: Problem, start: Floats, temperature: float) -> Floats:
        u, self.l2 = minimise_in_ball(problem, start, temperature, self.limit, self.l2)
        return u

    def radius(self, u: Floats) -> float:
        return self.limit

    def lower_bound(self, problem: Problem, u: Floats, temperature: float, radius: float) -> float:
        return problem.lower_bound(u, temperature, radius)


@dataclass
class Box:
    """low <= u_j <= high for each weight; without limits above, it is the orthant."""

    low: float
    high: float

    @property
    def title(self) -> str:
        return " without negative weights" if self.high == np.inf else f" with every |u_j| <= {self.high:.6g}"

    def minimise(self, problem: Problem, start: Floats, temperature: float) -> Floats:
        return problem.minimise(np.clip(start, self.low, self.high), temperature, 0.0, Limits(self.low, self.high))

    def radius(self, u: Floats) -> float:
        if self.high == np.inf:
            return WIDER * float(np.linalg.norm(u))
        return float(np.sqrt(u.size)) * max(-self.low, self.high)

    def lower_bound(self, problem: Problem, u: Floats, temperature: float, radius: float) -> float:
        constant, slopes = tangent_of(problem, u, temperature)
        if self.high == np.inf:
            return max(0.0, constant - radius * float(np.linalg.norm(np.minimum(slopes, 0.0))))
        return max(0.0, constant + float(np.minimum(slopes * self.low, slopes * self.high).sum()))


@dataclass
class Simplex:
    """u_j >= 0 with a sum of `total`, or of at most that much; `signed` makes it the l1 ball.

    The multiplier of the sum is found by the method of multipliers (Hestenes 1969; Powell 1969), and remembered.
    """

    total: float
    at_most: bool = False
    signed: bool = False
    multiplier: float | None = None
    stiffness: float = 0.0

    @property
    def title(self) -> str:
        if self.signed:
            return f" with |u|_1 <= {self.total:.6g}"
        return f" without negative weights, that sum to {'at most ' * self.at_most}{self.total:.6g}"

    def minimise(self, problem: Problem, start: Floats, temperature: float) -> Floats:
        low = -np.inf if self.signed else 0.0
        if self.multiplier is None and (self.at_most or self.signed):
            u = problem.minimise(np.maximum(start, low), temperature, 0.0, Limits(low))
            if self.sum_of(u) <= self.total:
                return u
        u = self.bring_in(start, problem.shape)
        if problem.loss(u) <= 0.5 * TOLERANCE:  # no weights are better by more than this
            return u
        if self.multiplier is None:
            constant, slopes = tangent_of(problem, u, temperature)
            self.multiplier = -self.total_slope(slopes)
            self.stiffness = max(abs(self.multiplier), constant / max(self.total, 1e-300)) / max(self.total, 1e-300)
        last = np.inf
        for _ in range(STEPS):
            limits = Limits(low, split=self.signed, total=self.total, multiplier=self.multiplier,
                            stiffness=self.stiffness)  # fmt: skip
            u = problem.minimise(u, temperature, 0.0, limits)
            beyond = self.sum_of(u) - self.total
            self.multiplier += self.stiffness * beyond
            if abs(beyond) <= CLOSE * self.total:
                break
            if abs(beyond) > 0.25 * last:
                self.stiffness *= 10.0
            last = abs(beyond)
        return self.bring_in(u, problem.shape)

    def sum_of(self, u: Floats) -> float:
        return float(np.abs(u).sum())

    def total_slope(self, slopes: Floats) -> float:
        """The smallest slope of a corner of the set, in a unit of its total."""
        return float(-np.abs(slopes).max() if self.signed else slopes.min())

    def bring_in(self, u: Floats, shape: tuple[int, int]) -> Floats:
        """Weights of the set in the same direction; equal ones where there is none."""
        u = u if self.signed else np.maximum(u, 0.0)
        size = self.sum_of(u)
        if size <= 0.0:
            return np.full(shape, self.total / (shape[0] * shape[1]))
        return u * (self.total / size)

    def radius(self, u: Floats) -> float:
        return self.total

    def lower_bound(self, problem: Problem, u: Floats, temperature: float, radius: float) -> float:
        constant, slopes = tangent_of(problem, u, temperature)
        least = self.total_slope(slopes)
        return max(0.0, constant + self.total * (min(least, 0.0) if self.at_most else least))


def tangent_of(problem: Problem, u: Floats, temperature: float) -> tuple[float, Floats]:
    """A linear lower bound of the loss: its constant, and its slopes as those of the weights."""
    tangent = problem.tangent(u, temperature)
    return tangent.constant, problem.pull_back(tangent.slopes)


# ---- the ball --------------------------------------------------------------------------------------------------------


def minimise_in_ball(
    problem: Problem, start: Floats, temperature: float, radius: float, l2: float
) -> tuple[Floats, float]:
    """The weights with the smallest smooth loss in a ball, and the l2 penalty that keeps them there.

    The penalty is found as for a trust region: 1 / |u| is nearly a straight line in it.
    """
    if radius == 0.0:
        return np.zeros_like(start), 0.0
    if l2 == 0.0:
        u = problem.minimise(start, temperature)
        if np.linalg.norm(u) <= radius:
            return u, 0.0
        start = u * (radius / float(np.linalg.norm(u)))
        slope = problem.pull_back(problem.tangent(start, temperature).slopes)
        l2 = max(-float((slope * start).sum()) / radius**2, 1e-12)
    u, low, high = start, 0.0, np.inf  # below `low` the weights are too long, above `high` too short
    points: list[tuple[float, float]] = []  # penalties, with 1 / |u| - 1 / radius
    for _ in range(STEPS):
        u = problem.minimise(u, temperature, l2)
        norm = max(float(np.linalg.norm(u)), 1e-300)
        if abs(norm - radius) <= CLOSE * radius:
            break
        low, high = (l2, high) if norm > radius else (low, l2)
        points = [*points[-1:], (l2, 1.0 / norm - 1.0 / radius)]
        l2 = next_penalty(points, low, high)
        if high < 1e-14 or (low > 0.0 and high / low < 1.0 + 1e-9):
            break
    norm = float(np.linalg.norm(u))
    return u * min(1.0, radius / norm) if norm > 0.0 else u, l2


def next_penalty(points: list[tuple[float, float]], low: float, high: float) -> float:
    """The penalty at which the straight line through the last points is zero, or one between the limits."""
    if len(points) == 2 and points[0][1] != points[1][1]:
        (a, value_a), (b, value_b) = points
        found = b - value_b * (b - a) / (value_b - value_a)
        if low < found < high:
            return found
    if high == np.inf:
        return 2.0 * low
    return float(np.sqrt(low * high)) if low > 0.0 else 0.5 * high
