"""Query groups for ranking: consecutive rows of one query form a list, which is ranked as a whole."""

from collections.abc import Iterator
from itertools import pairwise, starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 100_000  # the most rows of a list: that many already have five billion pairs
PAIRS = 1 << 20  # pairs compared at a time


def query_ids(query: Any) -> NDArray[Any] | None:
    """Convert the query of every row to an array; None if `query` is not one-dimensional."""
    if isinstance(query, (str, bytes)) or not hasattr(query, "__iter__"):
        return None
    if hasattr(query, "dtype") or hasattr(query, "to_numpy"):
        values = np.asarray(query)
        return values if values.ndim == 1 else None
    listed = list(query)
    ids = np.empty(len(listed), object)
    ids[:] = listed
    return ids


def group_offsets(query: Any) -> NDArray[np.int64]:
    """Return where each list begins, and where the last one ends.

    A query that comes again after another one starts a new list.
    """
    if not len(query):
        return np.zeros(1, np.int64)
    changes = np.asarray(query[1:] != query[:-1], bool)
    return np.concatenate(([0], np.flatnonzero(changes) + 1, [len(query)]))


def group_slices(query: Any) -> Iterator[slice]:
    """Yield the rows of every list."""
    return starmap(slice, pairwise(group_offsets(query).tolist()))


def count_ordered(relevance: NDArray[np.float64], f: NDArray[np.float64]) -> tuple[int, int]:
    """How many pairs a list has, and twice how many of them are in the right order, equal scores counting half."""
    pairs = halves = 0
    for margins in pair_margins(relevance, f):
        pairs += margins.size
        halves += 2 * int(np.count_nonzero(margins > 0.0)) + int(np.count_nonzero(margins == 0.0))
    return pairs, halves


def pair_margins(relevance: NDArray[np.float64], f: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield f[i] - f[j] for all pairs of a list with i more relevant than j, in parts where the list is long."""
    step = max(PAIRS // max(f.size, 1), 1)
    for start in range(0, f.size, step):
        better = relevance[start : start + step, None] > relevance
        yield (f[start : start + step, None] - f)[better]
