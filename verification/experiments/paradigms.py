"""Few labels: self-training, transduction, universum rows, and transfer."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import noregret as nr
from verification.reproduce.data import rows, shuffled

FILES = ("a9a/a9a.svm.gz", "a9a/a9a.t.svm.gz")
HEAD = ("what", "data", "labels", "error without", "error with it")
FEATURES, POOL, SEEDS, FEW = 123, 4000, 5, 500


def run(base: Path) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    X, y = rows(base, FILES[0], FEATURES)
    T, truth = rows(base, FILES[1], FEATURES)
    cells, tumours = load_breast_cancer(return_X_y=True)
    cells = (cells - cells.mean(axis=0)) / cells.std(axis=0)
    table: list[tuple[str, ...]] = []
    for data, known, R, labels in (("breast_cancer", 10, cells, tumours), ("a9a", 200, X, y)):
        found = np.mean([without_labels(*shuffled(R, labels, seed), known) for seed in range(SEEDS)], axis=0)
        table.append(("self-training", data, f"{known}", f"{found[0]:.4f}", f"{found[1]:.4f}"))
        table.append(("transduction", data, f"{known}", f"{found[0]:.4f}", f"{found[2]:.4f}"))
    neither = np.mean([with_universum(*shuffled(X, y, seed), T, truth) for seed in range(SEEDS)], axis=0)
    table.append(("universum: means of two rows", "a9a", "200", f"{neither[0]:.4f}", f"{neither[1]:.4f}"))
    table.append(transferred(X, y))
    return HEAD, table


def learner() -> nr.RuleLearner:
    return nr.make("pa1", C=0.1, bias=True)


def error(said: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(said != y))


def without_labels(X: Any, y: np.ndarray, known: int) -> tuple[float, float, float]:
    """Errors on rows that came without labels: of the learner of few labels, self-trained on them, by transduction."""
    pool, truth = X[known : known + POOL], y[known : known + POOL]
    alone = learner().learn(X[:known], y[:known])
    taught = nr.self_training(alone.copy()).learn(pool, [None] * len(truth))
    labels = nr.transduce(alone, pool).labels
    return error(alone.predict(pool), truth), error(taught.predict(pool), truth), error(labels, truth)


def with_universum(X: Any, y: np.ndarray, T: Any, truth: np.ndarray) -> tuple[float, float]:
    """Universum rows: the mean of every two consecutive rows of different classes."""
    alone, along = learner().learn(X[:200], y[:200]), learner()
    for t in range(200):
        along.learn(X[t : t + 1], y[t : t + 1])
        if t and y[t] != y[t - 1]:
            along.learn((X[t : t + 1] + X[t - 1 : t]) / 2.0, [nr.UNIVERSUM])
    return error(alone.predict(T), truth), error(along.predict(T), truth)


def transferred(X: Any, y: np.ndarray) -> tuple[str, ...]:
    """Mistakes on rows that lack a common feature: of a fresh learner, and of one beside a source from the others."""
    share = np.asarray(X.mean(axis=0)).ravel()
    feature = int(np.argmin(np.abs(share - 0.7)))
    has = np.asarray(X[:, [feature]].todense()).ravel() > 0.0
    source = learner().learn(X[has], y[has])
    few = np.flatnonzero(~has)[:FEW]
    alone = learner().learn(X[few], y[few])
    both = nr.transfer(source, learner()).learn(X[few], y[few])
    name = f"transfer: from rows with feature {feature + 1}"
    return name, "a9a, rows without it", f"{FEW}", f"{alone.mistakes / FEW:.4f}", f"{both.mistakes / FEW:.4f}"
