"""Calibration: a map from scores to probabilities, fitted to the scores of past rounds and their labels.

The probability of a class is proportional to exp(a score + b): temperature scaling with b = 0, where the most probable
class is always the one predicted. Offsets b, one for each class as in Platt's method, are used only where the rounds
clearly ask for them (by the Bayesian information criterion), as with class weights: then labels are predicted that are
not the most probable ones.

Platt, Probabilistic outputs for support vector machines, 1999; Guo et al., On calibration of modern neural networks,
ICML 2017.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FLATTEST, STEEPEST = 1e-3, 1e6  # slopes, in units of the spread of the scores
STEPS = 50
NEAR = 1e-9
ROUNDS_PER_OFFSET = 8


class Calibration(NamedTuple):
    """A fitted map: the slope, the offset of each class (empty: none), and the rounds it was fitted to.

    `slope_alone` is the slope where there must be no offsets.
    """

    slope: float
    offsets: tuple[float, ...]
    rounds: int
    slope_alone: float

    def without_offsets(self) -> "Calibration":
        """The map of which the most probable class is the predicted one."""
        return self._replace(slope=self.slope_alone, offsets=())

    def apply(self, scores: Floats) -> Floats:
        """The probability of each class, for rows with a score of each class."""
        with np.errstate(over="ignore"):
            z = self.slope * (scores - scores.max(axis=1, keepdims=True))
            return softmax(z + np.array(self.offsets) if self.offsets else z)

    def apply_one(self, scores: Sequence[float]) -> list[float]:
        """The probability of each class for one row, without the cost of arrays."""
        top = max(scores)
        z = [self.slope * (score - top) for score in scores]
        if self.offsets:
            z = [one + offset for one, offset in zip(z, self.offsets, strict=True)]
            top = max(z)
            z = [one - top for one in z]
        e = [math.exp(one) for one in z]
        total = sum(e)
        return [one / total for one in e]


UNIT = Calibration(1.0, (), 0, 1.0)


def softmax(z: Floats) -> Floats:
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


class Sample:
    """The scores of past rounds in units of their spread, and the probabilities they should be mapped to.

    All arrays have a row for each class: sums over few classes are fast that way.
    """

    def __init__(self, scores: Floats, truth: NDArray[np.int64]) -> None:
        scores = np.ascontiguousarray(scores.T)
        self.classes, self.rounds = scores.shape
        self.seen = np.isfinite(scores)
        self.complete = bool(self.seen.all())
        below = np.where(self.seen, scores - np.max(scores, axis=0), 0.0) if self.rounds else scores
        self.spread = float(-below.sum() / max(np.count_nonzero(below), 1))
        self.z = below / (self.spread or 1.0)
        doubt = 1.0 / (self.rounds + 2.0)  # as in Platt's method: a label is never quite certain
        others = np.maximum(self.seen.sum(axis=0) - 1, 1)
        self.target = np.where(self.seen, doubt / others, 0.0)
        self.target[truth, np.arange(self.rounds)] = 1.0 - doubt

    def predict(self, slope: float, offsets: Floats | float = 0.0) -> Floats:
        """The probabilities of a map."""
        return self.exponentials(slope, offsets)[0]

    def loss(self, slope: float, offsets: Floats | float = 0.0) -> float:
        """The mean log loss of a map."""
        _, z, total = self.exponentials(slope, offsets)
        log_p = z - np.log(total)
        return float(-np.vdot(self.target, log_p if self.complete else np.where(self.seen, log_p, 0.0)) / self.rounds)

    def exponentials(self, slope: float, offsets: Floats | float) -> tuple[Floats, Floats, Floats]:
        """The probabilities of a map, their exponents, of which the largest is 0, and the sums to divide by."""
        z = slope * self.z + (offsets[:, None] if isinstance(offsets, np.ndarray) else offsets)
        if not self.complete:
            z = np.where(self.seen, z, -np.inf)
        z -= z.max(axis=0)
        e = np.exp(z)
        total = e.sum(axis=0)
        return e / total, z, total

    def asks_for_offsets(self, slope: float) -> bool:
        """Whether offsets may be worth their number: what they would gain, by the slopes at none (a score test)."""
        p = self.predict(slope)
        missing, spread = (p - self.target).sum(axis=1), (p * (1.0 - p)).sum(axis=1)
        gain = float((missing**2 / np.maximum(spread, NEAR)).sum()) * (self.classes - 1) / self.classes
        return bool(gain > 0.5 * (self.classes - 1) * math.log(self.rounds))


def fit(scores: Floats, truth: NDArray[np.int64]) -> Calibration:
    """The map that makes the labels of these rounds most likely; a score of -inf is that of a class not yet seen."""
    sample = Sample(scores, truth)
    if not sample.rounds or not 0.0 < sample.spread < math.inf:
        return UNIT._replace(rounds=sample.rounds)
    slope = alone = fit_slope(sample)
    offsets: tuple[float, ...] = ()
    if sample.rounds >= ROUNDS_PER_OFFSET * sample.classes and sample.asks_for_offsets(slope):
        found = fit_offsets(sample, slope)
        gain = sample.loss(slope) - sample.loss(found[0], found[1:])
        if found[0] > FLATTEST and 2.0 * sample.rounds * gain > (sample.classes - 1) * math.log(sample.rounds):
            slope, offsets = float(found[0]), tuple(found[1:].tolist())
    return Calibration(slope / sample.spread, offsets, sample.rounds, alone / sample.spread)


def fit_slope(sample: Sample) -> float:
    """Newton's method on the log loss, which is convex in the slope, kept inside a bracket of the minimum."""
    low, high, slope = FLATTEST, STEEPEST, 1.0
    goal = float(np.vdot(sample.target, sample.z))
    for _ in range(STEPS):
        pz = sample.predict(slope) * sample.z
        mean = pz.sum(axis=0)
        gradient = float(mean.sum() - goal)
        curvature = float(np.vdot(pz, sample.z) - mean @ mean)
        low, high = (low, slope) if gradient > 0.0 else (slope, high)
        step = slope - gradient / curvature if curvature > 0.0 else math.inf
        if abs(step - slope) <= NEAR * slope:
            return slope
        slope = step if low < step < high else math.sqrt(low * high)
    return slope


