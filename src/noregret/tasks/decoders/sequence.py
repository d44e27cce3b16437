"""Sequences: a tag for every token, scored by the token and by the one or two tags before it; Viterbi search.

The first rows of a group are its tokens. Then comes a row for every context: with one tag of context, the start and
each tag (start, tag 0, tag 1 ...); with two, each pair of these, in the order of (first + 1) * (tags + 1) + second + 1,
where the start is -1. A part (token, tag) puts the tag at the token; a part (context, tag) puts it after the context.
Of equal sequences the one with the smallest tags from the end wins.
"""

from typing import Any

from noregret.tasks.decoders import forward_backward
from noregret.tasks.decoders.layout import AFTER, CHOSEN, LENGTH, TRUTH, WIDTH

LOWEST = -1e308


# ---- one tag of context ----------------------------------------------------------------------------------------------


def search(f: Any, y: Any, work: Any, first: Any, known: Any, augment: Any) -> None:
    """The best sequence of tags below `known`; with `augment`, each wrong tag adds as much to its score."""
    length = int(y[first, LENGTH])
    start = first + length
    back = length * known
    truth = int(y[first, TRUTH])
    for k in range(known):
        work[k] = f[first, k] + f[start, k]
        if k != truth:
            work[k] += augment
    for j in range(1, length):
        best, before = j * known, (j - 1) * known
        for k in range(known):
            work[best + k] = LOWEST
            work[back + best + k] = 0.0
        for context in range(known):
            score, row = work[before + context], start + 1 + context
            for k in range(known):
                found = score + f[row, k]
                if found > work[best + k]:
                    work[best + k] = found
                    work[back + best + k] = context
        truth = int(y[first + j, TRUTH])
        for k in range(known):
            work[best + k] += f[first + j, k]
            if k != truth:
                work[best + k] += augment
    trace_back(y, work, first, known)


def trace_back(y: Any, work: Any, first: Any, known: Any) -> None:
    """Write the best sequence, from its end."""
    length = int(y[first, LENGTH])
    back, last = length * known, (length - 1) * known
    tag = 0
    for k in range(1, known):
        if work[last + k] > work[last + tag]:
            tag = k
    for j in range(length - 1, -1, -1):
        y[first + j, CHOSEN] = tag
        if j > 0:
            tag = int(work[back + j * known + tag])


def tally(y: Any, counts: Any, first: Any, column: Any, a: Any) -> None:
    """Add a to the count of every part of the sequence in a column."""
    length, width = int(y[first, LENGTH]), int(y[first, WIDTH])
    context = 0
    for j in range(length):
        tag = int(y[first + j, column])
        counts[j * width + tag] += a
        counts[(length + context) * width + tag] += a
        context = tag + 1


def loss(y: Any, first: Any) -> Any:
    """Tokens with a wrong tag."""
    wrong = 0.0
    for i in range(first, first + int(y[first, LENGTH])):
        if y[i, CHOSEN] != y[i, TRUTH]:
            wrong += 1.0
    return wrong


def scratch(rows: int, length: int, width: int) -> int:
    return forward_backward.scratch(rows, length, width)  # of which `search` needs 2 * length * width


# ---- two tags of context ---------------------------------------------------------------------------------------------


def search_pairs(f: Any, y: Any, work: Any, first: Any, known: Any, augment: Any) -> None:
    """The best sequence with two tags of context: states are pairs of tags, the start being tag 0 and tag k, k + 1.

    Only states that there can be are looked at, so that also scores that overflow lead to tags.
    """
    length, tags = int(y[first, LENGTH]), int(y[first, AFTER]) + 1
    side = known + 1
    size = side * side
    start = first + length
    back = length * size
    for j in range(length):
        best, before = j * size, (j - 1) * size
        truth = int(y[first + j, TRUTH])
        from_a, to_a = tags_at(j - 2, side)
        from_b, to_b = tags_at(j - 1, side)
        for b in range(from_b, to_b):
            for k in range(1, side):
                work[best + b * side + k] = LOWEST
                work[back + best + b * side + k] = from_a
        for a in range(from_a, to_a):
            for b in range(from_b, to_b):
                score = work[before + a * side + b] if j > 0 else 0.0
                row = start + a * tags + b
                for k in range(known):
                    found = score + f[row, k]
                    if found > work[best + b * side + k + 1]:
                        work[best + b * side + k + 1] = found
                        work[back + best + b * side + k + 1] = a
        for b in range(from_b, to_b):
            for k in range(known):
                own = f[first + j, k]
                if k != truth:
                    own += augment
                work[best + b * side + k + 1] += own
    trace_back_pairs(y, work, first, known)


def tags_at(j: Any, side: Any) -> Any:
    """Which tags of context there are at a place: all of them, or before the sentence its start."""
    return (1, side) if j >= 0 else (0, 1)


def trace_back_pairs(y: Any, work: Any, first: Any, known: Any) -> None:
    """Write the best sequence, from its end."""
    length, side = int(y[first, LENGTH]), known + 1
    size = side * side
    back, last = length * size, (length - 1) * size
    from_a, to_a = tags_at(length - 2, side)
    pair = from_a * side + 1
    for a in range(from_a, to_a):
        for cell in range(a * side + 1, (a + 1) * side):
            if work[last + cell] > work[last + pair]:
                pair = cell
    for j in range(length - 1, -1, -1):
        before, tag = pair // side, pair % side
        y[first + j, CHOSEN] = tag - 1
        pair = int(work[back + j * size + pair]) * side + before


def tally_pairs(y: Any, counts: Any, first: Any, column: Any, a: Any) -> None:
    """Add a to the count of every part of the sequence in a column."""
    length, width, tags = int(y[first, LENGTH]), int(y[first, WIDTH]), int(y[first, AFTER]) + 1
    before = last = 0
    for j in range(length):
        tag = int(y[first + j, column])
        counts[j * width + tag] += a
        counts[(length + before * tags + last) * width + tag] += a
        before, last = last, tag + 1


def scratch_pairs(rows: int, length: int, width: int) -> int:
    return max(2 * length * (width + 1) ** 2, forward_backward.scratch_pairs(rows, length, width))
