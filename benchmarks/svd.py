"""The online SVD beside scikit-learn's IncrementalPCA: time per row at equal rank, and the error that is left.

Both read the same rows in the same run, on one core. IncrementalPCA is timed with several sizes of mini-batches, also
its own default, and the fastest of them counts.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from benchmarks.measure import Act, Row, best, in_turn, installed, micros, missing

TITLE = "Online SVD of dense rows"
NOTE = (
    "One core. Of both the fastest mini-batch size counts: of svd its default (5 rows for each feature, or as many as "
    "the rank where there are many features), 16, 64, 500 and 1000, of IncrementalPCA 20, 50, 100 and its default, "
    "which is 5 rows for each feature. The error is the share of the squared length of all rows that the components "
    "leave; IncrementalPCA also keeps a mean."
)
ROWS, REPEATS, RANK = 3_000, 3, 20
DEFAULT = "the default size"
Floats = NDArray[np.float64]
OURS, SIZES = (0, 16, 64, 500, 1000, 1), (20, 50, 100, None)


def low_rank_rows(features: int) -> Floats:
    """Rows with variances that decay, and noise."""
    rng = np.random.default_rng(0)
    spread = 0.93 ** np.arange(60)
    rows = (rng.normal(size=(ROWS, 60)) * spread) @ rng.normal(size=(60, features))
    return np.asarray(rows + 0.3 * rng.normal(size=rows.shape))


def digit_rows() -> Floats | None:
    """Images of MNIST, where the data are there."""
    from noregret.data.blocks import to_dense
    from noregret.streams import open_source

    if "NOREGRET_DATA" not in os.environ:
        return None
    path = os.path.join(os.environ["NOREGRET_DATA"], "mnist", "train-images-idx3-ubyte.gz")
    rows: list[Floats] = []
    for batch in open_source(path, labelled=False):
        rows.append(to_dense(batch.X.block).val if hasattr(batch.X, "block") else np.asarray(batch.X, float))
        if sum(map(len, rows)) >= ROWS:
            break
    return np.concatenate(rows)[:ROWS] / 255.0


def one_core() -> AbstractContextManager[Any]:
    """Bound the threads of linear algebra; libraries that are loaded later would not be bound."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits


def share_left(X: Floats, components: Floats, mean: Floats | float = 0.0) -> float:
    """The share of |X|^2 that is outside of the components."""
    centred = X - mean
    rest = centred - centred @ components.T @ components
    return float(np.sum(rest * rest) / np.sum(X * X))


def learn(X: Floats, batch: int) -> Act:
    learner = nr.make("svd", rank=RANK, batch=batch)
    return partial(learner.learn, X)


def fit(X: Floats, size: int | None) -> Act:
    from sklearn.decomposition import IncrementalPCA

    return partial(IncrementalPCA(RANK, batch_size=size).fit, X)


def measure(name: str, X: Floats) -> Iterator[Row]:
    """Our default, our rows one by one and the fastest of ours, each beside the fastest of theirs."""
    peers: dict[str, Callable[[], Act]] = {}
    if installed("scikit-learn"):
        peers = {f"IncrementalPCA, {size or 'its own size of'} rows": partial(fit, X, size) for size in SIZES}
    ours = {f"{size} rows" if size else DEFAULT: partial(learn, X, size) for size in OURS}
    times = in_turn({**ours, **peers}, REPEATS)
    quickest = min(ours, key=partial(best, times))
    for chosen, target in ({"16 rows": None, "1 rows": None, quickest: 1.0} | {DEFAULT: 1.0}).items():
        components = ours[chosen]().func.__self__.learn(X).components  # type: ignore[attr-defined]
        told = f"{micros(best(times, chosen) / len(X))} per row, error {share_left(X, components):.4f}"
        work = f"{name}, rank {RANK}, mini-batches of {chosen}"
        if not peers:
            yield missing(work, told, "scikit-learn", "x", target or 0.0, times)
            continue
        fastest = min(peers, key=partial(best, times))
        found = peers[fastest]().func.__self__.fit(X)  # type: ignore[attr-defined]
        error = share_left(X, found.components_, found.mean_)
        peer = f"{fastest}: {micros(best(times, fastest) / len(X))} per row, error {error:.4f}"
        yield Row(work, told, peer, best(times, fastest) / best(times, chosen), "x", at_least=target, seconds=times)


def run() -> list[Row]:
    sets = {"MNIST (784 features)": digit_rows()}
    sets |= {
        f"low rank ({features} features)": low_rank_rows(features) for features in (2000, 784, 400, 200, 100, 50, 20)
    }
    with one_core():
        return [row for name, X in sets.items() if X is not None for row in measure(name, X)]
