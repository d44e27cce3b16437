"""When two players of one stream agree, and when they may part: only where rounding decides.

Two texts of one rule round differently. That is no excuse for a difference that rounding does not explain: the player
that is trusted is asked again, on rows of which every value is changed by a part in 10^12. What it then says may differ
from what it said first, and so far the other one may differ, too. Where numbers are exact there is no excuse at all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.case import Case
from tests.naive.rules import Array

CLOSE = 1e-10
CLOSE_FULL = 1e-6  # a matrix is taken down by differences: what is left of a variance has lost digits
# What separates w from z is the difference of two numbers, of which as little as 1e-12 counts: 4 of 16 digits are left.
CLOSE_ANGLES = {"romma": 1e-4, "romma_aggressive": 1e-4}
LONG = 1e4  # the margin they promise is 1: such a score means that rows contradict each other, all but exactly
HUGE = 1e250  # exponentials beyond it are cut, since only their shares matter; from there on nothing is compared
TINY = 1e-305  # numbers below it have few digits, or are the bit that breaks a tie
SHAKEN = 2.0**-40
TRIES = 16  # a tie that the first shake does not break, another does
# Sums and products of few binary digits have few binary digits: nothing is rounded.
EXACT = ("perceptron", "perceptron_margin", "perceptron_pocket", "perceptron_truncated", "perceptron_batch", "winnow")
# What these compare a margin with is computed, and so is rounded.
THRESHOLDS = ("alma", "cw", "cw_variance", "scw1", "scw2")


@dataclass(frozen=True)
class Said:
    """What was said of every round, (n, scores); after the last one, the scores of some more rows."""

    scores: Array
    updated: list[bool]
    after: Array

    def row(self, t: int) -> Array:
        """The scores of a round; the one after the last stands for all that is predicted then."""
        return self.scores[t] if t < len(self.updated) else self.after.ravel()


@dataclass
class Tally:
    """How many streams were played, and by whom."""

    streams: int = 0
    compiled: int = 0
    reference: int = 0
    twin: int = 0
    refused: int = 0
    undecided: int = 0
    rounds: int = 0
    plain: bool = False  # whether compiled loops are left out


class Parted(AssertionError):
    """Two players of one stream said different things."""


def columns(scores: Any, rounds: int) -> Array:
    return np.asarray(scores, dtype=float).reshape(rounds, -1)


def close(found: Array, expected: Array, largest: float, tolerance: float) -> bool:
    if found.shape != expected.shape:
        return False
    gap = np.abs(found - expected)
    near = gap <= tolerance * np.abs(expected) + 0.01 * tolerance * largest + TINY
    return bool(np.where(np.isinf(expected), found == expected, near).all())


def largest(said: Said) -> Array:
    """The largest score so far, for every round and what is predicted after the last; classes unknown have none."""
    rows = [said.row(t) for t in range(len(said.updated) + 1)]
    return np.asarray(np.maximum.accumulate([np.abs(row[~np.isneginf(row)]).max(initial=0.0) for row in rows]))


def parting(found: Said, expected: Said, tolerance: float) -> int | None:
    """The first round of which two players say different things."""
    n, scale = len(expected.updated), largest(expected)
    for t in range(n + 1):
        if scale[t] > HUGE:
            return None
        if not close(found.row(t), expected.row(t), float(scale[t]), tolerance):
            return t
        if t < n and found.updated[t] != expected.updated[t]:
            return t
    return None


def agree(case: Case, found: Said, expected: Said, shaken: Callable[[int], Said | None], who: str) -> bool:
    """Hold every number against its like. False when the two part where rounding decides; Parted when they may not."""
    with np.errstate(all="ignore"):
        t = parting(found, expected, CLOSE_FULL if case.play.full else CLOSE_ANGLES.get(case.play.name, CLOSE))
        if t is None:
            return True
        n = len(expected.updated)
        same = bool((found.row(t) == expected.row(t)).all() and np.isfinite(found.row(t)).all())
        if t < n and on_the_edge(case, t, float(expected.row(t)[0])):
            return False
        if case.play.name in CLOSE_ANGLES and (largest(expected)[t] > LONG or at_promise(expected.row(t))):
            return False
        if not is_exact(case) and (case.play.name in THRESHOLDS or not same):
            for seed in range(TRIES):
                other = shaken(seed)
                if other is None or other.updated[: t + 1] != expected.updated[: t + 1]:
                    return False
                gaps = [np.abs(other.row(s) - expected.row(s)) for s in range(t + 1)]
                far = max((float(np.nan_to_num(gap, nan=0.0).max(initial=0.0)) for gap in gaps), default=0.0)
                gap = np.abs(found.row(t) - expected.row(t))
                if not same and float(np.nan_to_num(gap, nan=0.0, posinf=np.inf).max(initial=0.0)) <= far:
                    return False
    moved = "" if t == n else f", moved {found.updated[t]} and {expected.updated[t]}"
    where = "after the last round" if t == n else f"in round {t + 1}"
    raise Parted(f"{who} part {where}: scores {found.row(t).tolist()} and {expected.row(t).tolist()}{moved}")


def at_promise(scores: Array) -> bool:
    """Whether a margin is 1, all but exactly: a row is met again after weights were made for it."""
    return bool(np.abs(np.abs(scores).max() - 1.0) < 1e-9)


def on_the_edge(case: Case, t: int, score: float) -> bool:
    """Whether an error is so near to eps that 1 - |error| + eps, which a rule is told, cannot tell which is larger."""
    if case.play.task != "regression":
        return False
    eps = case.extra.get("eps", 0.0)
    return bool(abs(abs(float(case.stream.y[t]) - score) - eps) <= 1e-15 * max(1.0, eps))


def is_exact(case: Case) -> bool:
    """Whether nothing is rounded: few binary digits, and a rule that only adds, or doubles."""
    options = dict(case.play.options)
    if case.play.name not in EXACT or options.get("schedule", "constant") != "constant" or "kernel" in options:
        return False
    if case.play.name == "winnow" and not np.isin(case.stream.X, [0.0, 1.0]).all():
        return False
    numbers = [*case.numbers.values(), *(case.stream.weight or [])]
    short = all(float(x * 64.0).is_integer() and abs(x) <= 16.0 for x in numbers)
    X = case.stream.X
    return short and bool((np.abs(X) <= 16.0).all() and (np.round(X * 64.0) == X * 64.0).all())


def measurable(case: Case) -> bool:
    """Whether others, which mind no overflow, can be asked: all values are zero or of sizes from 1e-40 to 1e40.

    Where p-th powers are summed, these must be floats, too; a variance that is taken down from 1 keeps the digits that
    are left. A rule is told 1 - |error| + eps, and so sees errors to 1e-16: targets much smaller than 1 are no targets.
    """
    largest = 10.0 ** min(40.0, 200.0 / case.numbers.get("p", 1.0))
    if "covariance" in dict(case.play.options):
        largest = 20.0 if case.play.full else 1e4
    if case.play.name.startswith("winnow"):
        largest = 1e3  # values are exponents
    sizes = np.abs(case.stream.X)
    fit = bool(((sizes == 0.0) | ((sizes > 1.0 / largest) & (sizes < largest))).all())
    if case.play.task == "regression":
        targets = np.abs(np.array(case.stream.y, dtype=float))
        fit = fit and bool(((targets == 0.0) | ((targets > 1e-3) & (targets < 1e40))).all())
    return fit
