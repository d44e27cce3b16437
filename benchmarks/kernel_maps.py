"""Kernel maps before gradient descent, compared with scikit-learn's maps before its SGDClassifier: speed and error.

Class 2 of covtype against the rest, features scaled, rows shuffled, predicted before they are learned; a thousand rows
in a call. NOREGRET_DATA names the folder of the data; without it, generated rows of the same size take its place.
`python -m benchmarks.kernel_maps` takes all 581,012 rows and prints the tables of docs/kernels.md.
"""

import argparse
import lzma
import os
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import noregret
from benchmarks.measure import Act, Prepare, Row, best, in_turn, installed, micros, missing
from benchmarks.stream import Floats, Integers

TITLE = "Kernel maps: covtype, class 2 against the rest, one thread (generated rows without NOREGRET_DATA)"
FILE, COLUMNS, ALL, ROWS, PART = "covtype/covtype.csv.xz", 54, 581_012, 10_000, 1_000
SETTINGS: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "1000 random Fourier features": ("fogd", {}, "RBFSampler", {"n_components": 1000, "gamma": "scale"}),
    "200 Nystrom features": ("nogd", {}, "Nystroem", {"n_components": 200, "gamma": 1.0 / COLUMNS}),
    "tensor sketch, degree 2, 1024 features": (
        "arow",
        {"transforms": ["tensor_sketch"]},
        "PolynomialCountSketch",
        {"n_components": 1024, "gamma": 1.0 / COLUMNS, "coef0": 1},
    ),
}
TARGETS = {"RBFSampler": 2.0, "PolynomialCountSketch": 2.0, "Nystroem": 1.0}  # Nystroem multiplies blocks by BLAS


def rounds(count: int) -> tuple[Floats, Integers]:
    """The rows in a random order, each feature with mean 0 and deviation 1; and the classes -1 and +1."""
    rng = np.random.default_rng(0)
    try:
        with lzma.open(Path(os.environ["NOREGRET_DATA"]) / FILE) as lines:
            table = np.loadtxt(lines, delimiter=",", skiprows=1)
        X, y = table[:, :COLUMNS], np.where(table[:, -1] == 2.0, 1, -1)
    except (KeyError, OSError):
        X = rng.normal(size=(count, COLUMNS))
        y = np.where(X[:, 0] * X[:, 1] + X[:, 2] ** 2 > 1.0, 1, -1)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    order = rng.permutation(len(X))[:count]
    return np.ascontiguousarray(X[order]), y[order].astype(np.int64)


def parts(X: Floats, y: Integers) -> Iterator[tuple[Floats, Integers]]:
    for first in range(0, len(y), PART):
        yield X[first : first + PART], y[first : first + PART]


class Progress:
    """Counts the mistakes of a run."""

    def __init__(self) -> None:
        self.mistakes = 0


def ours(name: str, options: dict[str, Any], X: Floats, y: Integers, told: Progress) -> Act:
    """Play all rows."""
    learner = noregret.make(name, **options)

    def act() -> None:
        for rows, labels in parts(X, y):
            learner.play(rows, labels)
        told.mistakes = learner.mistakes

    return act


def peer(kind: str, options: dict[str, Any], X: Floats, y: Integers, told: Progress) -> Act:
    """Map, predict and learn all rows; the map is fitted to the first thousand."""
    mapping = getattr(import_module("sklearn.kernel_approximation"), kind)(random_state=0, **options)
    model = import_module("sklearn.linear_model").SGDClassifier(random_state=0)

    def act() -> None:
        mapping.fit(X[:PART])
        told.mistakes = 0
        for rows, labels in parts(X, y):
            mapped = mapping.transform(rows)
            if hasattr(model, "coef_"):
                told.mistakes += int(np.count_nonzero(model.predict(mapped) != labels))
            model.partial_fit(mapped, labels, classes=[-1, 1])

    return act


def measure(X: Floats, y: Integers, repeats: int) -> Iterator[Row]:
    """A row for each map."""
    for work, (name, options, kind, peer_options) in SETTINGS.items():
        told = {name: Progress(), kind: Progress()}
        contestants: dict[str, Prepare] = {name: partial(ours, name, options, X, y, told[name])}
        if installed("scikit-learn"):
            contestants[kind] = partial(peer, kind, peer_options, X, y, told[kind])
        times = in_turn(contestants, repeats)
        seconds = best(times, name)
        text = f"{name}: {len(y) / seconds / 1e3:.0f} k rows/s, error {told[name].mistakes / len(y):.4f}"
        if kind not in times:
            yield missing(work, text, kind, "x", 1.0, times)
            continue
        other = best(times, kind)
        beside = (
            f"{kind} + SGDClassifier: {len(y) / other / 1e3:.0f} k rows/s, error {told[kind].mistakes / len(y):.4f}"
        )
        yield Row(work, text, beside, other / seconds, "x", at_least=TARGETS.get(kind), seconds=times)


