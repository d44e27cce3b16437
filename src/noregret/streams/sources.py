"""Opens sources: files, data sets, synthetic streams, arrays and iterables of rounds.

A name means, in this order: "-", standard input; a file, if it has a folder or a suffix; a built-in data set; a
synthetic stream; a data set in the folder NOREGRET_DATA; any other file; a pattern such as day-*.svm, for all matching
files in the order of their names. So a file called iris never hides the data set iris, and ./iris is the file.
"""

import glob
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from noregret.data.batch import Batch, Position
from noregret.data.blocks import Rows
from noregret.data.query_groups import query_ids
from noregret.errors import BadValue, find_closest, shown
from noregret.features.frames import is_frame
from noregret.streams import datasets
from noregret.streams.composed import ComposedSource
from noregret.streams.expert_tables import BUILT_IN as EXPERT_TABLES
from noregret.streams.expert_tables import read_expert_table
from noregret.streams.formats import file_source
from noregret.streams.read_options import ReadOptions, merge_options
from noregret.streams.source import Source, read_position
from noregret.streams.synthetic import GENERATORS, Synthetic

NO_LABELS = (
    'these rows have no labels: give a pair (X, y) or, to learn without labels, name learners such as "svd" or set '
    'task="unsupervised"'
)
ROWS = 8192


def open_source(spec: Any, options: ReadOptions | None = None, seed: int = 0, **kwargs: Any) -> Source:
    """Open a source by name, or from arrays (X, y), a data frame, or an iterable of rounds (x, y).

    Several files are read one after another: name them in a list, or by a pattern. Options are given as ReadOptions or
    as keyword arguments: label="price", drop=["id"], limit=1000, passes=3, on_bad="skip", targets=True for real labels.
    Iterating over the source yields batches with X, y and line numbers.
    """
    options = merge_options(options, kwargs)
    if isinstance(spec, Source):
        return spec
    sources = find_sources(spec, options, seed)
    return ComposedSource(sources, options) if len(sources) > 1 or options.selects_rows else sources[0]


def find_sources(spec: Any, options: ReadOptions, seed: int) -> list[Source]:
    """Return the sources that a user named or gave."""
    if isinstance(spec, Path):
        return [file_source(str(spec), str(spec), options)]
    if isinstance(spec, str):
        return find_by_name(spec, options, seed)
    if isinstance(spec, (list, tuple)) and spec and all(isinstance(one, (str, Path)) for one in spec):
        return [source for one in spec for source in find_sources(one, options, seed)]
    source: Source
    if is_frame(spec) or (isinstance(spec, tuple) and len(spec) == 2 and is_frame(spec[0])):
        from noregret.streams.frames import frame_source

        frame, labels = spec if isinstance(spec, tuple) else (spec, None)
        source = frame_source(frame, labels, options)
    elif isinstance(spec, tuple) and len(spec) == 3 and options.lists:
        X, y, query = spec
        source = ArraySource(X, y, query=query)
    elif is_matrix(spec):
        if options.labelled:
            raise BadValue(NO_LABELS)
        source = ArraySource(spec, None)
    elif isinstance(spec, tuple) and len(spec) == 2:
        if spec[1] is None and options.labelled:
            raise BadValue(NO_LABELS)
        source = ArraySource(*spec)
    elif isinstance(spec, Iterable):
        source = RoundSource(spec)
    else:
        raise BadValue(
            f"a source is a name, a file, a pair (X, y) or an iterable of rounds (x, y), not {type(spec).__name__}"
        )
    options.check_applies(source.kind, source.accepts)
    return [source]


def is_matrix(spec: Any) -> bool:
    """Return whether a source is rows alone: a matrix, a sparse matrix or a list of dicts."""
    if hasattr(spec, "tocsr") or getattr(spec, "ndim", 0) == 2:
        return True
    return isinstance(spec, list) and bool(spec) and all(isinstance(row, Mapping) for row in spec)


def blocks(source: Any, rows: int = ROWS) -> Iterator[tuple[Any, Any]]:
    """Yield the rounds of a source as pairs (X, y) of some thousand rows."""
    source = open_source(source)
    if hasattr(source, "batch"):
        source.batch = rows
    for batch in source:
        yield batch.X, batch.y


# ---- by name --------------------------------------------------------------------------------------------------------


