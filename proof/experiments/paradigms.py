"""Adult incomes (a9a) with few labels: rows without labels, rows of neither class, and a learner from another group."""

from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from proof.reproduce.data import rows, shuffled

FILES = ("a9a/a9a.svm.gz", "a9a/a9a.t.svm.gz")
HEAD = ("what", "labels", "alone", "with it")
KNOWN, POOL, SEEDS = 200, 4000, 5
FEATURES = 123


def run(base: Path) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    X, y = rows(base, FILES[0], FEATURES)
    T, truth = rows(base, FILES[1], FEATURES)
    found = [measured(*shuffled(X, y, seed), T, truth) for seed in range(SEEDS)]
    names = ("self-training (confidence 0.5)", "transduction of the pool", "universum: means of two rows")
    table: list[tuple[str, ...]] = []
    for at, name in enumerate(names):
        alone, along = np.mean([one[at] for one in found], axis=0)
        table.append((name, f"{KNOWN}", f"{alone:.4f}", f"{along:.4f}"))
    table.append(transferred(X, y))
    return HEAD, table


def learner() -> nr.Learner:
    return nr.make("pa1", C=0.1, bias=True)


def error(one: Any, X: Any, y: np.ndarray) -> float:
    return float(np.mean(one.predict(X) != y))


def measured(X: Any, y: np.ndarray, T: Any, truth: np.ndarray) -> list[tuple[float, float]]:
    """Errors of a learner of few labels, alone and with what stands beside them."""
    known, pool = X[:KNOWN], X[KNOWN : KNOWN + POOL]
    alone = learner().learn(known, y[:KNOWN])
    taught = nr.self_training(alone.copy(), 0.5, 0.5).learn(pool, [None] * POOL)
    labels = nr.transduce(alone, pool, 0.5, 0.5).labels
    pool_truth = y[KNOWN : KNOWN + POOL]
    return [
        (error(alone, T, truth), error(taught, T, truth)),
        (error(alone, pool, pool_truth), float(np.mean(labels != pool_truth))),
        (error(alone, T, truth), error(with_universum(known, y[:KNOWN]), T, truth)),
    ]


def with_universum(X: Any, y: np.ndarray) -> nr.Learner:
    """Between every two rounds of different classes, their mean: a row of neither."""
    one = learner()
    for t in range(len(y)):
        one.learn(X[t : t + 1], y[t : t + 1])
        if t and y[t] != y[t - 1]:
            one.learn((X[t : t + 1] + X[t - 1 : t]) / 2.0, [nr.UNIVERSUM])
    return one


def transferred(X: Any, y: np.ndarray) -> tuple[str, ...]:
    """From the rows that have a common feature to 500 of those that do not: fresh, and trusting the source as it earns."""
    share = np.asarray(X.mean(axis=0)).ravel()
    feature = int(np.argmin(np.abs(share - 0.7)))
    has = np.asarray(X[:, [feature]].todense()).ravel() > 0.0
    source = learner().learn(X[has], y[has])
    few = np.flatnonzero(~has)[:500]
    alone = learner().learn(X[few], y[few])
    both = nr.transfer(source, learner()).learn(X[few], y[few])
    rate = f"{alone.mistakes / 500:.4f}"
    return f"transfer: rows with feature {feature + 1} to those without", "500", rate, f"{both.mistakes / 500:.4f}"
