"""Clusters and dictionaries beside scikit-learn: losses and seconds of one core, with the same passes over the rows.

`OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m benchmarks.unlabelled` prints the tables of docs/clustering.md and
docs/dictionary.md. Rows are the digits of scikit-learn, and pieces of 8 x 8 pixels of one of its pictures; every
figure is the mean of five orders of the rows.
"""

from collections.abc import Callable
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr

Floats = NDArray[np.float64]
SEEDS, PENALTY = 5, 0.15  # 1.2 / sqrt(64), the default penalty of rows with 64 features
FOREVER = {"max_no_improvement": None, "tol": 0.0, "random_state": 0}


def digits() -> Floats:
    return np.asarray(import_module("sklearn.datasets").load_digits().data)


def pieces() -> Floats:
    """Pieces of a picture without their mean."""
    picture = import_module("sklearn.datasets").load_sample_image("china.jpg").mean(axis=2)
    image = import_module("sklearn.feature_extraction.image")
    found = image.extract_patches_2d(picture, (8, 8), max_patches=4000, random_state=0).reshape(-1, 64)
    return np.asarray(found - found.mean(axis=1, keepdims=True))


def unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows[lengths[:, 0] > 0.1] / lengths[lengths[:, 0] > 0.1])


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    began = process_time()
    return run(), process_time() - began


def learn(learner: Any, rows: Floats, passes: int) -> Any:
    for _ in range(passes):
        learner.learn(rows)
    return learner


def cluster(rows: Floats, batch: int, passes: int, seed: int) -> list[float]:
    """Inertia and seconds of ten clusters, own and scikit-learn's."""
    rows = rows[np.random.default_rng(seed).permutation(len(rows))]
    own, seconds = timed(lambda: learn(nr.make("kmeans", k=10, batch=batch, seed=seed), rows, passes))
    options = {**FOREVER, "random_state": seed, "n_init": 1, "batch_size": batch, "max_iter": passes}
    other, theirs = timed(lambda: import_module("sklearn.cluster").MiniBatchKMeans(10, **options).fit(rows))
    return [own.inertia(rows), float((other.transform(rows).min(axis=1) ** 2).sum()), seconds, theirs]


def code(rows: Floats, batch: int, passes: int, seed: int) -> list[float]:
    """Mean loss of rows held out and seconds of learning, of a dictionary of 100 atoms, own and scikit-learn's."""
    order = np.random.default_rng(seed).permutation(len(rows))
    learned, held = rows[order[: len(rows) * 4 // 5]], rows[order[len(rows) * 4 // 5 :]]
    own, seconds = timed(lambda: learn(nr.make("dictionary", k=100, batch=batch, seed=seed), learned, passes))
    options = {**FOREVER, "random_state": seed, "fit_algorithm": "cd", "batch_size": batch, "max_iter": passes}
    peer = import_module("sklearn.decomposition").MiniBatchDictionaryLearning
    other, theirs = timed(lambda: peer(100, alpha=PENALTY, **options).fit(learned))
    judge: Any = nr.make("dictionary", k=100, tolerance=1e-8, batch=len(learned)).learn(learned)
    losses = []
    for atoms in (own.components, other.components_):
        judge.state.atoms = np.ascontiguousarray(atoms)
        losses.append(float(judge.evaluate(held).losses.mean()))
    return [*losses, seconds, theirs]


def show(name: str, rows: Floats, measure: Callable[[Floats, int, int, int], list[float]]) -> None:
    measure(rows[:300], 64, 1, 0)  # compiles what is compiled
    for batch, passes in ((64, 1), (64, 3), (256, 1), (256, 3)):
        own, other, seconds, theirs = np.mean([measure(rows, batch, passes, seed) for seed in range(SEEDS)], axis=0)
        figures = f"{own:,.4g} | {other:,.4g} | {own / other:.3f} | {1e3 * seconds:.1f} | {1e3 * theirs:.1f}"
        print(f"| {name} | {batch} | {passes} | {figures} | {theirs / seconds:.1f} |")


def main() -> None:
    """The tables."""
    for peer, loss in (("MiniBatchKMeans", "inertia"), ("MiniBatchDictionaryLearning", "mean loss held out")):
        print(f"\n| rows | mini-batch | passes | {loss} | `{peer}` | ratio | ms | `{peer}` ms | faster |")
        print("|---" * 9 + "|")
        if loss == "inertia":
            show("digits", digits(), cluster)
        else:
            show("digits", unit(digits() - digits().mean(axis=0)), code)
            show("pieces", unit(pieces()), code)


if __name__ == "__main__":
    main()