def find_by_name(spec: str, options: ReadOptions, seed: int) -> list[Source]:
    """Return the sources that a text names."""
    path = Path(spec)
    if spec == "-" or (path.exists() and (is_path(spec) or options.format == "folder")):
        return [file_source(spec, spec, options)]
    known: Source | None = None
    if spec in datasets.LOADERS:
        known = BuiltInSource(spec, seed)
    elif spec.partition(":")[0] in GENERATORS:
        known = Synthetic(spec, seed)
    elif spec in EXPERT_TABLES:
        table = read_expert_table(spec, None)
        known = ArraySource([dict(zip(table.names, row, strict=True)) for row in table.rows], table.truth)
    if known is not None:
        options.check_applies(spec, known.accepts)
        return [known]
    inside = datasets.find_in_folder(spec)
    if inside is not None:
        return [file_source(str(inside), spec, options)]
    if spec and path.exists():
        return [file_source(spec, spec, options)]
    files = sorted(one for one in glob.glob(spec, recursive=True) if Path(one).is_file())
    if files:
        return [file_source(one, one, options) for one in files]
    if glob.has_magic(spec):
        raise BadValue(f"no file matches the pattern {shown(spec)}")
    raise BadValue(describe_unknown(spec))


def is_path(spec: str) -> bool:
    """Return whether a name looks like a path: it has a folder or a suffix."""
    return "/" in spec or "\\" in spec or bool(Path(spec).suffix)


def describe_unknown(spec: str) -> str:
    """Return the error message for a name that is neither a data set nor a file, with a suggestion."""
    close = find_closest(spec, [*datasets.names(), *nearby_files(spec)])
    hint = f"; did you mean {close!r}?" if close else ";"
    return f"there is no built-in data set {shown(spec)}, and no file of that name{hint} noregret datasets lists them"


def nearby_files(spec: str) -> list[str]:
    """Return the files in the folder of a path that does not exist."""
    folder = Path(spec).parent
    try:
        return [str(path) for path in islice(folder.iterdir(), 1000)]
    except OSError:
        return []


# ---- given data -----------------------------------------------------------------------------------------------------


class ArraySource(Source):
    """Rows and labels in memory: matrices, sparse matrices, lists of dicts; y is None where there are no labels."""

    kind = "arrays"
    name = "arrays"

    def __init__(self, X: Any, y: Any, batch: int = ROWS, query: Any = None) -> None:
        super().__init__()
        X = X.tocsr() if hasattr(X, "tocsr") else X
        if not all(hasattr(part, "shape") or hasattr(part, "__len__") for part in (X, () if y is None else y)):
            raise BadValue(f"a pair (X, y) holds rows and labels, not {type(X).__name__} and {type(y).__name__}")
        self.rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if y is not None and self.rows != len(y):
            raise BadValue(f"X has {self.rows} rows and y has {len(y)} labels; they must match")
        self.X, self.y, self.batch = X, y, batch
        self.query = None if query is None else query_ids(query)
        if query is not None and (self.query is None or len(self.query) != self.rows):
            raise BadValue(f"query must have an entry for every one of the {self.rows} rows, not {shown(query)}")

    def __iter__(self) -> Iterator[Batch]:
        count = self.rows or 0
        for start in range(read_position(self.start, "row"), count, self.batch):
            stop = min(start + self.batch, count)
            position: Position = {"row": stop}
            query = None if self.query is None else self.query[start:stop]
            lines = np.arange(start, stop)
            y = None if self.y is None else self.y[start:stop]
            yield Batch(self.X[start:stop], y, lines, stop / count, position=position, query=query)


class BuiltInSource(Source):
    """A data set of scikit-learn, loaded when it is first iterated over."""

    kind = "built-in"

    def __init__(self, name: str, seed: int = 0, batch: int = ROWS) -> None:
        super().__init__()
        self.name, self.seed, self.batch = name, seed, batch
        entry = next(one for one in datasets.BUILT_IN if one.name == name)
        self.rows = entry.rows
        if entry.task == "regression":
            self.learner_defaults = {"task": "regression", "bias": True}

    def __iter__(self) -> Iterator[Batch]:
        arrays = ArraySource(*datasets.dataset(self.name, self.seed), self.batch)
        arrays.start = self.start
        return iter(arrays)


class RoundSource(Source):
    """Rounds (x, y), or blocks of them, from any iterable; consumed only as far as they are played."""

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
    """Return whether a pair is a whole block of rounds: rows or a list of dicts, with their labels."""
    X = pair[0] if isinstance(pair, tuple) and len(pair) == 2 else None
    return (
        isinstance(X, Rows)
        or getattr(X, "ndim", 0) == 2
        or (isinstance(X, list) and bool(X) and isinstance(X[0], Mapping))
    )
