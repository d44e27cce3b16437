"""Sources: a name, a pair (X, y), blocks of pairs, or an iterable of rounds."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

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
    if not all(hasattr(part, "shape") or hasattr(part, "__len__") for part in (X, y)):
        raise BadValue(f"a pair (X, y) holds rows and labels, not {type(X).__name__} and {type(y).__name__}")
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    if count != len(y):
        raise BadValue(f"X has {count} rows and y has {len(y)} labels; they must match")
    for start in range(0, count, rows):
        yield X[start : start + rows], y[start : start + rows]


def collected(rounds: Iterator[Any], rows: int) -> Iterator[tuple[Any, Any]]:
    for first in rounds:
        part = [first] if is_block(first) else [first, *islice(rounds, rows - 1)]
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in part):
            raise BadValue("an iterable source gives rounds (x, y), one tuple for each")
        yield first if is_block(first) else ([x for x, _ in part], [label for _, label in part])


def is_block(pair: Any) -> bool:
    """Whether a pair is a whole block of rounds: a matrix or a list of dicts, with its labels."""
    X = pair[0] if isinstance(pair, tuple) and len(pair) == 2 else None
    return getattr(X, "ndim", 0) == 2 or (isinstance(X, list) and bool(X) and isinstance(X[0], Mapping))
