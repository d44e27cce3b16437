"""When two players of one stream agree, and when they may part: only where rounding decides.

Two texts of one rule round differently. That is no excuse for a difference that rounding does not explain: the player
that is trusted is asked again, on rows of which every value is changed by a part in 10^12. What it then says may differ
from what it said first, and so far the other one may differ, too. Where numbers are exact there is no excuse at all.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.fuzz.case import Case
from tests.naive.rules import Array

CLOSE = 1e-10
SHAKEN = 2.0**-40
TRIES = 3
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
    notes: list[str] = field(default_factory=list)


class Parted(AssertionError):
    """Two players of one stream said different things."""


def columns(scores: Any, rounds: int) -> Array:
    return np.asarray(scores, dtype=float).reshape(rounds, -1)


def close(found: Array, expected: Array, largest: float) -> bool:
    if found.shape != expected.shape or not (np.isneginf(found) == np.isneginf(expected)).all():
        return False
    real = ~np.isneginf(expected)
    gap = np.abs(found[real] - expected[real])
    return bool((gap <= CLOSE * np.abs(expected[real]) + 0.01 * CLOSE * largest).all())


def largest(said: Said, t: int) -> float:
    sizes = np.abs(np.concatenate([said.row(s).ravel() for s in range(t + 1)]))
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


def parting(found: Said, expected: Said) -> int | None:
    """The first round of which two players say different things."""
    n = len(expected.updated)
    for t in range(n + 1):
        if not close(found.row(t), expected.row(t), largest(expected, t)):
            return t
        if t < n and found.updated[t] != expected.updated[t]:
            return t
    return None


def agree(found: Said, expected: Said, shaken: Callable[[int], Said], exact: bool, computed: bool, who: str) -> bool:
    """Hold every number against its like. False when the two part where rounding decides; Parted when they may not."""
    with np.errstate(all="ignore"):
        t = parting(found, expected)
        if t is None:
            return True
        n = len(expected.updated)
        same = bool((found.row(t) == expected.row(t)).all())
        if not exact and (computed or not same):
            for seed in range(TRIES):
                other = shaken(seed)
                if other.updated[: t + 1] != expected.updated[: t + 1]:
                    return False
                gaps = [np.abs(other.row(s) - expected.row(s)) for s in range(t + 1)]
                far = max((float(np.nan_to_num(gap, nan=0.0).max(initial=0.0)) for gap in gaps), default=0.0)
                gap = np.abs(found.row(t) - expected.row(t))
                if not same and float(np.nan_to_num(gap, nan=0.0, posinf=np.inf).max(initial=0.0)) <= far:
                    return False
    moved = "" if t == n else f", moved {found.updated[t]} and {expected.updated[t]}"
    where = "after the last round" if t == n else f"in round {t + 1}"
    raise Parted(f"{who} part {where}: scores {found.row(t).tolist()} and {expected.row(t).tolist()}{moved}")


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
    return short and bool((np.abs(X) <= 16.0).all() and (X * 64.0 == np.round(X * 64.0)).all())


def measurable(case: Case) -> bool:
    """Whether the twin, which minds no overflow, can be asked: all numbers are zero or of sizes from 1e-40 to 1e40."""
    told = [float(target) for target in case.stream.y] if case.play.game == "regression" else []
    sizes = np.abs(np.concatenate([case.stream.X.ravel(), told]))
    return not case.auto and bool(((sizes == 0.0) | ((sizes > 1e-40) & (sizes < 1e40))).all())