def one_by_one(name: str, X: Floats, y: Integers) -> Row:
    """Rounds of single dicts beside calls of a thousand rows: what a round costs besides the map."""
    rows = [{f"f{j}": value for j, value in enumerate(row)} for row in X.tolist()]

    def single() -> Act:
        learner = noregret.make(name, features=100).learn(rows[:10], y[:10])
        learner.learn_one(rows[0], y[0])

        def act() -> None:
            for x, label in zip(rows, y.tolist(), strict=True):
                learner.learn_one(x, label)

        return act

    times = in_turn({"single": single, "many": partial(ours, name, {"features": 100}, X, y, Progress())}, 3)
    each = {way: best(times, way) / len(y) for way in times}
    return Row(
        f"{name}, 100 features: learn_one of a dict", f"{micros(each['single'])} a round",
        f"{name} in calls of {PART} rows {micros(each['many'])} a row", each["single"] / each["many"], "x", at_most=3.0,
        seconds=times,
    )  # fmt: skip


def warm_up(X: Floats, y: Integers) -> None:
    """Compile, or load, all loops."""
    for name, options in (("ogd", {}), *((name, options) for name, options, _, _ in SETTINGS.values())):
        noregret.make(name, **options).play(X[:10], y[:10])


def run() -> list[Row]:
    X, y = rounds(ROWS)
    warm_up(X, y)
    with threadpool_limits(1, user_api="blas"):
        return [*measure(X, y, repeats=3), *(one_by_one(name, X[:2000], y[:2000]) for name in ("fogd", "nogd"))]


def kernel_errors(X: Floats) -> Iterator[tuple[str, int, float, float]]:
    """Maps of growing size, with the mean and largest error to the kernel over pairs of rows."""
    pairs = X[:2000].reshape(2, 1000, -1)
    gamma = 1.0 / COLUMNS
    squared = ((pairs[0] - pairs[1]) ** 2).sum(axis=1)
    exact: dict[str, tuple[Floats, dict[str, Any]]] = {
        "fourier": (np.exp(-gamma * squared), {}),
        "fourier, laplacian": (np.exp(-gamma * np.abs(pairs[0] - pairs[1]).sum(axis=1)), {"kernel": "laplacian"}),
        "nystrom": (np.exp(-gamma * squared), {"novelty": 1e-4}),
        "tensor_sketch": ((gamma * (pairs[0] * pairs[1]).sum(axis=1) + 1.0) ** 2, {}),
    }
    for name, (kernel, options) in exact.items():
        for size in (100, 400, 1600):
            kind = name.partition(",")[0]
            text = ",".join(f"{key}={value}" for key, value in {"features": size, "gamma": gamma, **options}.items())
            learner = noregret.make("ogd", transforms=f"{kind}:{text}")
            learner.learn(X[-2000:], np.ones(2000))
            mapped = learner._encode(X[:2000]).val.reshape(2, 1000, -1)
            error = np.abs((mapped[0] * mapped[1]).sum(axis=1) - kernel)
            yield name, size, float(error.mean()), float(error.max())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernel_maps", description=__doc__)
    parser.add_argument("--rows", type=int, default=ALL, help="how many rows to take (default: all)")
    X, y = rounds(parser.parse_args().rows)
    warm_up(X, y)
    with threadpool_limits(1, user_api="blas"):
        linear = Progress()
        times = in_turn({"ogd": lambda: ours("ogd", {}, X, y, linear)}, 1)
        print(f"{len(y):,} rows; ogd without a map: {len(y) / best(times, 'ogd') / 1e3:.0f} k rows/s, "
              f"error {linear.mistakes / len(y):.4f}\n")  # fmt: skip
        print("| map | noregret | scikit-learn | times as fast |\n|---|---|---|---|")
        for row in measure(X, y, repeats=1):
            print(f"| {row.work} | {row.ours} | {row.peer} | {row.figure or 0.0:.1f} |", flush=True)
    print("\n| map | features | mean error | largest error |\n|---|---|---|---|")
    for name, size, mean, largest in kernel_errors(X):
        print(f"| {name} | {size} | {mean:.4f} | {largest:.4f} |")


if __name__ == "__main__":
    main()
