"""Lessons in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from noregret.concepts.teaching import Lesson

FEW = 4  # features of a row that are named
PROTOCOLS: dict[str, str] = {
    "queries": "the learner asks: it chooses rows and is told their labels",
    "teacher": "a helpful teacher chooses the examples",
    "random": "examples come from a random source; the learner is elimination",
}


def describe_row(row: NDArray[np.float64], features: Sequence[str]) -> str:
    """A row in a few words: which features are on, or which are off, or how many."""
    on, off = np.flatnonzero(row), np.flatnonzero(row == 0.0)
    if not on.size:
        return "no feature"
    if not off.size:
        return "all features"
    if on.size <= FEW:
        return "only " + ", ".join(features[at] for at in on.tolist())
    if off.size <= FEW:
        return "all but " + ", ".join(features[at] for at in off.tolist())
    return f"{on.size} of {row.size} features"


def describe_start(lesson: "Lesson") -> str:
    literals = "literals" if lesson.negations else "features"
    how = PROTOCOLS[lesson.protocol]
    return f"a hidden {lesson.concept} of {lesson.relevant} of {lesson.features:,} {literals}; {how}"


def describe_end(lesson: "Lesson") -> list[str]:
    """What came of a lesson, line by line."""
    same = "exactly the target" if lesson.exact else f"the target is {lesson.target}"
    count = f"{lesson.examples:,} ({lesson.promise})"
    if not lesson.promise.startswith("as asked"):
        count = f"{lesson.examples:,} ({lesson.promise}: {lesson.promised:,})"
    lines = [f"learned: {lesson.learned} ({same})", f"examples: {count}"]
    lines.append(f"mistakes of elimination on the way: {lesson.mistakes}, bound {lesson.bound:g}")
    if lesson.error is not None and lesson.eps is not None:
        share, allowed = 100 * lesson.error, 100 * lesson.eps
        lines.append(f"error on {lesson.fresh:,} fresh examples: {share:.2f} % (allowed: {allowed:g} %)")
    return lines
