"""Mixtures and kernel density estimates beside scikit-learn and scipy: log-likelihood of rows held out, and seconds.

`OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m benchmarks.densities` prints the tables of docs/density.md. Every
figure is the mean of five orders of the rows, of which a fifth is held out. Rows of pendigits and covtype are read from
the folder NOREGRET_DATA names. The values of pendigits are whole numbers; a second set has uniform noise added, so that
no likelihood can be gained from values that are exactly equal. One pass of GaussianMixture is one of its iterations;
its start is k-means on all rows, until that stops.
"""

import lzma
import os
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr

Floats = NDArray[np.float64]
SEEDS, MOST, KEPT = 5, 20_000, 6_000  # rows of a set at most, and of those of kernel density estimates
PASSES = (1, 10)


def faithful(rows: int = 2_000) -> Floats:
    """Rows like those of the geyser Old Faithful: minutes that an eruption lasts, and minutes to the next."""
    rng = np.random.default_rng(0)
    short = rng.random(rows) < 0.36
    lasts = np.where(short, rng.normal(2.04, 0.26, rows), rng.normal(4.29, 0.41, rows))
    waits = np.where(short, 54.5 + 6.5 * (lasts - 2.04), 80.0 + 5.5 * (lasts - 4.29)) + rng.normal(0.0, 5.6, rows)
    return np.column_stack((lasts, waits))


def digits(components: int = 10) -> Floats:
    """The digits of scikit-learn by their principal components."""
    found = import_module("sklearn.datasets").load_digits().data
    centred = found - found.mean(axis=0)
    return np.asarray(centred @ np.linalg.svd(centred, full_matrices=False)[2][:components].T)


def pendigits(base: Path) -> Floats:
    rows, _ = import_module("sklearn.datasets").load_svmlight_file(str(base / "pendigits/pendigits.svm.gz"))
    return np.asarray(rows.toarray())


def covtype(base: Path) -> Floats:
    """The ten numeric columns of the first rows."""
    with lzma.open(base / "covtype/covtype.csv.xz", "rt") as file:
        return np.array([line.split(",")[:10] for line in islice(file, 1, MOST + 1)], np.float64)


def sets() -> Iterator[tuple[str, Floats, int]]:
    """Names, rows and numbers of components."""
    yield "faithful", faithful(), 2
    yield "digits, 10 components", digits(), 10
    if "NOREGRET_DATA" in os.environ:
        base = Path(os.environ["NOREGRET_DATA"])
        rows = pendigits(base)
        yield "pendigits", rows, 10
        yield "pendigits with noise", rows + np.random.default_rng(0).random(rows.shape), 10
        yield "covtype", covtype(base), 10


