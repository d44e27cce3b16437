"""From what a user names or hands over to a source: a file, a data set, a made-up stream, arrays, rounds.

A text is, in this order: "-", the standard input; a file, where it has a folder or an ending in it; a built-in data
set; a made-up stream; a data set under NOREGRET_DATA; any other file. So a file called iris never hides the data set,
and ./iris is the file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from noregret.chunk import Rows
from noregret.errors import BadValue, shown
from noregret.streams import datasets
from noregret.streams.source import Batch, Reading, Source
from noregret.streams.synthetic import GENERATORS, Synthetic

ROWS = 8192


def open_source(spec: Any, reading: Reading | None = None, seed: int = 0, **how: Any) -> Source:
    """The source that a text names, or that is made of arrays (X, y) or of an iterable of rounds (x, y).

    How a file is read may be told as a Reading, or by its parts: label="price", zero_based=True, skip=True,
    targets=True for real labels. Iterating gives batches with X, y and the lines they stand on.
    """
    unknown = [name for name in how if name not in Reading.__dataclass_fields__]
    if unknown:
        raise BadValue(f"open_source has no option {unknown[0]!r}; it has {', '.join(Reading.__dataclass_fields__)}")
    reading = replace(reading or Reading(), **how)
    if isinstance(spec, Source):
        return spec
    if isinstance(spec, Path):
        return file_source(str(spec), str(spec), reading)
    if isinstance(spec, str):
        return named(spec, reading, seed)
    if isinstance(spec, tuple) and len(spec) == 2:
        return Arrays(*spec)
    if isinstance(spec, Iterable):
        return Rounds(spec)
    raise BadValue(
        f"a source is a name, a file, a pair (X, y) or an iterable of rounds (x, y), not {type(spec).__name__}"
    )


def blocks(source: Any, rows: int = ROWS) -> Iterator[tuple[Any, Any]]:
    """The rounds of a source as pairs (X, y), some thousands at a time."""
    source = open_source(source)
    if hasattr(source, "batch"):
        source.batch = rows
    for batch in source:
        yield batch.X, batch.y


# ---- by name --------------------------------------------------------------------------------------------------------


def named(spec: str, reading: Reading, seed: int) -> Source:
    """The source that a text names."""
    path = Path(spec)
    if spec == "-" or (is_path(spec) and path.exists()):
        return file_source(spec, spec, reading)
    if spec in datasets.LOADERS:
        return BuiltIn(spec, seed)
    if spec.partition(":")[0] in GENERATORS:
        return Synthetic(spec, seed)
    found = datasets.in_folder(spec)
    if found is not None:
        return file_source(str(found), spec, reading)
    if spec and path.exists():
        return file_source(spec, spec, reading)
    raise BadValue(nothing(spec))


def is_path(spec: str) -> bool:
    return "/" in spec or "\\" in spec or bool(Path(spec).suffix)


def nothing(spec: str) -> str:
    close = get_close_matches(spec, [*datasets.names(), *neighbours(spec)], 1)
    hint = f"; did you mean {close[0]!r}?" if close else ";"
    return f"there is no built-in data set {shown(spec)}, and no file of that name{hint} noregret datasets lists them"


def neighbours(spec: str) -> list[str]:
    """The files beside the one that is not there."""
    place = Path(spec).parent
    try:
        return [str(path) for path in islice(place.iterdir(), 1000)]
    except OSError:
        return []


def file_source(path: str, spec: str, reading: Reading) -> Source:
    """A file by its ending, or by a look at its first line."""
    if path != "-" and Path(path).is_dir():
        path = str(datasets.inside(Path(path), spec))
    kind = datasets.split_name(path)[1] or looked_at(path)
    if kind == "csv":
        from noregret.streams.csv import Csv

        return Csv(path, reading)
    from noregret.streams.libsvm import Libsvm

    return Libsvm(path, reading)


def looked_at(path: str) -> str:
    """The format of a file whose name does not tell; what was looked at of standard input is kept for its reader."""
    from noregret.streams.files import TextFile

    with TextFile(path) as file:
        return sniffed(file.peek(LOOK), file.name)


LOOK = 1 << 16  # bytes in which the format should show
PAIR = re.compile(rb"(?:[0-9]+|qid):[^:,;|]+")


def sniffed(head: bytes, name: str) -> str:
    """The format of a text by its first lines: pairs index:value, or cells."""
    lines = [line for line in head.split(b"\n") if line.strip() and not line.lstrip().startswith(b"#")]
    if any(PAIR.fullmatch(word) for line in lines for word in line.split(None, 2)[:2]):
        return "libsvm"
    if lines and any(mark in lines[0] for mark in (b",", b";", b"\t", b"|")):
        return "csv"
    raise BadValue(
        f"{name}: this is neither libsvm (label index:value ...) nor a table of cells separated by commas, "
        "semicolons, tabs or bars"
    )


# ---- what a user hands over -----------------------------------------------------------------------------------------


class Arrays(Source):
    """Rows and labels that are there already: matrices, sparse matrices, lists of dicts."""

    kind = "arrays"
    name = "arrays"

    def __init__(self, X: Any, y: Any, batch: int = ROWS) -> None:
        super().__init__()
        X = X.tocsr() if hasattr(X, "tocsr") else X
        if not all(hasattr(part, "shape") or hasattr(part, "__len__") for part in (X, y)):
            raise BadValue(f"a pair (X, y) holds rows and labels, not {type(X).__name__} and {type(y).__name__}")
        self.rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if self.rows != len(y):
            raise BadValue(f"X has {self.rows} rows and y has {len(y)} labels; they must match")
        self.X, self.y, self.batch = X, y, batch

    def __iter__(self) -> Iterator[Batch]:
        count = len(self.y)
        for start in range(0, count, self.batch):
            stop = min(start + self.batch, count)
            yield Batch(self.X[start:stop], self.y[start:stop], np.arange(start, stop), stop / count)


class BuiltIn(Source):
    """A data set that comes with scikit-learn, loaded when its rows are asked for."""

    kind = "built-in"

    def __init__(self, name: str, seed: int = 0, batch: int = ROWS) -> None:
        super().__init__()
        self.name, self.seed, self.batch = name, seed, batch
        entry = next(one for one in datasets.BUILT_IN if one.name == name)
        self.rows = entry.rows
        if entry.task == "regression":
            self.suits = {"game": "regression", "bias": True}

    def __iter__(self) -> Iterator[Batch]:
        return iter(Arrays(*datasets.dataset(self.name, self.seed), self.batch))


class Rounds(Source):
    """Rounds (x, y), or blocks of them, from any iterable; read only as far as they are played."""

    kind = "rounds"
    name = "rounds"

    def __init__(self, rounds: Iterable[Any], batch: int = ROWS) -> None:
        super().__init__()
        self.rounds, self.batch = rounds, batch

    def __iter__(self) -> Iterator[Batch]:
        rounds = iter(self.rounds)
        for first in rounds:
            if isinstance(first, Batch):
                yield first
                continue
            part = [first] if is_block(first) else [first, *islice(rounds, self.batch - 1)]
            if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in part):
                raise BadValue("an iterable source gives rounds (x, y), one tuple for each")
            yield Batch(*first) if is_block(first) else Batch([x for x, _ in part], [label for _, label in part])


def is_block(pair: Any) -> bool:
    """Whether a pair is a whole block of rounds: rows or a list of dicts, with its labels."""
    X = pair[0] if isinstance(pair, tuple) and len(pair) == 2 else None
    return (
        isinstance(X, Rows)
        or getattr(X, "ndim", 0) == 2
        or (isinstance(X, list) and bool(X) and isinstance(X[0], Mapping))
    )
