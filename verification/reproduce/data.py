"""The files the tables are computed from, under a folder that the user names."""

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

HOW = "name the folder of data with --data DIR or in NOREGRET_DATA"


class Missing(Exception):
    """A file that is not there; the message says which, and how to say where it is."""


def folder(told: str | None, wanted: str) -> Path:
    """The folder of data: the one told, or that of NOREGRET_DATA."""
    name = told or os.environ.get("NOREGRET_DATA", "")
    if not name:
        raise Missing(f"{wanted} is needed, and no folder was named: {HOW}")
    path = Path(name).expanduser()
    if not path.is_dir():
        raise Missing(f"{wanted} is needed, and there is no folder {name!r}: {HOW}")
    return path


def must_hold(told: str | None, files: tuple[str, ...]) -> None:
    """Refuse to begin what could not be finished."""
    for name in files:
        if not (folder(told, name) / name).is_file():
            raise Missing(f"{name} is not in {folder(told, name)}: {HOW}")


def rows(base: Path, name: str, features: int | None = None) -> tuple[Any, np.ndarray]:
    """The rows of a libsvm file as a sparse matrix, and their labels."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(base / name), n_features=features)
    return X, y


def joined(base: Path, names: tuple[str, ...], features: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of some files after each other, every column written out."""
    parts = [rows(base, name, features) for name in names]
    X = sparse.vstack([X for X, _ in parts]).toarray()
    return np.ascontiguousarray(X), np.concatenate([y for _, y in parts])


def numbers(base: Path, name: str, positive: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """A table of numbers with a line of names, its columns scaled to at most 1 in size; the last is the label.

    Labels become -1 and +1 where `positive` asks whether they are above zero; otherwise they are targets.
    """
    with gzip.open(base / name, "rt") as lines:
        values = np.loadtxt(lines, delimiter=",", skiprows=1)
    values /= np.maximum(np.abs(values).max(axis=0), 1e-300)
    y = np.where(values[:, -1] > 0.0, 1.0, -1.0) if positive else values[:, -1]
    return np.ascontiguousarray(values[:, :-1]), y


def shuffled(X: Any, y: np.ndarray, seed: int) -> tuple[Any, np.ndarray]:
    """The rows in a seeded random order."""
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order]