def split(rows: Floats, seed: int, most: int = MOST) -> tuple[Floats, Floats]:
    order = np.random.default_rng(seed).permutation(len(rows))[:most]
    return rows[order[: len(order) * 4 // 5]], rows[order[len(order) * 4 // 5 :]]


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    began = process_time()
    return run(), process_time() - began


def learn(learner: Any, rows: Floats, passes: int) -> Any:
    for _ in range(passes):
        learner.learn(rows)
    return learner


def compare(rows: Floats, k: int, shape: str, passes: int | None, seed: int, options: dict[str, float]) -> list[float]:
    """Log-likelihood and milliseconds, ours and scikit-learn's, and the passes: until its own rule stops it if None."""
    learned, held = split(rows, seed)
    mixture = import_module("sklearn.mixture").GaussianMixture
    limit = {} if passes is None else {"max_iter": passes, "tol": 0.0}
    peer = mixture(k, covariance_type={"full": "full", "diagonal": "diag"}[shape], random_state=seed, **limit)
    _, theirs = timed(lambda: peer.fit(learned))
    made = nr.make("mixture", k=k, shape=shape, seed=seed, **options)
    own, seconds = timed(lambda: learn(made, learned, peer.n_iter_))
    return [own.log_density(held).mean(), peer.score(held), 1e3 * seconds, 1e3 * theirs, peer.n_iter_]


def estimate(rows: Floats, options: dict[str, Any], seed: int) -> list[float]:
    """Log-likelihood, and microseconds for learning and for scoring a row."""
    learned, held = split(rows, seed, KEPT)
    made: Any = nr.make("kernel_density", seed=seed, **options)
    own, seconds = timed(lambda: made.learn(learned).flush())
    found, scoring = timed(lambda: own.log_density(held).mean())
    return [found, 1e6 * seconds / len(learned), 1e6 * scoring / len(held)]


def estimate_by_scipy(rows: Floats, seed: int) -> list[float]:
    learned, held = split(rows, seed, KEPT)
    peer, seconds = timed(lambda: import_module("scipy.stats").gaussian_kde(learned.T))
    found, scoring = timed(lambda: peer.logpdf(held.T).mean())
    return [found, 1e6 * seconds / len(learned), 1e6 * scoring / len(held)]


def mean(measure: Callable[[int], list[float]]) -> list[float]:
    return [float(one) for one in np.mean([measure(seed) for seed in range(SEEDS)], axis=0)]


def show_mixtures(name: str, rows: Floats, k: int, counts: tuple[int | None, ...], **options: float) -> None:
    for shape in ("full", "diagonal"):
        for passes in counts:

            def measure(seed: int, shape: str = shape, passes: int | None = passes) -> list[float]:
                return compare(rows, k, shape, passes, seed, options)

            own, peer, ms, its, used = mean(measure)
            figures = f"{used:.0f} | {own:.3f} | {peer:.3f} | {100 * (own - peer) / abs(peer):+.2f} %"
            print(f"| {name} | {k} | {shape} | {figures} | {ms:.0f} | {its:.0f} |", flush=True)


def show_kernels(name: str, rows: Floats) -> None:
    kinds: dict[str, Callable[[int], list[float]]] = {
        f"{policy}, {budget}": lambda seed, b=budget, p=policy: estimate(rows, {"budget": b, "policy": p}, seed)  # type: ignore[misc]
        for policy, budgets in (("merge", (100, 300, 1000)), ("random", (300, 1000)))
        for budget in budgets
    }
    kinds["`gaussian_kde`, all rows"] = lambda seed: estimate_by_scipy(rows, seed)
    for kind, measure in kinds.items():
        found, learning, scoring = mean(measure)
        print(f"| {name} | {kind} | {found:.3f} | {learning:.1f} | {scoring:.1f} |", flush=True)
    for other in ("gaussian", "mixture(k=8)"):
        found = mean(lambda seed, o=other: [held_out(o, rows, seed)])[0]  # type: ignore[misc]
        print(f"| {name} | `{other}` | {found:.3f} | | |", flush=True)


def held_out(name: str, rows: Floats, seed: int) -> float:
    learned, held = split(rows, seed, KEPT)
    learner: Any = nr.make(name).learn(learned)
    return float(learner.log_density(held).mean())


def main() -> None:
    """The tables."""
    warnings.simplefilter("ignore")  # GaussianMixture warns where passes end before it has converged
    estimate(digits()[:100], {}, 0)  # what is imported late is not measured
    estimate_by_scipy(digits()[:100], 0)
    columns = "rows", "k", "covariances", "passes", "`mixture`", "`GaussianMixture`", "difference", "ms", "its ms"
    print(f"\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for name, rows, k in sets():
        show_mixtures(name, rows, k, (*PASSES, None))
        if name == "pendigits":
            show_mixtures("pendigits, `shrink=1e-6`", rows, k, (None,), shrink=1e-6)
    head = "rows", "policy, budget", "held out", "µs to learn a row", "µs to score a row"
    print(f"\n| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for name, rows, _ in sets():
        if name != "pendigits":
            show_kernels(name, rows)


if __name__ == "__main__":
    main()
