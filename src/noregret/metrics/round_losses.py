"""The total loss of fixed weights on rounds that are over, as a convex function of the scores.

A loss with kinks is smoothed by a temperature: the maximum over its pieces becomes the logarithm of a sum of
exponentials. The slopes of the smooth loss give a lower bound of the loss itself: loss(s) >= constant + slopes . s for
all scores s. From such bounds the gap of a comparator is computed.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from noregret.errors import BadValue

Floats = NDArray[np.float64]
KINKS: Mapping[str, float] = {"hinge": 1.0, "perceptron": 0.0}  # max(0, kink - margin)
STEEPEST = -50.0  # below this margin the exponential loss is a straight line


class Tangent(NamedTuple):
    """The loss of some scores: itself, made smooth, the slopes of the smooth one, and the constant of the bound."""

    loss: float
    smooth: float
    slopes: Floats
    constant: float


class RoundLosses(Protocol):
    """The losses of rounds as a function of their scores, (rounds,) or (rounds, classes)."""

    outputs: int  # scores of a round
    per_class: bool  # whether scores are (rounds, classes)

    def tangent(self, scores: Floats, temperature: float) -> Tangent:
        """The total loss of these scores, with a lower bound that is linear in the scores."""

    def each(self, scores: Floats) -> Floats:
        """The loss of every round."""


# ---- losses of a margin that have a slope everywhere ----------------------------------------------------------------


def logistic(margin: Floats) -> tuple[Floats, Floats]:
    return np.logaddexp(0.0, -margin), -expit(-margin)


def squared(margin: Floats) -> tuple[Floats, Floats]:
    return (1.0 - margin) ** 2, 2.0 * (margin - 1.0)


def squared_hinge(margin: Floats) -> tuple[Floats, Floats]:
    missing = np.maximum(0.0, 1.0 - margin)
    return missing**2, -2.0 * missing


def exponential(margin: Floats) -> tuple[Floats, Floats]:
    inside = np.exp(-np.maximum(margin, STEEPEST))
    return inside * (1.0 + np.maximum(STEEPEST - margin, 0.0)), -inside


SMOOTH: Mapping[str, Callable[[Floats], tuple[Floats, Floats]]] = {
    "logistic": logistic,
    "squared": squared,
    "squared_hinge": squared_hinge,
    "exponential": exponential,
    "softmax": logistic,  # of the margin over all other classes together
}
"""The value and the slope of each loss, as functions of the margin."""


def margin_loss(name: str, margin: Floats) -> Floats:
    """The loss of margins."""
    return np.maximum(0.0, KINKS[name] - margin) if name in KINKS else SMOOTH[name](margin)[0]


class SignedRounds:
    """Rounds with two classes, of signs -1 and 1; with a column for each class, each class against the rest."""

    def __init__(self, loss: str, signs: Floats) -> None:
        self.loss, self.signs = check_loss(loss), signs
        self.per_class = signs.ndim > 1
        self.outputs = signs.shape[1] if self.per_class else 1

    def tangent(self, scores: Floats, temperature: float) -> Tangent:
        margin = self.signs * scores
        if self.loss in KINKS:
            missing = KINKS[self.loss] - margin
            share = expit(missing / temperature)
            smooth = temperature * np.logaddexp(0.0, missing / temperature)
            constant = KINKS[self.loss] * float(share.sum())
            return Tangent(float(np.maximum(0.0, missing).sum()), float(smooth.sum()), -self.signs * share, constant)
        value, slope = SMOOTH[self.loss](margin)
        total = float(value.sum())
        return Tangent(total, total, self.signs * slope, float((value - slope * margin).sum()))

    def each(self, scores: Floats) -> Floats:
        losses = margin_loss(self.loss, self.signs * scores)
        return losses if losses.ndim == 1 else np.asarray(losses.sum(axis=1))


class ClassRounds:
    """Rounds with one of many classes, against the best of the others: the largest loss over all rivals."""

    per_class = True

    def __init__(self, loss: str, codes: NDArray[np.int64], classes: int) -> None:
        if loss == "squared":
            raise BadValue("the squared loss against the runner-up is not convex, so no best comparator is computed")
        self.loss, self.codes, self.outputs = check_loss(loss), codes, classes
        self.rounds = np.arange(codes.size)

    def margins(self, scores: Floats) -> Floats:
        """The margin over every rival; infinite in the column of the class itself."""
        margins = scores[self.rounds, self.codes][:, None] - scores
        margins[self.rounds, self.codes] = np.inf
        return margins

    def tangent(self, scores: Floats, temperature: float) -> Tangent:
        if self.outputs < 2:
            return Tangent(0.0, 0.0, np.zeros_like(scores), 0.0)
        margins = self.margins(scores)
        if self.loss in KINKS:
            value, slope = KINKS[self.loss] - margins, np.full_like(margins, -1.0)
            constants = np.full_like(margins, KINKS[self.loss])
            top = np.maximum(value.max(axis=1), 0.0)
            floor = np.exp(-top / temperature)  # the piece that is 0 everywhere
        else:
            margins[self.rounds, self.codes] = 0.0
            value, slope = SMOOTH[self.loss](margins)
            constants = value - slope * margins
            value[self.rounds, self.codes] = -np.inf
            top, floor = value.max(axis=1), np.zeros(self.codes.size)
        with np.errstate(under="ignore"):
            weight = np.exp((value - top[:, None]) / temperature)
        weight[self.rounds, self.codes] = 0.0
        total = weight.sum(axis=1) + floor
        share = weight / total[:, None]
        slopes = -share * slope
        slopes[self.rounds, self.codes] = (share * slope).sum(axis=1)
        smooth = top + temperature * np.log(total)
        return Tangent(float(top.sum()), float(smooth.sum()), slopes, float((share * constants).sum()))

    def each(self, scores: Floats) -> Floats:
        return margin_loss(self.loss, self.margins(scores).min(axis=1)) if self.outputs > 1 else np.zeros(len(scores))


class SoftmaxRounds:
    """Rounds with one of many classes, by -log p of the class: all others together are its rival."""

    per_class = True

    def __init__(self, codes: NDArray[np.int64], classes: int) -> None:
        self.codes, self.outputs, self.rounds = codes, classes, np.arange(codes.size)

    def tangent(self, scores: Floats, temperature: float) -> Tangent:
        slopes = softmax(scores, axis=1)
        slopes[self.rounds, self.codes] -= 1.0
        losses = self.each(scores)
        total = float(losses.sum())
        return Tangent(total, total, slopes, float((losses - (slopes * scores).sum(axis=1)).sum()))

    def each(self, scores: Floats) -> Floats:
        return np.asarray(logsumexp(scores, axis=1) - scores[self.rounds, self.codes])


class TargetRounds:
    """Rounds with a real target; `eps` and `deviation` of every round are in the units of the targets."""

    outputs = 1
    per_class = False

    def __init__(self, loss: str, targets: Floats, eps: Floats, deviation: Floats) -> None:
        if loss not in ("eps_insensitive", "absolute", "squared", "huber"):
            raise BadValue(f"no best comparator is computed for the loss {loss!r} of real targets")
        self.loss, self.targets, self.deviation = loss, targets, deviation
        self.eps = eps if loss == "eps_insensitive" else np.zeros_like(targets)

    def tangent(self, scores: Floats, temperature: float) -> Tangent:
        error = scores - self.targets
        if self.loss in ("squared", "huber"):
            value, slope = self.smooth_errors(error)
            total = float(value.sum())
            return Tangent(total, total, slope, float((value - slope * scores).sum()))
        over, under = error - self.eps, -error - self.eps
        top = np.maximum(np.maximum(over, under), 0.0)
        pieces = np.exp((np.stack((over, under, np.zeros_like(top))) - top) / temperature)
        total = pieces.sum(axis=0)
        share = pieces / total
        constant = -share[0] * (self.targets + self.eps) + share[1] * (self.targets - self.eps)
        smooth = top + temperature * np.log(total)
        return Tangent(float(top.sum()), float(smooth.sum()), share[0] - share[1], float(constant.sum()))

    def smooth_errors(self, error: Floats) -> tuple[Floats, Floats]:
        """The value and the slope of a loss without kinks."""
        if self.loss == "squared":
            return error**2, 2.0 * error
        inside = np.minimum(np.abs(error), self.deviation)
        return inside * (np.abs(error) - 0.5 * inside), np.sign(error) * inside

    def each(self, scores: Floats) -> Floats:
        error = scores - self.targets
        if self.loss in ("squared", "huber"):
            return self.smooth_errors(error)[0]
        return np.maximum(0.0, np.abs(error) - self.eps)


class ShiftedLosses:
    """The losses of scores to which a constant of every round is added, such as a threshold."""

    def __init__(self, losses: RoundLosses, shift: Floats) -> None:
        self.losses, self.shift = losses, shift
        self.outputs, self.per_class = losses.outputs, losses.per_class

    def tangent(self, scores: Floats, temperature: float) -> Tangent:
        found = self.losses.tangent(scores + self.shift, temperature)
        return found._replace(constant=found.constant + float((found.slopes * self.shift).sum()))

    def each(self, scores: Floats) -> Floats:
        return self.losses.each(scores + self.shift)


def check_loss(loss: Any) -> str:
    """The name of a loss of margins."""
    if loss not in KINKS and loss not in SMOOTH:
        raise BadValue(f"no best comparator is computed for the loss {loss!r}")
    return str(loss)
