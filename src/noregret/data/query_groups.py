"""Rows that come in lists: where a list begins and ends, and its pairs."""

from collections.abc import Iterator
from itertools import pairwise, starmap
from typing import Any

import numpy as np

LONGEST = 100_000  # rows of a list; it may have five billion pairs
PAIRS = 1 << 20  # pairs that are looked at in one go


def identities(query: Any) -> np.ndarray | None:
    """What tells the lists of rows apart, in an array; None where it is nothing of the kind."""
    if isinstance(query, (str, bytes)) or not hasattr(query, "__iter__"):
        return None
    if hasattr(query, "dtype") or hasattr(query, "to_numpy"):
        found = np.asarray(query)
        return found if found.ndim == 1 else None
    listed = list(query)
    ids = np.empty(len(listed), object)
    ids[:] = listed
    return ids


def borders(query: Any) -> np.ndarray:
    """Where lists begin, and where the last one ends: the same query again after another is another list."""
    if not len(query):
        return np.zeros(1, np.int64)
    changes = np.asarray(query[1:] != query[:-1], bool)
    return np.concatenate(([0], np.flatnonzero(changes) + 1, [len(query)]))


def each_list(query: Any) -> Iterator[slice]:
    """The rows of every list."""
    return starmap(slice, pairwise(borders(query).tolist()))


def leads(relevance: np.ndarray, f: np.ndarray) -> Iterator[np.ndarray]:
    """By how much each row of a list is above each one that is less relevant; of a long list, some rows at a time."""
    some = max(PAIRS // max(f.size, 1), 1)
    for at in range(0, f.size, some):
        better = relevance[at : at + some, None] > relevance
        yield (f[at : at + some, None] - f)[better]
