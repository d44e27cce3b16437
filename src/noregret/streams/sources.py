"""From what a user names or hands over to a source: files, a data set, a made-up stream, arrays, rounds.

A text is, in this order: "-", the standard input; a file, where it has a folder or an ending in it; a built-in data
set; a made-up stream; a data set under NOREGRET_DATA; any other file; a pattern such as day-*.svm, for the files it
fits in the order of their names. So a file called iris never hides the data set, and ./iris is the file.
"""

import glob
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from noregret.data.batch import Batch, Position
from noregret.data.blocks import Rows
from noregret.data.query_groups import query_ids
from noregret.errors import BadValue, shown
from noregret.features.frames import is_frame
from noregret.streams import datasets
from noregret.streams.composed import Shaped
from noregret.streams.formats import file_source
from noregret.streams.read_options import Reading, reading_of
from noregret.streams.source import Source, number_in
from noregret.streams.synthetic import GENERATORS, Synthetic

ROWS = 8192


def open_source(spec: Any, reading: Reading | None = None, seed: int = 0, **how: Any) -> Source:
    """The source that a text names, or that is made of arrays (X, y) or of an iterable of rounds (x, y).

    Several files are read one after another: name them in a list, or by a pattern. How it is read may be told as a
    Reading, or by its parts: label="price", drop=["id"], limit=1000, passes=3, on_bad="skip", targets=True for real
    labels. Iterating gives batches with X, y and the lines they stand on.
    """
    reading = reading_of(reading, how)
    if isinstance(spec, Source):
        return spec
    sources = found(spec, reading, seed)
    return Shaped(sources, reading) if len(sources) > 1 or reading.shaped else sources[0]


def found(spec: Any, reading: Reading, seed: int) -> list[Source]:
    """The sources that a user named or handed over."""
    if isinstance(spec, Path):
        return [file_source(str(spec), str(spec), reading)]
    if isinstance(spec, str):
        return named(spec, reading, seed)
    if isinstance(spec, (list, tuple)) and spec and all(isinstance(one, (str, Path)) for one in spec):
        return [source for one in spec for source in found(one, reading, seed)]
    source: Source
    if is_frame(spec) or (isinstance(spec, tuple) and len(spec) == 2 and is_frame(spec[0])):
        from noregret.streams.frames import frame_source

        frame, labels = spec if isinstance(spec, tuple) else (spec, None)
        source = frame_source(frame, labels, reading)
    elif isinstance(spec, tuple) and len(spec) == 3 and reading.lists:
        X, y, query = spec
        source = Arrays(X, y, query=query)
    elif isinstance(spec, tuple) and len(spec) == 2:
        source = Arrays(*spec)
    elif isinstance(spec, Iterable):
        source = Rounds(spec)
    else:
        raise BadValue(
            f"a source is a name, a file, a pair (X, y) or an iterable of rounds (x, y), not {type(spec).__name__}"
        )
    reading.must_suit(source.kind, source.takes)
    return [source]


def blocks(source: Any, rows: int = ROWS) -> Iterator[tuple[Any, Any]]:
    """The rounds of a source as pairs (X, y), some thousands at a time."""
    source = open_source(source)
    if hasattr(source, "batch"):
        source.batch = rows
    for batch in source:
        yield batch.X, batch.y


# ---- by name --------------------------------------------------------------------------------------------------------


def named(spec: str, reading: Reading, seed: int) -> list[Source]:
    """The sources that a text names."""
    path = Path(spec)
    if spec == "-" or (is_path(spec) and path.exists()):
        return [file_source(spec, spec, reading)]
    known: Source | None = None
    if spec in datasets.LOADERS:
        known = BuiltIn(spec, seed)
    elif spec.partition(":")[0] in GENERATORS:
        known = Synthetic(spec, seed)
    if known is not None:
        reading.must_suit(spec, known.takes)
        return [known]
    inside = datasets.in_folder(spec)
    if inside is not None:
        return [file_source(str(inside), spec, reading)]
    if spec and path.exists():
        return [file_source(spec, spec, reading)]
    files = sorted(one for one in glob.glob(spec, recursive=True) if Path(one).is_file())
    if files:
        return [file_source(one, one, reading) for one in files]
    if glob.has_magic(spec):
        raise BadValue(f"no file fits the pattern {shown(spec)}")
    raise BadValue(nothing(spec))


def is_path(spec: str) -> bool:
    return "/" in spec or "\\" in spec or bool(Path(spec).suffix)


def nothing(spec: str) -> str:
    close = get_close_matches(spec, [*datasets.names(), *neighbours(spec)], 1)
    hint = f"; did you mean {close[0]!r}?" if close else ";"
    return f"there is no built-in data set {shown(spec)}, and no file of that name{hint} noregret datasets lists them"


def neighbours(spec: str) -> list[str]:
    """The files beside the one that is not there."""
    folder = Path(spec).parent
    try:
        return [str(path) for path in islice(folder.iterdir(), 1000)]
    except OSError:
        return []


# ---- what a user hands over -----------------------------------------------------------------------------------------


class Arrays(Source):
    """Rows and labels that are there already: matrices, sparse matrices, lists of dicts."""

    kind = "arrays"
    name = "arrays"

    def __init__(self, X: Any, y: Any, batch: int = ROWS, query: Any = None) -> None:
        super().__init__()
        X = X.tocsr() if hasattr(X, "tocsr") else X
        if not all(hasattr(part, "shape") or hasattr(part, "__len__") for part in (X, y)):
            raise BadValue(f"a pair (X, y) holds rows and labels, not {type(X).__name__} and {type(y).__name__}")
        self.rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if self.rows != len(y):
            raise BadValue(f"X has {self.rows} rows and y has {len(y)} labels; they must match")
        self.X, self.y, self.batch = X, y, batch
        self.query = None if query is None else query_ids(query)
        if query is not None and (self.query is None or len(self.query) != self.rows):
            raise BadValue(f"query must have an entry for every one of the {self.rows} rows, not {shown(query)}")

    def __iter__(self) -> Iterator[Batch]:
        count = len(self.y)
        for start in range(number_in(self.start, "row"), count, self.batch):
            stop = min(start + self.batch, count)
            position: Position = {"row": stop}
            query = None if self.query is None else self.query[start:stop]
            lines = np.arange(start, stop)
            yield Batch(self.X[start:stop], self.y[start:stop], lines, stop / count, position=position, query=query)


class BuiltIn(Source):
    """A data set that comes with scikit-learn, loaded when its rows are asked for."""

    kind = "built-in"

    def __init__(self, name: str, seed: int = 0, batch: int = ROWS) -> None:
        super().__init__()
        self.name, self.seed, self.batch = name, seed, batch
        entry = next(one for one in datasets.BUILT_IN if one.name == name)
        self.rows = entry.rows
        if entry.task == "regression":
            self.suits = {"task": "regression", "bias": True}

    def __iter__(self) -> Iterator[Batch]:
        arrays = Arrays(*datasets.dataset(self.name, self.seed), self.batch)
        arrays.start = self.start
        return iter(arrays)


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
