"""Hedge backpropagation beside networks of fixed depth: mistakes in all rounds, and in the first tenth of them."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from verification.experiments.common import MNIST, Row, Table, images, mean

Floats = NDArray[np.float64]
Stream = tuple[Floats, NDArray[np.int64]]
HIGGS = "higgs_7k/higgs_7k.train.tsv.gz"
FILES = (HIGGS, MNIST)
DEPTHS = (0, 1, 2, 3, 4, 8, 16, 20)
SEEDS, EARLY = 3, 0.1
SIDE, TURNS = 28, (0.0, 30.0, 60.0, 90.0)
STEP = 100  # rounds between two looks at the weights of the layers


def rotate(X: Floats, degrees: float) -> Floats:
    """Images turned around their middle; values between pixels are interpolated."""
    centre, angle = (SIDE - 1) / 2, np.deg2rad(degrees)
    down, right = np.mgrid[:SIDE, :SIDE] - centre
    y, x = np.cos(angle) * down - np.sin(angle) * right + centre, np.sin(angle) * down + np.cos(angle) * right + centre
    top, left = np.floor(y).astype(int), np.floor(x).astype(int)
    padded = np.pad(X.reshape(-1, SIDE, SIDE), ((0, 0), (1, 2), (1, 2)))
    out = np.zeros((len(X), SIDE, SIDE))
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        share = np.abs(1 - i - (y - top)) * np.abs(1 - j - (x - left))
        out += share * padded[:, np.clip(top + i + 1, 0, SIDE + 2), np.clip(left + j + 1, 0, SIDE + 2)]
    return out.reshape(len(X), -1)


def higgs(base: Path, seed: int) -> Stream:
    """Collisions of particles, each twice, in random order."""
    with gzip.open(base / HIGGS, "rt") as lines:
        rows = np.loadtxt(lines)
    order = np.concatenate([np.random.default_rng(seed + 10 * turn).permutation(len(rows)) for turn in range(2)])
    return np.ascontiguousarray(rows[order, 1:]), rows[order, 0].astype(np.int64)


def turning_digits(base: Path, seed: int, each: int = 2000) -> Stream:
    """Digits that are turned by 30 degrees more after every 2,000."""
    X, y = images(base)
    rows = np.random.default_rng(seed).permutation(len(y))[: each * len(TURNS)]
    pixels = X[rows].toarray()
    parts = [rotate(pixels[at * each : (at + 1) * each], turn) for at, turn in enumerate(TURNS)]
    return np.concatenate(parts), y[rows].astype(np.int64)


def drifting_concepts(seed: int, each: int = 8000, concepts: int = 3, features: int = 10) -> Stream:
    """Three concepts one after the other, each the sign of a random network with three layers."""
    rng, rows, labels = np.random.default_rng(seed), [], []
    for _ in range(concepts):
        h = X = rng.normal(size=(each, features))
        for _ in range(3):
            h = np.tanh(2.0 * h @ rng.normal(size=(features, features)) / np.sqrt(features))
        f = h @ rng.normal(size=features)
        rows.append(X)
        labels.append((f > np.median(f)).astype(np.int64))
    return np.concatenate(rows), np.concatenate(labels)


def streams(base: Path, seed: int) -> dict[str, Stream]:
    return {
        "higgs_7k, twice": higgs(base, seed),
        "MNIST, turning": turning_digits(base, seed),
        "three concepts": drifting_concepts(seed),
    }


def learners(seed: int) -> dict[str, Any]:
    """All with the same optimizer at its usual rate, and the same kind of first weights."""
    shared: dict[str, Any] = {"optimizer": "adam", "init": "glorot", "seed": seed}
    fixed = {f"depth {depth}": nr.make("mlp", layers=[100] * depth, **shared) for depth in DEPTHS}
    slow = nr.make("hbp", beta=0.99, smoothing=0.2, prior=1.0, **shared)
    return {**fixed, "`hbp`, depth 20": nr.make("hbp", **shared), "`hbp` with the Hedge of its paper": slow}


def errors(learner: Any, X: Floats, y: NDArray[np.int64]) -> tuple[float, float]:
    """The percentage of mistakes in all rounds, and in the first tenth."""
    wrong = learner.play(X, y).mistakes
    return 100.0 * float(wrong.mean()), 100.0 * float(wrong[: int(EARLY * len(y))].mean())


def run(base: Path) -> Table:
    """Mean and deviation over the seeds."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for seed in range(SEEDS):
        for stream, (X, y) in streams(base, seed).items():
            for name, learner in learners(seed).items():
                found.setdefault((name, stream), []).append(errors(learner, X, y))
    names = list(dict.fromkeys(stream for _, stream in found))
    head: Row = ("network", *(f"{stream}{part}" for stream in names for part in ("", ", first 10 %")))
    rows: list[Row] = []
    for learner in dict.fromkeys(name for name, _ in found):
        cells = [mean([pair[part] for pair in found[learner, stream]]) for stream in names for part in (0, 1)]
        rows.append((learner, *cells))
    return head, rows


def layer_weights(X: Floats, y: NDArray[np.int64]) -> Floats:
    """The weights of the classifiers after every 100 rounds."""
    learner: Any = nr.make("hbp")
    found = []
    for start in range(0, len(y), STEP):
        learner.learn(X[start : start + STEP], y[start : start + STEP])
        found.append(learner.layer_weights)
    return np.array(found)


def draw(base: Path, axes: Any) -> None:
    """The weights of the layers over time, one panel for each stream."""
    for panel, (stream, (X, y)) in zip(axes, streams(base, 0).items(), strict=True):
        weights = layer_weights(X, y)
        shown = panel.imshow(
            weights.T, origin="lower", aspect="auto", cmap="viridis", vmin=0.0, vmax=0.6,
            extent=(0, len(y), -0.5, weights.shape[1] - 0.5),
        )  # fmt: skip
        panel.set_title(stream, fontsize=10)
        panel.set_xlabel("rounds")
    axes[0].set_ylabel("layer of the classifier")
    axes[-1].figure.colorbar(shown, ax=list(axes), label="weight")
