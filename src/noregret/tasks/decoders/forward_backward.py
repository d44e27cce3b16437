"""Marginals of sequences by the forward-backward recursions, for models by their likelihood (CRF).

A sequence has a probability proportional to exp(its score). Sums over sequences are kept as logarithms. Exponentials
of the context rows are computed once for a sentence; a sum that underflows is computed again, term by term.
Lafferty, McCallum and Pereira, Conditional random fields, ICML 2001.

`work` holds exp of the context rows, then the sums over beginnings and over endings, then three spare rows. A link is
the part of a step that all sums share: the place of the first source, the distance to the next; the context of the
first source, the distance to the next; the number of sources, the first context row, and the spare rows.
"""

import math
from typing import Any

from noregret.tasks.decoders.layout import AFTER, LENGTH, WIDTH

LOWEST = -1e308
LOST = 1e-250  # a sum of products below it may have lost its largest terms
LARGEST = 600.0  # exp of it is far from an overflow


def expect(f: Any, y: Any, work: Any, counts: Any, first: Any, known: Any) -> Any:
    """Subtract the marginal of every part from its count; returns the logarithm of the sum over all sequences."""
    length, width = int(y[first, LENGTH]), int(y[first, WIDTH])
    start, alpha = first + length, (known + 1) * known
    ahead = length * known
    last, spare = alpha + ahead - known, alpha + 2 * ahead
    top = fill_factors(f, work, start, known + 1, known)
    for k in range(known):
        work[alpha + k] = f[first, k] + f[start, k]
    for j in range(1, length):
        at = alpha + j * known
        sum_before(f, work, (at - known, 1, 1, 1, known, start, spare), top, at, known)
        for k in range(known):
            work[at + k] += f[first + j, k]
    log_z = log_sum(work, last, known)
    for k in range(known):
        work[last + ahead + k] = 0.0
    for j in range(length - 1, -1, -1):
        at = alpha + j * known
        for k in range(known):
            p = math.exp(work[at + k] + work[at + ahead + k] - log_z)
            counts[j * width + k] -= p
            if j == 0:
                counts[length * width + k] -= p
            work[spare + k] = f[first + j, k] + work[at + ahead + k]
        if j > 0:
            link = (at - known, 1, 1, 1, known, start, spare)
            sum_after(f, work, counts[length * width :], link, (top, log_z, ahead, width), known)
    return log_z


def expect_pairs(f: Any, y: Any, work: Any, counts: Any, first: Any, known: Any) -> Any:
    """The same with two tags of context: a state is a tag and the one before it, where the start comes first."""
    length, width, tags = int(y[first, LENGTH]), int(y[first, WIDTH]), int(y[first, AFTER]) + 1
    side = known + 1
    size, start, alpha = side * known, first + length, tags * tags * known
    ahead = length * size
    last, spare = alpha + ahead - size, alpha + 2 * ahead
    top = fill_factors(f, work, start, tags * tags, known)
    for state in range(size):
        work[alpha + state] = f[first, state] + f[start, state] if state < known else LOWEST
    for j in range(1, length):
        at = alpha + j * size
        for k in range(known):
            work[at + k] = LOWEST
        for b in range(1, side):
            link = (at - size + b - 1, known, b, tags, side, start, spare)
            sum_before(f, work, link, top, at + b * known, known)
            for k in range(known):
                work[at + b * known + k] += f[first + j, k]
    log_z = log_sum(work, last, size)
    for state in range(size):
        work[last + ahead + state] = 0.0
    for j in range(length - 1, -1, -1):
        at = alpha + j * size
        for b in range(side):
            for k in range(known):
                state = at + b * known + k
                p = math.exp(work[state] + work[state + ahead] - log_z)
                counts[j * width + k] -= p
                if j == 0:
                    counts[length * width + k] -= p
                work[spare + k] = f[first + j, k] + work[state + ahead]
            if j > 0 and b > 0:
                link = (at - size + b - 1, known, b, tags, side, start, spare)
                sum_after(f, work, counts[length * width :], link, (top, log_z, ahead, width), known)
    return log_z


# ---- sums ------------------------------------------------------------------------------------------------------------


def fill_factors(f: Any, work: Any, start: Any, contexts: Any, known: Any) -> Any:
    """Write exp of the scores of context rows over the largest; returns the logarithm of that."""
    top = LOWEST
    for c in range(contexts):
        for k in range(known):
            top = max(top, f[start + c, k])
    for c in range(contexts):
        for k in range(known):
            work[c * known + k] = math.exp(f[start + c, k] - top)
    return top


def sum_before(f: Any, work: Any, link: Any, top: Any, target: Any, known: Any) -> None:
    """Write, for every tag, the logarithm of the sum over all beginnings up to its contexts."""
    source, step, context, stride, sources, start, spare = link
    high = LOWEST
    for i in range(sources):
        high = max(high, work[source + i * step])
    for k in range(known):
        work[target + k] = 0.0
    for i in range(sources):
        share, cell = math.exp(work[source + i * step] - high), (context + i * stride) * known
        for k in range(known):
            work[target + k] += share * work[cell + k]
    for k in range(known):
        if work[target + k] > LOST:
            work[target + k] = math.log(work[target + k]) + high + top
        else:
            for i in range(sources):
                work[spare + i] = work[source + i * step] + f[start + context + i * stride, k]
            work[target + k] = log_sum(work, spare, sources)


def sum_after(f: Any, work: Any, counts: Any, link: Any, sizes: Any, known: Any) -> None:
    """Write the sums over all endings after each source, and subtract the marginals of its parts.

    The first spare row has the sum over all endings that begin with each tag.
    """
    source, step, context, stride, sources, start, spare = link
    top, log_z, ahead, width = sizes
    high, shares, terms = largest(work, spare, known), spare + known + 1, spare + 2 * known + 2
    for k in range(known):
        work[shares + k] = math.exp(work[spare + k] - high)
    for i in range(sources):
        at, row = source + i * step, context + i * stride
        total = 0.0
        for k in range(known):
            total += work[row * known + k] * work[shares + k]
        if total > LOST:
            work[at + ahead] = math.log(total) + high + top
        else:
            for k in range(known):
                work[terms + k] = f[start + row, k] + work[spare + k]
            work[at + ahead] = log_sum(work, terms, known)
        shift = work[at] + high + top - log_z
        if shift < LARGEST:
            share = math.exp(shift)
            for k in range(known):
                counts[row * width + k] -= share * work[row * known + k] * work[shares + k]
        else:
            for k in range(known):
                counts[row * width + k] -= math.exp(work[at] + f[start + row, k] + work[spare + k] - log_z)


def log_sum(work: Any, at: Any, n: Any) -> Any:
    """The logarithm of the sum of exp of n numbers."""
    top, total = largest(work, at, n), 0.0
    for k in range(n):
        total += math.exp(work[at + k] - top)
    return top + math.log(total)


def largest(work: Any, at: Any, n: Any) -> Any:
    """The largest of n numbers."""
    top = work[at]
    for k in range(1, n):
        top = max(top, work[at + k])
    return top


def scratch(rows: int, length: int, width: int) -> int:
    """Floats that `expect` needs."""
    return (rows - length) * width + 2 * length * width + 3 * (width + 1)


def scratch_pairs(rows: int, length: int, width: int) -> int:
    """Floats that `expect_pairs` needs."""
    return (rows - length) * width + 2 * length * width * (width + 1) + 3 * (width + 1)
