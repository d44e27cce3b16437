"""Sources: a name, a pair (X, y), blocks of pairs, or an iterable of rounds."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from noregret.errors import BadValue
from noregret.streams.datasets import dataset

ROWS = 8192


def blocks(source: Any, rows: int = ROWS) -> Iterator[tuple[Any, Any]]:
    """The rounds of a source, some thousands at a time."""
    if isinstance(source, str):
        source = dataset(source)
    if isinstance(source, tuple) and len(source) == 2:
        yield from sliced(*source, rows)
    elif isinstance(source, Iterable):
        yield from collected(iter(source), rows)
    else:
        raise BadValue(
            f"a source is a name, a pair (X, y) or an iterable of rounds (x, y), not {type(source).__name__}"
        )


def sliced(X: Any, y: Any, rows: int) -> Iterator[tuple[Any, Any]]:
    X = X.tocsr() if hasattr(X, "tocsr") else X
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    if count != len(y):
        raise BadValue(f"X has {count} rows and y has {len(y)} labels; they must match")
    for start in range(0, count, rows):
        yield X[start : start + rows], y[start : start + rows]


def collected(rounds: Iterator[Any], rows: int) -> Iterator[tuple[Any, Any]]:
    while part := list(islice(rounds, rows)):
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in part):
            raise BadValue("an iterable source gives rounds (x, y), one tuple for each")
        X, y = [x for x, _ in part], [label for _, label in part]
        if isinstance(X[0], np.ndarray) and X[0].ndim == 2:
            yield from part
        else:
            yield X, y
