"""Data sets by name: the small ones that come with scikit-learn, and the files in the folder NOREGRET_DATA.

In that folder a data set is a file, such as a9a.svm.gz, or a folder of that name: its file a9a/a9a.svm.gz, or its only
readable file, or its training file. Other files are named with their folder: a9a/a9a.t, or a9a/a9a.t.svm.gz.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noregret.errors import BadValue, import_extra
from noregret.streams.expert_tables import BUILT_IN as EXPERT_TABLES
from noregret.streams.expert_tables import WHAT, read_expert_table
from noregret.streams.synthetic import COMMON, GENERATORS

FORMATS = {
    ".svm": "libsvm", ".libsvm": "libsvm", ".svmlight": "libsvm", ".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl",
    ".ndjson": "jsonl", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".vw": "vw", ".vwtxt": "vw",
}  # fmt: skip
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
FOR_TESTING, FOR_TRAINING = ("test", "tst", "t", "val"), ("train", "trn", "tr")


@dataclass(frozen=True)
class Entry:
    """An entry in the list of data sets; rows and features if they are known without reading the file."""

    name: str
    task: str
    about: str
    where: str
    rows: int | None = None
    features: int | None = None

    @property
    def size(self) -> str:
        """Rows and features as text."""
        return "" if self.rows is None else f"{self.rows} x {self.features}"


BUILT_IN = [
    Entry("digits", "multiclass", "handwritten digits of 8 x 8 pixels, 10 classes", "built-in", 1797, 64),
    Entry("breast_cancer", "binary", "tumours, described by the shape of their cells", "built-in", 569, 30),
    Entry("iris", "multiclass", "three species of iris, described by petals and sepals", "built-in", 150, 4),
    Entry("wine", "multiclass", "wines of three growers, described by chemical analysis", "built-in", 178, 13),
    Entry("diabetes", "regression", "the course of diabetes after one year", "built-in", 442, 10),
]
LOADERS = {entry.name: f"load_{entry.name}" for entry in BUILT_IN}  # their names in scikit-learn


def dataset(name: str, seed: int = 0) -> tuple[Any, Any]:
    """Load a built-in data set, with columns scaled to [-1, 1] and rows shuffled by a seed."""
    if name not in LOADERS:
        raise BadValue(f"there is no built-in data set {name!r}; there are {', '.join(LOADERS)}")
    datasets = import_extra("sklearn.datasets", "sklearn", f"the built-in data set {name}")
    X, y = getattr(datasets, LOADERS[name])(return_X_y=True)
    largest = np.abs(X).max(axis=0)
    X = X / np.where(largest > 0.0, largest, 1.0)
    order = np.random.default_rng(seed).permutation(len(y))
    return np.ascontiguousarray(X[order]), y[order]


def list_datasets() -> list[Entry]:
    """List all data sets; no file is opened."""
    synthetic = [
        Entry(name, one.task, one.about, "synthetic", int(COMMON["rows"].default), one.default_columns())
        for name, one in GENERATORS.items()
    ]
    kept = [Entry(name, "", describe_file(path), "file") for name, path in sorted(find_files().items())]
    return [*BUILT_IN, *map(describe_experts, EXPERT_TABLES), *synthetic, *kept]


def describe_experts(name: str) -> Entry:
    """A built-in table of experts, for `noregret experts`."""
    table = read_expert_table(name, None)
    return Entry(name, "experts", WHAT[name], "built-in", len(table.rows), len(table.names))


def describe_file(path: Path) -> str:
    """Return name and size of a file."""
    size = path.stat().st_size
    unit, share = ("MB", 1e6) if size >= 1e6 else ("kB", 1e3)
    return f"{path.name}, {size / share:.1f} {unit}"


# ---- the folder -----------------------------------------------------------------------------------------------------


def data_folder() -> Path | None:
    """Return the folder NOREGRET_DATA; None if it is not set."""
    given = os.environ.get("NOREGRET_DATA", "")
    if not given:
        return None
    path = Path(given).expanduser()
    if not path.is_dir():
        raise BadValue(f"NOREGRET_DATA is set to {given!r}, but there is no such folder")
    return path


def split_name(path: str | Path) -> tuple[str, str | None]:
    """Return the name of a file without the suffixes of compression and format, and the format."""
    name = Path(path).name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    stem, dot, ending = name.rpartition(".")
    if stem and dot + ending.lower() in FORMATS:
        return stem, FORMATS[dot + ending.lower()]
    return name, None


def readable_files(folder: Path) -> list[Path]:
    """Return the files of a folder with the suffix of a known format."""
    return sorted(path for path in folder.iterdir() if path.is_file() and split_name(path)[1] is not None)


def find_files() -> dict[str, Path]:
    """Return the files in the data folder by the names of their data sets."""
    base = data_folder()
    if base is None:
        return {}
    named = {split_name(path)[0]: path for path in reversed(readable_files(base))}
    for folder in sorted(path for path in base.iterdir() if path.is_dir() and not path.name.startswith(".")):
        files = readable_files(folder)
        main = main_file(folder.name, files)
        if main is not None:
            named.setdefault(folder.name, main)
        named.update({f"{folder.name}/{split_name(path)[0]}": path for path in reversed(files) if path != main})
    return named


def main_file(name: str, files: list[Path]) -> Path | None:
    """Return the file that a folder stands for: the only one, the one of its name, or the training file."""
    for candidates in (
        files,
        [path for path in files if split_name(path)[0] == name],
        [path for path in files if has_word(path, FOR_TRAINING)],
        [path for path in files if not has_word(path, FOR_TESTING)],
    ):
        if len(candidates) == 1:
            return candidates[0]
    return None


def has_word(path: Path, words: tuple[str, ...]) -> bool:
    """Return whether a part of a file name, between dots, dashes and underscores, is one of these words."""
    parts = split_name(path)[0].lower().replace("-", ".").replace("_", ".").split(".")
    return any(word in parts for word in words)


def find_in_folder(name: str) -> Path | None:
    """Return the file in the data folder that a name stands for, if there is one."""
    base = data_folder()
    if base is None or not name or ".." in Path(name).parts or Path(name).is_absolute():
        return None
    exact = base / name
    if exact.is_file():
        return exact
    found = find_files().get(name)
    if found is None and exact.is_dir():
        return find_main_file(exact, name)
    beside = readable_files(exact.parent) if exact.parent.is_dir() else []
    return found or next((path for path in beside if split_name(path)[0] == exact.name), None)


def find_main_file(folder: Path, name: str) -> Path:
    """Return the file that a folder stands for, or raise an error that lists its files."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    main = main_file(folder.name, readable_files(folder))
    if main is not None:
        return main
    if len(files) == 1:
        return files[0]
    if not files:
        raise BadValue(f"{name} is a folder without files")
    shown = ", ".join(f"{name.rstrip('/')}/{path.name}" for path in files[:10])
    raise BadValue(f"{name} is a folder of {len(files)} files; name one of them: {shown}{', ...' * (len(files) > 10)}")


def names() -> Iterator[str]:
    """Yield the names of all data sets, for suggestions."""
    yield from LOADERS
    yield from GENERATORS
    yield from find_files()
