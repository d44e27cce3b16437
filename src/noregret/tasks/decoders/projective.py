"""The best projective tree, in which no arcs cross: Eisner's algorithm, O(L^3).

The charts are over spans of words s .. t. A span with an arc has its arc between s and t; below it are a complete span
with head s and one with head t, side by side. A complete span has its head at one end and is a span with an arc from
there and a complete span that continues it. The root is not in the charts: it takes the one word with the best total.

Paper: Eisner, Three new probabilistic models for dependency parsing: an exploration, COLING 1996.
"""

from typing import Any

from noregret.tasks.decoders.arcs import arc_row
from noregret.tasks.decoders.layout import CHOSEN, LENGTH, TRUTH

# Charts in `work`, each of L * L floats: scores, then where spans are split. The head of RIGHT is s, of LEFT t.
RIGHT, LEFT, ARC_RIGHT, ARC_LEFT, SPLIT_ARC, SPLIT_RIGHT, SPLIT_LEFT, CHARTS = 0, 1, 2, 3, 4, 5, 6, 7


def search(f: Any, y: Any, work: Any, first: Any, known: Any, augment: Any) -> None:
    """Write the best tree; with `augment`, each wrong arc adds as much to its score."""
    length = int(y[first, LENGTH])
    size = length * length
    for i in range(size):
        y[first + i, CHOSEN] = -1.0
    for s in range(length):
        work[RIGHT * size + s * length + s] = 0.0
        work[LEFT * size + s * length + s] = 0.0
    for distance in range(1, length):
        for s in range(length - distance):
            add_arcs(f, y, work, first, augment, s * length + s + distance)
            complete(work, length, s, s + distance)
    root, best = 0, 0.0
    for s in range(length):
        total = arc_score(f, y, first, augment, arc_row(length, 0, s + 1))
        total += work[LEFT * size + s] + work[RIGHT * size + s * length + length - 1]
        if s == 0 or total > best:
            root, best = s, total
    y[first + arc_row(length, 0, root + 1), CHOSEN] = 0.0
    trace_back(y, work, first, root)


def arc_score(f: Any, y: Any, first: Any, augment: Any, arc: Any) -> Any:
    """The score of an arc, with its loss."""
    return f[first + arc, 0] + augment if y[first + arc, TRUTH] < 0.0 else f[first + arc, 0]


def add_arcs(f: Any, y: Any, work: Any, first: Any, augment: Any, at: Any) -> None:
    """The best spans with an arc from s to t and from t to s, at s * length + t of the charts."""
    length = int(y[first, LENGTH])
    size, s, t = length * length, at // length, at % length
    split, best = s, work[RIGHT * size + s * length + s] + work[LEFT * size + (s + 1) * length + t]
    for q in range(s + 1, t):
        found = work[RIGHT * size + s * length + q] + work[LEFT * size + (q + 1) * length + t]
        if found > best:
            split, best = q, found
    work[SPLIT_ARC * size + at] = split
    work[ARC_RIGHT * size + at] = best + arc_score(f, y, first, augment, arc_row(length, s + 1, t + 1))
    work[ARC_LEFT * size + at] = best + arc_score(f, y, first, augment, arc_row(length, t + 1, s + 1))


def complete(work: Any, length: Any, s: Any, t: Any) -> None:
    """The best complete spans s .. t, with head s and with head t."""
    size = length * length
    split, best = t, work[ARC_RIGHT * size + s * length + t]
    for q in range(s + 1, t):
        found = work[ARC_RIGHT * size + s * length + q] + work[RIGHT * size + q * length + t]
        if found > best:
            split, best = q, found
    work[RIGHT * size + s * length + t] = best
    work[SPLIT_RIGHT * size + s * length + t] = split
    split, best = s, work[ARC_LEFT * size + s * length + t]
    for q in range(s + 1, t):
        found = work[LEFT * size + s * length + q] + work[ARC_LEFT * size + q * length + t]
        if found > best:
            split, best = q, found
    work[LEFT * size + s * length + t] = best
    work[SPLIT_LEFT * size + s * length + t] = split


def trace_back(y: Any, work: Any, first: Any, root: Any) -> None:
    """Write the arcs below the root word: spans wait on a stack as their chart and place."""
    length = int(y[first, LENGTH])
    size = length * length
    stack = CHARTS * size
    work[stack], work[stack + 1] = LEFT, root
    work[stack + 2], work[stack + 3] = RIGHT, root * length + length - 1
    top = stack + 4
    while top > stack:
        top -= 2
        chart, at = int(work[top]), int(work[top + 1])
        s, t = at // length, at % length
        if s == t:
            continue
        if chart == RIGHT:
            q = int(work[SPLIT_RIGHT * size + at])
            work[top], work[top + 1] = ARC_RIGHT, s * length + q
            work[top + 2], work[top + 3] = RIGHT, q * length + t
        elif chart == LEFT:
            q = int(work[SPLIT_LEFT * size + at])
            work[top], work[top + 1] = LEFT, s * length + q
            work[top + 2], work[top + 3] = ARC_LEFT, q * length + t
        else:
            arc = arc_row(length, s + 1, t + 1) if chart == ARC_RIGHT else arc_row(length, t + 1, s + 1)
            y[first + arc, CHOSEN] = 0.0
            q = int(work[SPLIT_ARC * size + at])
            work[top], work[top + 1] = RIGHT, s * length + q
            work[top + 2], work[top + 3] = LEFT, (q + 1) * length + t
        top += 4


def scratch(rows: int, length: int, width: int) -> int:
    """The charts, and a stack of spans that do not overlap, two floats for each, with room to push two more."""
    return CHARTS * length * length + 4 * length + 8