def fit_offsets(sample: Sample, slope: float) -> Floats:
    """A slope and an offset for each class, by Newton's method with steps that are halved until the loss falls."""
    k, n = sample.classes, sample.rounds
    ridge = np.diag([0.0, *[1.0 / n] * k])  # offsets matter only by their differences
    found = np.zeros(1 + k)
    found[0] = slope

    def loss(at: Floats) -> float:
        return sample.loss(at[0], at[1:]) + 0.5 * float(at @ ridge @ at)

    now = loss(found)
    for _ in range(STEPS):
        p = sample.predict(found[0], found[1:])
        pz = p * sample.z
        mean = pz.sum(axis=0)
        missing = p - sample.target
        gradient = np.array([np.vdot(missing, sample.z), *missing.sum(axis=1)]) / n + ridge @ found
        hessian = np.empty((1 + k, 1 + k))
        hessian[0, 0] = np.vdot(pz, sample.z) - mean @ mean
        hessian[0, 1:] = hessian[1:, 0] = pz.sum(axis=1) - p @ mean
        hessian[1:, 1:] = np.diag(p.sum(axis=1)) - p @ p.T
        step = np.linalg.solve(hessian / n + ridge + NEAR * np.eye(1 + k), gradient)
        size = 1.0
        while size > NEAR and loss(found - size * step) > now:
            size *= 0.5
        found = found - size * step
        before, now = now, loss(found)
        if before - now <= NEAR:
            break
    return found
