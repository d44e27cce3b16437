"""Feature selection while learning (OFS) against selection from all rows beforehand (SelectKBest)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_selection import SelectKBest, chi2

import noregret as nr
from figures import COLOURS, show
from noregret.streams.datasets import find_in_folder

TOP_K = (2, 5, 10, 20, 40)


class Row(NamedTuple):
    """Test errors with a given number of features; means over several orders."""

    kept: int
    ofs: float
    kbest_chi2: float
    all_features: float


def spambase() -> tuple[Any, Any]:
    """The file of that name in the folder NOREGRET_DATA, or rows that look like it."""
    path = find_in_folder("spambase")
    if path is None:
        return like_spambase()
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(int)


def like_spambase(rows: int = 4600, features: int = 57, informative: int = 10, seed: int = 0) -> tuple[Any, Any]:
    """Word frequencies: mostly zero, never negative, with long tails; some are higher in one of the classes."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(rows) < 0.4, 1, -1)
    often = rng.uniform(0.05, 0.5, size=features)
    size = rng.uniform(0.2, 2.0, size=features)
    lean = np.zeros(features)
    lean[rng.choice(features, size=informative, replace=False)] = rng.choice([-1.2, 1.2], size=informative)
    odds = np.log(often / (1.0 - often)) + np.outer(y, lean)
    present = rng.random((rows, features)) < 1.0 / (1.0 + np.exp(-odds))
    return present * size * rng.lognormal(0.0, 1.0, size=(rows, features)), y


def measure(
    kept: Sequence[int] = TOP_K, orders: int = 10, learner: str = "pa1", data: tuple[Any, Any] | None = None
) -> list[Row]:
    """One pass over three quarters of the rows, tested on the rest.

    log(1 + x) tames the tails; features of unit deviation and rows of unit length make weights comparable.
    """
    X, y = spambase() if data is None else data
    X = np.log1p(X)
    X = X / X.std(axis=0)

    def share_wrong(m: nr.RuleLearner, X: Any, train: Any, test: Any) -> float:
        X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
        m.learn(X[train], y[train])
        return float(np.mean(m.predict(X[test]) != y[test]))

    def one(count: int, seed: int) -> tuple[float, float, float]:
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = np.split(order, [3 * len(y) // 4])
        chosen = SelectKBest(chi2, k=count).fit(X[train], y[train]).transform(X)
        return (
            # the constant is kept too
            share_wrong(nr.make("ofs", B=count + 1, eta=0.2, lam=0.01, bias=True), X, train, test),
            share_wrong(nr.make(learner, C=0.1, bias=True), chosen, train, test),
            share_wrong(nr.make(learner, C=0.1, bias=True), X, train, test),
        )

    return [Row(count, *np.mean([one(count, seed) for seed in range(orders)], axis=0).tolist()) for count in kept]


def draw(axes: Any, rows: Sequence[Row]) -> None:
    kept = [row.kept for row in rows]
    for name, colour in zip(Row._fields[1:], COLOURS, strict=False):
        axes.plot(kept, [100.0 * getattr(row, name) for row in rows], "o-", color=colour, label=name.replace("_", " "))
    axes.set(xlabel="features kept", ylabel="test error, %")
    axes.legend(frameon=False)


if __name__ == "__main__":
    measured = measure()
    show("ofs_against_kbest", Row._fields, measured, lambda axes: draw(axes, measured))
