"""Lists of rows to be put in order: z = x_i - x_j, margin = f_i - f_j, where row i is more relevant than j in its list.

All rows of a list are scored before any relevance is shown; then the rule is taught by pairs, each a round to it. y has
for every row the number of its list, its relevance, and which row of the list has this place in order of relevance.
"""

from typing import Any

from noregret.algebra.verbs import row, row_difference, unbound
from noregret.tasks.loops.binary import score_rows

__all__ = ["score_rows", "play"]

score = update = taught = unbound


def play(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, updated: Any, aux: Any) -> Any:
    first = 0
    while first < out.size:
        last = first
        while last < out.size and y[last, 0] == y[first, 0]:
            out[last] = score(p, s, row(X, last))
            last += 1
        if h[first] > 0.0:
            updated[first] = taught(p, g, s, X, y, h[first], out, first, last)
        first = last


# ---- by which pairs of a list the rule is taught ---------------------------------------------------------------------


def worst(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, f: Any, first: Any, last: Any) -> Any:
    """The pair with the smallest margin; of equals, that of the first rows."""
    top = better = worse = -1
    margin = 0.0
    start = first
    while start < last:
        stop = start
        relevance = y[first + int(y[start, 2]), 1]
        while stop < last and y[first + int(y[stop, 2]), 1] == relevance:
            i = first + int(y[stop, 2])
            if top >= 0:
                lead = f[i] - f[top]
                if better < 0 or lead < margin or (lead == margin and i < better):
                    better, worse, margin = i, top, lead
            stop += 1
        for k in range(start, stop):
            i = first + int(y[k, 2])
            if top < 0 or f[i] > f[top] or (f[i] == f[top] and i < top):
                top = i
        start = stop
    if better < 0:
        return False
    s.n.t += 1.0
    return update(p, s, row_difference(row(X, better), row(X, worse), g.places, g.values), margin, h)


def each(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, f: Any, first: Any, last: Any) -> Any:
    """Every row that should be above another, against the highest of these, in the order of the rows."""
    any_updated = False
    for i in range(first, last):
        rival = -1
        highest = 0.0
        for j in range(first, last):
            if y[j, 1] < y[i, 1]:
                found = score(p, s, row(X, j))
                if rival < 0 or found > highest:
                    rival, highest = j, found
        if rival >= 0:
            margin = score(p, s, row(X, i)) - highest
            s.n.t += 1.0
            if update(p, s, row_difference(row(X, i), row(X, rival), g.places, g.values), margin, h):
                any_updated = True
    return any_updated


def every(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, f: Any, first: Any, last: Any) -> Any:
    """Every pair: the better rows in their order, and for each the worse ones in theirs."""
    any_updated = False
    for i in range(first, last):
        for j in range(first, last):
            if y[j, 1] < y[i, 1]:
                margin = score(p, s, row(X, i)) - score(p, s, row(X, j))
                s.n.t += 1.0
                if update(p, s, row_difference(row(X, i), row(X, j), g.places, g.values), margin, h):
                    any_updated = True
    return any_updated
