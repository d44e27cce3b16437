"""Data known by name: the small classics that scikit-learn carries, and the files under the folder NOREGRET_DATA.

In that folder a data set is a file, a9a.svm.gz, or a folder of its name: a9a/a9a.svm.gz, or the only file in it that
can be read, or the one for training. Any other is named with its folder: a9a/a9a.t, or a9a/a9a.t.svm.gz.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noregret.errors import BadValue
from noregret.streams.synthetic import ALWAYS, GENERATORS

FORMATS = {
    ".svm": "libsvm", ".libsvm": "libsvm", ".svmlight": "libsvm", ".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl",
    ".ndjson": "jsonl", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".vw": "vw", ".vwtxt": "vw",
}  # fmt: skip
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
FOR_TESTING, FOR_TRAINING = ("test", "tst", "t", "val"), ("train", "trn", "tr")


@dataclass(frozen=True)
class Entry:
    """A line in the list of data sets; rows and features where they are known without reading."""

    name: str
    task: str
    about: str
    where: str
    rows: int | None = None
    features: int | None = None

    @property
    def size(self) -> str:
        return "" if self.rows is None else f"{self.rows} x {self.features}"


BUILT_IN = [
    Entry("digits", "multiclass", "handwritten digits of 8 x 8 pixels, 10 classes", "built-in", 1797, 64),
    Entry("breast_cancer", "binary", "tumours by the shape of their cells", "built-in", 569, 30),
    Entry("iris", "multiclass", "three species of iris by their petals and sepals", "built-in", 150, 4),
    Entry("wine", "multiclass", "three growers by what is in their wine", "built-in", 178, 13),
    Entry("diabetes", "regression", "the course of diabetes after one year", "built-in", 442, 10),
]
LOADERS = {entry.name: f"load_{entry.name}" for entry in BUILT_IN}  # as scikit-learn calls them


def dataset(name: str, seed: int = 0) -> tuple[Any, Any]:
    """A built-in data set, its columns scaled to at most 1 in size, its rows in a seeded random order."""
    if name not in LOADERS:
        raise BadValue(f"there is no built-in data set {name!r}; there are {', '.join(LOADERS)}")
    from sklearn import datasets

    X, y = getattr(datasets, LOADERS[name])(return_X_y=True)
    largest = np.abs(X).max(axis=0)
    X = X / np.where(largest > 0.0, largest, 1.0)
    order = np.random.default_rng(seed).permutation(len(y))
    return np.ascontiguousarray(X[order]), y[order]


def listing() -> list[Entry]:
    """All data sets there are names for; no file is opened."""
    made_up = [
        Entry(
            name, "binary", one.about, "synthetic", int(ALWAYS["rows"].default), int(one.settings["features"].default)
        )
        for name, one in GENERATORS.items()
    ]
    kept = [Entry(name, "", path_shown(path), "file") for name, path in sorted(filed().items())]
    return [*BUILT_IN, *made_up, *kept]


def path_shown(path: Path) -> str:
    size = path.stat().st_size
    unit, share = ("MB", 1e6) if size >= 1e6 else ("kB", 1e3)
    return f"{path.name}, {size / share:.1f} {unit}"


# ---- the folder -----------------------------------------------------------------------------------------------------


def folder() -> Path | None:
    """The user's folder of data."""
    told = os.environ.get("NOREGRET_DATA", "")
    if not told:
        return None
    path = Path(told).expanduser()
    if not path.is_dir():
        raise BadValue(f"NOREGRET_DATA names the folder {told!r}, and there is none")
    return path


def split_name(path: str | Path) -> tuple[str, str | None]:
    """The name of a file without the endings of compression and format, and the format they tell."""
    name = Path(path).name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    stem, dot, ending = name.rpartition(".")
    if stem and dot + ending.lower() in FORMATS:
        return stem, FORMATS[dot + ending.lower()]
    return name, None


def readable(place: Path) -> list[Path]:
    """The files of a folder that end as one of our formats."""
    return sorted(path for path in place.iterdir() if path.is_file() and split_name(path)[1] is not None)


def filed() -> dict[str, Path]:
    """Every name that stands for a file under the folder of data."""
    base = folder()
    if base is None:
        return {}
    found = {split_name(path)[0]: path for path in reversed(readable(base))}
    for place in sorted(path for path in base.iterdir() if path.is_dir() and not path.name.startswith(".")):
        files = readable(place)
        main = chosen(place.name, files)
        if main is not None:
            found.setdefault(place.name, main)
        found.update({f"{place.name}/{split_name(path)[0]}": path for path in reversed(files) if path != main})
    return found


def chosen(name: str, files: list[Path]) -> Path | None:
    """The file that a folder stands for: the only one, or the one of its name, or the one for training."""
    for some in (
        files,
        [path for path in files if split_name(path)[0] == name],
        [path for path in files if marked(path, FOR_TRAINING)],
        [path for path in files if not marked(path, FOR_TESTING)],
    ):
        if len(some) == 1:
            return some[0]
    return None


def marked(path: Path, words: tuple[str, ...]) -> bool:
    """Whether a part of a file's name, between dots, dashes and underscores, is one of these words."""
    parts = split_name(path)[0].lower().replace("-", ".").replace("_", ".").split(".")
    return any(word in parts for word in words)


def in_folder(name: str) -> Path | None:
    """The file under the folder of data that a name stands for, if there is one."""
    base = folder()
    if base is None or not name or ".." in Path(name).parts or Path(name).is_absolute():
        return None
    exact = base / name
    if exact.is_file():
        return exact
    found = filed().get(name)
    if found is None and exact.is_dir():
        return inside(exact, name)
    beside = readable(exact.parent) if exact.parent.is_dir() else []
    return found or next((path for path in beside if split_name(path)[0] == exact.name), None)


def inside(place: Path, name: str) -> Path:
    """The file that a folder stands for, or an error that names those there are."""
    files = sorted(path for path in place.iterdir() if path.is_file())
    main = chosen(place.name, readable(place))
    if main is not None:
        return main
    if len(files) == 1:
        return files[0]
    if not files:
        raise BadValue(f"{name} is a folder without files")
    shown = ", ".join(f"{name.rstrip('/')}/{path.name}" for path in files[:10])
    raise BadValue(f"{name} is a folder of {len(files)} files; name one of them: {shown}{', ...' * (len(files) > 10)}")


def names() -> Iterator[str]:
    """All names, for suggestions."""
    yield from LOADERS
    yield from GENERATORS
    yield from filed()
