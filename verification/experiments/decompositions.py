"""What the online SVD leaves of MNIST by its rank, beside the best possible; and columns of covtype, one by one."""

import lzma
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from verification.experiments.common import MNIST, Row, Table, images

COVTYPE = "covtype/covtype.csv.xz"
FILES = (MNIST, COVTYPE)
ROWS, LINES, RANKS = 10_000, 5_000, (5, 10, 20, 50, 100)


def run(base: Path) -> Table:
    X = images(base)[0][:ROWS].toarray()
    size, best = float(np.sum(X * X)), np.linalg.svd(X, compute_uv=False) ** 2
    lines: list[Row] = []
    for rank in RANKS:
        learner: Any = nr.make("svd", rank=rank)
        before = learner.play(X).losses.sum()
        rest = X - learner.transform(X) @ learner.components
        found = (before, float(np.sum(rest * rest)), best[rank:].sum())
        lines.append(("MNIST rows", str(rank), *(f"{100.0 * one / size:.2f}" for one in found)))
    C = standardized_columns(base / COVTYPE)
    size, best = float(np.sum(C * C)), np.linalg.svd(C, compute_uv=False) ** 2
    for rank in (10, 20, C.shape[1]):
        learner = nr.make("svd", rank=rank, keep_rows="yes").learn(C[:, :10])
        for column in range(10, C.shape[1]):
            learner.append_columns(C[:, column : column + 1])
        left = size - float(np.sum(learner.singular_values**2))
        least = best[rank:].sum()
        lines.append(("covtype columns", str(rank), "", f"{100.0 * left / size:.2f}", f"{100.0 * least / size:.2f}"))
    return ("data", "rank", "lost before learning, %", "left at the end, %", "least possible, %"), lines


def standardized_columns(path: Path) -> np.ndarray:
    """The features of the first rows, each with mean 0 and deviation 1."""
    with lzma.open(path, "rt") as file:
        rows = [line.strip().split(",")[:-1] for line in islice(file, 1, LINES + 1)]
    table = np.array(rows, np.float64)
    deviation = table.std(axis=0)
    return np.asarray((table - table.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0))
