"""What components, clusters and atoms leave of images and of a table in one pass, beside the mean of all rows."""

from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from verification.experiments.common import MNIST, Row, Table, images
from verification.experiments.decompositions import COVTYPE, standardized_columns

FILES = (MNIST, COVTYPE)
ROWS, PATCHES, SIDE, SEED = 5000, 10_000, 8, 0
LEARNERS: dict[str, tuple[str, ...]] = {
    "MNIST rows": ("pca_incremental(rank=20)", "oja(rank=20)", "kmeans(k=20)", "dictionary(k=100, penalty=0.5)"),
    "MNIST patches": (
        "pca_incremental(rank=8)", "pca(rank=8, batch=16)", "oja(rank=8)", "kmeans(k=64)",
        "dictionary(k=100, penalty=0.05)",
    ),
    "covtype rows": ("pca_incremental(rank=10)", "pca(rank=10, batch=16)", "oja(rank=10)", "kmeans(k=10)", "gaussian"),
}  # fmt: skip


def run(base: Path) -> Table:
    X = images(base)[0][:ROWS].toarray()
    data = {"MNIST rows": X, "MNIST patches": cut_patches(X), "covtype rows": standardized_columns(base / COVTYPE)}
    lines: list[Row] = []
    for name, rows in data.items():
        mean: Any = nr.make("mean_row")
        before, after = mean.play(rows).losses.sum(), mean.score(rows).losses.sum()
        lines.append((name, "mean_row", "100.00", "100.00", f"{before / len(rows):.3f}"))
        for text in LEARNERS[name]:
            learner: Any = nr.make(text)
            losses = learner.play(rows).losses
            lost, left = "", ""
            if text != "gaussian":
                left = f"{100.0 * left_over(learner, rows) / after:.2f}"
            if not text.startswith(("gaussian", "dictionary")):  # whose losses are not squared distances alone
                lost = f"{100.0 * losses.sum() / before:.2f}"
            lines.append((name, text, lost, left, f"{losses.mean():.3f}"))
    return ("data", "learner", "lost before learning, %", "left at the end, %", "loss of a row"), lines


def left_over(learner: Any, rows: np.ndarray) -> float:
    """The squared distance of rows to what the learner, as it is in the end, says of them."""
    if learner.card.name != "dictionary":
        return float(learner.score(rows).losses.sum())
    return float(np.sum((rows - learner.transform(rows) @ learner.components) ** 2))


def cut_patches(X: np.ndarray) -> np.ndarray:
    """Squares at random places of images, each less its mean; those that are all of one shade are left out."""
    rng = np.random.default_rng(SEED)
    pictures, last = X.reshape(-1, 28, 28), 28 - SIDE + 1
    found = np.empty((2 * PATCHES, SIDE * SIDE))
    for number in range(len(found)):
        top, left = rng.integers(last, size=2)
        square = pictures[rng.integers(len(pictures)), top : top + SIDE, left : left + SIDE]
        found[number] = (square - square.mean()).reshape(-1)
    return np.asarray(found[np.ptp(found, axis=1) > 0.0][:PATCHES])
