"""The losses of rounds that compare pairs of scores: labels of a row with others, or rows of a list.

The loss of a round is a sum over groups of pairs: of a group the largest loss counts, or its mean.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.metrics.round_losses import KINKS, SMOOTH, Tangent, check_loss, margin_loss

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class Pairs(NamedTuple):
    """Pairs of scores, by their places among all scores: the first should be larger than the second.

    `group` numbers the groups from 0 on, in ascending order and without gaps; `round_of` tells the round of each.
    """

    larger: Places
    smaller: Places
    group: Places
    round_of: Places
    rounds: int


class PairLosses:
    """The losses of pairs; `mean` says that the mean of a group counts, and not the largest."""

    def __init__(self, loss: str, pairs: Pairs, outputs: int, mean: bool = False) -> None:
        self.loss, self.pairs, self.mean = check_loss(loss), pairs, mean
        self.outputs, self.per_class = outputs, outputs > 1
        self.starts = np.searchsorted(pairs.group, np.arange(len(pairs.round_of)))
        self.share = 1.0 / np.diff(np.append(self.starts, len(pairs.group)))[pairs.group]

    def margins(self, scores: Floats) -> Floats:
        flat = scores.reshape(-1)
        return np.asarray(flat[self.pairs.larger] - flat[self.pairs.smaller])

    def tangent(self, scores: Floats, temperature: float) -> Tangent:
        if not len(self.starts):
            return Tangent(0.0, 0.0, np.zeros_like(scores), 0.0)
        margins = self.margins(scores)
        loss, smooth, slope, constant = (self.average if self.mean else self.largest)(margins, temperature)
        size = scores.size
        slopes = np.bincount(self.pairs.larger, slope, size) - np.bincount(self.pairs.smaller, slope, size)
        return Tangent(loss, smooth, np.asarray(slopes.reshape(scores.shape), np.float64), constant)

    def average(self, margins: Floats, temperature: float) -> tuple[float, float, Floats, float]:
        """The sum of the means: itself, made smooth, its slopes by the margins, and the constant of the bound."""
        if self.loss in KINKS:
            missing = KINKS[self.loss] - margins
            part = self.share / (1.0 + np.exp(-np.clip(missing / temperature, -700.0, 700.0)))
            smooth = temperature * float(self.share @ np.logaddexp(0.0, missing / temperature))
            return float(self.share @ np.maximum(missing, 0.0)), smooth, -part, KINKS[self.loss] * float(part.sum())
        value, slope = SMOOTH[self.loss](margins)
        total = float(self.share @ value)
        return total, total, self.share * slope, float(self.share @ (value - slope * margins))

    def largest(self, margins: Floats, temperature: float) -> tuple[float, float, Floats, float]:
        """The sum of the largest losses, in the same form."""
        if self.loss in KINKS:
            value, slope = KINKS[self.loss] - margins, np.full_like(margins, -1.0)
            constants, floor = np.full_like(margins, KINKS[self.loss]), 0.0  # a piece is 0 everywhere
        else:
            value, slope = SMOOTH[self.loss](margins)
            constants, floor = value - slope * margins, -np.inf
        group = self.pairs.group
        top = np.maximum(np.maximum.reduceat(value, self.starts), floor)
        with np.errstate(under="ignore"):
            weight = np.exp((value - top[group]) / temperature)
            total = np.add.reduceat(weight, self.starts) + np.exp((floor - top) / temperature)
        share = weight / total[group]
        smooth = float((top + temperature * np.log(total)).sum())
        return float(top.sum()), smooth, share * slope, float(share @ constants)

    def each(self, scores: Floats) -> Floats:
        if not len(self.starts):
            return np.zeros(self.pairs.rounds)
        losses = margin_loss(self.loss, self.margins(scores))
        found = np.add.reduceat(self.share * losses, self.starts) if self.mean else np.maximum.reduceat(
            losses, self.starts
        )  # fmt: skip
        return np.asarray(np.bincount(self.pairs.round_of, found, self.pairs.rounds), np.float64)


def pair_up(larger: list[Places], smaller: list[Places], round_of: list[int], rounds: int) -> Pairs:
    """Groups of pairs that were found one after the other; empty ones are left out."""
    sizes = np.array([len(one) for one in larger], np.int64)
    kept = sizes > 0
    nothing = np.zeros(0, np.int64)
    group = np.repeat(np.arange(int(kept.sum())), sizes[kept]) if sizes.size else nothing
    return Pairs(np.concatenate([nothing, *larger]), np.concatenate([nothing, *smaller]), group,
                 np.array(round_of, np.int64)[kept] if sizes.size else nothing, rounds)  # fmt: skip
