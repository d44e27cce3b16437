"""Hedge backpropagation in the setting of its paper: plain gradient descent, rate 0.01, longer streams."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from verification.experiments import depths
from verification.experiments.common import Row, Table

Floats = NDArray[np.float64]
Stream = tuple[Floats, NDArray[np.int64]]
FILES = (depths.HIGGS,)
ROUNDS, PASSES = 100_000, 14
FEATURES, TEACHER, UNITS = 50, 8, 50
DEPTHS = (0, 1, 2, 3, 7, 15, 19)
EARLY, LATE = 0.1, 0.2
PAPER: dict[str, Any] = {"optimizer": "sgd", "eta": 0.01, "init": "glorot"}
PRINTED: dict[str, Any] = {
    "beta": 0.99, "smoothing": 0.2, "prior": 1.0, "loss_scaling": "min_max", "from_input": "no", "depth": 19,
}  # fmt: skip


def teacher(rng: np.random.Generator, X: Floats) -> NDArray[np.int64]:
    """Labels by a random network of eight layers; half of the rows have each."""
    h = X
    for _ in range(TEACHER - 1):
        h = np.maximum(h @ rng.normal(size=(h.shape[1], UNITS)) * np.sqrt(2.0 / h.shape[1]), 0.0)
    f = h @ rng.normal(size=h.shape[1])
    return (f > np.median(f)).astype(np.int64)


def one_concept(seed: int) -> Stream:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROUNDS, FEATURES))
    return X, teacher(rng, X)


def three_concepts(seed: int) -> Stream:
    """A concept, another one, and the first again."""
    X = np.random.default_rng(seed).normal(size=(ROUNDS, FEATURES))
    parts = zip(np.array_split(X, 3), (1, 2, 1), strict=True)
    return X, np.concatenate([teacher(np.random.default_rng(seed + number), part) for part, number in parts])


def collisions(base: Path) -> Stream:
    """The 7,000 collisions of particles, over and over, each time in a new order."""
    X, y = (part[:7000] for part in depths.higgs(base, 0))
    order = np.concatenate([np.random.default_rng(turn).permutation(len(y)) for turn in range(PASSES)])
    return np.ascontiguousarray(X[order]), y[order]


def learners() -> dict[str, Any]:
    """A network with n hidden layers has n + 1 layers in the counting of the paper."""
    return {
        **{f"depth {depth}": nr.make("mlp", layers=[100] * depth, **PAPER) for depth in DEPTHS},
        "`hbp` as printed": nr.make("hbp", **PRINTED, **PAPER),
        "`hbp`, default Hedge": nr.make("hbp", **PAPER),
    }


def errors(learner: Any, X: Floats, y: NDArray[np.int64]) -> list[str]:
    """The percentage of mistakes in all rounds, in the first of them and in the last."""
    wrong = 100.0 * learner.play(X, y).mistakes
    return [f"{part.mean():.1f}" for part in (wrong, wrong[: int(EARLY * len(y))], wrong[-int(LATE * len(y)) :])]


def run(base: Path) -> Table:
    streams = {
        "deep teacher": one_concept(1),
        "teacher that changes": three_concepts(2),
        f"higgs_7k, {PASSES} times": collisions(base),
    }
    rows: list[Row] = []
    for name in learners():
        found = [errors(learners()[name], X, y) for X, y in streams.values()]
        rows.append((name, *(cell for cells in found for cell in cells)))
    parts = ("", ", first", ", last")
    return ("network", *(f"{stream}{part}" for stream in streams for part in parts)), rows
